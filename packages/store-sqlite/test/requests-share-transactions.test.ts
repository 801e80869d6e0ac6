import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { WriteQueue } from "../src/internal/writeQueue.js"
import type { SqliteConnection } from "../src/SqliteDriver.js"

/** What happened, in order: statements, writes and answers. */
let happened: Array<string>
/** Statements that fail, each once, with what they fail with; `after` so many times that they succeed. */
let failures: Array<readonly [statement: string, code: string, after?: number]>

beforeEach(() => {
  happened = []
  failures = []
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const execute = (sql: string): void => {
  const index = failures.findIndex(([statement]) => statement === sql)
  const [failure] = index === -1 ? [] : failures.splice(index, 1)
  if (failure !== undefined) {
    const [statement, code, after = 0] = failure
    if (after === 0) throw Object.assign(new Error("refused"), { code })
    failures.push([statement, code, after - 1])
  }
  happened.push(sql)
}

const connection: SqliteConnection = {
  exec: execute,
  prepare: (sql) => ({
    run: () => {
      execute(sql)
      return { changes: 0, lastInsertRowid: 0 }
    },
    get: () => undefined,
    all: () => []
  }),
  close: () => {}
}

const queueOf = (patience = 1_000): WriteQueue =>
  new WriteQueue({
    connection,
    patience,
    begun: () => {},
    settled: () => void happened.push("settled"),
    undone: () => void happened.push("undone")
  })

const submit = (queue: WriteQueue, name: string): void =>
  queue.submit({
    write: () => execute(`write ${name}`),
    durable: () => void happened.push(`told ${name}`),
    failed: ({ stage }) => void happened.push(`failed ${name} at ${stage}`)
  })

describe("requests that wait in one turn", () => {
  it("[D4] are written in their order in one transaction, and told behind its COMMIT", () => {
    const queue = queueOf()
    submit(queue, "a")
    submit(queue, "b")
    expect(happened).toEqual([])
    vi.runAllTimers()
    expect(happened).toEqual(["BEGIN IMMEDIATE", "write a", "write b", "COMMIT", "settled", "told a", "told b"])
  })

  it("[D4] are tried one by one when one of them cannot be written", () => {
    const queue = queueOf()
    failures.push(["write b", "SQLITE_FULL"], ["write b", "SQLITE_FULL"])
    for (const name of ["a", "b", "c"]) submit(queue, name)
    vi.runAllTimers()
    expect(happened.filter((one) => /told|failed|write/.test(one))).toEqual([
      "write a",
      "write a",
      "told a",
      "failed b at Write",
      "write c",
      "told c"
    ])
  })

  it("[D2] all fail at COMMIT when it fails, and none is tried again", () => {
    const queue = queueOf()
    failures.push(["COMMIT", "SQLITE_IOERR_FSYNC"])
    submit(queue, "a")
    submit(queue, "b")
    vi.runAllTimers()
    expect(happened).toEqual([
      "BEGIN IMMEDIATE",
      "write a",
      "write b",
      "ROLLBACK",
      "undone",
      "failed a at Commit",
      "failed b at Commit"
    ])
  })

  it("[D4] are at most a thousand or so, so that others have their turn", () => {
    const queue = queueOf()
    for (let index = 0; index < 3_000; index++) submit(queue, String(index))
    vi.runAllTimers()
    expect([
      happened.filter((one) => one === "COMMIT").length,
      happened.filter((one) => one.startsWith("told")).length
    ]).toEqual([3, 3_000])
  })
})

describe("a lock that another process holds", () => {
  it("[E2] is asked for again, together with what came meanwhile, in order", () => {
    const queue = queueOf()
    failures.push(["BEGIN IMMEDIATE", "SQLITE_BUSY"], ["BEGIN IMMEDIATE", "SQLITE_BUSY"])
    submit(queue, "a")
    submit(queue, "b")
    vi.advanceTimersToNextTimer()
    submit(queue, "c")
    vi.runAllTimers()
    expect(happened).toEqual([
      "BEGIN IMMEDIATE",
      "write a",
      "write b",
      "write c",
      "COMMIT",
      "settled",
      "told a",
      "told b",
      "told c"
    ])
  })

  it("[E2] changes no order, however many requests wait", () => {
    const queue = queueOf()
    failures.push(["BEGIN IMMEDIATE", "SQLITE_BUSY"])
    const names = Array.from({ length: 2_000 }, (_, index) => String(index))
    for (const name of names) submit(queue, name)
    vi.runAllTimers()
    expect(happened.filter((one) => one.startsWith("told"))).toEqual(names.map((name) => `told ${name}`))
  })

  it("[E2] between requests that are tried one by one loses none of them", () => {
    const queue = queueOf()
    for (const name of ["a", "b", "c"]) submit(queue, name)
    // The second write undoes all three; then each is tried alone, and for the second one somebody has the lock.
    failures.push(["write b", "SQLITE_FULL"], ["BEGIN IMMEDIATE", "SQLITE_BUSY", 2])
    vi.runAllTimers()
    expect(happened.filter((one) => /told|failed/.test(one))).toEqual(["told a", "told b", "told c"])
  })

  it("[E2] fails what waits when the patience is at an end, and what comes later has its own", () => {
    const queue = queueOf(50)
    for (let index = 0; index < 60; index++) failures.push(["BEGIN IMMEDIATE", "SQLITE_BUSY"])
    submit(queue, "a")
    vi.runAllTimers()
    failures = []
    submit(queue, "b")
    vi.runAllTimers()
    expect(happened).toEqual(["failed a at Begin", "BEGIN IMMEDIATE", "write b", "COMMIT", "settled", "told b"])
  })

  it("[L8] keeps the queue from being idle until everything is told", () => {
    const queue = queueOf()
    failures.push(["BEGIN IMMEDIATE", "SQLITE_BUSY"])
    submit(queue, "a")
    queue.whenIdle(() => void happened.push("idle"))
    vi.runAllTimers()
    queue.whenIdle(() => void happened.push("idle again"))
    expect(happened.slice(-3)).toEqual(["told a", "idle", "idle again"])
  })

  it("[L8] keeps the queue from being idle while requests are tried one by one", () => {
    const queue = queueOf()
    failures.push(["write b", "SQLITE_FULL"], ["write b", "SQLITE_FULL"])
    queue.submit({
      write: () => {},
      durable: () => queue.whenIdle(() => void happened.push("idle")),
      failed: () => {}
    })
    for (const name of ["b", "c"]) submit(queue, name)
    vi.runAllTimers()
    expect(happened.slice(-2)).toEqual(["told c", "idle"])
  })
})
