/**
 * What becomes of calls that were open when an earlier owner stopped, or whose executor was lost (R5, R8).
 *
 * Guarantees: follows the kernel's table and nothing else; the outside world is asked, where the tool can ask it, before a
 * call is repeated or given up; a repeat is a new durable attempt of the same operation.
 * Does not look at terminal calls.
 */
import { type PermissionGate, ToolBatch } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import type { BatchChanges } from "./batchChanges.js"
import { applyDecision } from "./deciding.js"
import { type Entry, entryOf } from "./entries.js"
import { DelegatedCall } from "./delegatedCall.js"
import { childThreadOf } from "./delegations.js"
import { type Flow, waitFor } from "./flow.js"
import { beginEffect } from "./settle.js"
import { askAbout, askDenies } from "./gating.js"
import { lostOutput, notRunOutput } from "./outcomes.js"
import { policed } from "./policed.js"
import { Reconciler } from "./reconciler.js"
import type { Taking } from "./settling.js"

/** Looks at every call of the batch that nobody here has gated or started. */
export function* reviewCalls(run: ActiveRun, taking: Taking): Flow<void> {
  run.mustReview = false
  run.at("recovery.before")
  for (const call of taking.changes.batch.calls) {
    const isOrphan = call.phase._tag === "Executing" && !run.live.has(call.position)
    if (isOrphan && !taking.entered.includes(call.position))
      yield* recoverCall(run, { ...taking, position: call.position, isExecutorLost: false })
  }
  if (!(yield* gateRequested(run, taking.changes))) run.mustReview = true
}

/** Asks the gates for calls that are requested and were not asked about here. False when the run is ending. */
function* gateRequested(run: ActiveRun, changes: BatchChanges): Flow<boolean> {
  const earlier: Array<PermissionGate.EarlierCall> = []
  for (const call of changes.batch.calls) {
    if (call.phase._tag !== "Requested" || run.ready.has(call.position)) {
      earlier.push(standingOf(call))
      continue
    }
    const found = entryOf(run, call)
    if (!found.ok) {
      const { reason, text } = found.refusal
      changes.apply(call.position, { _tag: "Refuse", reason, output: notRunOutput(call, { reason, detail: text }) })
      earlier.push(standingOf(changes.at(call.position)))
      continue
    }
    const decision = yield* askAbout(run, { asked: { call, entry: found.entry }, earlier })
    if (decision === undefined) return false
    const applied = applyDecision(run, { asked: { call, entry: found.entry }, decision })
    if (applied.call !== call) changes.put(applied.call)
    if (applied.ticket !== undefined) changes.issue(applied.ticket)
    if (applied.isReady) run.ready.set(call.position, true)
  }
  return true
}

const standingOf = (call: ToolBatch.BatchCall): PermissionGate.EarlierCall => {
  const { _tag } = call.phase
  const standing = _tag === "NotRun" ? "Refused" : _tag === "Awaiting" ? "Waiting" : "AboutToRun"
  return { operationId: call.operationId, toolId: call.toolId, arguments: undefined, standing }
}

export interface Recovering extends Taking {
  readonly position: number
  /** The executor lost the call while its owner lived. */
  readonly isExecutorLost: boolean
  readonly reconciled?: NonNullable<ToolBatch.RecoveryFacts["reconciled"]>
}

/** Applies the recovery table to one call that is `Executing` and that nobody is running. */
export function* recoverCall(run: ActiveRun, recovering: Recovering): Flow<void> {
  const { changes, position } = recovering
  const call = changes.at(position)
  const found = entryOf(run, call)
  const denied =
    found.ok && call.recovery.mode !== "NeverReplay" ? yield* askDenies(run, { call, entry: found.entry }) : undefined
  if (found.ok && found.entry.installed.delegated !== undefined)
    return yield* reconnect(run, { recovering, entry: found.entry, denied })
  const action = ToolBatch.recover(call, {
    fits: found.ok,
    denied: denied !== undefined,
    canReconcile: found.ok && found.entry.installed.tool.reconcile !== undefined,
    ...(recovering.reconciled === undefined ? {} : { reconciled: recovering.reconciled })
  })
  account(run, { call, outcome: action._tag })
  yield* act(run, { recovering, action, entry: found.ok ? found.entry : undefined })
}

/** The child is the one durable request of the attempt: it is found again, never started twice. */
function* reconnect(
  run: ActiveRun,
  {
    recovering,
    entry,
    denied
  }: { readonly recovering: Recovering; readonly entry: Entry; readonly denied: string | undefined }
): Flow<void> {
  const { changes, position } = recovering
  const call = changes.at(position)
  const { installed, arguments: args } = entry
  const { delegated } = installed
  if (delegated === undefined) return
  account(run, { call, outcome: denied === undefined ? "Reconnect" : "Indeterminate" })
  if (denied === undefined) {
    const live = new DelegatedCall(run, { call, installed, delegated, arguments: args })
    run.live.set(position, live)
    live.start()
    return
  }
  const { children, services } = run.engine
  yield* waitFor(run, {
    value: beginEffect(services, children.cancel(childThreadOf(call.operationId))),
    limit: run.pinned.limits.grace * 2
  })
  changes.apply(position, { _tag: "Lose", reason: "DeniedNow", output: lostOutput(call, "DeniedNow") })
}

interface Acting {
  readonly recovering: Recovering
  readonly action: ToolBatch.RecoveryAction
  readonly entry: Entry | undefined
}

function* act(run: ActiveRun, { recovering, action, entry }: Acting): Flow<void> {
  const { changes, entered, position } = recovering
  const call = changes.at(position)
  switch (action._tag) {
    case "Reenter":
      changes.apply(position, { _tag: "Enter", digest: call.digest })
      entered.push(position)
      return
    case "Adopt": {
      const output = yield* policed(run, { call, installed: entry?.installed, output: action.output })
      changes.apply(position, { _tag: "Complete", output })
      return
    }
    case "Reconcile":
      if (entry !== undefined) askOutside(run, { call, entry })
      return
    case "Indeterminate": {
      const reason = action.reason === "ProcessLost" && recovering.isExecutorLost ? "ExecutorLost" : action.reason
      changes.apply(position, { _tag: "Lose", reason, output: lostOutput(call, reason) })
      return
    }
    // The reconciler asks again by itself, and answers only when it is done.
    case "AskAgain":
    case "Keep":
    case "Await":
    case "Gate":
    case "RunApproved":
    case "NotRun":
      return
  }
}

/** The answer comes back as a settlement, and the table is asked again with it. */
const askOutside = (
  run: ActiveRun,
  { call, entry }: { readonly call: ToolBatch.BatchCall; readonly entry: Entry }
): void => {
  const { position } = call
  const reconciler = new Reconciler(run, {
    call,
    entry,
    limit: run.pinned.limits.toolTimeout,
    told: (answer) => {
      run.settled.push({ _tag: "Reconciled", position, answer })
      run.wake()
    }
  })
  run.live.set(position, reconciler)
  reconciler.start()
}

const account = (
  run: ActiveRun,
  { call, outcome }: { readonly call: ToolBatch.BatchCall; readonly outcome: string }
): void => {
  run.audit.push({
    type: "Recovery",
    at: run.engine.clock.now(),
    operationId: call.operationId,
    toolId: call.toolId,
    digest: call.digest,
    outcome,
    by: "runtime"
  })
}
