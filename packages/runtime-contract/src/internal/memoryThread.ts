/**
 * One thread of the memory store: its log, what the log adds up to, and what is due of it.
 */
import { decide, TicketRefused, type TicketState, type TicketVerdict } from "../ResumeTicket.js"
import { factsOf } from "../RunEvent.js"
import * as StoreRules from "../StoreRules.js"
import type { CommitReceipt, ThreadCommit } from "../ThreadCommit.js"
import { ThreadFold } from "../ThreadFold.js"
import type { DueItem, NumberedFact, Signal, SignalReceipt } from "../ThreadStore.js"

/** Also the head that commits are checked against: what is asked for at each commit is not made anew for it. */
export class MemoryThread implements StoreRules.ThreadHead {
  readonly fold: ThreadFold
  ownership: StoreRules.Ownership
  /** The commit behind each revision, and the number of its first fact: a receipt is made of these when it is asked for. */
  readonly log: Array<ThreadCommit> = []
  readonly firstFacts: Array<number> = []
  /** Where each commit stands in the log, by its id. */
  readonly #places = new Map<string, number>()
  #lastRun: string | undefined
  /** Those before the last: most threads have none. */
  #earlierRuns: Set<string> | undefined
  /** Made for the first signal: most threads get none. */
  signals: Map<string, SignalReceipt> | undefined
  listeners: ReadonlyArray<() => void> | undefined
  /** Of the store; brought up to date before a commit is checked. */
  sharedRevision = 0

  /** `deleted` is the thread of this name that was there before: its epochs and listeners go on. */
  constructor(threadId: string, deleted?: MemoryThread) {
    this.fold = new ThreadFold(threadId)
    this.ownership =
      deleted === undefined ? StoreRules.unowned : { epoch: deleted.ownership.epoch, owner: undefined, leaseUntil: 0 }
    this.listeners = deleted?.listeners
  }

  get revision(): number {
    return this.fold.revision
  }

  get run(): StoreRules.ThreadHead["run"] {
    return this.fold.run
  }

  get disposition(): StoreRules.ThreadHead["disposition"] {
    return this.fold.disposition
  }

  get step(): number {
    return this.fold.step
  }

  get batch(): StoreRules.ThreadHead["batch"] {
    return this.fold.batch
  }

  hasRun(runId: string): boolean {
    return this.#lastRun === runId || (this.#earlierRuns !== undefined && this.#earlierRuns.has(runId))
  }

  startRun(runId: string): void {
    if (this.#lastRun !== undefined) (this.#earlierRuns ??= new Set()).add(this.#lastRun)
    this.#lastRun = runId
  }

  hasSignal(id: string): boolean {
    return this.fold.inbox.has(id)
  }

  ticket(id: string): TicketState | undefined {
    return this.fold.tickets.get(id)
  }

  hasOpenOutcome(operationId: string): boolean {
    return this.fold.openOutcomes.has(operationId)
  }

  append(commit: ThreadCommit): CommitReceipt {
    this.firstFacts.push(this.fold.nextFact)
    this.#places.set(commit.id, this.log.length)
    this.log.push(commit)
    this.fold.apply(commit)
    return this.#receiptAt(this.log.length - 1, commit)
  }

  /** The receipt of a commit that is here already, wherever it expects to stand now. */
  receiptOf(id: string): CommitReceipt | undefined {
    const index = this.#places.get(id)
    const known = index === undefined ? undefined : this.log[index]
    return index === undefined || known === undefined ? undefined : this.#receiptAt(index, known)
  }

  #receiptAt(index: number, { id }: ThreadCommit): CommitReceipt {
    const firstFact = this.firstFacts[index] ?? 1
    const next = this.firstFacts[index + 1] ?? this.fold.nextFact
    return { commitId: id, revision: index + 1, firstFact, factCount: next - firstFact }
  }

  /** Finds the first commit by bisection: reading the end of a long thread does not cost its length. */
  factsFrom(from: number, limit: number): ReadonlyArray<NumberedFact> {
    let low = 0
    let high = this.log.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.firstFacts[middle + 1] ?? this.fold.nextFact) <= from) low = middle + 1
      else high = middle
    }
    const found: Array<NumberedFact> = []
    for (let index = low; index < this.log.length && found.length < limit; index++) {
      const commit = this.log[index]
      for (const [offset, fact] of commit === undefined ? [] : factsOf(commit).entries()) {
        const number = (this.firstFacts[index] ?? 1) + offset
        if (number >= from && found.length < limit) found.push({ number, fact })
      }
    }
    return found
  }
}

export const answerVerdict = (thread: MemoryThread, signal: Signal): TicketVerdict | TicketRefused | undefined => {
  if (signal.body._tag !== "Answer") return undefined
  const { answer } = signal.body
  const state = thread.fold.tickets.get(answer.ticketId)
  if (state === undefined) return new TicketRefused({ ticketId: answer.ticketId, reason: "NotWaiting" })
  const verdict = decide(state, answer)
  return verdict._tag === "Refused" ? new TicketRefused({ ticketId: answer.ticketId, ...verdict }) : verdict
}

export const dueOf = (thread: MemoryThread, now: number): ReadonlyArray<DueItem> => {
  const { disposition, run, threadId } = thread.fold
  if (run === undefined || disposition === undefined) return []
  const { runId } = run
  const items: Array<DueItem> = []
  const { owner, leaseUntil } = thread.ownership
  const isFree = owner === undefined || leaseUntil <= now
  if (disposition._tag === "Running" && isFree) items.push({ _tag: "LeaseExpired", threadId, runId, at: leaseUntil })
  for (const { ticket, decision } of thread.fold.tickets.values()) {
    if (decision !== undefined) continue
    const about = { threadId, runId, ticketId: ticket.id }
    if (ticket.deadline !== undefined && ticket.deadline <= now)
      items.push({ _tag: "DeadlinePassed", ...about, at: ticket.deadline })
    if (ticket.dueAt !== undefined && ticket.dueAt <= now)
      items.push({ _tag: "ScheduleDue", ...about, at: ticket.dueAt })
  }
  const [oldest] = thread.fold.inbox.values()
  if (oldest !== undefined && isFree) items.push({ _tag: "SignalUnread", threadId, runId, at: oldest.at })
  return items
}
