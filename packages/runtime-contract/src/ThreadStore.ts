/**
 * The port to whatever keeps threads: commits of the one owner, an inbox that needs no ownership, and what is due.
 *
 * Guarantees asked of a store: a commit is all or nothing, and durable before it is acknowledged; revision, epoch, lease,
 * commit id and tickets are checked inside its transaction, by `StoreRules`. The conformance suite in the testing package
 * defines what a store is.
 * Does not interpret commits: the pure rules and the fold do, the same for every store.
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { AuditTail } from "./AuditChain.js"
import type { GrantProposal } from "./Grant.js"
import type { Json } from "./Json.js"
import type { ContentBlock } from "./Message.js"
import type {
  ResumeAnswer,
  TicketAnswer,
  TicketDecision,
  TicketRefusalReason,
  TicketRefused,
  TicketState
} from "./ResumeTicket.js"
import type { RunDisposition, RunRecord } from "./Run.js"
import type { RunFact } from "./RunEvent.js"
import type { ExecutableAgentSnapshot } from "./Snapshot.js"
import type { StateScope } from "./StateKey.js"
import type { CommitReceipt, ThreadCommit } from "./ThreadCommit.js"
import type { BatchCall, ToolBatch } from "./ToolBatch.js"
import type { Transcript } from "./Transcript.js"

/** The right to commit to one thread, until `leaseUntil` by the store's clock. */
export interface Lease {
  readonly threadId: string
  readonly owner: string
  /** Grows with every claim. 1 only for the first that the thread ever had: then nothing is written there, and nobody looks. */
  readonly epoch: number
  readonly leaseUntil: number
}

export interface ClaimRequest {
  readonly threadId: string
  /** Names the owner; the same owner may claim its own thread again. */
  readonly owner: string
  /** How long, in milliseconds. */
  readonly ttl: number
  /** Fences a live owner. Asked for by name, never by default. */
  readonly takeOver?: boolean
}

export type SignalBody =
  | {
      readonly _tag: "Answer"
      readonly answer: TicketAnswer
      /** To be stored with the approval, if this answer is part of it. */
      readonly remember?: GrantProposal
    }
  /** An answer that was refused: for the audit, nothing follows from it. */
  | {
      readonly _tag: "Refused"
      readonly by: string
      readonly ticketId: string
      readonly answer: ResumeAnswer["_tag"]
      readonly reason: TicketRefusalReason
    }
  /** A child run is about to end: its parent looks after it. */
  | { readonly _tag: "Child"; readonly operationId: string; readonly threadId: string }
  | { readonly _tag: "Cancel"; readonly by: string }
  | { readonly _tag: "Stop"; readonly by: string; readonly reason: string }
  | { readonly _tag: "Pause"; readonly by: string }
  | { readonly _tag: "Continue"; readonly by: string }
  | {
      readonly _tag: "Steer"
      readonly by: string
      readonly content: ReadonlyArray<ContentBlock>
      readonly interrupt: boolean
    }
  | {
      readonly _tag: "Resolve"
      readonly by: string
      readonly operationId: string
      readonly resolution:
        | { readonly _tag: "Happened"; readonly content: ReadonlyArray<ContentBlock>; readonly data?: Json }
        | { readonly _tag: "DidNotHappen" }
    }

/** A message to the owner of a thread, whoever that is. De-duplicated by `id`. */
export interface Signal {
  readonly id: string
  readonly threadId: string
  /** The run it is meant for; an `Answer` finds its run through the ticket. */
  readonly runId: string
  readonly at: number
  readonly body: SignalBody
}

export interface SignalReceipt {
  readonly signalId: string
  /** Position in the thread's inbox, from 1. */
  readonly sequence: number
  /** For an answer: the ticket after it. */
  readonly ticket?: TicketState
  readonly decision?: TicketDecision
}

/** A call whose outcome nobody knows yet; it guards its repeats until somebody resolves it. */
export interface OpenOutcome {
  readonly operationId: string
  readonly runId: string
  readonly call: BatchCall
  readonly since: number
}

/** A thread as its commits add up. A view is of one revision: it does not change, though the thread goes on. */
export interface ThreadView {
  readonly threadId: string
  readonly revision: number
  readonly epoch: number
  readonly run: RunRecord | undefined
  readonly snapshot: ExecutableAgentSnapshot | undefined
  readonly disposition: RunDisposition | undefined
  /** The durable step counter of the current run; 0 before its first step. */
  readonly step: number
  readonly messages: Transcript
  /** The batch that is not published yet. */
  readonly batch: ToolBatch | undefined
  /** `Run` and `Thread` state, by `stateKeyOf`. `Shared` state is read with `shared`. */
  readonly state: ReadonlyMap<string, Json>
  /** Open and decided tickets of the current run. */
  readonly tickets: ReadonlyMap<string, TicketState>
  /** Unread signals, oldest first. */
  readonly inbox: ReadonlyArray<Signal>
  /** Unresolved `Indeterminate` calls of the thread, by operation id. */
  readonly openOutcomes: ReadonlyMap<string, OpenOutcome>
  /** The number that the next fact will get. */
  readonly nextFact: number
  /** The audit chain as it stands; absent before the first record. */
  readonly audit?: AuditTail
}

