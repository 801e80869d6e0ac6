/**
 * Keeps threads in one SQLite file: the embedded default of the store port.
 *
 * Guarantees: acknowledged is on disk (WAL, `synchronous=FULL`); every check is made inside the transaction that writes;
 * commits of different threads that wait together share one transaction, and a refused one disturbs none of them; any
 * number of processes on one machine may share the file; no thread is taken or kept in a file that was moved away.
 * Does not work over a network file system, where SQLite's locks do not hold, and does not encrypt.
 */
import type {
  Json,
  ResumeTicket,
  StoreError,
  ThreadCommit,
  ThreadStore,
  TicketRefused
} from "@toolwright/runtime-contract"
import { encodeCommit, encodeSignal } from "@toolwright/runtime-contract/records"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { busyRetry } from "./internal/busyRetry.js"
import { CommitWriter } from "./internal/commitWriter.js"
import type { KnownThread } from "./internal/knownThread.js"
import { KnownThreads } from "./internal/knownThreads.js"
import { openDatabase } from "./internal/openDatabase.js"
import { OwnershipWriter } from "./internal/ownershipWriter.js"
import { sameFile } from "./internal/sameFile.js"
import { SignalWriter } from "./internal/signalWriter.js"
import { closedFailure, storeFailure, unwritable } from "./internal/storeFailure.js"
import { ThreadReader, type TailRequest } from "./internal/threadReader.js"
import type { ThreadReading } from "./internal/threadReading.js"
import { threadSchema } from "./internal/threadSchema.js"
import { threadTables } from "./internal/threadTables.js"
import { readTransaction } from "./internal/transaction.js"
import { type Waiting, type WriteFailure, WriteQueue } from "./internal/writeQueue.js"
import type { Answer } from "./internal/writing.js"
import { verify } from "./SchemaLedger.js"
import type { SqliteConnection, SqliteDriver } from "./SqliteDriver.js"

export interface SqliteThreadStoreOptions {
  /** The file. It is created, readable for its owner only, where there is none; its folder is not. */
  readonly path: string
  /** Default: `node:sqlite` where there is one, else `better-sqlite3`. */
  readonly driver?: SqliteDriver
  /** The clock of leases, in milliseconds. Default `Date.now`. */
  readonly now?: () => number
  /** Milliseconds to wait while another process writes. Default 5,000. */
  readonly patience?: number
  /**
   * Characters of history to remember of threads that nobody in this process owns, so that they are not read again.
   * Default 128 Mi.
   */
  readonly memory?: number
}

/** Commits of a long history that are read in one turn of the event loop. */
const portion = 500

interface Request<A, E> {
  readonly threadId: string
  readonly needsHistory?: boolean
  /** What is written down, made before the transaction. */
  readonly encode?: () => string
  /** Takes or keeps a thread: then the file must still be the one that others see. */
  readonly isOwning?: true
  /** Inside the transaction. */
  readonly write: (text: string) => Answer<A, E>
  /** When it is durable and was not refused. */
  readonly told?: () => void
}

type Resume<A, E> = (effect: Effect.Effect<A, E | StoreError>) => void

/** One request on its way through the queue. */
class Ask<A, E> implements Waiting {
  readonly #request: Request<A, E>
  readonly #text: string
  readonly #resume: Resume<A, E>
  readonly #path: string
  #answer: Answer<A, E> | undefined

  /** Throws what encoding throws. */
  constructor(given: { readonly request: Request<A, E>; readonly resume: Resume<A, E>; readonly path: string }) {
    this.#request = given.request
    this.#text = given.request.encode?.() ?? ""
    this.#resume = given.resume
    this.#path = given.path
  }

  write(): void {
    this.#answer = this.#request.write(this.#text)
  }

  durable(): void {
    const answer = this.#answer
    if (answer === undefined) return
    if (!answer.ok) return this.#resume(Effect.fail(answer.error))
    this.#request.told?.()
    this.#resume(Effect.succeed(answer.value))
  }

  failed({ error, stage }: WriteFailure): void {
    const at = { threadId: this.#request.threadId, path: this.#path, isCommit: stage === "Commit" }
    this.#resume(Effect.fail(storeFailure(error, at)))
  }
}

export class SqliteThreadStore implements ThreadStore.ThreadStore {
  readonly #path: string
  readonly #patience: number
  readonly #connection: SqliteConnection
  readonly #known: KnownThreads
  readonly #queue: WriteQueue
  readonly #reader: ThreadReader
  readonly #commits: CommitWriter
  readonly #ownership: OwnershipWriter
  readonly #signals: SignalWriter
  readonly #checkFile: () => void
  readonly #listeners = new Map<string, Set<() => void>>()
  #isClosed = false
  #isDisconnected = false
  /** The file's version was read in this turn of the event loop. */
  #hasLooked = false

