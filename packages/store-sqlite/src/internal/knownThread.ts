/**
 * One thread as this process remembers it, as of the last moment at which it was verified.
 *
 * Guarantees: its head is what the rules ask; its history is read on demand, from where the fold stands; a fold that was
 * half read is dropped.
 * Does not verify itself: `KnownThreads` does, once in each transaction that needs it.
 */
import {
  type ResumeTicket,
  type StoreRules,
  type ThreadCommit,
  ThreadFold,
  type ThreadStore
} from "@toolwright/runtime-contract"
import type { HeadRow } from "./headTable.js"
import { CommitIds } from "./commitIds.js"
import { type ReadingStart, ThreadReading } from "./threadReading.js"
import type { ThreadTables } from "./threadTables.js"

/** How many commits are read at once. */
const portion = 1_000

/** What a thread weighs, in characters, before anything of it was read. */
const bareWeight = 4_000

export class KnownThread implements StoreRules.ThreadHead {
  readonly id: string
  readonly key: number
  ownership: StoreRules.Ownership
  /** Sequence of the last signal. */
  signals: number
  verifiedAt: number
  /** About as many characters as the fold was made from. */
  weight = bareWeight
  /** The part of `weight` that stands in the budget. */
  counted = 0
  /** Number of the last transaction that used it. */
  usedIn = 0
  /** The epoch under which somebody in this process owns it. */
  heldUnder: number | undefined
  #revision: number
  #fold: ThreadFold | undefined
  #ids = new CommitIds()
  /** The last signal that the fold has seen. */
  #seen = 0
  #openTickets: Map<string, ResumeTicket.TicketState> | undefined
  readonly #tables: ThreadTables

  constructor(given: {
    readonly id: string
    readonly row: HeadRow
    readonly tables: ThreadTables
    readonly verifiedAt: number
  }) {
    this.id = given.id
    this.key = given.row.key
    this.ownership = given.row.ownership
    this.signals = given.row.signals
    this.#revision = given.row.revision
    this.verifiedAt = given.verifiedAt
    this.#tables = given.tables
    // Nothing was written yet: there is nothing to read.
    if (given.row.revision === 0) this.#fold = new ThreadFold(given.id)
  }

  get revision(): number {
    return this.#revision
  }
  get run(): ThreadFold["run"] {
    return this.fold.run
  }
  get disposition(): ThreadFold["disposition"] {
    return this.fold.disposition
  }
  get step(): number {
    return this.fold.step
  }
  get batch(): ThreadFold["batch"] {
    return this.fold.batch
  }
  get sharedRevision(): number {
    return this.#tables.shared.revision()
  }
  hasRun(id: string): boolean {
    return this.#tables.runs.has(this.key, id)
  }
  hasSignal(id: string): boolean {
    return this.fold.inbox.has(id)
  }
  ticket(id: string): ResumeTicket.TicketState | undefined {
    return this.fold.tickets.get(id)
  }
  hasOpenOutcome(operationId: string): boolean {
    return this.fold.openOutcomes.has(operationId)
  }

  /** The fold, if it is here and needs no reading. */
  get ready(): ThreadFold | undefined {
    return this.#fold !== undefined && this.#fold.revision === this.#revision && this.#seen === this.signals
      ? this.#fold
      : undefined
  }

  /** The fold; what is missing of it is read now. */
  get fold(): ThreadFold {
    const { ready } = this
    if (ready !== undefined) return ready
    const fold = this.#fold
    // One that is ahead of the database saw what was undone: it is read anew.
    const isBehind = fold !== undefined && fold.revision <= this.#revision && this.#seen <= this.signals
    const reading = this.#readingFrom(isBehind ? { fold, ids: this.#ids, sequence: this.#seen } : undefined)
    // A reading that fails half way must not leave its fold behind.
    this.#fold = undefined
    while (!reading.advance(portion));
    return this.adopt(reading)
  }

  /** The ids of all commits. */
  get ids(): CommitIds {
    // Reads what is missing, ids and all.
    void this.fold
    return this.#ids
  }

  /** The undecided ones, by id. */
  get openTickets(): Map<string, ResumeTicket.TicketState> {
    const { fold } = this
    this.#openTickets ??= new Map([...fold.tickets].filter(([, state]) => state.decision === undefined))
    return this.#openTickets
  }

  /** Whether nothing of the history is here. */
  get isUnread(): boolean {
    return this.#fold === undefined
  }

  /** A reading of the whole history into a fold of its own, which nobody else sees before it is adopted. */
  reading(): ThreadReading {
    return this.#readingFrom(undefined)
  }

  #readingFrom(from: ReadingStart | undefined): ThreadReading {
    const goal = { threadId: this.id, key: this.key, revision: this.#revision, signals: this.signals }
    return new ThreadReading({ tables: this.#tables, goal, ...(from === undefined ? {} : { from }) })
  }

  /** Takes over a finished reading. */
  adopt(reading: ThreadReading): ThreadFold {
    this.#fold = reading.fold
    this.#ids = reading.ids
    this.#seen = reading.goal.signals
    this.#openTickets = undefined
    this.weight += reading.weight
    return reading.fold
  }

  /** The thread's row was read again. */
  verify(row: HeadRow, verifiedAt: number): void {
    this.ownership = row.ownership
    this.signals = row.signals
    this.#revision = row.revision
    this.verifiedAt = verifiedAt
  }

  /** An admitted commit, whose text has so many characters. */
  apply(commit: ThreadCommit.ThreadCommit, characters: number): void {
    this.fold.apply(commit)
    this.#revision++
    this.#ids.add(commit.id, this.#revision)
    this.weight += characters
  }

  /** An accepted signal; for an answer, `ticket` is its ticket afterwards. A history that is not here is not fetched. */
  applySignal(signal: ThreadStore.Signal, ticket: ResumeTicket.TicketState | undefined): void {
    const { ready } = this
    this.signals++
    if (ready === undefined) return
    ready.applySignal(signal, ticket)
    this.#seen++
    if (ticket === undefined) return
    if (ticket.decision === undefined) this.#openTickets?.set(ticket.ticket.id, ticket)
    else this.#openTickets?.delete(ticket.ticket.id)
  }
}