export interface NumberedFact {
  readonly number: number
  readonly fact: RunFact
}

export type DueItem =
  | { readonly _tag: "LeaseExpired"; readonly threadId: string; readonly runId: string; readonly at: number }
  | {
      readonly _tag: "ScheduleDue"
      readonly threadId: string
      readonly runId: string
      readonly ticketId: string
      readonly at: number
    }
  | {
      readonly _tag: "DeadlinePassed"
      readonly threadId: string
      readonly runId: string
      readonly ticketId: string
      readonly at: number
    }
  | { readonly _tag: "SignalUnread"; readonly threadId: string; readonly runId: string; readonly at: number }

export interface ThreadSummary {
  readonly threadId: string
  readonly revision: number
  readonly runId: string | undefined
  readonly disposition: RunDisposition | undefined
  /** Milliseconds since the epoch; 0 where it cannot be read. */
  readonly updatedAt: number
  /**
   * Where and why the thread's last record cannot be read: its other fields may be missing then. One damaged thread
   * hides no other. Whether the rest of a thread can be read, `load` tells.
   */
  readonly damage?: string
}

export interface ListRequest {
  /** At most this many, default 50, at most 1,000. */
  readonly limit?: number
  /** Threads whose id sorts behind this one (by UTF-16 code units). */
  readonly after?: string
  readonly disposition?: RunDisposition["_tag"]
  /** Also the threads that runtimes keep for themselves (`SystemThread`). Default false. */
  readonly system?: boolean
}

export type StoreErrorReason =
  /** The expected revision is not the thread's. */
  | { readonly _tag: "RevisionConflict"; readonly expected: number; readonly actual: number }
  /** Shared state has moved since the owner read it. */
  | { readonly _tag: "SharedConflict"; readonly expected: number; readonly actual: number }
  /** A newer owner has the thread. */
  | { readonly _tag: "Fenced"; readonly epoch: number; readonly current: number }
  | { readonly _tag: "LeaseLost" }
  /** Another owner holds a live lease. */
  | { readonly _tag: "ThreadBusy"; readonly owner: string; readonly leaseUntil: number }
  /** The commit breaks a rule of its own; nothing was written. */
  | { readonly _tag: "Rejected"; readonly rule: string }
  /** A persisted record cannot be read; `position` says which. */
  | { readonly _tag: "Unreadable"; readonly position: string }
  | { readonly _tag: "NotFound" }
  /** No answer: it may or may not be durable. Ask again under the same id. */
  | { readonly _tag: "Unanswered" }
  | { readonly _tag: "Unavailable" }

export class StoreError extends Data.TaggedError("StoreError")<{
  readonly reason: StoreErrorReason
  readonly threadId: string
  readonly message: string
  readonly cause?: unknown
}> {}

export interface ThreadStore {
  readonly commit: (commit: ThreadCommit) => Effect.Effect<CommitReceipt, StoreError>
  /** `undefined` for a thread that nobody has written. Needs no ownership. */
  readonly load: (threadId: string) => Effect.Effect<ThreadView | undefined, StoreError>
  /** Facts with a number of at least `from`, in order, at most `limit` (default 1,000). */
  readonly tail: (request: {
    readonly threadId: string
    readonly from: number
    readonly limit?: number
  }) => Effect.Effect<ReadonlyArray<NumberedFact>, StoreError>
  readonly claim: (request: ClaimRequest) => Effect.Effect<Lease, StoreError>
  readonly renew: (lease: Lease, ttl: number) => Effect.Effect<Lease, StoreError>
  readonly release: (lease: Lease) => Effect.Effect<void, StoreError>
  readonly signal: (signal: Signal) => Effect.Effect<SignalReceipt, StoreError | TicketRefused>
  /** Unread signals in order. Needs no ownership. */
  readonly inbox: (threadId: string) => Effect.Effect<ReadonlyArray<Signal>, StoreError>
  /** Finds a ticket by its id alone. */
  readonly ticket: (ticketId: string) => Effect.Effect<TicketState | undefined, StoreError>
  readonly due: (now: number, limit: number) => Effect.Effect<ReadonlyArray<DueItem>, StoreError>
  readonly list: (request: ListRequest) => Effect.Effect<ReadonlyArray<ThreadSummary>, StoreError>
  /** Refused while a live lease holds the thread. */
  readonly delete: (threadId: string) => Effect.Effect<void, StoreError>
  /** State that belongs to no thread, with its own revision. */
  readonly shared: () => Effect.Effect<
    { readonly revision: number; readonly state: ReadonlyMap<string, Json> },
    StoreError
  >
  /** No other process can reach it, so `subscribe` tells of every signal. Absent: a runtime also looks for itself. */
  readonly isProcessLocal?: true
  /** Tells of new signals in this process at once; other processes are seen by polling. Returns the way to stop. */
  readonly subscribe?: (threadId: string, listener: () => void) => () => void
}

/** The key of a value in `ThreadView.state`. */
export const stateKeyOf = (scope: StateScope, key: string): string => `${scope}:${key}`
