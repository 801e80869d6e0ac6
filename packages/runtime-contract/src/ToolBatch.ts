/**
 * The tool calls of one assistant message and the only ways in which they may change: the transition kernel.
 *
 * Guarantees: pure and total; a terminal call never changes; `NeverReplay` is entered at most once; an operation is
 * entered with one digest only; attempts survive waits and never pass the pinned budget; publication waits for all.
 * Does not order effects: the engine commits what these functions return before it acts on it.
 */
import type { ToolOutput } from "./ToolOutput.js"
import type { WaitKind } from "./ResumeTicket.js"
import type { JsonObject } from "./Json.js"
import { ClaimSet } from "./internal/claimSet.js"
import { isAnswered, isHandedOut, isUndecided } from "./internal/waits.js"
import { type ToolConcurrency, conflicts } from "./ToolConcurrency.js"
import type { ToolRecoveryPolicy } from "./ToolRecovery.js"

export { digestOf } from "./internal/argumentsDigest.js"
export { damageOf, isIntact, isSound, maySucceed } from "./internal/storedCall.js"

/** Why nothing happened. `detail` stands in the result that the model reads. */
export type NotRunReason =
  | "NotVisible"
  | "Unknown"
  | "InvalidArguments"
  | "Blocked"
  | "Denied"
  | "Expired"
  | "Unavailable"
  | "ToolChanged"
  | "EarlierUnknown"
  | "ClaimHeld"
  | "LastStep"
  | "RunEnded"
  | "Superseded"

/** Why it may have happened. `NoAnswer`: it was handed out, and nobody reported back in time. */
export type IndeterminateReason =
  | "ProcessLost"
  | "ExecutorLost"
  | "Abandoned"
  | "DeniedNow"
  | "AttemptsSpent"
  | "ToolChanged"
  | "NoAnswer"
  | "RunEnded"

export type CallPhase =
  | { readonly _tag: "Requested" }
  | { readonly _tag: "Awaiting"; readonly ticketId: string; readonly wait: WaitKind }
  | { readonly _tag: "Approved"; readonly digest: string; readonly by: ReadonlyArray<string> }
  | { readonly _tag: "Executing"; readonly attempt: number }
  | { readonly _tag: "Completed"; readonly output: ToolOutput }
  | { readonly _tag: "NotRun"; readonly reason: NotRunReason; readonly output: ToolOutput }
  | { readonly _tag: "Indeterminate"; readonly reason: IndeterminateReason; readonly output: ToolOutput }

export interface BatchCall {
  readonly operationId: string
  /** In the batch, from 0: the model's order. */
  readonly position: number
  readonly callId: string
  readonly toolId: string
  /** What runs: the model's arguments, or those of the last accepted edit. `{}` where they were refused. */
  readonly arguments: JsonObject
  /** Digest of the canonical `arguments`. */
  readonly digest: string
  /** 0 for what the model asked; one more for each accepted edit. */
  readonly proposal: number
  readonly recovery: ToolRecoveryPolicy
  readonly claim: ToolConcurrency
  /** Entries so far, over crashes and waits. */
  readonly attempts: number
  /** The digest it was entered with, once it was. */
  readonly entered?: string
  readonly phase: CallPhase
}

export interface ToolBatch {
  readonly runId: string
  readonly step: number
  readonly calls: ReadonlyArray<BatchCall>
}

