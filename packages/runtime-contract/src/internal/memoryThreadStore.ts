import * as Effect from "effect/Effect"
import type { Json } from "../Json.js"
import { TicketRefused, type TicketState } from "../ResumeTicket.js"
import * as StoreRules from "../StoreRules.js"
import { isSystemThread } from "../SystemThread.js"
import type { CommitReceipt, ThreadCommit } from "../ThreadCommit.js"
import {
  type ClaimRequest,
  type DueItem,
  type Lease,
  type ListRequest,
  type NumberedFact,
  type Signal,
  type SignalReceipt,
  type StoreError,
  type StoreErrorReason,
  stateKeyOf,
  type ThreadStore,
  type ThreadSummary,
  type ThreadView
} from "../ThreadStore.js"
import { answerVerdict, dueOf, MemoryThread } from "./memoryThread.js"

/**
 * Keeps threads in this process: the reference form of the store port. Nothing survives the process, everything else
 * holds: ownership, fencing, idempotent commits, tickets with one winner.
 */
export class MemoryThreadStore implements ThreadStore {
  readonly #threads = new Map<string, MemoryThread>()
  readonly #tickets = new Map<string, string>()
  readonly #shared = new Map<string, Json>()
  #sharedRevision = 0
  readonly #now: () => number

  /** `now` is the clock of leases; default `Date.now`. */
  constructor(options: { readonly now?: () => number } = {}) {
    this.#now = options.now ?? Date.now
  }

