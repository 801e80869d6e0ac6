/**
 * Group commit: what waits together is written in one transaction, and told when that transaction is on disk.
 *
 * Guarantees: nobody is answered before COMMIT has returned; one request's failure never fails another; requests are
 * written in the order in which they came. A lone request waits for nothing but the turn of the event loop it is in.
 * Does not decide what a request writes, and does not hold the event loop while another process holds the lock.
 */
import type { SqliteConnection, SqliteStatement } from "../SqliteDriver.js"
import { failureOf } from "../SqliteDriver.js"
import { rollback } from "./transaction.js"

/** Why a request was not written. `stage` tells whether anything may be on disk: only after a failed `Commit`. */
export interface WriteFailure {
  readonly stage: "Begin" | "Write" | "Commit"
  readonly error: unknown
}

/** One request, from waiting to telling. */
export interface Waiting {
  /** Writes, inside the transaction. A throw undoes the transaction. May be called again after it was undone. */
  readonly write: () => void
  /** It is on disk. */
  readonly durable: () => void
  readonly failed: (failure: WriteFailure) => void
}

/** Requests of one transaction at most: bounds how long the event loop is held, at about ten microseconds each. */
const most = 1_024

export interface WriteQueueOptions {
  readonly connection: SqliteConnection
  /** Milliseconds to wait for another process's lock. */
  readonly patience: number
  readonly begun: () => void
  readonly settled: () => void
  readonly undone: () => void
}

export class WriteQueue {
  readonly #options: WriteQueueOptions
  readonly #begin: SqliteStatement
  readonly #commit: SqliteStatement
  #waiting: Array<Waiting> = []
  #isScheduled = false
  #isFlushing = false
  /** Since when the lock was refused, by the monotonic clock. */
  #refusedSince: number | undefined
  #idle: Array<() => void> = []

  constructor(options: WriteQueueOptions) {
    this.#options = options
    this.#begin = options.connection.prepare("BEGIN IMMEDIATE")
    this.#commit = options.connection.prepare("COMMIT")
  }

  /** A request cannot be withdrawn: whoever stops waiting for it must ask again to know. */
  submit(request: Waiting): void {
    this.#waiting.push(request)
    this.#schedule()
  }

  /** Calls back when nothing waits any more and everything was told. */
  whenIdle(listener: () => void): void {
    if (this.#waiting.length === 0 && !this.#isFlushing) listener()
    else this.#idle.push(listener)
  }

  #schedule(delay?: number): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    // After this turn's promises and input: all that is going to wait in this turn waits by then.
    if (delay === undefined) setImmediate(this.#flush)
    else setTimeout(this.#flush, delay)
  }

  readonly #flush = (): void => {
    this.#isScheduled = false
    this.#isFlushing = true
    const batch = this.#waiting.splice(0, most)
    const unwritten = batch.length === 0 ? [] : this.#write(batch)
    this.#isFlushing = false
    if (unwritten.length > 0) this.#waiting = [...unwritten, ...this.#waiting]
    if (this.#waiting.length > 0) {
      this.#schedule(unwritten.length === 0 ? undefined : pause())
      return
    }
    const idle = this.#idle
    this.#idle = []
    for (const listener of idle) listener()
  }

  /** Gives back what has to wait for another process. */
  #write(batch: ReadonlyArray<Waiting>): ReadonlyArray<Waiting> {
    const failure = this.#transaction(batch)
    if (failure === undefined) {
      for (const request of batch) request.durable()
      return []
    }
    if (failure.stage === "Begin" && failureOf(failure.error) === "Busy" && this.#hasPatience()) return batch
    if (failure.stage === "Write" && batch.length > 1) return this.#writeEach(batch)
    this.#refusedSince = undefined
    for (const request of batch) request.failed(failure)
    return []
  }

  /** One of them could not be written, and undid the others. Each alone, it fails alone. */
  #writeEach(batch: ReadonlyArray<Waiting>): ReadonlyArray<Waiting> {
    for (const [index, request] of batch.entries()) if (this.#write([request]).length > 0) return batch.slice(index)
    return []
  }

  #transaction(batch: ReadonlyArray<Waiting>): WriteFailure | undefined {
    let stage: WriteFailure["stage"] = "Begin"
    try {
      this.#begin.run()
      this.#refusedSince = undefined
      stage = "Write"
      this.#options.begun()
      for (const request of batch) request.write()
      stage = "Commit"
      this.#commit.run()
    } catch (error) {
      if (stage !== "Begin") {
        rollback(this.#options.connection)
        this.#options.undone()
      }
      return { stage, error }
    }
    this.#options.settled()
    return undefined
  }

  #hasPatience(): boolean {
    this.#refusedSince ??= performance.now()
    return performance.now() - this.#refusedSince < this.#options.patience
  }
}

/** Milliseconds until the lock is asked for again. Not the same for two processes, or they would keep meeting. */
const pause = (): number => 1 + Math.random() * 9
