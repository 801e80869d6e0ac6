/**
 * One thread of the memory store: its log, what the log adds up to, and what is due of it.
 */
import { decide, TicketRefused, type TicketState, type TicketVerdict } from "../ResumeTicket.js"
import { factsOf } from "../RunEvent.js"
import * as StoreRules from "../StoreRules.js"
import type { CommitReceipt, ThreadCommit } from "../ThreadCommit.js"
import { ThreadFold } from "../ThreadFold.js"
import type { DueItem, NumberedFact, Signal, SignalReceipt } from "../ThreadStore.js"

interface Logged {
  readonly commit: ThreadCommit
  readonly receipt: CommitReceipt
}

export class MemoryThread {
  readonly fold: ThreadFold
  ownership: StoreRules.Ownership
  readonly log: Array<Logged> = []
  readonly byId = new Map<string, CommitReceipt>()
  readonly runs = new Set<string>()
  /** Made for the first signal: most threads get none. */
  signals: Map<string, SignalReceipt> | undefined
  readonly listeners: Set<() => void>

  /** `deleted` is the thread of this name that was there before: its epochs and listeners go on. */
  constructor(threadId: string, deleted?: MemoryThread) {
    this.fold = new ThreadFold(threadId)
    this.ownership = { ...StoreRules.unowned, epoch: deleted?.ownership.epoch ?? 0 }
    this.listeners = deleted?.listeners ?? new Set()
  }

  /** Finds the first commit by bisection: reading the end of a long thread does not cost its length. */
  factsFrom(from: number, limit: number): ReadonlyArray<NumberedFact> {
    let low = 0
    let high = this.log.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const receipt = this.log[middle]?.receipt
      if (receipt !== undefined && receipt.firstFact + receipt.factCount <= from) low = middle + 1
      else high = middle
    }
    const found: Array<NumberedFact> = []
    for (const { commit, receipt } of from >= this.fold.nextFact ? [] : this.log.slice(low)) {
      if (found.length >= limit) break
      for (const [offset, fact] of factsOf(commit).entries()) {
        const number = receipt.firstFact + offset
        if (number >= from && found.length < limit) found.push({ number, fact })
      }
    }
    return found
  }

  readonly #hasRun = (runId: string): boolean => this.runs.has(runId)
  readonly #hasSignal = (id: string): boolean => this.fold.inbox.has(id)
  readonly #ticket = (id: string): TicketState | undefined => this.fold.tickets.get(id)
  readonly #hasOpenOutcome = (operationId: string): boolean => this.fold.openOutcomes.has(operationId)

  head(sharedRevision: number): StoreRules.ThreadHead {
    const { fold } = this
    return {
      revision: fold.revision,
      run: fold.run,
      disposition: fold.disposition,
      step: fold.step,
      batch: fold.batch,
      hasRun: this.#hasRun,
      hasSignal: this.#hasSignal,
      ticket: this.#ticket,
      hasOpenOutcome: this.#hasOpenOutcome,
      sharedRevision
    }
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
