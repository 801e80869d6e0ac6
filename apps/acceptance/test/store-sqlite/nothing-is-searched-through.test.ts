import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type Scratch, scratch } from "./database.js"
import { asking, ownerOf, saying, starting } from "./thread.js"
import { watched } from "./watched.js"

let world: Scratch
beforeEach(() => {
  world = scratch()
})
afterEach(() => world.remove())

describe("statements of the store", () => {
  it("[D3] find what they read by a key or an index, and sort nothing", async () => {
    const statements = new Set<string>()
    await world.open({ driver: watched({ prepared: (sql) => void statements.add(sql) }) })
    const connection = world.connect()
    const plans = [...statements]
      .filter((sql) => /^\s*(SELECT|INSERT|UPDATE|DELETE)/.test(sql) && sql.includes("thread_"))
      .map((sql) => {
        const parameters = sql
          .split("?")
          .slice(1)
          .map(() => null)
        const steps = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters)
        return { sql: sql.replaceAll(/\s+/g, " "), steps: steps.map((step) => String(step["detail"])) }
      })
    connection.close()
    expect(plans.length).toBeGreaterThan(30)
    // Reading all of the shared state reads all of its table: that is what is asked.
    const readsAll = "SELECT key, checksum, value FROM thread_shared"
    expect(
      plans.filter(({ sql, steps }) => steps.some((step) => /SCAN|TEMP B-TREE/.test(step)) && !sql.startsWith(readsAll))
    ).toEqual([])
  })
})

describe("a commit", () => {
  it("[D3, R7] executes the same statements whether its thread has ten or five hundred commits behind it", async () => {
    let executed: Array<string> = []
    const store = await world.open({ driver: watched({ before: (sql) => void executed.push(sql) }) })
    const owner = ownerOf("long")
    await Effect.runPromise(store.claim({ threadId: "long", owner: "one", ttl: 60_000 }))
    await Effect.runPromise(store.commit(starting(owner)))
    const costs: Array<ReadonlyArray<string>> = []
    for (let revision = 1; revision <= 500; revision++) {
      executed = []
      await Effect.runPromise(store.commit(saying({ owner, revision })))
      costs.push(executed.map((sql) => sql.trim().split(/\s+/).slice(0, 3).join(" ")))
    }
    const plain = ["BEGIN IMMEDIATE", "PRAGMA data_version", "INSERT INTO thread_commit", "COMMIT"]
    expect(costs.filter((cost) => cost.join() !== plain.join())).toEqual([])
  })

  it("[D3, R11] of another process costs the owner one look at the version of the tables and one at the row of its thread", async () => {
    const executed: Array<string> = []
    const store = await world.open({ driver: watched({ before: (sql) => void executed.push(sql) }) })
    const other = await world.open()
    const owner = ownerOf("mine")
    await Effect.runPromise(store.claim({ threadId: "mine", owner: "one", ttl: 60_000 }))
    await Effect.runPromise(other.claim({ threadId: "theirs", owner: "two", ttl: 60_000 }))
    await Effect.runPromise(store.commit(starting(owner)))
    for (let revision = 1; revision <= 20; revision++)
      await Effect.runPromise(store.commit(saying({ owner, revision })))
    await Effect.runPromise(other.commit(starting(ownerOf("theirs"))))
    executed.length = 0
    await Effect.runPromise(store.commit(saying({ owner, revision: 21 })))
    expect(executed.map((sql) => sql.trim().split(/\s+/).slice(0, 3).join(" "))).toEqual([
      "BEGIN IMMEDIATE",
      "PRAGMA data_version",
      "SELECT schema_version AS",
      "SELECT key, epoch,",
      "INSERT INTO thread_commit",
      "COMMIT"
    ])
  })

  it("[D3] of a process that never saw the thread reads the history once", async () => {
    const first = await world.open()
    const owner = ownerOf("old")
    await Effect.runPromise(first.claim({ threadId: "old", owner: "one", ttl: 60_000 }))
    // Sent together, they are written together.
    const history = Array.from({ length: 1_200 }, (_, index) => saying({ owner, revision: index + 1 }))
    await Promise.all([starting(owner), ...history].map((commit) => Effect.runPromise(first.commit(commit))))
    let rowsRead = 0
    const second = await world.open({
      driver: watched({ before: (sql) => void (sql.includes("ORDER BY revision LIMIT") && rowsRead++) })
    })
    await Effect.runPromise(second.commit(saying({ owner, revision: 1_201 })))
    const portions = rowsRead
    await Effect.runPromise(second.commit(saying({ owner, revision: 1_202 })))
    expect([portions > 0, rowsRead - portions]).toEqual([true, 0])
    expect((await Effect.runPromise(second.load("old")))?.messages.length).toBe(1_203)
  })
})

