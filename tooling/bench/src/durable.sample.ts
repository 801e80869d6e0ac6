/**
 * One sample of the durable bench in its own process:  node durable.sample.js <kind> <contender> <size>
 * Prints one line of JSON. `floor` writes the same records with the same SQLite, in as few statements as can be: one
 * table, one insert a commit. It checks nothing, fences nothing and finds nothing again.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ThreadCommit } from "@toolwright/runtime-contract"
import { SqliteDriver, SqliteThreadStore } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"
import { commitsOf } from "./durable.commits.js"
import { concurrentSteps, type DurableSample } from "./durable.shape.js"

const isConstructor = (value: unknown): value is SqliteDriver.BetterSqlite3 => typeof value === "function"

/** `better-sqlite3` where it was built for this Node, else `node:sqlite`: the same for both contenders. */
const driver = ((): SqliteDriver.SqliteDriver => {
  try {
    const found: unknown = createRequire(import.meta.url)("better-sqlite3")
    if (isConstructor(found)) {
      const candidate = SqliteDriver.betterSqlite3(found)
      candidate.open(":memory:").close()
      return candidate
    }
  } catch {
    // Not there, or built for another Node.
  }
  return SqliteDriver.installed()
})()

interface Scratch {
  readonly path: string
}

/** Runs `work` between two looks at the clocks. */
const measured = async (scratch: Scratch, work: (mark: () => void) => Promise<void> | void): Promise<DurableSample> => {
  const parts: Array<number> = []
  const cpu = process.cpuUsage()
  const started = performance.now()
  let last = started
  await work(() => {
    const now = performance.now()
    parts.push(now - last)
    last = now
  })
  const wall = performance.now() - started
  const { system, user } = process.cpuUsage(cpu)
  return { wall, parts, cpu: (system + user) / 1_000, bytes: sizeOf(scratch) }
}

/** Of the file with everything in it. */
const sizeOf = ({ path }: Scratch): number => {
  const connection = driver.open(path)
  connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()
  connection.close()
  return statSync(path).size
}

const textOf = (commit: ThreadCommit.ThreadCommit): string =>
  JSON.stringify(commit.start === undefined ? commit : { ...commit, start: { record: commit.start.record } })

const floorOf = ({ path }: Scratch) => {
  const connection = driver.open(path)
  connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
  connection.exec("CREATE TABLE log (key INTEGER PRIMARY KEY, record TEXT NOT NULL)")
  return {
    begin: connection.prepare("BEGIN IMMEDIATE"),
    insert: connection.prepare("INSERT INTO log (record) VALUES (?)"),
    commit: connection.prepare("COMMIT")
  }
}

const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)

/** The commits of one run of so many steps, made beforehand: both contenders are given objects. */
const single = (steps: number): ReadonlyArray<ThreadCommit.ThreadCommit> => [
  ...commitsOf({ threadId: "thread", runId: "run", epoch: 1, revision: 0, steps })
]

const singleFloor = (scratch: Scratch, steps: number): Promise<DurableSample> => {
  const commits = single(steps)
  const { begin, commit, insert } = floorOf(scratch)
  return measured(scratch, (mark) => {
    for (const [index, one] of commits.entries()) {
      begin.run()
      insert.run(textOf(one))
      commit.run()
      if ((index + 1) % Math.floor(commits.length / 10) === 0) mark()
    }
  })
}

const singleStore = async (scratch: Scratch, steps: number): Promise<DurableSample> => {
  const commits = single(steps)
  const store = await run(SqliteThreadStore.open({ ...scratch, driver }))
  await run(store.claim({ threadId: "thread", owner: "bench", ttl: 3_600_000 }))
  return measured(scratch, (mark) => {
    // One fiber, as the engine has it.
    const whole = Effect.fnUntraced(function* () {
      for (const [index, one] of commits.entries()) {
        yield* store.commit(one)
        if ((index + 1) % Math.floor(commits.length / 10) === 0) mark()
      }
    })
    return run(whole())
  })
}

const concurrent = (runs: number): ReadonlyArray<ReadonlyArray<ThreadCommit.ThreadCommit>> =>
  Array.from({ length: runs }, (_, index) => [
    ...commitsOf({ threadId: `thread-${index}`, runId: `run-${index}`, epoch: 1, revision: 0, steps: concurrentSteps })
  ])

const concurrentFloor = (scratch: Scratch, runs: number): Promise<DurableSample> => {
  const all = concurrent(runs)
  const { begin, commit, insert } = floorOf(scratch)
  return measured(scratch, () => {
    for (let index = 0; index < (all[0]?.length ?? 0); index++) {
      begin.run()
      for (const commits of all) {
        const one = commits[index]
        if (one !== undefined) insert.run(textOf(one))
      }
      commit.run()
    }
  })
}

const concurrentStore = async (scratch: Scratch, runs: number): Promise<DurableSample> => {
  const all = concurrent(runs)
  const store = await run(SqliteThreadStore.open({ ...scratch, driver }))
  const one = Effect.fnUntraced(function* (commits: ReadonlyArray<ThreadCommit.ThreadCommit>) {
    const [first] = commits
    if (first === undefined) return
    const lease = yield* store.claim({ threadId: first.threadId, owner: "bench", ttl: 3_600_000 })
    for (const commit of commits) yield* store.commit(commit)
    yield* store.release(lease)
  })
  return measured(scratch, () => run(Effect.forEach(all, one, { concurrency: "unbounded", discard: true })))
}

/** Loads a thread of so many messages in a process that has never seen it. */
const loadStore = async (scratch: Scratch, messages: number): Promise<DurableSample> => {
  const writer = await run(SqliteThreadStore.open({ ...scratch, driver }))
  await run(writer.claim({ threadId: "thread", owner: "bench", ttl: 3_600_000 }))
  // Two messages a step, written together: how they came there is not measured.
  const commits = single(Math.max(1, messages / 2))
  await run(Effect.forEach(commits, (one) => writer.commit(one), { concurrency: "unbounded", discard: true }))
  await run(writer.close)
  return measured(scratch, async () => {
    const store = await run(SqliteThreadStore.open({ ...scratch, driver }))
    const view = await run(store.load("thread"))
    if ((view?.messages.length ?? 0) < messages) throw new Error(`only ${view?.messages.length} messages`)
  })
}

const samples: Readonly<Record<string, (scratch: Scratch, size: number) => Promise<DurableSample>>> = {
  "single floor": singleFloor,
  "single store": singleStore,
  "concurrent floor": concurrentFloor,
  "concurrent store": concurrentStore,
  "load store": loadStore
}

const [kind = "", contender = "", size = ""] = process.argv.slice(2)
const sample = samples[`${kind} ${contender}`]
if (sample === undefined) throw new Error(`no sample ${kind} ${contender}`)
const folder = mkdtempSync(join(tmpdir(), "durable-"))
try {
  // Both are measured warm, as in a process that has been serving for some seconds.
  for (let round = 0; kind !== "load" && round < 5; round++) {
    const scratch = { path: join(folder, `warm-${round}.db`) }
    await sample(scratch, Math.min(1_000, Number(size)))
  }
  console.log(JSON.stringify(await sample({ path: join(folder, "threads.db") }, Number(size))))
} finally {
  rmSync(folder, { recursive: true })
}
