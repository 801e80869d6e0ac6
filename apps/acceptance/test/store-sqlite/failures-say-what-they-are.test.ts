import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { join } from "node:path"
import { StoreError } from "@toolwright/runtime-contract"
import { SqliteDriver, SqliteThreadStore } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { driver, type Scratch, scratch } from "./database.js"
import { built, start } from "./program.js"
import { ownerOf, saying, starting } from "./thread.js"

let world: Scratch
beforeEach(() => {
  world = scratch()
})
afterEach(() => world.remove())

/** The reason of the failure, and what stands behind the path in its message. */
const failureOf = async <A>(effect: Effect.Effect<A, unknown>): Promise<readonly [string, string]> => {
  const result = await Effect.runPromise(Effect.result(effect))
  if (Result.isSuccess(result) || !(result.failure instanceof StoreError)) throw new Error("it did not fail")
  const { message, reason } = result.failure
  return [reason._tag, message.replace(/^.*: (?=[^/]*$)/, "").replace(/ \(.*/, "")]
}

const opening = (path: string, options: Partial<SqliteThreadStore.SqliteThreadStoreOptions> = {}) =>
  Effect.tap(SqliteThreadStore.open({ path, driver, ...options }), (store) => store.close)

/** A driver whose databases may have so many pages. */
const limited = (pages: number): SqliteDriver.SqliteDriver => ({
  name: driver.name,
  open: (path) => {
    const connection = driver.open(path)
    connection.exec(`PRAGMA max_page_count = ${pages}`)
    return connection
  }
})

describe("opening a database that cannot be opened", () => {
  it("[E2] says that the file cannot be opened when its folder is missing", async () => {
    expect(await failureOf(opening(join(world.folder, "missing", "threads.db")))).toEqual([
      "Unavailable",
      "the file cannot be opened"
    ])
  })

  it("[D4, E2] refuses a database that cannot have a write-ahead log", async () => {
    expect(await failureOf(opening(":memory:"))).toEqual([
      "Unavailable",
      "no write-ahead log is possible here, the journal is memory"
    ])
  })

  it("[E2] says what to install when there is no SQLite", async () => {
    const none: SqliteDriver.SqliteDriver = {
      name: "none",
      open: () => {
        throw new SqliteDriver.NoSqliteDriver("no SQLite here")
      }
    }
    expect(await failureOf(opening(world.path, { driver: none }))).toEqual(["Unavailable", "no SQLite here"])
  })

  it("[R11] leaves the file as it was when it refuses it", async () => {
    await Effect.runPromise(opening(world.path))
    const connection = world.connect()
    connection.exec("UPDATE toolwright_schema SET version = 2; PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    const bytes = () => createHash("sha256").update(fs.readFileSync(world.path)).digest("hex")
    const before = bytes()
    expect(await failureOf(opening(world.path))).toEqual(["Unreadable", "expected at most 1, found version 2"])
    expect(bytes()).toBe(before)
  })

  it("[H1] makes a new file for its owner only", async () => {
    await Effect.runPromise(opening(world.path))
    expect(fs.statSync(world.path).mode & 0o777).toBe(0o600)
  })
})

describe("a file that may not be written", () => {
  let program: string
  beforeAll(async () => {
    program = await built("opening")
  })

  it("[E2] is refused when the store is opened", async () => {
    await Effect.runPromise(opening(world.path))
    fs.chmodSync(world.folder, 0o755)
    fs.chmodSync(world.path, 0o444)
    // Rights do not bind root: somebody else tries.
    const uid = process.getuid?.() === 0 ? { uid: 65_534 } : {}
    const { lines } = await start(program, { args: [world.path], ...uid }).ended
    expect(lines.map((line) => line.replace(/ \(.*/, ""))).toEqual([
      expect.stringMatching(/^Unavailable .*: (the file may not be written|the file cannot be opened)$/)
    ])
  })
})

describe("a full disk", () => {
  it("[D4, E2] refuses what does not fit, keeps what was acknowledged, and goes on when there is room", async () => {
    const store = await world.open({ driver: limited(60) })
    const owner = ownerOf("thread")
    await Effect.runPromise(store.claim({ threadId: "thread", owner: "one", ttl: 60_000 }))
    await Effect.runPromise(store.commit(starting(owner)))
    const long = "x".repeat(40_000)
    let revision = 1
    let failure: readonly [string, string] | undefined
    while (failure === undefined) {
      const result = await Effect.runPromise(Effect.result(store.commit(saying({ owner, revision }, { text: long }))))
      if (Result.isSuccess(result)) revision++
      else failure = await failureOf(Effect.fail(result.failure))
    }
    expect([revision > 1, failure]).toEqual([
      true,
      ["Unavailable", "the disk, or what the database may take of it, is full"]
    ])
    // A short one still fits.
    await Effect.runPromise(store.commit(saying({ owner, revision })))
    await world.closeAll()
    const roomy = await world.open()
    await Effect.runPromise(roomy.commit(saying({ owner, revision: revision + 1 }, { text: long })))
    expect((await Effect.runPromise(roomy.load("thread")))?.revision).toBe(revision + 2)
  })
})

describe("a file that another process has locked", () => {
  it("[E2] is waited for, and the event loop goes on meanwhile", async () => {
    const store = await world.open()
    const other = world.connect()
    other.exec("BEGIN IMMEDIATE")
    let turns = 0
    const watch = setInterval(() => {
      if (++turns === 10) other.exec("COMMIT")
    }, 1)
    const lease = await Effect.runPromise(store.claim({ threadId: "thread", owner: "one", ttl: 60_000 }))
    clearInterval(watch)
    other.close()
    expect([lease.epoch, turns >= 10]).toEqual([1, true])
  })

  it("[E2] is Unavailable when the patience is at an end, and nothing was written", async () => {
    const store = await world.open({ patience: 20 })
    const other = world.connect()
    other.exec("BEGIN IMMEDIATE")
    expect(await failureOf(store.claim({ threadId: "thread", owner: "one", ttl: 60_000 }))).toEqual([
      "Unavailable",
      "another process holds the lock"
    ])
    other.exec("COMMIT")
    other.close()
    expect((await Effect.runPromise(store.claim({ threadId: "thread", owner: "two", ttl: 60_000 }))).epoch).toBe(1)
  })

  it("[D3] is read while somebody else writes", async () => {
    const store = await world.open()
    const other = world.connect()
    other.exec("BEGIN IMMEDIATE")
    expect(await Effect.runPromise(store.list({}))).toEqual([])
    other.exec("COMMIT")
    other.close()
  })
})

describe("a database that is changed while it is open", () => {
  it.each([
    ["a newer program migrates it", "UPDATE toolwright_schema SET version = 2", "expected at most 1, found version 2"],
    [
      "a table gets a column",
      "ALTER TABLE thread_head ADD COLUMN color TEXT",
      "expected those of version 1, found other tables or indices"
    ]
  ])("[R11] is refused from then on when %s, and nothing more is written", async (_, change, says) => {
    const store = await world.open()
    const owner = ownerOf("thread")
    await Effect.runPromise(store.claim({ threadId: "thread", owner: "one", ttl: 60_000 }))
    await Effect.runPromise(store.commit(starting(owner)))
    const other = world.connect()
    other.exec(change)
    const count = () => other.prepare("SELECT count(*) AS count FROM thread_commit").get()?.["count"]
    const refused = ["Unreadable", says]
    expect(await failureOf(store.commit(saying({ owner, revision: 1 })))).toEqual(refused)
    expect(await failureOf(store.commit(saying({ owner, revision: 1 })))).toEqual(refused)
    expect(await failureOf(store.load("thread"))).toEqual(refused)
    expect(await failureOf(store.inbox("thread"))).toEqual(refused)
    expect(count()).toBe(1)
    other.close()
  })

  it("[D3] goes on when somebody vacuums it", async () => {
    const store = await world.open()
    const owner = ownerOf("thread")
    await Effect.runPromise(store.claim({ threadId: "thread", owner: "one", ttl: 60_000 }))
    await Effect.runPromise(store.commit(starting(owner)))
    const other = world.connect()
    other.exec("VACUUM")
    other.close()
    await Effect.runPromise(store.commit(saying({ owner, revision: 1 })))
    expect((await Effect.runPromise(store.load("thread")))?.revision).toBe(2)
  })
})

describe("a thread whose last record is damaged", () => {
  it.each([
    ["a byte was changed", "UPDATE thread_commit SET record = record || ' ' WHERE thread = 1", "the text differs"],
    ["its rows are gone", "DELETE FROM thread_commit WHERE thread = 1", "the row is missing"]
  ])("[R11] hides no other thread in a list when %s, and stands there with its place", async (_, change, says) => {
    const store = await world.open()
    for (const threadId of ["a", "b"]) {
      await Effect.runPromise(store.claim({ threadId, owner: "one", ttl: 60_000 }))
      await Effect.runPromise(store.commit(starting(ownerOf(threadId))))
    }
    const other = world.connect()
    other.exec(change)
    other.close()
    const again = await world.open()
    const [first, second] = await Effect.runPromise(again.list({}))
    expect(first).toMatchObject({ threadId: "a", disposition: undefined, runId: undefined, updatedAt: 0 })
    expect(first?.damage).toMatch(/^thread_commit a\b/)
    expect(first?.damage).toContain(says)
    expect(second).toMatchObject({ threadId: "b", disposition: { _tag: "Running" } })
    expect(second?.damage).toBe(undefined)
  })
})

describe("a file that is moved away while it is open", () => {
  it.each([
    ["removed", (path: string) => fs.rmSync(path)],
    ["moved", (path: string) => fs.renameSync(path, `${path}.old`)],
    ["replaced", (path: string) => (fs.renameSync(path, `${path}.old`), fs.copyFileSync(`${path}.old`, path))]
  ])("[D4, R10] takes and keeps no thread any more when it was %s", async (_, move) => {
    const store = await world.open()
    const lease = await Effect.runPromise(store.claim({ threadId: "thread", owner: "one", ttl: 60_000 }))
    await Effect.runPromise(store.renew(lease, 60_000))
    move(world.path)
    const refused = ["Unavailable", "the file was removed, moved or replaced while it was open"]
    expect(await failureOf(store.renew(lease, 60_000))).toEqual(refused)
    expect(await failureOf(store.claim({ threadId: "other", owner: "one", ttl: 60_000 }))).toEqual(refused)
  })
})

describe("a closed store", () => {
  it("[L8] has written what waited, and refuses what comes later", async () => {
    const store = await world.open()
    const claim = Effect.runPromise(store.claim({ threadId: "thread", owner: "one", ttl: 60_000 }))
    await Effect.runPromise(store.close)
    expect((await claim).epoch).toBe(1)
    expect(await failureOf(store.load("thread"))).toEqual(["Unavailable", "the store was closed"])
    expect(await failureOf(store.claim({ threadId: "thread", owner: "one", ttl: 1 }))).toEqual([
      "Unavailable",
      "the store was closed"
    ])
  })
})
