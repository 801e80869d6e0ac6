/**
 * What this process remembers of threads, so that a commit never reads a history again.
 *
 * Guarantees: inside a transaction, what is given out is what the database holds: SQLite's `data_version` tells when
 * another connection has written, and then each thread is compared with its row before it is used, and the tables with
 * their version if they were touched. What a transaction changed here is forgotten with it when it is undone.
 * Does not grow without bound: of the threads that nobody here owns, those used longest ago are forgotten first, and
 * read again when they are needed.
 */
import { StoreRules } from "@toolwright/runtime-contract"
import type { SqliteConnection, SqliteStatement } from "../SqliteDriver.js"
import { KnownThread } from "./knownThread.js"
import { numberIn } from "./storedRecord.js"
import type { ThreadTables } from "./threadTables.js"

export class KnownThreads {
  readonly #tables: ThreadTables
  readonly #now: () => number
  readonly #dataVersion: SqliteStatement
  /** Changes with every change of a table, and with the version of our own. */
  readonly #schema: SqliteStatement
  readonly #verifySchema: () => void
  readonly #budget: number
  readonly #threads = new Map<string, KnownThread>()
  /** What the present transaction uses. */
  #touched: Array<KnownThread> = []
  #transaction = 0
  #weight = 0
  #seenVersion = -1
  #seenSchema: string
  #generation = 0
  #floorsSeen: { readonly key: number; readonly epoch: number } | undefined

  /** `budget`: characters of history that may be remembered. `verifySchema` throws when the tables are no longer ours. */
  constructor(given: {
    readonly connection: SqliteConnection
    readonly tables: ThreadTables
    readonly budget: number
    readonly now: () => number
    readonly verifySchema: () => void
  }) {
    this.#tables = given.tables
    this.#now = given.now
    this.#budget = given.budget
    this.#dataVersion = given.connection.prepare("PRAGMA data_version")
    this.#schema = given.connection.prepare(
      `SELECT schema_version AS tables, (SELECT version FROM toolwright_schema WHERE component = 'thread') AS version
       FROM pragma_schema_version`
    )
    this.#verifySchema = given.verifySchema
    this.#seenSchema = this.#schemaNow()
  }

  /** To be called first in every transaction, and before `verified`: notices what other connections wrote. */
  observe(): void {
    this.#transaction++
    const version = numberIn(this.#dataVersion.get() ?? {}, "data_version")
    if (version === this.#seenVersion) return
    const schema = this.#schemaNow()
    // Before it counts as seen: what is refused now is refused again.
    if (schema !== this.#seenSchema) this.#verifySchema()
    this.#seenSchema = schema
    this.#seenVersion = version
    this.#generation++
    this.#floorsSeen = undefined
    this.#tables.snapshots.forget()
  }

  #schemaNow(): string {
    const row = this.#schema.get()
    return `${String(row?.["tables"])} ${String(row?.["version"])}`
  }

  /** The thread as the database has it; `undefined` for one that has no row. */
  find(id: string): KnownThread | undefined {
    const known = this.#threads.get(id)
    if (known?.verifiedAt === this.#generation) return this.#use(known)
    const row = this.#tables.heads.find(id)
    if (row === undefined) {
      this.forget(id)
      return undefined
    }
    if (known?.key === row.key) {
      known.verify(row, this.#generation)
      return this.#use(known)
    }
    return this.#add(new KnownThread({ id, row, tables: this.#tables, verifiedAt: this.#generation }))
  }

  /** Whether the thread's history is here, as far as one can tell without a transaction. */
  isReady(id: string): boolean {
    return this.#threads.get(id)?.ready !== undefined
  }

  /** A thread that is here whole and was compared with its row since another connection wrote. Asks nothing of the file. */
  verified(id: string): KnownThread | undefined {
    const known = this.#threads.get(id)
    return known?.verifiedAt === this.#generation && known.ready !== undefined ? known : undefined
  }

  /** Inserts a thread that has no row. */
  create(id: string, ownership: StoreRules.Ownership): KnownThread {
    const row = { key: this.#floors.key + 1, ownership, signals: 0, revision: 0 }
    this.#tables.heads.insert(id, row)
    this.#floorsSeen = { ...this.#floors, key: row.key }
    return this.#add(new KnownThread({ id, row, tables: this.#tables, verifiedAt: this.#generation }))
  }

  forget(id: string): void {
    const known = this.#threads.get(id)
    if (known === undefined) return
    this.#weight -= known.counted
    this.#threads.delete(id)
  }

  /** Who owns a thread without a row: nobody, under an epoch that no deleted thread had passed. */
  get unowned(): StoreRules.Ownership {
    return { ...StoreRules.unowned, epoch: this.#floors.epoch }
  }

  /** A thread was deleted: neither its key nor its epochs come again. */
  removed(thread: KnownThread): void {
    this.#tables.heads.raiseFloors(thread.key, thread.ownership.epoch)
    this.#floorsSeen = undefined
    this.forget(thread.id)
  }

  get #floors(): { readonly key: number; readonly epoch: number } {
    return (this.#floorsSeen ??= this.#tables.heads.floors())
  }

  /** The transaction is durable. */
  settled(): void {
    for (const thread of this.#touched) {
      if (this.#threads.get(thread.id) !== thread) continue
      this.#weight += thread.weight - thread.counted
      thread.counted = thread.weight
    }
    this.#touched = []
    if (this.#weight > this.#budget) this.#evict()
  }

  /** The transaction was undone: what was touched in it may say what never happened. */
  undone(): void {
    for (const thread of this.#touched) this.forget(thread.id)
    this.#touched = []
    this.#floorsSeen = undefined
    this.#tables.snapshots.forget()
  }

  #use(thread: KnownThread): KnownThread {
    if (thread.usedIn === this.#transaction) return thread
    thread.usedIn = this.#transaction
    this.#touched.push(thread)
    return thread
  }

  #add(thread: KnownThread): KnownThread {
    this.forget(thread.id)
    this.#threads.set(thread.id, thread)
    return this.#use(thread)
  }

  /**
   * Down to half of the budget at once: keeping an order at each use would cost more than it saves. A thread that is
   * owned here stays, however long it is: its owner holds the same messages, and would have them read again at each commit.
   */
  #evict(): void {
    const now = this.#now()
    for (const thread of [...this.#threads.values()].toSorted((left, right) => left.usedIn - right.usedIn)) {
      if (this.#weight <= this.#budget / 2) return
      const { epoch, leaseUntil } = thread.ownership
      const isHeld = thread.heldUnder === epoch && leaseUntil > now
      if (!isHeld && thread.usedIn !== this.#transaction) this.forget(thread.id)
    }
  }
}
