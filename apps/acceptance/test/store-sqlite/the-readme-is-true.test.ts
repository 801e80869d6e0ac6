import { join } from "node:path"
import { FileSpill, SqliteEffectLedger, SqliteThreadStore } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { driver, type Scratch, scratch } from "./database.js"

let world: Scratch
beforeEach(() => {
  world = scratch()
})
afterEach(() => world.remove())

describe("the README", () => {
  it("[D4] opens a store that lists its threads", async () => {
    const { path } = world
    // #region open
    const program = Effect.gen(function* () {
      const store = yield* SqliteThreadStore.scoped({ path, driver })
      return yield* store.list({ disposition: "Awaiting" })
    })
    const waiting = await Effect.runPromise(Effect.scoped(program))
    // #endregion
    expect(waiting).toEqual([])
  })

  it("[R3] moves money and writes it down in one transaction", async () => {
    const connection = world.connect()
    connection.exec("CREATE TABLE account (name TEXT PRIMARY KEY, cents INTEGER) STRICT")
    connection.exec("INSERT INTO account VALUES ('ada', 100), ('bob', 0)")
    const entry = { ledgerId: "id", attempt: 1, digest: "d" }
    // #region ledger
    const ledger = await Effect.runPromise(SqliteEffectLedger.open({ connection }))
    const transfer = ledger.once(entry, (transaction) => {
      transaction.exec("UPDATE account SET cents = cents - 40 WHERE name = 'ada'")
      transaction.exec("UPDATE account SET cents = cents + 40 WHERE name = 'bob'")
      return { moved: 40 }
    })
    // #endregion
    const answers = [await Effect.runPromise(transfer), await Effect.runPromise(transfer)]
    const cents = connection
      .prepare("SELECT cents FROM account ORDER BY name")
      .all()
      .map((row) => row["cents"])
    connection.close()
    expect([answers, cents]).toEqual([
      [
        { result: { moved: 40 }, repeated: false },
        { result: { moved: 40 }, repeated: true }
      ],
      [60, 40]
    ])
  })

  it("[T10] spills a text and reads a part of it", async () => {
    const folder = join(world.folder, "outputs")
    // #region spill
    const spill = new FileSpill.FileSpill({ folder })
    const reference = await Effect.runPromise(spill.put("run/1/0", "a long output"))
    const part = await Effect.runPromise(spill.get(reference, { start: 2, end: 6 }))
    // #endregion
    expect(part).toBe("long")
  })
})
