/**
 * From a turn to the calls of a batch (T4, E4): visible and unique, then parsed, each call with an identity of ours.
 *
 * Guarantees: every call of the turn becomes exactly one call of the batch, in model order; what may not run is terminal
 * at once, with a result that says why; a call id is never missing, empty or used twice in a thread; arguments that were
 * refused are kept as capped raw text and go back to providers as an empty object.
 * Does not permit: gates do.
 */
/// <reference lib="es2024.string" />
import {
  Message,
  ToolArgs,
  ToolBatch,
  ToolConcurrency,
  ToolOperation,
  ToolOutput,
  ToolRecovery
} from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { emptyDigest, noArguments, parseArguments } from "./arguments.js"
import type { Entry } from "./entries.js"
import { countInvalid, keepStreak } from "./invalidStreak.js"
import { claimOf, type Installed, type Refusal } from "./snapshotPlan.js"
import type { RequestedCall, Turn, TurnPart } from "./turn.js"

/** A call of the turn, ready to be gated or already refused. */
export interface Proposal {
  readonly call: ToolBatch.BatchCall
  /** There exactly where the call may be gated. */
  readonly entry?: Entry
}

export interface Ingress {
  readonly parts: ReadonlyArray<Message.AssistantPart>
  readonly proposals: ReadonlyArray<Proposal>
}

/** What this request allowed beside the snapshot. */
export interface Offer {
  readonly step: number
  /** Ids the request was narrowed to, where a hook did so. */
  readonly tools: ReadonlySet<string> | undefined
  /** The last step answers; it calls nothing. */
  readonly isLast: boolean
}

/** UTF-16 code units of a tool id that is kept: an id that no tool has may be anything. */
const maxToolId = 128

const noPolicy = ToolRecovery.make("NeverReplay", 1)

export const ingress = (run: ActiveRun, { turn, offer }: { readonly turn: Turn; readonly offer: Offer }): Ingress => {
  const parts: Array<Message.AssistantPart> = []
  const proposals: Array<Proposal> = []
  for (const part of turn.parts()) {
    if (part.type !== "requested") parts.push(freezePart(part))
    else {
      const position = proposals.length
      const callId = callIdFor(run, { given: part.callId, step: offer.step, position })
      const made = propose(run, { part, offer, position, callId, isCut: Message.isCutOff(turn.stop) })
      proposals.push(made)
      parts.push(partOf(part, made))
    }
  }
  // What is kept is copied to its size: an array that was pushed to has room for sixteen more.
  return { parts: parts.slice(), proposals }
}

interface Given {
  readonly part: RequestedCall
  readonly offer: Offer
  readonly position: number
  readonly callId: string
  readonly isCut: boolean
}

const propose = (run: ActiveRun, given: Given): Proposal => {
  const { part, offer, position } = given
  const { plan, limits, snapshot } = run.pinned
  if (given.isCut)
    return refused(run, given, { reason: "InvalidArguments", text: ToolArgs.cutOff(part.toolId).error.message })
  if (offer.isLast)
    return refused(run, given, { reason: "LastStep", text: "not run: this was the last step, answer without tools" })
  const resolved = plan.resolve(part.toolId)
  if (!resolved.ok) return refused(run, given, resolved.refusal)
  if (offer.tools !== undefined && !offer.tools.has(part.toolId))
    return refused(run, given, { reason: "NotVisible", text: `tool ${part.toolId} was not offered in this step` })
  if (position >= limits.maxCallsPerStep)
    return refused(run, given, {
      reason: "Blocked",
      text: `not run: one step may run at most ${limits.maxCallsPerStep} calls`
    })
  const { installed } = resolved
  const parsed = parseArguments(installed.descriptor, { raw: part.arguments, mode: snapshot.arguments })
  if (!parsed.ok) return invalid(run, given, { installed, text: parsed.text })
  const { digest } = parsed
  if (run.ledger.streak !== undefined) keepStreak(run.ledger, `${part.toolId}\n${digest}`)
  const call = requestedCall(run, given, {
    arguments: parsed.arguments,
    digest,
    recovery: installed.descriptor.policy,
    claim: claimOf(installed, parsed.arguments)
  })
  if (parsed.coerced.length > 0)
    run.notes.push({ type: "ArgumentsCoerced", operationId: call.operationId, pointers: parsed.coerced })
  return { call, entry: { installed, arguments: parsed.arguments, digest } }
}

/** The third identical refusal in a row shows the whole schema. */
const invalid = (
  run: ActiveRun,
  given: Given,
  { installed, text }: { readonly installed: Installed; readonly text: string }
): Proposal => {
  const { part, offer } = given
  const key = `${part.toolId}\n${ToolArgs.capRawArguments(part.arguments)}`
  const count = countInvalid(run.ledger, { key, step: offer.step })
  const answer = ToolArgs.answerInvalid(installed.descriptor, { count, message: text })
  return refused(run, given, { reason: "InvalidArguments", text: answer.text })
}

type Rest = Pick<ToolBatch.BatchCall, "arguments" | "digest" | "recovery" | "claim">

const requestedCall = (run: ActiveRun, given: Given, rest: Rest): ToolBatch.BatchCall => ({
  operationId: ToolOperation.idOf(run.runId, given.offer.step, given.position),
  position: given.position,
  callId: given.callId,
  toolId: toolIdOf(given.part),
  arguments: rest.arguments,
  digest: rest.digest,
  proposal: 0,
  recovery: rest.recovery,
  claim: rest.claim,
  attempts: 0,
  phase: ToolBatch.Requested
})

const refused = (run: ActiveRun, given: Given, { reason, text }: Refusal): Proposal => {
  const requested = requestedCall(run, given, {
    arguments: noArguments,
    digest: emptyDigest,
    recovery: noPolicy,
    claim: ToolConcurrency.Parallel
  })
  run.audit.push({
    type: "Refusal",
    at: run.engine.clock.now(),
    operationId: requested.operationId,
    toolId: requested.toolId,
    outcome: reason,
    by: "runtime"
  })
  return { call: { ...requested, phase: { _tag: "NotRun", reason, output: ToolOutput.error(given.callId, text) } } }
}

/** Ours where the provider gave none, an empty one, or one that the thread has already. */
const callIdFor = (
  run: ActiveRun,
  given: { readonly given: string | undefined; readonly step: number; readonly position: number }
): string => {
  const used = run.usedCallIds()
  const own = given.given === undefined ? "" : given.given.toWellFormed()
  const before = used.size
  if (own.trim() !== "" && used.add(own).size > before) return own
  const base = `call_${given.step}_${given.position}`
  let callId = base
  for (let count = 2; used.has(callId); count++) callId = `${base}_${count}`
  used.add(callId)
  return callId
}

const toolIdOf = (part: RequestedCall): string => {
  const clean = part.toolId.toWellFormed()
  return clean.length > maxToolId ? clean.slice(0, maxToolId).toWellFormed() : clean
}

const partOf = (part: RequestedCall, { call, entry }: Proposal): Message.ToolCallPart => {
  const made: Mutable<Message.ToolCallPart> = {
    type: "toolCall",
    callId: call.callId,
    toolId: call.toolId,
    arguments: call.arguments
  }
  if (entry === undefined) made.rawArguments = ToolArgs.capRawArguments(part.arguments)
  if (part.callId !== undefined && part.callId !== call.callId) made.providerCallId = part.callId.toWellFormed()
  if (part.providerMetadata !== undefined) made.providerMetadata = part.providerMetadata
  return Object.freeze(made)
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

const freezePart = (part: Exclude<TurnPart, RequestedCall>): Message.AssistantPart => Object.freeze(part)
