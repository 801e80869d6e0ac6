/**
 * Asks the gates (P1, P2, P3): each once per call, in model order, the strictest answer holds.
 *
 * Guarantees: a gate that throws, does not answer or answers nonsense blocks; the narrowing of the run is applied last and
 * only narrows; a repeat of a call whose outcome nobody knows needs confirmation, whatever the gates say.
 * Does not act on the answers.
 */
import { GateOutcome, type PermissionGate, type ThreadCommit, type ToolBatch } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { type Flow, type Rest, waitFor } from "./flow.js"
import { errorText } from "./errorText.js"
import { readGateOutcome } from "./readGateOutcome.js"
import { attempt, begin, isSettled, type Settled, type Started } from "./settle.js"
import { answeredByGrants, lostGrant, mayBeGranted } from "./grants.js"
import { heed } from "./inbox.js"
import type { Proposal } from "./ingress.js"
import type { Entry } from "./entries.js"
import { stateView } from "./stateReader.js"

/** A call that may be asked about. */
export interface Gateable {
  readonly call: ToolBatch.BatchCall
  readonly entry: Entry
}

export interface Decision {
  readonly outcome: GateOutcome.GateOutcome
  /** The gate that decided. */
  readonly by: string
  /** Milliseconds since the epoch, by the runtime's clock. */
  readonly at: number
}

type Asked = Settled<GateOutcome.GateOutcome> | Started<GateOutcome.GateOutcome>

export interface Asking {
  readonly calls: ReadonlyArray<Proposal>
  /** What is known of calls of the batch before these; what is decided is added. */
  readonly earlier: Array<PermissionGate.EarlierCall>
  /** Receives the decision on each of `calls`, `undefined` for what was refused before. */
  readonly decisions: Array<Decision | undefined>
}

/**
 * Asks about each call in turn. Plain gates are answered at once; the rest begins at the first one that is waited for.
 * When the run is ending meanwhile, fewer decisions than calls are there: nobody needs them any more.
 */
export const askGates = (run: ActiveRun, asking: Asking): Rest => {
  const gates = gatesOf(run)
  // Plain gates take no time; what waits for another one is asked at a moment of its own.
  const now = run.engine.clock.now()
  while (asking.decisions.length < asking.calls.length) {
    const proposal = asking.calls[asking.decisions.length]
    if (proposal === undefined || !isGateable(proposal)) {
      pass(asking, proposal)
      continue
    }
    const asked = proposal
    const call = gateCall(run, { asked, earlier: asking.earlier, now })
    let decided: Decision | undefined
    for (let index = 0; index < gates.length; index++) {
      const gate = gates[index]
      if (gate === undefined) continue
      const answer = decideNow(run, { gate, call })
      if (!isSettled(answer)) return waitForGates(run, { asking, asked, call, gates, index, decided, answer })
      const outcome = readAnswer(gate, answer)
      if (mayBeGranted(gate, outcome)) return waitForGates(run, { asking, asked, call, gates, index, decided, answer })
      decided = stricter(decided, { outcome, by: gate.id, at: now })
    }
    conclude(run, { asking, asked, decided })
  }
  return undefined
}

interface WaitingForGates {
  readonly asking: Asking
  readonly asked: Gateable
  readonly call: PermissionGate.GateCall
  readonly gates: ReadonlyArray<PermissionGate.PermissionGate>
  readonly index: number
  readonly decided: Decision | undefined
  readonly answer: Asked
}

/** Goes on from the gate that has not answered yet. */
function* waitForGates(
  run: ActiveRun,
  { asking, asked, call, gates, index, decided, answer }: WaitingForGates
): Flow<void> {
  let before = decided
  for (const [offset, gate] of gates.slice(index).entries()) {
    const value = offset === 0 ? answer : decideNow(run, { gate, call })
    const waited = yield* waitFor(run, { value, limit: run.pinned.limits.toolTimeout, heed: () => heed(run) })
    if (waited === "over") return
    const settled = waited === "late" ? lateAnswer : waited
    const outcome = readAnswer(gate, settled)
    const left = mayBeGranted(gate, outcome) ? yield* answeredByGrants(run, { gate, outcome, call }) : outcome
    before = stricter(before, { outcome: left, by: gate.id, at: run.engine.clock.now() })
  }
  conclude(run, { asking, asked, decided: before })
  const rest = askGates(run, asking)
  if (rest !== undefined) yield* rest
}

