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
import { commitsOfRun, engineOf, isEnded } from "./durable.engine.js"
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

/** Two transactions a step, and one insert in each. */
const writeOneByOne = (scratch: Scratch, commits: ReadonlyArray<ThreadCommit.ThreadCommit>): Promise<DurableSample> => {
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

const singleFloor = (scratch: Scratch, steps: number): Promise<DurableSample> => writeOneByOne(scratch, single(steps))

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

/** The commits that all runs wait for at once, in one transaction. */
const writeTogether = (
  scratch: Scratch,
  all: ReadonlyArray<ReadonlyArray<ThreadCommit.ThreadCommit>>
): Promise<DurableSample> => {
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

const concurrentFloor = (scratch: Scratch, runs: number): Promise<DurableSample> =>
  writeTogether(scratch, concurrent(runs))

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

const engineSingleFloor = async (scratch: Scratch, steps: number): Promise<DurableSample> =>
  writeOneByOne(scratch, await commitsOfRun({ threadId: "thread", steps }))

const engineSingle = async (scratch: Scratch, steps: number): Promise<DurableSample> => {
  const store = await run(SqliteThreadStore.open({ ...scratch, driver }))
  return measured(scratch, async (mark) => {
    const onStep = (step: number): void => {
      if (step % Math.floor(steps / 10) === 0) mark()
    }
    if (!isEnded(await engineOf({ store, steps, onStep }).run("thread"))) throw new Error("the run did not end well")
  })
}

const engineConcurrentFloor = async (scratch: Scratch, runs: number): Promise<DurableSample> => {
  const all: Array<ReadonlyArray<ThreadCommit.ThreadCommit>> = []
  for (let index = 0; index < runs; index++)
    all.push(await commitsOfRun({ threadId: `thread-${index}`, steps: concurrentSteps }))
  return writeTogether(scratch, all)
}

const engineConcurrent = async (scratch: Scratch, runs: number): Promise<DurableSample> => {
  const store = await run(SqliteThreadStore.open({ ...scratch, driver }))
  const engine = engineOf({ store, steps: concurrentSteps })
  return measured(scratch, async () => {
    const outcomes = await Promise.all(Array.from({ length: runs }, (_, index) => engine.run(`thread-${index}`)))
    if (!outcomes.every(isEnded)) throw new Error("a run did not end well")
  })
}

/** Recovers a run of so many messages that died in its last call, in a process that has never seen it, to its end. */
const recover = async (scratch: Scratch, messages: number): Promise<DurableSample> => {
  const writer = await run(SqliteThreadStore.open({ ...scratch, driver }))
  const lease = await run(writer.claim({ threadId: "thread", owner: "bench", ttl: 3_600_000 }))
  const commits = await commitsOfRun({ threadId: "thread", steps: messages / 2, crashes: true })
  await run(Effect.forEach(commits, (one) => writer.commit(one), { concurrency: "unbounded", discard: true }))
  await run(writer.release(lease))
  await run(writer.close)
  return measured(scratch, async (mark) => {
    const store = await run(SqliteThreadStore.open({ ...scratch, driver }))
    const { runtime } = engineOf({ store, steps: 1 })
    mark()
    const [recovered] = await runtime.recover()
    if (recovered?.outcome === undefined || !isEnded(recovered.outcome)) throw new Error("nothing was recovered")
  })
}

/** Transactions that one run of so many steps writes, beside its claim and its release. Counted where they are made. */
const count = async (scratch: Scratch, steps: number): Promise<DurableSample> => {
  let written = 0
  const counting: SqliteDriver.SqliteDriver = {
    name: driver.name,
    open: (path) => {
      const connection = driver.open(path)
      return {
        exec: connection.exec,
        close: connection.close,
        prepare: (sql) => {
          const statement = connection.prepare(sql)
          if (sql !== "COMMIT") return statement
          return {
            run: () => (written++, statement.run()),
            get: (...values) => statement.get(...values),
            all: (...values) => statement.all(...values)
          }
        }
      }
    }
  }
  const store = await run(SqliteThreadStore.open({ ...scratch, driver: counting }))
  const sample = await measured(scratch, async () => {
    if (!isEnded(await engineOf({ store, steps }).run("thread"))) throw new Error("the run did not end well")
  })
  return { ...sample, commits: written - 2 }
}

const samples: Readonly<Record<string, (scratch: Scratch, size: number) => Promise<DurableSample>>> = {
  "single floor": singleFloor,
  "single store": singleStore,
  "concurrent floor": concurrentFloor,
  "concurrent store": concurrentStore,
  "load store": loadStore,
  "engineSingle floor": engineSingleFloor,
  "engineSingle runtime": engineSingle,
  "engineConcurrent floor": engineConcurrentFloor,
  "engineConcurrent runtime": engineConcurrent,
  "recover runtime": recover,
  "count runtime": count
}

/** Cold: what a process does once. */
const isCold = (kind: string): boolean => kind === "load" || kind === "recover" || kind === "count"

const [kind = "", contender = "", size = ""] = process.argv.slice(2)
const sample = samples[`${kind} ${contender}`]
if (sample === undefined) throw new Error(`no sample ${kind} ${contender}`)
const folder = mkdtempSync(join(tmpdir(), "durable-"))
try {
  // Both are measured warm, as in a process that has been serving for some seconds.
  for (let round = 0; !isCold(kind) && round < 5; round++) {
    const scratch = { path: join(folder, `warm-${round}.db`) }
    await sample(scratch, Math.min(1_000, Number(size)))
  }
  console.log(JSON.stringify(await sample({ path: join(folder, "threads.db") }, Number(size))))
} finally {
  rmSync(folder, { recursive: true })
}
