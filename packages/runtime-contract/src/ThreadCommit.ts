/**
 * The one atomic write of a thread's owner, and the view that a thread's commits add up to.
 *
 * Guarantees: a commit is a delta (appended messages, changed calls); a thread is the fold of its commits, the same in
 * every store; results are published by one commit, in model order, and derived from the calls, so nothing is stored twice.
 * Does not decide whether a commit is admitted: `StoreRules` does.
 */
import type { Json } from "./Json.js"
import type { Message, ReminderMessage } from "./Message.js"
import type { ResumeTicket } from "./ResumeTicket.js"
import type { RunDisposition, RunRecord, Usage } from "./Run.js"
import type { ExecutableAgentSnapshot } from "./Snapshot.js"
import type { StateCommand } from "./StateKey.js"
import type { BatchCall } from "./ToolBatch.js"

/** What happened in a commit beyond what messages, calls and disposition already say. Committed facts. */
export type RunNote =
  | { readonly type: "HookFailed"; readonly hook: string; readonly phase: string; readonly message: string }
  | { readonly type: "ArgumentsCoerced"; readonly operationId: string; readonly pointers: ReadonlyArray<string> }
  | { readonly type: "UsageRecorded"; readonly provider: string; readonly model: string; readonly usage: Usage }
  | { readonly type: "LateResult"; readonly operationId: string; readonly attempt: number; readonly summary: string }
  | {
      readonly type: "OutputSpilled"
      readonly operationId: string
      readonly reference: string
      readonly characters: number
    }
  /** The model of the run cannot be shown a tool; `pointer` leads into its input schema (`""`: the whole tool). */
  | { readonly type: "ToolRefused"; readonly toolId: string; readonly pointer: string; readonly reason: string }
  | { readonly type: "TriggerHint"; readonly toolId: string; readonly trigger: string }
  | { readonly type: "StateConflict"; readonly keys: ReadonlyArray<string> }
  | { readonly type: "ModelFallback"; readonly from: string; readonly to: string; readonly reason: string }
  | { readonly type: "SignalRefused"; readonly signalId: string; readonly reason: string }

/** One decision, answer or refusal, for whoever must account for it later. */
export interface AuditRecord {
  readonly type: "Decision" | "Answer" | "Grant" | "Refusal" | "Recovery" | "Resolution" | "Control"
  readonly at: number
  readonly operationId?: string
  readonly toolId?: string
  /** Digest of the canonical arguments. */
  readonly digest?: string
  readonly outcome: string
  readonly rule?: string
  /** The principal, the approver, or the part of the runtime that decided. */
  readonly by: string
  readonly detail?: Json
}

/** What a commit does to the batch of the step. */
export type BatchDelta =
  /** All calls of a new assistant message, in model order. */
  | { readonly _tag: "Open"; readonly step: number; readonly calls: ReadonlyArray<BatchCall> }
  /** The calls that changed, whole. */
  | { readonly _tag: "Change"; readonly calls: ReadonlyArray<BatchCall> }
  /** The last changes, and the end of the batch: results enter the transcript, staged state is applied. */
  | {
      readonly _tag: "Publish"
      readonly calls: ReadonlyArray<BatchCall>
      /** Reminders of hooks, each directly behind the result of the call at `position`. */
      readonly reminders: ReadonlyArray<{ readonly position: number; readonly message: ReminderMessage }>
    }

export interface RunStart {
  readonly record: RunRecord
  readonly snapshot: ExecutableAgentSnapshot
}

