/**
 * What a failed call comes to (E1, E4), and the texts that the model reads of it.
 *
 * Guarantees: total; a failure inside `call` completes the call, for it may have had its effect; only an executor can
 * prove that nothing was sent, or lose what was sent.
 * Does not know phases: the kernel does.
 */
import { isToolError, type ToolBatch, ToolError, ToolOutput } from "@toolwright/runtime-contract"
import { interrupted } from "./settle.js"
import type { Installed } from "./snapshotPlan.js"

export type Failed =
  | { readonly _tag: "Completed"; readonly output: ToolOutput.ToolOutput; readonly isInvalid: boolean }
  | { readonly _tag: "Lost" }

export interface FailedCall {
  readonly call: ToolBatch.BatchCall
  readonly installed: Installed
}

/** An executor's proof that nothing was sent. */
export const isUnavailable = (error: unknown): boolean =>
  isToolError(error) && error.reason._tag === "UnavailableBeforeDispatch"

/**
 * `why` is our own signal, where we gave one. A sandbox reports a tool's own failure as an error output; when it fails
 * itself, what it sent is lost.
 */
export const failureOf = (
  { call, installed }: FailedCall,
  { error, why }: { readonly error: unknown; readonly why: string }
): Failed => {
  if (why !== "") return completed(call, { installed, text: `${call.toolId} ${why}` })
  const failure = ToolError.fromUnknown(
    error === interrupted ? ToolError.execution(`${call.toolId} was interrupted`) : error
  )
  if (failure.reason._tag === "InvalidArguments")
    return { _tag: "Completed", output: ToolOutput.error(call.callId, failure.message), isInvalid: true }
  if (installed.isRemote && failure.reason._tag === "Execution") return { _tag: "Lost" }
  return completed(call, { installed, text: failure.message })
}

const completed = (
  call: ToolBatch.BatchCall,
  { installed, text }: { readonly installed: Installed; readonly text: string }
): Failed => {
  const said = text.trim() === "" ? `${call.toolId} failed` : text
  const told = installed.tool.recovery === "NonRecoverable" ? mayHaveHappened(said) : said
  return { _tag: "Completed", output: ToolOutput.error(call.callId, told), isInvalid: false }
}

/** For everything that ended badly after it went in. */
export const mayHaveHappened = (text: string): string => `${text}\nIt may have had an effect.`

/** For an outcome that nobody knows. */
export const lostText = (call: ToolBatch.BatchCall, why: string): string =>
  `${call.toolId} ${why}. Its outcome is unknown: it may have happened. Do not assume either, and check before repeating it.`

const indeterminate: Readonly<Record<ToolBatch.IndeterminateReason, string>> = {
  ProcessLost: "was running when its process was lost",
  ExecutorLost: "was sent, and its executor was lost",
  Abandoned: "did not stop when it was asked to",
  DeniedNow: "was running when its process was lost, and is no longer allowed",
  AttemptsSpent: "was interrupted as often as it may be tried",
  ToolChanged: "was running when its process was lost, and has changed since",
  NoAnswer: "was handed out, and nobody answered in time",
  RunEnded: "was still open when the run ended"
}

export const lostOutput = (call: ToolBatch.BatchCall, reason: ToolBatch.IndeterminateReason): ToolOutput.ToolOutput =>
  ToolOutput.error(call.callId, lostText(call, indeterminate[reason]))

const notRun: Readonly<Record<ToolBatch.NotRunReason, string>> = {
  NotVisible: "is not a tool of this run",
  Unknown: "has no implementation here",
  InvalidArguments: "was given arguments that do not fit",
  Blocked: "was blocked",
  Denied: "was denied",
  Expired: "was not approved in time",
  Unavailable: "could not be reached",
  ToolChanged: "has changed since this run started and cannot be used in it",
  EarlierUnknown: "was not run: an earlier outcome is unknown",
  ClaimHeld: "was not run: an earlier call did not stop and still holds what this one needs",
  LastStep: "was not run: this was the last step",
  RunEnded: "was not run: the run ended",
  Superseded: "was not run: a newer message replaced it"
}

/** `detail` is a reason that somebody gave. */
export const notRunOutput = (
  call: ToolBatch.BatchCall,
  { reason, detail }: { readonly reason: ToolBatch.NotRunReason; readonly detail?: string | undefined }
): ToolOutput.ToolOutput => {
  const text = `${call.toolId} ${notRun[reason]}`
  return ToolOutput.error(call.callId, detail === undefined || detail === "" ? text : `${text}: ${detail}`)
}