const lateAnswer: Settled<GateOutcome.GateOutcome> = { ok: false, error: new Error("the gate did not answer in time") }

export const isGateable = (proposal: Proposal): proposal is Proposal & Gateable => proposal.entry !== undefined

/** A call that was refused before any gate was asked. */
const pass = ({ decisions, earlier }: Asking, proposal: Proposal | undefined): void => {
  decisions.push(undefined)
  if (proposal === undefined) return
  const { operationId, toolId } = proposal.call
  earlier.push(Object.freeze({ operationId, toolId, arguments: undefined, standing: "Refused" }))
}

const conclude = (
  run: ActiveRun,
  {
    asking,
    asked,
    decided
  }: { readonly asking: Asking; readonly asked: Gateable; readonly decided: Decision | undefined }
): void => {
  const decision = narrowed(run, { call: asked.call, decision: decided ?? noGate(run) })
  asking.decisions.push(decision)
  if (asking.decisions.length < asking.calls.length) asking.earlier.push(earlierOf(asked, decision))
}

/** The decision on one call. `undefined`: the run is ending, and nobody needs it any more. */
export function* askAbout(
  run: ActiveRun,
  { asked, earlier }: { readonly asked: Gateable; readonly earlier: Array<PermissionGate.EarlierCall> }
): Flow<Decision | undefined> {
  const asking: Asking = { calls: [asked], earlier, decisions: [] }
  const rest = askGates(run, asking)
  if (rest !== undefined) yield* rest
  return asking.decisions[0]
}

/** A runtime without a gate does not build; this is what it would say. */
const noGate = (run: ActiveRun): Decision => ({
  outcome: GateOutcome.block("no permission gate"),
  by: "runtime",
  at: run.engine.clock.now()
})

const stricter = (left: Decision | undefined, right: Decision): Decision => {
  if (left === undefined) return right
  const outcome = GateOutcome.stricter(left.outcome, right.outcome)
  if (outcome === left.outcome) return left
  return outcome === right.outcome ? right : { outcome, by: `${left.by}, ${right.by}`, at: right.at }
}

/** The reason why the call may not run now, from the deny side alone. A gate that fails to say denies. */
export function* askDenies(run: ActiveRun, asked: Gateable): Flow<string | undefined> {
  const call = gateCall(run, { asked, earlier: [], now: run.engine.clock.now() })
  if (run.pinned.record.narrowing === "DenyAll") return "this run may not call tools"
  for (const gate of gatesOf(run)) {
    if (gate.denies === undefined) continue
    const { denies } = gate
    const answer = yield* waitFor(run, {
      value: attempt(run.engine.services, () => denies.call(gate, call)),
      limit: run.pinned.limits.toolTimeout
    })
    if (answer === "late" || answer === "over" || !answer.ok) return `the permission gate ${gate.id} failed`
    if (answer.value !== undefined)
      return typeof answer.value === "string" ? answer.value : `the permission gate ${gate.id} denies it`
  }
  return run.ledger.granted.size === 0 ? undefined : yield* lostGrant(run, { call, gates: gatesOf(run) })
}

/** Narrowing, then the run's own policy, then the host's gates: the run's policy may only narrow as well. */
const gatesOf = (run: ActiveRun): ReadonlyArray<PermissionGate.PermissionGate> => {
  const { policy } = run.pinned
  const { gates } = run.pinned
  return policy === undefined ? gates : [policy, ...gates]
}

const decideNow = (
  run: ActiveRun,
  { gate, call }: { readonly gate: PermissionGate.PermissionGate; readonly call: PermissionGate.GateCall }
): Asked => {
  try {
    return begin(run.engine.services, gate.decide(call))
  } catch (error) {
    return { ok: false, error }
  }
}

const readAnswer = (
  gate: PermissionGate.PermissionGate,
  answer: Settled<GateOutcome.GateOutcome>
): GateOutcome.GateOutcome => {
  if (!answer.ok)
    return GateOutcome.block("the permission gate failed", `${gate.id}: ${errorText(answer.error, "failed")}`)
  const outcome = readGateOutcome(answer.value)
  if (outcome === undefined) return GateOutcome.block("the permission gate failed", `${gate.id}: no gate outcome`)
  if (outcome._tag !== "RequireConfirmation") return outcome
  return { ...outcome, requirements: outcome.requirements.map((one) => ({ ...one, gate: gate.id })) }
}

