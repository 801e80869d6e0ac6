/**
 * How a child run and its parent meet across waits and crashes (L9).
 *
 * Guarantees: a child that is about to end says so in its parent's inbox before its end is committed, so the word is never
 * lost; the parent believes only the child's committed end; the word is taken away when the call has its outcome.
 * Does not drive either of them.
 */
import { ToolBatch } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { BatchChanges, dispositionOf } from "./batchChanges.js"
import { commitFlow } from "./committing.js"
import { childOutput } from "./delegatedCall.js"
import { childThreadOf } from "./delegations.js"
import { entryOf } from "./entries.js"
import { type Flow, waitFor } from "./flow.js"
import { ask, isSignal, signalsFor } from "./inbox.js"
import { outcomeOfView } from "./outcomeOfView.js"
import { policed } from "./policed.js"
import { beginEffect } from "./settle.js"
import { traceHandedOver } from "./tracing.js"

/** Completes the calls whose child has ended. True when something was committed. */
export function* acceptChildren(run: ActiveRun): Flow<boolean> {
  const { batch } = run.fold
  const reports = signalsFor(run).filter(isSignal("Child"))
  if (batch === undefined || reports.length === 0) return false
  const changes = new BatchChanges(batch)
  const consumed: Array<string> = []
  for (const { id, body } of reports) {
    const call = batch.calls.find(({ operationId }) => operationId === body.operationId)
    if (call === undefined || ToolBatch.isTerminal(call) || (yield* completed(run, { changes, call })))
      consumed.push(id)
  }
  if (consumed.length === 0) return false
  const delta = changes.isEmpty ? {} : { batch: { _tag: "Change" as const, calls: changes.calls() } }
  yield* commitFlow(run, { kind: "change", disposition: dispositionOf(changes.batch), ...delta, consumed })
  return true
}

/** True when the child has ended, and the waiting call has its outcome. */
function* completed(
  run: ActiveRun,
  { changes, call }: { readonly changes: BatchChanges; readonly call: ToolBatch.BatchCall }
): Flow<boolean> {
  const { phase } = call
  if (phase._tag !== "Awaiting" || phase.wait !== "Delegation") return false
  const { store, services } = run.engine
  const view = yield* ask(run, beginEffect(services, store.load(childThreadOf(call.operationId))))
  if (view?.disposition?._tag !== "Ended") return false
  const found = entryOf(run, call)
  const said = childOutput(call, outcomeOfView(view), view.disposition.cause)
  const output = yield* policed(run, { call, installed: found.ok ? found.entry.installed : undefined, output: said })
  changes.apply(call.position, { _tag: "Complete", output, ticketId: phase.ticketId })
  traceHandedOver(run, { ticketId: phase.ticketId, cause: view.disposition.cause })
  return true
}

/** A parent that is ending takes its children along; what they come to is kept. */
export function* endChildren(run: ActiveRun): Flow<void> {
  const { batch, disposition } = run.fold
  const { children, services } = run.engine
  const waiting = (batch?.calls ?? []).filter(({ phase }) => phase._tag === "Awaiting" && phase.wait === "Delegation")
  if (batch === undefined || disposition === undefined || waiting.length === 0) return
  const changes = new BatchChanges(batch)
  for (const call of waiting) {
    const value = beginEffect(services, children.cancel(childThreadOf(call.operationId)))
    yield* waitFor(run, { value, limit: run.pinned.limits.grace * 2 })
    yield* completed(run, { changes, call })
  }
  if (changes.isEmpty) return
  yield* commitFlow(run, {
    kind: "change",
    disposition: dispositionOf(changes.batch),
    batch: { _tag: "Change", calls: changes.calls() }
  })
}