/** One thing that happens to one call. */
export type CallEvent =
  | { readonly _tag: "Wait"; readonly ticketId: string; readonly wait: WaitKind }
  | { readonly _tag: "Approve"; readonly ticketId: string; readonly digest: string; readonly by: ReadonlyArray<string> }
  /**
   * A new proposal in place of the one that a ticket asked about. It is gated anew; `by` where the gates want no more
   * than the editor's own allow, so that the approval outlives a crash.
   */
  | {
      readonly _tag: "Edit"
      readonly ticketId: string
      readonly arguments: JsonObject
      readonly digest: string
      readonly claim: ToolConcurrency
      readonly by?: ReadonlyArray<string>
    }
  /** The call goes in: a first attempt, or after a crash the next one. */
  | { readonly _tag: "Enter"; readonly digest: string }
  /** A value is there: from `call`, from a gate's `SetResult`, from outside. */
  | { readonly _tag: "Complete"; readonly output: ToolOutput; readonly ticketId?: string }
  /**
   * Nothing happened and nothing will. From `Executing` only with an executor's proof (`Unavailable`); of what was
   * handed out to a client only with the client's own word (`Denied`, under its ticket).
   */
  | { readonly _tag: "Refuse"; readonly reason: NotRunReason; readonly output: ToolOutput; readonly ticketId?: string }
  /** It may have happened, and nobody knows. */
  | { readonly _tag: "Lose"; readonly reason: IndeterminateReason; readonly output: ToolOutput }

/** A transition that the kernel does not have. Carries what was tried; nothing changed. */
export interface IllegalTransition {
  readonly _tag: "IllegalTransition"
  readonly operationId: string
  readonly from: CallPhase["_tag"]
  readonly event: CallEvent["_tag"]
  readonly rule: string
}

export type Transition =
  | { readonly ok: true; readonly call: BatchCall }
  | { readonly ok: false; readonly illegal: IllegalTransition }

export const Requested: CallPhase = Object.freeze({ _tag: "Requested" })

/** Nearly every call has one attempt. */
const firstAttempt: CallPhase = Object.freeze({ _tag: "Executing", attempt: 1 })

export const isTerminal = (call: BatchCall): boolean => {
  const { _tag } = call.phase
  return _tag === "Completed" || _tag === "NotRun" || _tag === "Indeterminate"
}

/** The output of a terminal call. */
export const outputOf = (call: BatchCall): ToolOutput | undefined =>
  "output" in call.phase ? call.phase.output : undefined

/** Applies one event to one call. Total: every pair of phase and event has an answer. */
export const transition = (call: BatchCall, event: CallEvent): Transition => {
  switch (event._tag) {
    case "Wait":
      return wait(call, event)
    case "Approve":
      return approve(call, event)
    case "Edit":
      return edit(call, event)
    case "Enter":
      return enter(call, event)
    case "Complete":
      return complete(call, event)
    case "Refuse":
      return refuse(call, event)
    case "Lose":
      return lose(call, event)
  }
}

type EventOf<Tag extends CallEvent["_tag"]> = Extract<CallEvent, { readonly _tag: Tag }>

const moved = (call: BatchCall, phase: CallPhase): Transition => {
  const { attempts, entered } = call
  return {
    ok: true,
    call: entered === undefined ? unentered(call, phase) : enteredAs(call, { attempts, entered, phase })
  }
}

/** The call in another phase. Field by field: two are made of each call, and a spread costs twenty times as much. */
const unentered = (call: BatchCall, phase: CallPhase): BatchCall => ({
  operationId: call.operationId,
  position: call.position,
  callId: call.callId,
  toolId: call.toolId,
  arguments: call.arguments,
  digest: call.digest,
  proposal: call.proposal,
  recovery: call.recovery,
  claim: call.claim,
  attempts: 0,
  phase
})

const enteredAs = (
  call: BatchCall,
  as: { readonly attempts: number; readonly entered: string; readonly phase: CallPhase }
): BatchCall => ({
  operationId: call.operationId,
  position: call.position,
  callId: call.callId,
  toolId: call.toolId,
  arguments: call.arguments,
  digest: call.digest,
  proposal: call.proposal,
  recovery: call.recovery,
  claim: call.claim,
  attempts: as.attempts,
  entered: as.entered,
  phase: as.phase
})

const illegal = (
  { call, event }: { readonly call: BatchCall; readonly event: CallEvent },
  rule: string
): Transition => ({
  ok: false,
  illegal: { _tag: "IllegalTransition", operationId: call.operationId, from: call.phase._tag, event: event._tag, rule }
})

