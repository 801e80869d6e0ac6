/**
 * One activation of an agent on a thread, and the three states it can be in.
 *
 * Guarantees: `Ended` absorbs; `Awaiting` names at least one ticket; the step number only grows.
 * Does not drive anything: the engine orders effects around these values.
 */
import { freezeOpen, type JsonObject } from "./Json.js"

/** Why a run came to its end through a fault of its own. Closed; `detail` is for people. */
export type FailureReason =
  | "Inference"
  | "RepeatedInvalidCall"
  | "StateConflict"
  | "StateUnreadable"
  | "InvalidFinalAnswer"
  | "CapabilityBound"
  | "SnapshotUnusable"
  | "Budget"
  | "Internal"

export interface Failure {
  readonly reason: FailureReason
  readonly detail: string
}

export type EndCause =
  /** `limited`: the answer was given because the step budget left no other choice. */
  | { readonly _tag: "NaturalEnd"; readonly limited?: boolean }
  | { readonly _tag: "MaxSteps" }
  | { readonly _tag: "Cancelled" }
  | { readonly _tag: "Stopped"; readonly reason: string }
  | { readonly _tag: "Error"; readonly failure: Failure }
  | { readonly _tag: "Indeterminate" }

export type RunDisposition =
  | { readonly _tag: "Running" }
  | { readonly _tag: "Awaiting"; readonly tickets: readonly [string, ...Array<string>] }
  | { readonly _tag: "Ended"; readonly cause: EndCause }

/** The same end, for the same reason. */
export const isSameCause = (left: EndCause, right: EndCause): boolean => {
  switch (left._tag) {
    case "NaturalEnd":
      return right._tag === "NaturalEnd" && (left.limited ?? false) === (right.limited ?? false)
    case "Stopped":
      return right._tag === "Stopped" && left.reason === right.reason
    case "Error":
      return (
        right._tag === "Error" &&
        left.failure.reason === right.failure.reason &&
        left.failure.detail === right.failure.detail
      )
    case "MaxSteps":
    case "Cancelled":
    case "Indeterminate":
      return right._tag === left._tag
  }
}

export const Running: RunDisposition = Object.freeze({ _tag: "Running" })

export const Ended = (cause: EndCause): RunDisposition => freezeOpen<RunDisposition>({ _tag: "Ended", cause })

/** `Awaiting` where there is a ticket to wait for, else `Running`. */
export const awaitingOrRunning = (tickets: ReadonlyArray<string>): RunDisposition => {
  const [first, ...rest] = tickets
  return first === undefined ? Running : freezeOpen<RunDisposition>({ _tag: "Awaiting", tickets: [first, ...rest] })
}

/** May a run in state `from` be committed in state `to`? Nothing follows `Ended`. */
export const mayBecome = (from: RunDisposition | undefined, to: RunDisposition): boolean =>
  from === undefined ? to._tag === "Running" : from._tag !== "Ended" && isWellFormed(to)

const isWellFormed = (to: RunDisposition): boolean =>
  to._tag !== "Awaiting" || (to.tickets.length > 0 && new Set(to.tickets).size === to.tickets.length)

/** What is fixed when a run starts. Stored with its first commit. */
export interface RunRecord {
  readonly runId: string
  readonly threadId: string
  readonly principal: string
  readonly snapshotFingerprint: string
  readonly narrowing: "Configured" | "Unattended" | "DenyAll"
  /** Milliseconds since the epoch, the runtime's clock. */
  readonly startedAt: number
  /** For a child run: the parent's run and the operation that started it. */
  readonly parent?: { readonly runId: string; readonly threadId: string; readonly operationId: string }
  readonly metadata?: JsonObject
}

/** Tokens spent, per model. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly reasoningTokens?: number
  readonly cachedInputTokens?: number
}