export interface ThreadCommit {
  /** Chosen by the owner; the same id again returns the first receipt and changes nothing. */
  readonly id: string
  readonly threadId: string
  readonly runId: string
  readonly expectedRevision: number
  /**
   * For a commit that sets `Shared` state from what it read: the revision of that state it was computed from. Absent
   * where the new value does not depend on the old one.
   */
  readonly expectedSharedRevision?: number
  readonly epoch: number
  /** Milliseconds since the epoch, the runtime's clock. */
  readonly at: number
  readonly disposition: RunDisposition
  /** The run's durable step counter after this commit: one more with each assistant message, from 1. */
  readonly step: number
  /** Only in the first commit of a run. */
  readonly start?: RunStart
  /**
   * Appended in order; behind the results where the commit publishes. Tool results are not among them: publication
   * derives them from the calls.
   */
  readonly messages: ReadonlyArray<Message>
  readonly batch?: BatchDelta
  readonly tickets: ReadonlyArray<ResumeTicket>
  /** Applied in order; already merged and free of conflicts. */
  readonly state: ReadonlyArray<StateCommand>
  readonly notes: ReadonlyArray<RunNote>
  readonly audit: ReadonlyArray<AuditRecord>
  /** Head of the thread's audit chain behind these records (`AuditChain`); absent where the chain may wait. */
  readonly auditHead?: string
  /** Signals of the inbox that this commit acts on. */
  readonly consumed: ReadonlyArray<string>
  /** Operations with an unknown outcome that somebody has settled; they guard their repeats no longer. */
  readonly resolved: ReadonlyArray<string>
}

const nothing: ReadonlyArray<never> = Object.freeze([])

/** Fills in what a commit does not do. */
export const make = (
  given: Pick<
    ThreadCommit,
    "id" | "threadId" | "runId" | "expectedRevision" | "epoch" | "at" | "disposition" | "step"
  > &
    Partial<ThreadCommit>
): ThreadCommit => ({
  id: given.id,
  threadId: given.threadId,
  runId: given.runId,
  expectedRevision: given.expectedRevision,
  ...(given.expectedSharedRevision === undefined ? {} : { expectedSharedRevision: given.expectedSharedRevision }),
  epoch: given.epoch,
  at: given.at,
  disposition: given.disposition,
  step: given.step,
  ...(given.start === undefined ? {} : { start: given.start }),
  messages: given.messages ?? nothing,
  ...(given.batch === undefined ? {} : { batch: given.batch }),
  tickets: given.tickets ?? nothing,
  state: given.state ?? nothing,
  notes: given.notes ?? nothing,
  audit: given.audit ?? nothing,
  ...(given.auditHead === undefined ? {} : { auditHead: given.auditHead }),
  consumed: given.consumed ?? nothing,
  resolved: given.resolved ?? nothing
})

/**
 * A commit behind the end of a run: it settles calls whose outcome was unknown, and leaves the run ended as it was.
 * Beside an account, the only thing that may follow an end.
 */
export const isSettlement = (commit: ThreadCommit): boolean => commit.resolved.length > 0 && leavesEnded(commit)

/** The rule that an audit record names whose cause came after the end of the run. */
export const afterEnd = "after the end"

/** A commit behind the end of a run that only accounts for answers which were refused. */
export const isAccount = (commit: ThreadCommit): boolean =>
  commit.audit.length > 0 &&
  commit.audit.every(({ type, rule }) => type === "Refusal" && rule === afterEnd) &&
  commit.resolved.length === 0 &&
  commit.messages.length === 0 &&
  commit.notes.length === 0 &&
  leavesEnded(commit)

/** The commits that may follow an end; they do not end the run again. */
export const followsEnd = (commit: ThreadCommit): boolean => isSettlement(commit) || isAccount(commit)

const leavesEnded = (commit: ThreadCommit): boolean =>
  commit.disposition._tag === "Ended" &&
  commit.start === undefined &&
  commit.batch === undefined &&
  commit.tickets.length === 0 &&
  commit.state.length === 0

/** What the store says of a commit that is durable. */
export interface CommitReceipt {
  readonly commitId: string
  readonly revision: number
  /** Number of the first fact of this commit; facts are numbered per thread from 1. */
  readonly firstFact: number
  readonly factCount: number
}