const wait = (call: BatchCall, event: EventOf<"Wait">): Transition => {
  if (event.ticketId === "") return illegal({ call, event }, "a wait names its ticket")
  if (event.wait === "Pause") return illegal({ call, event }, "a pause is of the run, not of a call")
  const next: CallPhase = { _tag: "Awaiting", ticketId: event.ticketId, wait: event.wait }
  if (call.phase._tag === "Requested") return moved(call, next)
  if (call.phase._tag === "Approved" && isAnswered(event.wait)) return moved(call, next)
  if (call.phase._tag === "Executing" && (event.wait === "Delegation" || event.wait === "Input"))
    return moved(call, next)
  return illegal({ call, event }, "a call waits before it starts; an approved or running one only for what is outside")
}

const approve = (call: BatchCall, event: EventOf<"Approve">): Transition => {
  const { phase } = call
  if (phase._tag !== "Awaiting" || !isUndecided(phase.wait))
    return illegal({ call, event }, "only a call that waits for permission or its time is approved")
  if (phase.ticketId !== event.ticketId) return illegal({ call, event }, "the approval is for another ticket")
  if (call.digest !== event.digest) return illegal({ call, event }, "the approval is for other arguments")
  return moved(call, { _tag: "Approved", digest: event.digest, by: event.by })
}

const edit = (call: BatchCall, event: EventOf<"Edit">): Transition => {
  const { phase } = call
  if (phase._tag !== "Awaiting" || phase.wait !== "Permission")
    return illegal({ call, event }, "only a call that waits for permission is edited")
  if (phase.ticketId !== event.ticketId) return illegal({ call, event }, "the edit is for another ticket")
  if (call.entered !== undefined) return illegal({ call, event }, "an operation that was entered keeps its arguments")
  const { arguments: args, by, claim, digest } = event
  const next: CallPhase = by === undefined ? Requested : { _tag: "Approved", digest, by }
  return { ok: true, call: { ...call, arguments: args, digest, claim, proposal: call.proposal + 1, phase: next } }
}

const enter = (call: BatchCall, event: EventOf<"Enter">): Transition => {
  const { phase } = call
  if (phase._tag !== "Requested" && phase._tag !== "Approved" && phase._tag !== "Executing")
    return illegal({ call, event }, "only a requested, approved or lost running call is entered")
  if (event.digest !== call.digest) return illegal({ call, event }, "what runs is what was decided on")
  if (phase._tag === "Approved" && phase.digest !== event.digest)
    return illegal({ call, event }, "the approval is for other arguments")
  if (call.entered !== undefined && call.entered !== event.digest)
    return illegal({ call, event }, "an operation is entered with one digest only")
  if (call.attempts > 0 && call.recovery.mode === "NeverReplay")
    return illegal({ call, event }, "NeverReplay is entered at most once")
  if (call.attempts >= call.recovery.maxAttempts) return illegal({ call, event }, "the attempts are spent")
  const attempt = call.attempts + 1
  const next: CallPhase = attempt === 1 ? firstAttempt : { _tag: "Executing", attempt }
  return { ok: true, call: enteredAs(call, { attempts: attempt, entered: event.digest, phase: next }) }
}

const complete = (call: BatchCall, event: EventOf<"Complete">): Transition => {
  const { phase } = call
  const done: CallPhase = { _tag: "Completed", output: event.output }
  if (event.output.callId !== call.callId) return illegal({ call, event }, "the output is of another call")
  if (phase._tag === "Executing") return moved(call, done)
  if (phase._tag === "Requested" && event.ticketId === undefined) return moved(call, done)
  if (phase._tag === "Awaiting" && isAnswered(phase.wait) && phase.ticketId === event.ticketId) return moved(call, done)
  return illegal({ call, event }, "only a running call, a set result or a matching answer completes")
}

