/**
 * Brings a fold from where it is to a known revision, by reading the commits and signals in between in their order.
 *
 * Guarantees: linear in what is read; a gap, a damaged record or a wrong number stops it with the position, and so does a
 * commit that could not have been admitted where it stands: records are checked together, not only one by one. Commits
 * never change, so a reading may pause between portions while others write.
 * Does not choose the target: that is the thread's head, read in a transaction.
 */
import {
  Json,
  ResumeTicket,
  StoreRules,
  type ThreadCommit,
  ThreadFold,
  type ThreadStore
} from "@toolwright/runtime-contract"
import { decodeCommit, decodeSignal, decodeTicket, encodeTicket } from "@toolwright/runtime-contract/records"
import type { SqliteRow } from "../SqliteDriver.js"
import { CommitIds } from "./commitIds.js"
import { checkedText, numberIn, UnreadableRecord } from "./storedRecord.js"
import type { ThreadTables } from "./threadTables.js"

/** How many signals are fetched at once. */
const portion = 500

/** Where a reading goes on from: a fold, the ids of its commits, and the last signal that it has seen. */
export interface ReadingStart {
  readonly fold: ThreadFold
  readonly ids: CommitIds
  readonly sequence: number
}

export interface ReadingGoal {
  readonly threadId: string
  readonly key: number
  readonly revision: number
  /** Sequence of the last signal. */
  readonly signals: number
}

/** A thread, as far as its log is searched. */
export interface LoggedThread {
  readonly id: string
  readonly key: number
  readonly revision: number
  readonly ids: CommitIds
}

/** Decodes one row of the log. */
export const commitIn = (tables: ThreadTables, row: SqliteRow, threadId: string): ThreadCommit.ThreadCommit => {
  const position = `thread_commit ${threadId} revision ${String(row["revision"])}`
  return decodeCommit(checkedText(row, { position }), {
    position,
    snapshot: (fingerprint) => tables.snapshots.read(fingerprint)
  })
}

/** The receipt of the commit with this id, if the thread has one. Its history is here, or is read now. */
export const receiptOf = (
  given: { readonly tables: ThreadTables; readonly thread: LoggedThread },
  commitId: string
): ThreadCommit.CommitReceipt | undefined => {
  const { tables, thread } = given
  const hint = thread.ids.revisionOf(commitId)
  if (hint === undefined) return undefined
  // Nearly always the commit that is hinted at; else another with the same hash stands there, and all are looked at.
  for (const [after, to] of [
    [hint - 1, hint],
    [0, thread.revision]
  ] as const)
    for (const row of tables.commits.range(thread.key, { after, to, limit: to - after }))
      if (commitIn(tables, row, thread.id).id === commitId)
        return {
          commitId,
          revision: numberIn(row, "revision"),
          firstFact: numberIn(row, "first_fact"),
          factCount: numberIn(row, "fact_count")
        }
  return undefined
}

export const ticketIn = (
  row: SqliteRow,
  where: { readonly column?: string; readonly checksum?: string; readonly position: string }
): ResumeTicket.TicketState => decodeTicket(checkedText(row, where), { position: where.position })

export class ThreadReading {
  readonly fold: ThreadFold
  readonly ids: CommitIds
  readonly goal: ReadingGoal
  /** Characters read so far: what the fold weighs. */
  weight = 0
  readonly #tables: ThreadTables
  #sequence: number
  #rows: ReadonlyArray<SqliteRow> = []
  #next = 0

  /** `from` is left as it is when the reading fails half way, and must not be used then. */
  constructor(given: { readonly tables: ThreadTables; readonly goal: ReadingGoal; readonly from?: ReadingStart }) {
    this.#tables = given.tables
    this.goal = given.goal
    this.fold = given.from?.fold ?? new ThreadFold(given.goal.threadId)
    this.ids = given.from?.ids ?? new CommitIds()
    this.#sequence = given.from?.sequence ?? 0
  }

