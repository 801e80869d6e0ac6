/**
 * Lets remembered approvals answer what gates ask (H7), and looks them up again before a call goes in.
 *
 * Guarantees: a grant answers only confirmations of its own gate, for its tool, principal and scope; the store is asked
 * anew each time, so that a revocation in another process counts; stored grants that cannot be read answer nothing; a
 * child run has none.
 * Does not give or store grants. Costs nothing where no gate that can remember asks.
 */
import { Grant, GateOutcome, type PermissionGate, StateKey, ThreadStore } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { type Flow, waitFor } from "./flow.js"
import { attempt } from "./settle.js"
import { readShared } from "./sharedState.js"

/** By id; `null` stands for a revoked grant. */
const schema: StateKey.StateKey["schema"] = Object.freeze({ type: "object" })

const keyOf = (scope: StateKey.StateScope): StateKey.StateKey =>
  StateKey.make({
    name: Grant.stateName,
    scope,
    merge: "Commutative",
    schema,
    initial: {},
    combine: (left, right) => Object.assign({}, left, right)
  })

export const grantKeys: ReadonlyArray<StateKey.StateKey> = [keyOf("Run"), keyOf("Thread"), keyOf("Shared")]

export const grantKeyOf = (scope: Grant.GrantScope): StateKey.StateKey => keys[scope._tag]

const keys: Readonly<Record<Grant.GrantScope["_tag"], StateKey.StateKey>> = {
  Run: keyOf("Run"),
  Thread: keyOf("Thread"),
  Workspace: keyOf("Shared")
}

export const mayBeGranted = (gate: PermissionGate.PermissionGate, outcome: GateOutcome.GateOutcome): boolean =>
  outcome._tag === "RequireConfirmation" && gate.remember !== undefined

interface Asking {
  readonly gate: PermissionGate.PermissionGate
  readonly outcome: GateOutcome.GateOutcome
  readonly call: PermissionGate.GateCall
}

/** What is left of the gate's question. */
export function* answeredByGrants(run: ActiveRun, { gate, outcome, call }: Asking): Flow<GateOutcome.GateOutcome> {
  if (outcome._tag !== "RequireConfirmation" || run.pinned.record.parent !== undefined) return outcome
  const used = new Set<string>()
  const left: Array<GateOutcome.Requirement> = []
  const covering = yield* grantsCovering(run, { gate, call })
  for (const requirement of outcome.requirements) {
    const grant = covering.find((one) => Grant.mayAnswer(one, requirement))
    if (grant === undefined) left.push(requirement)
    else used.add(grant.id)
  }
  if (used.size === 0) return outcome
  run.ledger.grant(call.operationId, [...(run.ledger.granted.get(call.operationId) ?? []), ...used])
  return left.length === 0 ? GateOutcome.allowBy(`grant ${[...used].join(", ")}`) : { ...outcome, requirements: left }
}

interface Covering {
  readonly gate: PermissionGate.PermissionGate
  readonly call: PermissionGate.GateCall
}

function* grantsCovering(run: ActiveRun, { gate, call }: Covering): Flow<ReadonlyArray<Grant.Grant>> {
  const { remember } = gate
  if (remember === undefined) return none
  const covering: Array<Grant.Grant> = []
  for (const grant of yield* currentGrants(run)) {
    const { match } = grant
    if (!Grant.isInForce(grant, { call, gate: gate.id, workspace: remember.workspace })) continue
    if (
      match._tag === "Exact"
        ? match.digest === call.digest
        : yield* covers(run, { remember, pattern: match.pattern, call })
    )
      covering.push(grant)
  }
  return covering
}

const none: ReadonlyArray<Grant.Grant> = Object.freeze([])

interface Matching {
  readonly remember: PermissionGate.RememberPort
  readonly pattern: string
  readonly call: PermissionGate.GateCall
}

function* covers(run: ActiveRun, { remember, pattern, call }: Matching): Flow<boolean> {
  const value = attempt<unknown>(run.engine.services, () => remember.covers(pattern, call))
  const waited = yield* waitFor(run, { value, limit: run.pinned.limits.toolTimeout })
  return typeof waited === "object" && waited.ok && waited.value === true
}

/** All grants of run, thread and store, read anew, without those that were revoked. */
function* currentGrants(run: ActiveRun): Flow<ReadonlyArray<Grant.Grant>> {
  yield* readShared(run)
  try {
    const [ofRun, ofThread] = ["Run", "Thread"].map((scope) =>
      Grant.readAll(run.fold.state.get(`${scope}:${Grant.stateName}`))
    )
    const shared = Grant.readAll(run.shared.get(ThreadStore.stateKeyOf("Shared", Grant.stateName)))
    const all = [...(ofRun?.grants ?? []), ...(ofThread?.grants ?? []), ...shared.grants]
    return shared.revoked.length === 0 ? all : all.filter(({ id }) => !shared.revoked.includes(id))
  } catch {
    // What cannot be read answers nothing: the gates' questions stand.
    return none
  }
}

/** Why a call that grants have answered for may not go in any more. */
export function* lostGrant(
  run: ActiveRun,
  {
    call,
    gates
  }: { readonly call: PermissionGate.GateCall; readonly gates: ReadonlyArray<PermissionGate.PermissionGate> }
): Flow<string | undefined> {
  const ids = run.ledger.granted.get(call.operationId)
  if (ids === undefined) return undefined
  const current = yield* currentGrants(run)
  const holds = (id: string): boolean => {
    const grant = current.find((one) => one.id === id)
    const workspace = gates.find((gate) => gate.id === grant?.gate)?.remember?.workspace
    return (
      grant !== undefined && workspace !== undefined && Grant.isInForce(grant, { call, gate: grant.gate, workspace })
    )
  }
  return ids.every(holds) ? undefined : `the approval that covered ${call.tool.id} no longer holds`
}