/** The guard of R12, then what the run may do at all. */
const narrowed = (
  run: ActiveRun,
  { call, decision }: { readonly call: ToolBatch.BatchCall; readonly decision: Decision }
): Decision => {
  const { narrowing } = run.pinned.record
  const open = openOutcomeLike(run, call)
  const guarded = open === undefined ? decision.outcome : GateOutcome.stricter(decision.outcome, confirmRepeat(open))
  const outcome = narrowing === "Configured" ? guarded : GateOutcome.narrow(guarded, narrowing)
  return outcome === decision.outcome
    ? decision
    : {
        outcome,
        by: outcome === guarded && guarded._tag === decision.outcome._tag ? decision.by : "runtime",
        at: decision.at
      }
}

const openOutcomeLike = (run: ActiveRun, call: ToolBatch.BatchCall): ToolBatch.BatchCall | undefined => {
  const { openOutcomes } = run.fold
  if (openOutcomes.size === 0) return undefined
  for (const open of openOutcomes.values())
    if (open.call.toolId === call.toolId && open.call.digest === call.digest && open.operationId !== call.operationId)
      return open.call
  return undefined
}

const confirmRepeat = (open: ToolBatch.BatchCall): GateOutcome.GateOutcome =>
  GateOutcome.requireConfirmation({
    gate: "runtime",
    reason: `the same call of ${open.toolId} may already have happened (operation ${open.operationId}); its outcome is unknown`,
    rule: "earlier outcome unknown"
  })

const gateCall = (
  run: ActiveRun,
  {
    asked,
    earlier,
    now
  }: { readonly asked: Gateable; readonly earlier: ReadonlyArray<PermissionGate.EarlierCall>; readonly now: number }
): PermissionGate.GateCall => {
  const { call, entry } = asked
  const made: PermissionGate.GateCall = {
    runId: run.runId,
    threadId: run.threadId,
    step: run.fold.batch?.step ?? run.fold.step + 1,
    operationId: call.operationId,
    callId: call.callId,
    principal: run.pinned.record.principal,
    tool: entry.installed.descriptor,
    attribution: entry.installed.tool.attribution,
    arguments: entry.arguments,
    digest: call.digest,
    now,
    state: stateView(run),
    // A copy: whoever keeps it must not see it grow.
    earlier: earlier.length === 0 ? nothingEarlier : earlier.slice()
  }
  // Several gates see the same object: what one of them writes on it must not be what the next one judges. A single gate
  // can only mislead itself, and freezing costs it more than its decision.
  if (gatesOf(run).length > 1) {
    Object.freeze(made.earlier)
    Object.freeze(made)
  }
  return made
}

const nothingEarlier: ReadonlyArray<PermissionGate.EarlierCall> = Object.freeze([])

const standings: Readonly<Record<GateOutcome.GateOutcome["_tag"], PermissionGate.EarlierCall["standing"]>> = {
  Allow: "AboutToRun",
  SetResult: "Set",
  Schedule: "Waiting",
  RequireConfirmation: "Waiting",
  Block: "Refused"
}

const earlierOf = (asked: Gateable, decision: Decision): PermissionGate.EarlierCall =>
  Object.freeze({
    operationId: asked.call.operationId,
    toolId: asked.call.toolId,
    arguments: asked.entry.arguments,
    standing: standings[decision.outcome._tag]
  })

/** The decision as it is accounted for. */
export const decisionRecord = (call: ToolBatch.BatchCall, decision: Decision): ThreadCommit.AuditRecord => {
  const { outcome, by, at } = decision
  const record: Mutable<ThreadCommit.AuditRecord> = {
    type: "Decision",
    at,
    operationId: call.operationId,
    toolId: call.toolId,
    digest: call.digest,
    outcome: outcome._tag,
    by
  }
  const rule = outcome._tag === "RequireConfirmation" ? outcome.requirements[0]?.rule : outcome.rule
  if (rule !== undefined) record.rule = rule
  const reason = reasonOf(outcome)
  if (reason !== undefined) record.detail = reason
  return record
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

const reasonOf = (outcome: GateOutcome.GateOutcome): string | undefined => {
  if (outcome._tag === "Block") return outcome.reason
  return outcome._tag === "RequireConfirmation" ? outcome.requirements.map((one) => one.reason).join("; ") : undefined
}