describe("the memory of a process", () => {
  /** How often the log of the thread was read while it said ten things more. */
  const readings = async (memory: number, isReleased: boolean): Promise<number> => {
    let count = 0
    const store = await world.open({
      memory,
      driver: watched({ before: (sql) => void (sql.includes("ORDER BY revision LIMIT") && count++) })
    })
    for (const threadId of ["mine", "other"]) {
      const lease = await Effect.runPromise(store.claim({ threadId, owner: "one", ttl: 60_000 }))
      await Effect.runPromise(store.commit(starting(ownerOf(threadId))))
      if (isReleased) await Effect.runPromise(store.release(lease))
    }
    for (let round = 0; round < 10; round++)
      for (const threadId of ["mine", "other"]) await Effect.runPromise(store.load(threadId))
    await world.closeAll()
    return count
  }

  it("[D3] keeps what is owned here, however little it may remember", async () => {
    expect(await readings(1, false)).toBe(0)
  })

  it("[D3] forgets what nobody here owns when it would remember too much", async () => {
    expect(await readings(1, true)).toBeGreaterThanOrEqual(20)
  })

  it("[D3] keeps what nobody here owns when there is room", async () => {
    expect(await readings(1_000_000, true)).toBe(0)
  })
})

describe("a signal", () => {
  it("[D3] to a thread that this process does not know reads one commit of it, however many there are", async () => {
    const first = await world.open()
    const owner = ownerOf("old")
    await Effect.runPromise(first.claim({ threadId: "old", owner: "one", ttl: 60_000 }))
    await Effect.runPromise(first.commit(starting(owner)))
    for (let revision = 1; revision <= 100; revision++)
      await Effect.runPromise(first.commit(saying({ owner, revision })))
    const question = asking({ owner, revision: 101 })
    await Effect.runPromise(first.commit(question))
    const statements: Array<string> = []
    const second = await world.open({ driver: watched({ before: (sql) => void statements.push(sql) }) })
    const [ticket] = question.tickets
    const receipt = await Effect.runPromise(
      second.signal({
        id: "answer",
        threadId: "old",
        runId: owner.runId,
        at: 2_000,
        body: {
          _tag: "Answer",
          answer: { ticketId: ticket?.id ?? "", answer: { _tag: "Allow" }, approver: "bob", at: 2_000 }
        }
      })
    )
    expect(receipt.decision).toEqual({ _tag: "Allowed", by: ["bob"] })
    expect(
      statements
        .filter((sql) => sql.includes("FROM thread_commit WHERE thread = ?"))
        .map((sql) => sql.includes("LIMIT 1"))
    ).toEqual([true])
    // The owner, in another process, has it at its next look.
    expect((await Effect.runPromise(first.load("old")))?.inbox.map((signal) => signal.id)).toEqual(["answer"])
  })
})

describe("a long history", () => {
  /** A thread of 1,800 commits with signals between them, written by somebody else. */
  const written = async (): Promise<ReturnType<typeof ownerOf>> => {
    const first = await world.open()
    const owner = ownerOf("long")
    await Effect.runPromise(first.claim({ threadId: "long", owner: "one", ttl: 60_000 }))
    const steer = (number: number) =>
      first.signal({
        id: `steer-${number}`,
        threadId: "long",
        runId: owner.runId,
        at: number,
        body: { _tag: "Steer", by: "ada", content: [], interrupt: false }
      })
    // Everything that is asked for in one turn is written in its order: signals stand between the commits.
    const acts: Array<Effect.Effect<unknown, unknown>> = [first.commit(starting(owner))]
    for (let revision = 1; revision < 1_800; revision++) {
      if (revision % 3 === 1) acts.push(steer(revision))
      const consumed = revision % 3 === 2 && revision > 900 ? [`steer-${revision - 1}`] : []
      acts.push(first.commit(saying({ owner, revision }, { consumed })))
    }
    await Promise.all(acts.map((act) => Effect.runPromise(act)))
    return owner
  }

  const seen = async (store: Awaited<ReturnType<Scratch["open"]>>): Promise<unknown> => {
    const view = await Effect.runPromise(store.load("long"))
    return [view?.revision, view?.messages.length, view?.inbox.length, view?.inbox.at(0)?.id, view?.inbox.at(-1)?.id]
  }

  it("[D3] is the same for everybody who loads it at the same time, while it is written on", async () => {
    const owner = await written()
    const writer = await world.open()
    const reader = await world.open()
    const loads = [seen(reader), seen(reader), seen(writer)]
    await Effect.runPromise(reader.commit(saying({ owner, revision: 1_800 })))
    await Effect.runPromise(writer.commit(saying({ owner, revision: 1_801 })))
    const results = await Promise.all([...loads, seen(reader), seen(writer)])
    // 600 signals, of which those behind revision 900 were acted on.
    const of = (revision: unknown) => [revision, revision, 300, "steer-1", "steer-898"]
    for (const result of results) expect(result).toEqual(of((result as ReadonlyArray<unknown>)[0]))
    expect(results.slice(3)).toEqual([of(1_802), of(1_802)])
  })

  it("[D3] leaves turns to others while it is read", async () => {
    await written()
    const store = await world.open()
    let turns = 0
    const count = (): void => {
      turns++
      immediate = setImmediate(count)
    }
    let immediate = setImmediate(count)
    await seen(store)
    clearImmediate(immediate)
    expect(turns).toBeGreaterThanOrEqual(3)
  })
})
