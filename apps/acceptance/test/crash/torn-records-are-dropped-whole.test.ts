// C092: a file that was cut in the middle of its last record opens with every record before it, and takes new ones.
import * as fs from "node:fs"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { SqliteThreadStore } from "@toolwright/store-sqlite"
import { driver, type Scratch, scratch } from "../store-sqlite/database.js"
import { ownerOf, saying, starting } from "../store-sqlite/thread.js"

const owner = ownerOf("t")
const records = 200
let world: Scratch
let copies = 0
beforeEach(() => {
  world = scratch()
})
afterEach(() => world.remove())

/** The two files of a database, as a process that dies leaves them. */
interface Image {
  readonly database: Buffer
  readonly log: Buffer
}

const image = (): Image => ({ database: fs.readFileSync(world.path), log: fs.readFileSync(`${world.path}-wal`) })

/** The log as it was before the last record, and with it. */
const written = async (): Promise<{ readonly before: Image; readonly after: Image }> => {
  const store = await world.open()
  await Effect.runPromise(store.claim({ threadId: "t", owner: "first", ttl: 3_600_000 }))
  await Effect.runPromise(store.commit(starting(owner)))
  for (let revision = 1; revision < records - 1; revision++)
    await Effect.runPromise(store.commit(saying({ owner, revision })))
  const before = image()
  await Effect.runPromise(store.commit(saying({ owner, revision: records - 1 })))
  return { before, after: image() }
}

const opened = async (
  given: Image
): Promise<{ readonly path: string; readonly store: SqliteThreadStore.SqliteThreadStore }> => {
  const path = join(world.folder, `copy-${++copies}.db`)
  fs.writeFileSync(path, given.database)
  fs.writeFileSync(`${path}-wal`, given.log)
  return { path, store: await Effect.runPromise(SqliteThreadStore.open({ path, driver })) }
}

const texts = async (store: SqliteThreadStore.SqliteThreadStore): Promise<number> =>
  (await Effect.runPromise(store.load("t")))?.messages.length ?? 0

describe("a log that was cut", () => {
  it("[D4, R11] anywhere in its last record, it opens with exactly the records before", async () => {
    const { after, before } = await written()
    const lengths: Array<number> = [before.log.length, before.log.length + 1, after.log.length - 1]
    for (let cut = before.log.length + 1; cut < after.log.length; cut += 397) lengths.push(cut)
    const found = new Set<number>()
    for (const length of lengths) {
      for (const tail of ["", "\n"]) {
        const { store } = await opened({
          database: after.database,
          log: Buffer.concat([after.log.subarray(0, length), Buffer.from(tail)])
        })
        found.add(await texts(store))
        await Effect.runPromise(store.close)
      }
    }
    expect([...found]).toEqual([records - 1])
    const { store } = await opened(after)
    expect(await texts(store)).toBe(records)
    await Effect.runPromise(store.close)
  }, 60_000)

  it("[D4] and written to again, it keeps what came before and what came behind", async () => {
    const { after, before } = await written()
    const middle = Math.floor((before.log.length + after.log.length) / 2)
    const { path, store } = await opened({ database: after.database, log: after.log.subarray(0, middle) })
    for (let more = 0; more < 3; more++) {
      const revision = records - 1 + more
      await Effect.runPromise(store.commit(saying({ owner, revision }, { id: `more-${more}`, text: `more ${more}` })))
    }
    await Effect.runPromise(store.close)
    const again = await Effect.runPromise(SqliteThreadStore.open({ path, driver }))
    const messages = (await Effect.runPromise(again.load("t")))?.messages
    await Effect.runPromise(again.close)
    expect(messages?.length).toBe(records + 2)
    expect(messages?.toArray(records - 2).map((message) => (message.role === "user" ? message.content : []))).toEqual(
      [`message ${records - 2}`, "more 0", "more 1", "more 2"].map((text) => [{ type: "text", text }])
    )
  }, 60_000)
})
