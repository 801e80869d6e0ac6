/**
 * What must hold of calls that are stored, without knowing how they came to be so: for stores, and for whoever reads
 * them back. Part of the kernel: `ToolBatch` gives these functions their public names.
 */
import { equals } from "../ToolConcurrency.js"
import type { BatchCall, CallPhase, ToolBatch } from "../ToolBatch.js"
import { idOf } from "../ToolOperation.js"
import { digestOf } from "./argumentsDigest.js"
import { isAnswered, isHandedOut, isUndecided } from "./waits.js"

/**
 * May `after` be stored where `before` was? What a store can check without knowing the events in between: who the call
 * is never changes, a terminal call is kept, its arguments change by an edit only, attempts grow one by one and only
 * into `Executing` (an entry is durable before it happens), and an approval is durable before what it allows.
 */
export const maySucceed = (before: BatchCall, after: BatchCall): boolean =>
  before.operationId === after.operationId &&
  before.position === after.position &&
  before.callId === after.callId &&
  before.toolId === after.toolId &&
  before.recovery.mode === after.recovery.mode &&
  before.recovery.maxAttempts === after.recovery.maxAttempts &&
  (before.entered === undefined || before.entered === after.entered) &&
  isSound(after) &&
  mayFollow(before, after)

const mayFollow = (before: BatchCall, after: BatchCall): boolean => {
  const from = before.phase
  const to = after.phase
  const isEdit = after.proposal === before.proposal + 1 && from._tag === "Awaiting" && from.wait === "Permission"
  const isSame =
    after.proposal === before.proposal && after.digest === before.digest && equals(after.claim, before.claim)
  if (!isEdit && !isSame) return false
  if (after.attempts !== before.attempts + (to._tag === "Executing" ? 1 : 0)) return false
  switch (from._tag) {
    case "Requested":
      return to._tag === "Awaiting" || to._tag === "Executing" || to._tag === "Completed" || to._tag === "NotRun"
    case "Awaiting":
      return mayFollowWait({ from, isEdit }, after)
    case "Approved":
      return (to._tag === "Awaiting" && isAnswered(to.wait)) || to._tag === "Executing" || to._tag === "NotRun"
    case "Executing":
      if (to._tag === "Awaiting") return to.wait === "Delegation" || to.wait === "Input"
      return to._tag !== "Requested" && to._tag !== "Approved"
    case "Completed":
    case "NotRun":
    case "Indeterminate":
      return false
  }
}

type Wait = Extract<CallPhase, { readonly _tag: "Awaiting" }>

const mayFollowWait = (
  { from, isEdit }: { readonly from: Wait; readonly isEdit: boolean },
  after: BatchCall
): boolean => {
  const to = after.phase
  if (isEdit && (to._tag === "Requested" || to._tag === "Completed")) return true
  if (isEdit && to._tag === "Awaiting") return isUndecided(to.wait) && to.ticketId !== from.ticketId
  if (isUndecided(from.wait)) return to._tag === "Approved" || to._tag === "NotRun"
  if (to._tag === "NotRun") return from.wait === "Input" || (from.wait === "Client" && to.reason === "Denied")
  if (to._tag === "Indeterminate") return isHandedOut(from) || after.attempts > 0
  return to._tag === "Completed"
}

/** The invariants of one stored call, for decoding and for new batches. */
export const isSound = (call: BatchCall): boolean => {
  const { attempts, entered, phase, proposal, recovery } = call
  if (!isCount(recovery.maxAttempts) || recovery.maxAttempts === 0 || !isCount(attempts) || !isCount(proposal))
    return false
  if (attempts > (recovery.mode === "NeverReplay" ? 1 : recovery.maxAttempts)) return false
  if ((entered === undefined) !== (attempts === 0) || (entered !== undefined && entered !== call.digest)) return false
  switch (phase._tag) {
    case "Requested":
      return attempts === 0
    case "Approved":
      return attempts === 0 && phase.digest === call.digest
    case "Awaiting":
      // Only a running call may wait for a child run or an input; every other wait comes before the first entry.
      return (
        phase.ticketId !== "" &&
        phase.wait !== "Pause" &&
        (attempts === 0 || phase.wait === "Delegation" || phase.wait === "Input")
      )
    case "Executing":
      return phase.attempt === attempts && attempts > 0
    case "NotRun":
      return (
        phase.output.callId === call.callId && (attempts === 0 || (attempts === 1 && phase.reason === "Unavailable"))
      )
    case "Completed":
    case "Indeterminate":
      return phase.output.callId === call.callId
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

/**
 * What is wrong with a whole batch that was read back, the digests of its arguments among it: what runs is what was
 * decided on, also after somebody has touched the file. `undefined` for one that is intact. Costs a digest per call, so
 * it is asked of an open batch only.
 */
export const damageOf = (batch: ToolBatch): string | undefined => {
  const { calls, step } = batch
  if (calls.length === 0) return "a batch has calls"
  if (!isCount(step) || step === 0) return "a batch is of a counted step"
  if (new Set(calls.map((call) => call.callId)).size !== calls.length) return "a call id is used once in its batch"
  for (const [position, call] of calls.entries()) {
    const rule = damageOfCall(batch, { position, call })
    if (rule !== undefined) return `call ${position}: ${rule}`
  }
  return undefined
}

const damageOfCall = (
  { runId, step }: ToolBatch,
  { position, call }: { readonly position: number; readonly call: BatchCall }
): string | undefined => {
  if (call.position !== position) return "calls stand in the model's order"
  if (call.operationId !== idOf(runId, step, position)) return "an operation is named by run, step and position"
  if (call.digest !== digestOf(call.arguments)) return "a call's digest is that of its arguments"
  return isSound(call) ? undefined : "a call is in a state that can be"
}

/** Whether nothing is wrong with a batch that was read back. */
export const isIntact = (batch: ToolBatch): boolean => damageOf(batch) === undefined
