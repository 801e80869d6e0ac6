import * as fs from "node:fs"
import { join } from "node:path"
import type { SqliteDriver } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { driver, type Scratch, scratch } from "./database.js"
import { built, type Ended, start } from "./program.js"
import { ownerOf, saying, starting } from "./thread.js"

let program: string
beforeAll(async () => {
  program = await built("committing")
})
let world: Scratch
beforeEach(() => {
  world = scratch()
})
afterEach(() => world.remove())

const threads = Array.from({ length: 8 }, (_, index) => `thread-${index}`)

/** The revisions of all threads as a new process finds them, each with its whole history. */
const found = async (): Promise<ReadonlyArray<number>> => {
  const store = await world.open()
  const views = await Promise.all(threads.map((threadId) => Effect.runPromise(store.load(threadId))))
  return views.map((view) => (view?.messages.length === view?.revision ? (view?.revision ?? 0) : -1))
}

/** The last round that the killed process was told is durable. */
const acknowledged = ({ lines }: Ended): number => Number(lines.at(-1) ?? 0)

const all = (revision: number): ReadonlyArray<number> => threads.map(() => revision)

describe("a process that is killed", () => {
  it.each([
    ["before", 1, 0],
    ["after", 1, 1],
    ["before", 2, 1],
    ["after", 2, 2],
    ["before", 40, 39],
    ["after", 40, 40]
  ] as const)("[D4] %s its COMMIT number %i leaves %i rounds, whole", async (moment, at, rounds) => {
    const ended = await start(program, { args: [world.path, moment, String(at)] }).ended
    expect([ended.signal, acknowledged(ended), await found()]).toEqual(["SIGKILL", at - 1, all(rounds)])
  })

  it("[D4] at any moment has lost nothing that was acknowledged and half of nothing", async () => {
    for (const lines of [1, 2, 3, 5, 8, 13, 21, 34]) {
      const ended = await start(program, {
        args: [world.path],
        onLine: (line, child) => void (line === String(lines) && child.kill("SIGKILL"))
      }).ended
      const revisions = await found()
      const [first = 0] = revisions
      expect([ended.signal, revisions]).toEqual(["SIGKILL", all(first)])
      // At most the round that was under way is there without having been acknowledged.
      expect(first - acknowledged(ended)).toBeGreaterThanOrEqual(0)
      expect(first - acknowledged(ended)).toBeLessThanOrEqual(1)
      await world.remove()
      world = scratch()
    }
  })

  it("[R10, D2] in the middle of a run is followed by an owner that goes on where it stopped", async () => {
    await start(program, { args: [world.path, "after", "3"] }).ended
    const store = await world.open()
    const owner = ownerOf("thread-0")
    const lease = await Effect.runPromise(
      store.claim({ threadId: "thread-0", owner: "next", ttl: 60_000, takeOver: true })
    )
    // The dead owner's last commit, sent again by whoever found it: known, but its owner is fenced.
    const again = await Effect.runPromise(Effect.flip(store.commit(saying({ owner, revision: 2 }))))
    expect([lease.epoch, again]).toMatchObject([2, { reason: { _tag: "Fenced", epoch: 1, current: 2 } }])
    const receipt = await Effect.runPromise(store.commit(saying({ owner: ownerOf("thread-0", 2), revision: 3 })))
    expect(receipt).toEqual({ commitId: "thread-0-run/3", revision: 4, firstFact: 5, factCount: 1 })
  })
})

describe("a log that ends in the middle of a COMMIT", () => {
  it("[D4] holds a whole number of commits, wherever it ends", async () => {
    const store = await world.open()
    const owner = ownerOf("thread-0")
    await Effect.runPromise(store.claim({ threadId: "thread-0", owner: "one", ttl: 60_000 }))
    const ends = [fs.statSync(`${world.path}-wal`).size]
    for (let revision = 0; revision < 6; revision++) {
      // Longer than a page: a commit is several frames.
      const commit = revision === 0 ? starting(owner) : saying({ owner, revision }, { text: "x".repeat(9_000) })
      await Effect.runPromise(store.commit(commit))
      ends.push(fs.statSync(`${world.path}-wal`).size)
    }
    const log = fs.readFileSync(`${world.path}-wal`)
    const cuts = [...new Set([...ends, ...ends.map((end) => end - 1), ...ends.map((end) => end - 4_120)])]
    for (let cut = ends[0] ?? 0; cut < log.length; cut += 1_777) cuts.push(cut)
    const wrong: Array<unknown> = []
    for (const cut of cuts.filter((one) => one >= (ends[0] ?? 0))) {
      const torn = scratch()
      fs.copyFileSync(world.path, torn.path)
      fs.writeFileSync(join(torn.folder, "threads.db-wal"), log.subarray(0, cut))
      const view = await Effect.runPromise((await torn.open()).load("thread-0"))
      const expected = ends.filter((end) => end <= cut).length - 1
      if ((view?.revision ?? 0) !== expected || (view?.messages.length ?? 0) !== expected)
        wrong.push([cut, expected, view?.revision])
      await torn.remove()
    }
    expect(wrong).toEqual([])
  })
})

describe("the connection of a store", () => {
  it("[D4] has a write-ahead log that is synced at every commit", async () => {
    const connections: Array<SqliteDriver.SqliteConnection> = []
    const open = (path: string): SqliteDriver.SqliteConnection => {
      const connection = driver.open(path)
      connections.push(connection)
      return connection
    }
    await world.open({ driver: { name: driver.name, open } })
    const settings = ["journal_mode", "synchronous"].map(
      (name) => connections[0]?.prepare(`PRAGMA ${name}`).get()?.[name]
    )
    // 2 is what SQLite calls FULL.
    expect(settings).toEqual(["wal", 2])
  })
})