const refuse = (call: BatchCall, event: EventOf<"Refuse">): Transition => {
  const { phase } = call
  if (event.output.callId !== call.callId) return illegal({ call, event }, "the output is of another call")
  const next: CallPhase = { _tag: "NotRun", reason: event.reason, output: event.output }
  if (phase._tag === "Awaiting" && isHandedOut(phase)) {
    const isItsWord = phase.wait === "Client" && event.reason === "Denied" && event.ticketId === phase.ticketId
    return isItsWord ? moved(call, next) : illegal({ call, event }, "what was handed out may have happened")
  }
  if (phase._tag === "Executing") {
    const isProof = event.reason === "Unavailable" && phase.attempt === 1
    return isProof
      ? moved(call, next)
      : illegal({ call, event }, "only proof that nothing was ever sent un-starts a call")
  }
  if (isTerminal(call)) return illegal({ call, event }, "a terminal call is kept")
  return call.attempts > 0 ? illegal({ call, event }, "a call that was entered may have happened") : moved(call, next)
}

const lose = (call: BatchCall, event: EventOf<"Lose">): Transition => {
  if (event.output.callId !== call.callId) return illegal({ call, event }, "the output is of another call")
  const next: CallPhase = { _tag: "Indeterminate", reason: event.reason, output: event.output }
  if (call.phase._tag === "Executing" || isHandedOut(call.phase) || (!isTerminal(call) && call.attempts > 0))
    return moved(call, next)
  return illegal({ call, event }, "a call that never started did not happen")
}

/** The call as it was before anything happened to it: what a batch opens from. */
export const unstarted = (call: BatchCall): BatchCall => unentered(call, Requested)

/** What C2 says of the calls that are not terminal and not running. */
export interface Plan {
  /** May be entered now, in model order. */
  readonly start: ReadonlyArray<BatchCall>
  /** Will never run in this batch: a conflicting predecessor's outcome is unknown (R12). */
  readonly refuse: ReadonlyArray<BatchCall>
  /** Blocked only by an abandoned call's claim that is still held. */
  readonly held: ReadonlyArray<BatchCall>
}

export interface PlanOptions {
  /** Calls running at once, at least 1. */
  readonly width: number
  /** Positions that the gates have let through and that wait for nobody. */
  readonly ready: (call: BatchCall) => boolean
  /** Claims of abandoned calls that may still be running. */
  readonly held: ReadonlyArray<ToolConcurrency>
}

/**
 * Which calls may start: those whose conflicting predecessors are all terminal, at most `width` at once. One pass over
 * the batch; the cost grows with calls and claims, not with their product.
 */
export const plan = (batch: ToolBatch, options: PlanOptions): Plan => {
  const open = new ClaimSet()
  const unknown = new ClaimSet()
  const start: Array<BatchCall> = []
  const refused: Array<BatchCall> = []
  const held: Array<BatchCall> = []
  let running = batch.calls.reduce((count, call) => (call.phase._tag === "Executing" ? count + 1 : count), 0)
  for (const call of batch.calls) {
    if (call.phase._tag === "Indeterminate") unknown.add(call.claim)
    if (isTerminal(call)) continue
    const isReady = (call.phase._tag === "Requested" || call.phase._tag === "Approved") && options.ready(call)
    // Nobody is asked to decide about a call that can no longer run.
    const isWaiting = call.phase._tag === "Awaiting" && isUndecided(call.phase.wait)
    if ((isReady || isWaiting) && unknown.conflictsWith(call.claim)) {
      refused.push(call)
      continue
    }
    if (isReady && !open.conflictsWith(call.claim)) {
      if (options.held.length > 0 && options.held.some((claim) => conflicts(claim, call.claim))) held.push(call)
      else if (running < options.width) {
        running++
        start.push(call)
      }
    }
    open.add(call.claim)
  }
  return { start, refuse: refused, held }
}

/** May the results enter the transcript? Only when every call is terminal: the model never sees a partial batch. */
export const isPublishable = (batch: ToolBatch): boolean => batch.calls.every(isTerminal)