  /** Use `open` or `scoped`. The connection's tables are those of the newest version. */
  constructor(options: SqliteThreadStoreOptions & { readonly connection: SqliteConnection }) {
    const { connection } = options
    this.#path = options.path
    this.#patience = options.patience ?? 5_000
    this.#connection = connection
    this.#checkFile = sameFile(options.path)
    const tables = threadTables(connection)
    const now = options.now ?? Date.now
    const known = new KnownThreads({
      connection,
      tables,
      now,
      budget: options.memory ?? 128 * 1024 * 1024,
      verifySchema: () => verify(connection, threadSchema)
    })
    const writing = { tables, known, now }
    this.#known = known
    this.#reader = new ThreadReader(writing)
    this.#commits = new CommitWriter(writing)
    this.#ownership = new OwnershipWriter(writing)
    this.#signals = new SignalWriter(writing)
    this.#queue = new WriteQueue({
      connection,
      patience: this.#patience,
      begun: () => known.observe(),
      settled: () => known.settled(),
      undone: () => known.undone()
    })
  }

  readonly commit = (commit: ThreadCommit.ThreadCommit): Effect.Effect<ThreadCommit.CommitReceipt, StoreError> =>
    this.#write({
      threadId: commit.threadId,
      needsHistory: true,
      encode: () => encodeCommit(commit),
      write: (text) => this.#commits.write(commit, text)
    })

  readonly load = (threadId: string): Effect.Effect<ThreadStore.ThreadView | undefined, StoreError> =>
    Effect.suspend(() => {
      const remembered = this.#remembered(threadId)
      if (remembered !== undefined) return Effect.succeed(viewOf(remembered))
      return Effect.andThen(
        this.#warm(threadId),
        this.#read(threadId, () => viewOf(this.#known.find(threadId)))
      )
    })

  readonly tail = (request: TailRequest): Effect.Effect<ReadonlyArray<ThreadStore.NumberedFact>, StoreError> =>
    this.#read(request.threadId, () => this.#reader.tail(request))

  readonly claim = (request: ThreadStore.ClaimRequest): Effect.Effect<ThreadStore.Lease, StoreError> =>
    this.#write({ threadId: request.threadId, isOwning: true, write: () => this.#ownership.claim(request) })

  readonly renew = (lease: ThreadStore.Lease, ttl: number): Effect.Effect<ThreadStore.Lease, StoreError> =>
    this.#write({ threadId: lease.threadId, isOwning: true, write: () => this.#ownership.renew(lease, ttl) })

  readonly release = (lease: ThreadStore.Lease): Effect.Effect<void, StoreError> =>
    this.#write({ threadId: lease.threadId, write: () => this.#ownership.release(lease) })

  readonly signal = (
    signal: ThreadStore.Signal
  ): Effect.Effect<ThreadStore.SignalReceipt, StoreError | TicketRefused> =>
    this.#write({
      threadId: signal.threadId,
      // Which outcomes are open, only the history tells.
      needsHistory: signal.body._tag === "Resolve",
      encode: () => encodeSignal(signal),
      write: (text) => this.#signals.write(signal, text),
      told: () => this.#tell(signal.threadId)
    })

  readonly inbox = (threadId: string): Effect.Effect<ReadonlyArray<ThreadStore.Signal>, StoreError> =>
    Effect.suspend(() => {
      const remembered = this.#remembered(threadId)?.ready
      if (remembered !== undefined) return Effect.succeed([...remembered.inbox.values()])
      return this.#read(threadId, () => this.#reader.inbox(threadId))
    })

  readonly ticket = (ticketId: string): Effect.Effect<ResumeTicket.TicketState | undefined, StoreError> =>
    this.#read("", () => this.#reader.ticket(ticketId))

  readonly due = (now: number, limit: number): Effect.Effect<ReadonlyArray<ThreadStore.DueItem>, StoreError> =>
    this.#read("", () => this.#reader.due(now, limit))

  readonly list = (
    request: ThreadStore.ListRequest
  ): Effect.Effect<ReadonlyArray<ThreadStore.ThreadSummary>, StoreError> =>
    this.#read("", () => this.#reader.list(request))

  readonly delete = (threadId: string): Effect.Effect<void, StoreError> =>
    this.#write({ threadId, write: () => this.#ownership.remove(threadId) })

  readonly shared = (): Effect.Effect<
    { readonly revision: number; readonly state: ReadonlyMap<string, Json.Json> },
    StoreError
  > => this.#read("", () => this.#reader.shared())

  readonly subscribe = (threadId: string, listener: () => void): (() => void) => {
    const listeners = this.#listeners.get(threadId) ?? new Set()
    this.#listeners.set(threadId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(threadId) === listeners) this.#listeners.delete(threadId)
    }
  }

  /** Writes what waits, then closes the file. Whatever is asked afterwards fails with `Unavailable`. */
  readonly close: Effect.Effect<void> = Effect.callback((resume) => {
    this.#isClosed = true
    this.#queue.whenIdle(() => {
      this.#disconnect()
      resume(Effect.void)
    })
  })

  #disconnect(): void {
    if (this.#isDisconnected) return
    this.#isDisconnected = true
    this.#connection.close()
  }

  #tell(threadId: string): void {
    for (const listener of this.#listeners.get(threadId) ?? []) listener()
  }

  #write<A, E>(request: Request<A, E>): Effect.Effect<A, E | StoreError> {
    const { threadId } = request
    // One Effect and no more: this is the path of every commit.
    return Effect.callback((resume) => {
      if (request.needsHistory === true && !this.#known.isReady(threadId)) {
        // A long history is read in turns before the transaction that needs it, not inside it.
        return resume(Effect.andThen(this.#warm(threadId), this.#write({ ...request, needsHistory: false })))
      }
      if (this.#isClosed) return resume(Effect.fail(closedFailure({ threadId, path: this.#path })))
      const moved = request.isOwning === true ? this.#whyMoved(threadId) : undefined
      if (moved !== undefined) return resume(Effect.fail(moved))
      try {
        return this.#queue.submit(new Ask({ request, resume, path: this.#path }))
      } catch (error) {
        return resume(Effect.fail(unwritable(threadId, error)))
      }
    })
  }

  #whyMoved(threadId: string): StoreError | undefined {
    try {
      this.#checkFile()
      return undefined
    } catch (error) {
      return storeFailure(error, { threadId, path: this.#path })
    }
  }

  /**
   * The thread as it is remembered, where nobody else has written since: one look at the file's version in each turn of
   * the event loop, and no transaction. Whatever stands in the way is told by the transaction that is made then.
   */
  #remembered(threadId: string): KnownThread | undefined {
    if (this.#isClosed) return undefined
    try {
      if (!this.#hasLooked) {
        this.#known.observe()
        this.#hasLooked = true
        setImmediate(this.#lookAgain)
      }
      return this.#known.verified(threadId)
    } catch {
      return undefined
    }
  }

  readonly #lookAgain = (): void => {
    this.#hasLooked = false
  }

  /** One read transaction. */
  #read<A>(threadId: string, read: () => A): Effect.Effect<A, StoreError> {
    return Effect.suspend(() => {
      if (this.#isClosed) return Effect.fail(closedFailure({ threadId, path: this.#path }))
      const attempt = (): A => {
        try {
          const value = readTransaction(this.#connection, () => {
            this.#known.observe()
            return read()
          })
          this.#known.settled()
          return value
        } catch (error) {
          this.#known.undone()
          throw error
        }
      }
      return Effect.mapError(busyRetry(attempt, this.#patience), (error) =>
        storeFailure(error, { threadId, path: this.#path })
      )
    })
  }

  /** Reads a history of which nothing is known here, a portion a turn, so that other work goes on. */
  #warm(threadId: string): Effect.Effect<void, StoreError> {
    return Effect.flatMap(
      this.#read(threadId, () => {
        const thread = this.#known.find(threadId)
        return thread?.isUnread === true ? thread.reading() : undefined
      }),
      (reading) => (reading === undefined ? Effect.void : this.#continue(reading))
    )
  }

  #continue(reading: ThreadReading): Effect.Effect<void, StoreError> {
    const { threadId, key } = reading.goal
    return Effect.flatMap(
      this.#read(threadId, () => {
        const thread = this.#known.find(threadId)
        // Deleted, perhaps written anew, or read by somebody else in the meantime.
        if (thread?.key !== key || !thread.isUnread) return true
        if (!reading.advance(portion)) return false
        thread.adopt(reading)
        return true
      }),
      (isDone) => (isDone ? Effect.void : Effect.andThen(turn, this.#continue(reading)))
    )
  }
}

const viewOf = (thread: KnownThread | undefined): ThreadStore.ThreadView | undefined =>
  thread === undefined || thread.revision === 0 ? undefined : thread.fold.view(thread.ownership.epoch)

/** Opens or creates the file and brings its tables to the newest version. */
export const open = (options: SqliteThreadStoreOptions): Effect.Effect<SqliteThreadStore, StoreError> =>
  Effect.mapError(
    busyRetry(
      () => new SqliteThreadStore({ ...options, connection: openDatabase(options) }),
      options.patience ?? 5_000
    ),
    (error) => storeFailure(error, { threadId: "", path: options.path })
  )

/** `open`, closed with its scope. */
export const scoped = (options: SqliteThreadStoreOptions): Effect.Effect<SqliteThreadStore, StoreError, Scope.Scope> =>
  Effect.acquireRelease(open(options), (store) => store.close)

/** The next turn of the event loop. */
const turn: Effect.Effect<void> = Effect.callback((resume) => {
  setImmediate(() => resume(Effect.void))
})
