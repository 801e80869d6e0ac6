/**
 * The identity of one operation while it runs: the same through retry, approval, edit, crash and take-over.
 *
 * Guarantees: the operation id comes from run, durable step and position, never from the provider's call id;
 * outside the runtime there is no current operation.
 * Does not deduplicate effects by itself: hand `ledgerId` to an external idempotency ledger.
 */
import * as Context from "effect/Context"
import { operationPrefix } from "./internal/operationIds.js"
import { digest } from "./Json.js"
import type { StateView } from "./StateKey.js"

export interface ToolOperation {
  readonly runId: string
  readonly threadId: string
  readonly operationId: string
  /** Correlation with the provider's protocol only. */
  readonly callId: string
  /** Counts entries of this operation from 1, over crashes and waits. */
  readonly attempt: number
  /** The ownership epoch under which this attempt may commit. */
  readonly epoch: number
  /** For whom the run acts. */
  readonly principal: string
  /** State as of the start of the step; a tool reads only the keys it declared. */
  readonly state: StateView
}

/** `undefined` outside the runtime. Effect tools read it with `yield* ToolOperation.current`. */
export const current: Context.Reference<ToolOperation | undefined> = Context.Reference<ToolOperation | undefined>(
  "@toolwright/ToolOperation",
  { defaultValue: () => undefined }
)

/** The operation id of the call at `position` (from 0) of step `step` (from 1) of a run. */
// oxlint-disable-next-line max-params -- three coordinates, in the order in which they are written
export const idOf = (runId: string, step: number, position: number): string =>
  `${operationPrefix(runId, step)}${position}`

/** The part of an operation that an external system may remember. */
export interface ToolOperationToken {
  /**
   * The key for an idempotency ledger: a domain-separated SHA-256 (64 hex digits) of scope, run and operation.
   * Thread, call id and attempt are left out on purpose: none of them is part of the operation's identity.
   */
  readonly ledgerId: (scope?: string) => string
}

export const tokenOf = (operation: Pick<ToolOperation, "runId" | "operationId">): ToolOperationToken => ({
  ledgerId: (scope = "") => digest("toolwright/ledger/1", [scope, operation.runId, operation.operationId])
})
