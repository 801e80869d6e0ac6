/**
 * What stops a call of the runtime, as opposed to what ends a run or fails a tool.
 *
 * Guarantees: one tagged error with a closed reason; identifiers and data only; the original cause kept.
 * Does not describe a run's end: a run that is cancelled, stopped or fails in its model ends with a value.
 */
import { StoreError } from "@toolwright/runtime-contract"
import * as Data from "effect/Data"

/** The closed set of reasons. */
export type RunErrorReason =
  /** The store never acknowledged a commit; it may or may not be durable. `recover` finds out. */
  | { readonly _tag: "CommitUnknown"; readonly commitId: string }
  /** The store refused a commit of ours: a rule of the kernel was about to be broken, and nothing was written. */
  | { readonly _tag: "CommitRejected"; readonly rule: string }
  /** Somebody else owns the thread now. */
  | { readonly _tag: "Fenced" }
  /** The lease could not be renewed in time. */
  | { readonly _tag: "LeaseLost" }
  /** The thread has an open run, or another owner works on it. */
  | { readonly _tag: "ThreadBusy"; readonly by: "OpenRun" | "Owner" }
  /** A persisted record cannot be read. */
  | { readonly _tag: "Unreadable"; readonly position: string }
  /** The run that was meant has ended, or another one is open; nothing was changed. */
  | { readonly _tag: "NotOpen" }
  /** No such thread, run or ticket. */
  | { readonly _tag: "NotFound"; readonly what: string }
  | { readonly _tag: "StoreUnavailable" }
  /** The runtime was closed. The run is as it was and can be recovered. */
  | { readonly _tag: "Closed" }
  /** What was asked cannot be done; nothing was started. */
  | { readonly _tag: "BadRequest"; readonly option: string; readonly expected: string }
  /** A fault of this package. The run was left as it was last committed. */
  | { readonly _tag: "Internal" }

export class RunError extends Data.TaggedError("RunError")<{
  readonly reason: RunErrorReason
  readonly message: string
  readonly threadId?: string
  readonly runId?: string
  readonly cause?: unknown
}> {}

export const isRunError = (value: unknown): value is RunError => value instanceof RunError

interface Place {
  readonly threadId?: string
  readonly runId?: string
}

/** The reason of a store's refusal, in the runtime's words. Anything that is no `StoreError` is a fault of the store. */
export const fromStore = (thrown: unknown, place: Place): RunError => {
  if (thrown instanceof RunError) return thrown
  const message = thrown instanceof Error ? thrown.message : "the store failed"
  const reason = thrown instanceof StoreError ? reasonOf(thrown) : ({ _tag: "StoreUnavailable" } as const)
  return new RunError({ reason, message, ...place, cause: thrown })
}

/** The same for a signal: a store refuses one by rule only for a run that is not open. */
export const fromSignal = (error: RunError): RunError => {
  if (error.reason._tag !== "CommitRejected") return error
  const { message, threadId, runId, cause } = error
  return new RunError({
    reason: { _tag: "NotOpen" },
    message,
    ...(threadId === undefined ? {} : { threadId }),
    ...(runId === undefined ? {} : { runId }),
    cause
  })
}

export const badRequest = (option: string, expected: string): RunError =>
  new RunError({ reason: { _tag: "BadRequest", option, expected }, message: `${option}: expected ${expected}` })

export const internal = (message: string, place: Place & { readonly cause?: unknown }): RunError =>
  new RunError({ reason: { _tag: "Internal" }, message, ...place })

const reasonOf = ({ reason }: StoreError): RunErrorReason => {
  switch (reason._tag) {
    case "Fenced":
    case "RevisionConflict":
    case "SharedConflict":
      return { _tag: "Fenced" }
    case "LeaseLost":
      return { _tag: "LeaseLost" }
    case "ThreadBusy":
      return { _tag: "ThreadBusy", by: "Owner" }
    case "Rejected":
      return { _tag: "CommitRejected", rule: reason.rule }
    case "Unreadable":
      return { _tag: "Unreadable", position: reason.position }
    case "NotFound":
      return { _tag: "NotFound", what: "thread" }
    case "Unanswered":
    case "Unavailable":
      return { _tag: "StoreUnavailable" }
  }
}