  /** Reads at most `limit` more commits. True when the goal is reached. */
  advance(limit: number): boolean {
    const { goal, fold } = this
    const rows = this.#tables.commits.range(goal.key, { after: fold.revision, to: goal.revision, limit })
    for (const row of rows) {
      this.#applySignals()
      this.#apply(row)
    }
    if (fold.revision < goal.revision && rows.length > 0) return false
    this.#applySignals()
    if (fold.revision !== goal.revision) throw this.#gap("thread_commit", `revision ${fold.revision + 1}`)
    if (this.#sequence !== goal.signals) throw this.#gap("thread_signal", `sequence ${this.#sequence + 1}`)
    const damage = StoreRules.damageOf(fold)
    if (damage !== undefined)
      throw new UnreadableRecord(`thread ${goal.threadId} revision ${fold.revision}`, { expected: damage })
    return true
  }

  #apply(row: SqliteRow): void {
    const { fold, goal } = this
    if (numberIn(row, "revision") !== fold.revision + 1)
      throw this.#gap("thread_commit", `revision ${fold.revision + 1}`)
    if (numberIn(row, "first_fact") !== fold.nextFact)
      throw new UnreadableRecord(`thread_commit ${goal.threadId} revision ${fold.revision + 1}`, {
        expected: `its first fact is ${fold.nextFact}, not ${String(row["first_fact"])}`
      })
    const commit = commitIn(this.#tables, row, goal.threadId)
    this.#check(commit)
    fold.apply(commit)
    this.ids.add(commit.id, fold.revision)
    this.weight += String(row["record"]).length
  }

  #check(commit: ThreadCommit.ThreadCommit): void {
    const { fold, goal } = this
    const position = `thread_commit ${goal.threadId} revision ${fold.revision + 1}`
    if (commit.threadId !== goal.threadId)
      throw new UnreadableRecord(position, { expected: `a commit of its thread, not of ${commit.threadId}` })
    const { revision, run, disposition, step, batch } = fold
    const head = { revision, run, disposition, step, batch, ...this.#lookUps }
    const damage = StoreRules.damageOfCommit(head, commit)
    if (damage !== undefined) throw new UnreadableRecord(position, { expected: damage })
  }

  readonly #lookUps = {
    hasSignal: (id: string): boolean => this.fold.inbox.has(id),
    ticket: (id: string): ResumeTicket.TicketState | undefined => this.fold.tickets.get(id),
    hasOpenOutcome: (operationId: string): boolean => this.fold.openOutcomes.has(operationId)
  }

  /** The signals that were accepted at the revision where the fold is. */
  #applySignals(): void {
    for (
      let row = this.#peek();
      row !== undefined && numberIn(row, "revision") <= this.fold.revision;
      row = this.#peek()
    ) {
      const sequence = numberIn(row, "sequence")
      if (sequence !== this.#sequence + 1) throw this.#gap("thread_signal", `sequence ${this.#sequence + 1}`)
      const position = `thread_signal ${this.goal.threadId} sequence ${sequence}`
      const ticket =
        row["ticket"] === null ? undefined : ticketIn(row, { column: "ticket", checksum: "ticket_checksum", position })
      const signal = decodeSignal(checkedText(row, { position }), { position })
      if (!isDecidedSo(this.fold, { signal, ticket }))
        throw new UnreadableRecord(position, { expected: "a ticket is decided by its own rule, answer by answer" })
      this.fold.applySignal(signal, ticket)
      this.#sequence = sequence
      this.#next++
    }
  }

  #peek(): SqliteRow | undefined {
    if (this.#next === this.#rows.length && this.#sequence < this.goal.signals) {
      this.#rows = this.#tables.signals.range(this.goal.key, {
        after: this.#sequence,
        to: this.goal.signals,
        limit: portion
      })
      this.#next = 0
    }
    return this.#rows[this.#next]
  }

  #gap(table: string, missing: string): UnreadableRecord {
    return new UnreadableRecord(`${table} ${this.goal.threadId} ${missing}`, { expected: "the row is missing" })
  }
}

/** Is the ticket behind an answer what the answer makes of the one before it? A quorum is not written, it is given. */
const isDecidedSo = (
  fold: ThreadFold,
  {
    signal: { body },
    ticket
  }: { readonly signal: ThreadStore.Signal; readonly ticket: ResumeTicket.TicketState | undefined }
): boolean => {
  if (body._tag !== "Answer" || ticket === undefined) return (body._tag === "Answer") === (ticket !== undefined)
  const before = fold.tickets.get(body.answer.ticketId)
  if (before === undefined) return false
  const verdict = ResumeTicket.decide(before, body.answer)
  return verdict._tag !== "Refused" && canonical(verdict.state) === canonical(ticket)
}

/** Without regard to the order of fields, which is no part of the record. */
const canonical = (state: ResumeTicket.TicketState): string =>
  Json.canonicalJson(JSON.parse(encodeTicket(state)) as Json.Json)