/** The same batch with the changed calls in their places. A call of another batch is ignored. */
export const withCalls = (batch: ToolBatch, changed: ReadonlyArray<BatchCall>): ToolBatch => {
  if (changed.length === 0) return batch
  const calls = batch.calls.slice()
  for (const call of changed) if (calls[call.position]?.operationId === call.operationId) calls[call.position] = call
  return { runId: batch.runId, step: batch.step, calls }
}

/** What recovery does with one call of an open batch, before the next inference. */
export type RecoveryAction =
  | { readonly _tag: "Keep" }
  | { readonly _tag: "Await" }
  /** Ask the gates, then run. */
  | { readonly _tag: "Gate" }
  /** Read the deny side anew, then run what was approved, once. */
  | { readonly _tag: "RunApproved" }
  /** Ask the tool what became of the attempt; then ask the table again with the answer. */
  | { readonly _tag: "Reconcile" }
  | { readonly _tag: "Reenter" }
  | { readonly _tag: "Adopt"; readonly output: ToolOutput }
  /** Ask again after so many milliseconds. */
  | { readonly _tag: "AskAgain"; readonly after: number }
  | { readonly _tag: "NotRun"; readonly reason: NotRunReason }
  | { readonly _tag: "Indeterminate"; readonly reason: IndeterminateReason }

export interface RecoveryFacts {
  /** Installed code still matches what the snapshot pinned. */
  readonly fits: boolean
  /** The deny side, read anew, forbids the call now. */
  readonly denied: boolean
  readonly canReconcile: boolean
  /** What the tool answered, once it was asked. */
  readonly reconciled?:
    | { readonly _tag: "Happened"; readonly output: ToolOutput }
    | { readonly _tag: "NotSent" }
    | { readonly _tag: "InProgress"; readonly retryAfter: number }
    | { readonly _tag: "Unknown" }
}

/** The recovery table (R8) as a total function. */
export const recover = (call: BatchCall, facts: RecoveryFacts): RecoveryAction => {
  switch (call.phase._tag) {
    case "Completed":
    case "NotRun":
    case "Indeterminate":
      return { _tag: "Keep" }
    case "Awaiting":
      return { _tag: "Await" }
    case "Requested":
      return facts.fits ? { _tag: "Gate" } : { _tag: "NotRun", reason: "ToolChanged" }
    case "Approved":
      if (!facts.fits) return { _tag: "NotRun", reason: "ToolChanged" }
      return facts.denied ? { _tag: "NotRun", reason: "Denied" } : { _tag: "RunApproved" }
    case "Executing":
      return recoverExecuting(call, facts)
  }
}

const recoverExecuting = (call: BatchCall, facts: RecoveryFacts): RecoveryAction => {
  if (!facts.fits) return { _tag: "Indeterminate", reason: "ToolChanged" }
  const mayReplay = call.recovery.mode !== "NeverReplay"
  if (mayReplay && facts.denied) return { _tag: "Indeterminate", reason: "DeniedNow" }
  if (facts.canReconcile && facts.reconciled === undefined) return { _tag: "Reconcile" }
  if (facts.reconciled?._tag === "Happened") return { _tag: "Adopt", output: facts.reconciled.output }
  if (facts.reconciled?._tag === "InProgress") return { _tag: "AskAgain", after: facts.reconciled.retryAfter }
  if (!mayReplay) return { _tag: "Indeterminate", reason: "ProcessLost" }
  return call.attempts < call.recovery.maxAttempts
    ? { _tag: "Reenter" }
    : { _tag: "Indeterminate", reason: "AttemptsSpent" }
}

/** What the end of a run makes of a call that is not terminal (R9). */
export const sealing = (call: BatchCall): "NotRun" | "Indeterminate" =>
  call.phase._tag === "Executing" || isHandedOut(call.phase) || call.attempts > 0 ? "Indeterminate" : "NotRun"