  readonly commit = (commit: ThreadCommit): Effect.Effect<CommitReceipt, StoreError> =>
    Effect.suspend(() => {
      const thread = this.#open(commit.threadId)
      const known = thread.receiptOf(commit.id)
      const { ownership } = thread
      thread.sharedRevision = this.#sharedRevision
      const refusal =
        known === undefined
          ? StoreRules.refusalOfCommit({ head: thread, ownership, now: this.#now() }, commit)
          : StoreRules.refusalOfRepeat(ownership, commit)
      if (refusal !== undefined) return fail(commit.threadId, refusal)
      if (known !== undefined) return Effect.succeed(known)
      if (commit.start !== undefined) this.#startRun(thread, commit.runId)
      if (commit.state.length > 0) this.#applyShared(commit)
      for (const ticket of commit.tickets) this.#tickets.set(ticket.id, commit.threadId)
      return Effect.succeed(thread.append(commit))
    })

  readonly load = (threadId: string): Effect.Effect<ThreadView | undefined, StoreError> =>
    Effect.sync(() => {
      const thread = this.#threads.get(threadId)
      return thread === undefined || thread.log.length === 0 ? undefined : thread.fold.view(thread.ownership.epoch)
    })

  readonly tail = (request: {
    readonly threadId: string
    readonly from: number
    readonly limit?: number
  }): Effect.Effect<ReadonlyArray<NumberedFact>, StoreError> =>
    Effect.sync(() => this.#threads.get(request.threadId)?.factsFrom(request.from, request.limit ?? 1_000) ?? [])

  readonly claim = (request: ClaimRequest): Effect.Effect<Lease, StoreError> =>
    Effect.suspend(() => {
      const thread = this.#open(request.threadId)
      return this.#own(thread, StoreRules.claim(thread.ownership, { ...request, now: this.#now() }))
    })

  readonly renew = (lease: Lease, ttl: number): Effect.Effect<Lease, StoreError> =>
    Effect.suspend(() => {
      const thread = this.#open(lease.threadId)
      return this.#own(thread, StoreRules.renew(thread.ownership, { lease, ttl, now: this.#now() }))
    })

  readonly release = (lease: Lease): Effect.Effect<void, StoreError> =>
    Effect.suspend(() => {
      const thread = this.#open(lease.threadId)
      const answer = StoreRules.release(thread.ownership, lease)
      if (!answer.ok) return fail(lease.threadId, answer.reason)
      thread.ownership = answer.ownership
      return Effect.void
    })

  readonly signal = (signal: Signal): Effect.Effect<SignalReceipt, StoreError | TicketRefused> =>
    Effect.suspend((): Effect.Effect<SignalReceipt, StoreError | TicketRefused> => {
      const thread = this.#threads.get(signal.threadId)
      if (thread === undefined || thread.log.length === 0) return fail(signal.threadId, { _tag: "NotFound" })
      const signals = (thread.signals ??= new Map<string, SignalReceipt>())
      const known = signals.get(signal.id)
      if (known !== undefined) return Effect.succeed(known)
      const refusal = StoreRules.refusalOfSignal(thread, signal)
      if (refusal !== undefined) return fail(signal.threadId, refusal)
      const verdict = answerVerdict(thread, signal)
      if (verdict instanceof TicketRefused) return Effect.fail(verdict)
      const after = verdict?._tag === "Counted" || verdict?._tag === "Decided" ? verdict : undefined
      const receipt: SignalReceipt = {
        signalId: signal.id,
        sequence: signals.size + 1,
        ...(after === undefined ? {} : { ticket: after.state }),
        ...(after?._tag === "Decided" ? { decision: after.decision } : {})
      }
      signals.set(signal.id, receipt)
      thread.fold.applySignal(signal, after?.state)
      for (const listener of thread.listeners ?? []) listener()
      return Effect.succeed(receipt)
    })

  readonly inbox = (threadId: string): Effect.Effect<ReadonlyArray<Signal>, StoreError> =>
    Effect.sync(() => [...(this.#threads.get(threadId)?.fold.inbox.values() ?? [])])

  readonly ticket = (ticketId: string): Effect.Effect<TicketState | undefined, StoreError> =>
    Effect.sync(() => {
      const threadId = this.#tickets.get(ticketId)
      return threadId === undefined ? undefined : this.#threads.get(threadId)?.fold.tickets.get(ticketId)
    })

  readonly due = (now: number, limit: number): Effect.Effect<ReadonlyArray<DueItem>, StoreError> =>
    Effect.sync(() =>
      [...this.#threads.values()]
        .flatMap((thread) => dueOf(thread, now))
        .toSorted((left, right) => left.at - right.at)
        .slice(0, limit)
    )

  readonly list = (request: ListRequest): Effect.Effect<ReadonlyArray<ThreadSummary>, StoreError> =>
    Effect.sync(() =>
      [...this.#threads.entries()]
        .filter(([id, thread]) => thread.log.length > 0 && (request.after === undefined || id > request.after))
        .filter(([id]) => request.system === true || !isSystemThread(id))
        .filter(([, { fold }]) => request.disposition === undefined || fold.disposition?._tag === request.disposition)
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .slice(0, Math.min(request.limit ?? 50, 1_000))
        .map(([threadId, thread]) => ({
          threadId,
          revision: thread.fold.revision,
          runId: thread.fold.run?.runId,
          disposition: thread.fold.disposition,
          updatedAt: thread.log.at(-1)?.at ?? 0
        }))
    )

  readonly delete = (threadId: string): Effect.Effect<void, StoreError> =>
    Effect.suspend(() => {
      const thread = this.#threads.get(threadId)
      if (thread === undefined) return Effect.void
      const refusal = StoreRules.refusalOfDelete(thread.ownership, this.#now())
      if (refusal !== undefined) return fail(threadId, refusal)
      for (const ticketId of thread.fold.tickets.keys()) this.#tickets.delete(ticketId)
      this.#threads.set(threadId, new MemoryThread(threadId, thread))
      return Effect.void
    })

  readonly shared = (): Effect.Effect<
    { readonly revision: number; readonly state: ReadonlyMap<string, Json> },
    StoreError
  > => Effect.sync(() => ({ revision: this.#sharedRevision, state: new Map(this.#shared) }))

  readonly isProcessLocal = true

  readonly subscribe = (threadId: string, listener: () => void): (() => void) => {
    const thread = this.#open(threadId)
    thread.listeners = thread.listeners === undefined ? [listener] : [...thread.listeners, listener]
    return () => {
      // The thread may have been deleted and made anew meanwhile.
      const now = this.#open(threadId)
      const at = now.listeners?.indexOf(listener) ?? -1
      if (at >= 0) now.listeners = now.listeners?.toSpliced(at, 1)
    }
  }

  #open(threadId: string): MemoryThread {
    const known = this.#threads.get(threadId)
    if (known !== undefined) return known
    const thread = new MemoryThread(threadId)
    this.#threads.set(threadId, thread)
    return thread
  }

  #own(thread: MemoryThread, answer: StoreRules.OwnershipAnswer): Effect.Effect<Lease, StoreError> {
    const { threadId } = thread.fold
    if (!answer.ok) return fail(threadId, answer.reason)
    const { epoch, leaseUntil, owner } = answer.ownership
    thread.ownership = answer.ownership
    return Effect.succeed({ threadId, owner: owner ?? "", epoch, leaseUntil })
  }

  /** Tickets are looked up by id for the current run of a thread only. */
  #startRun(thread: MemoryThread, runId: string): void {
    for (const ticketId of thread.fold.tickets.keys()) this.#tickets.delete(ticketId)
    thread.startRun(runId)
  }

  #applyShared(commit: ThreadCommit): void {
    for (const command of commit.state) {
      if (command.scope !== "Shared") continue
      this.#sharedRevision++
      const key = stateKeyOf(command.scope, command.key)
      if (command._tag === "Set") this.#shared.set(key, command.value)
      else this.#shared.delete(key)
    }
  }
}

const fail = (threadId: string, reason: StoreErrorReason): Effect.Effect<never, StoreError> =>
  Effect.fail(StoreRules.storeError(threadId, { reason }))
