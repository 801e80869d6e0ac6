import type { EffectLedger } from "@toolwright/runtime-contract"
import { describeConformance, ledgerConformance } from "@toolwright/testing"
import { type SqliteDriver, SqliteEffectLedger } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type Scratch, scratch } from "./database.js"
import { built, start } from "./program.js"

describeConformance(
  {
    name: "the SQLite ledger is an effect ledger",
    checks: ledgerConformance<SqliteDriver.SqliteConnection>({
      open: async ({ now }) => {
        const world = scratch()
        const connection = world.connect()
        connection.exec("CREATE TABLE payment (receipt INTEGER PRIMARY KEY)")
        return {
          ledger: await Effect.runPromise(SqliteEffectLedger.open({ connection, now })),
          effect: (transaction) => transaction.exec("INSERT INTO payment DEFAULT VALUES"),
          effects: () => Number(connection.prepare("SELECT count(*) AS n FROM payment").get()?.["n"]),
          close: () => {
            connection.close()
            return world.remove()
          }
        }
      }
    })
  },
  { describe, it }
)

let world: Scratch
beforeEach(() => {
  world = scratch()
})
afterEach(() => world.remove())

const payments = (): unknown => {
  const connection = world.connect()
  const row = connection.prepare("SELECT count(*) AS n FROM payment").get()
  connection.close()
  return row?.["n"]
}

const ledgerOf = async (connection: SqliteDriver.SqliteConnection) =>
  Effect.runPromise(SqliteEffectLedger.open({ connection }))

describe("a payment beside its ledger", () => {
  it("[R3] is made once, whichever statement its first attempt died at", async () => {
    const program = await built("paying")
    const whole = await start(program, { args: [world.path] }).ended
    const statements = Number(/in (\d+) statements/.exec(whole.lines[0] ?? "")?.[1])
    expect([whole.lines, payments()]).toEqual([["made 1 in 5 statements"], 1])
    for (let at = 1; at <= statements; at++) {
      await world.remove()
      world = scratch()
      const died = await start(program, { args: [world.path, "1", String(at)] }).ended
      const again = await start(program, { args: [world.path, "2"] }).ended
      // It was on disk before the process died only when COMMIT had been executed.
      const answer = at === statements ? "repeated 1 in 3 statements" : "made 1 in 5 statements"
      expect([at, died.signal, again.lines, payments()]).toEqual([at, "SIGKILL", [answer], 1])
    }
  })
})

describe("the row of an effect that lies outside", () => {
  it("[R3] is in doubt for a new process, on disk before the effect was made", async () => {
    const entry: EffectLedger.LedgerEntry = { ledgerId: "id", attempt: 1, digest: "d" }
    const first = world.connect()
    await Effect.runPromise((await ledgerOf(first)).begin(entry))
    // The first process is not asked any more: it is as good as dead.
    const second = world.connect()
    const begun = await Effect.runPromise((await ledgerOf(second)).begin({ ...entry, attempt: 2 }))
    expect(begun).toMatchObject({ _tag: "InDoubt", attempt: 1 })
    first.close()
    second.close()
  })
})

describe("a ledger in somebody's database", () => {
  it("[R3] leaves the tables that it finds, and syncs every commit", async () => {
    const connection = world.connect()
    connection.exec("PRAGMA synchronous = OFF; CREATE TABLE customer (name TEXT); PRAGMA user_version = 7")
    await ledgerOf(connection)
    const tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()
    expect([
      tables.map((row) => row["name"]),
      connection.prepare("PRAGMA user_version").get()?.["user_version"],
      connection.prepare("PRAGMA synchronous").get()?.["synchronous"]
    ]).toEqual([["customer", "toolwright_effect_row", "toolwright_schema"], 7, 2])
    connection.close()
  })

  it("[R11] refuses a row that it cannot read, and a newer version of itself", async () => {
    const connection = world.connect()
    const ledger = await ledgerOf(connection)
    const entry: EffectLedger.LedgerEntry = { ledgerId: "id", attempt: 1, digest: "d" }
    await Effect.runPromise(ledger.once(entry, () => "paid"))
    connection.exec(`UPDATE toolwright_effect_row SET result = '"laid"'`)
    const garbled = await Effect.runPromise(Effect.flip(ledger.begin({ ...entry, attempt: 2 })))
    connection.exec("UPDATE toolwright_schema SET version = 9")
    const newer = await Effect.runPromise(Effect.flip(SqliteEffectLedger.open({ connection })))
    expect([garbled, newer].map((error) => [error.reason, error.message])).toEqual([
      ["Unreadable", "ledger id: toolwright_effect_row id: the text differs from its checksum"],
      ["Unreadable", "ledger: schema toolwright_effect: expected at most 1, found version 9"]
    ])
    connection.close()
  })
})
