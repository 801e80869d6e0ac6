/**
 * Ends a run whose batch is open (R9, L3): what runs is told to stop, what does not stop is given up, what never ran is
 * told as not run; then everything is published with the end.
 *
 * Guarantees: bounded by the grace; every call has exactly one result; a call that never started is never told as
 * possibly happened.
 * Does not wait for people.
 */
import { type Run, ToolBatch } from "@toolwright/runtime-contract"
import { internal } from "../RunError.js"
import type { ActiveRun } from "./activeRun.js"
import { BatchChanges, dispositionOf } from "./batchChanges.js"
import { endChildren } from "./childReports.js"
import { commitFlow, placeOf } from "./committing.js"
import type { Flow } from "./flow.js"
import { lostOutput, notRunOutput } from "./outcomes.js"
import { publish } from "./publication.js"
import { recoverCall } from "./recovery.js"
import { takeSettled } from "./settling.js"

export function* sealBatch(run: ActiveRun, cause: Run.EndCause): Flow<void> {
  yield* askOrphans(run)
  yield* endChildren(run)
  for (const busy of run.live.values()) busy.cancel(stoppedBy(cause))
  for (;;) {
    run.check()
    const changes = new BatchChanges(openBatch(run))
    const entered: Array<number> = []
    const taken = takeSettled(run, { changes, entered })
    if (taken !== undefined) yield* taken
    for (const position of entered) lose(changes, { position, before: openBatch(run) })
    if (run.live.size === 0) {
      for (const call of changes.batch.calls) seal(changes, call)
      const publishing = publish(run, { changes, cause })
      if (publishing !== undefined) yield* publishing
      return
    }
    if (changes.isEmpty) yield* run.sleeper.sleep
    else {
      const batch = { _tag: "Change" as const, calls: changes.calls() }
      yield* commitFlow(run, { kind: "change", disposition: dispositionOf(changes.batch), batch })
    }
  }
}

/** Calls of an earlier owner are asked after, where they can be, before they are given up. */
function* askOrphans(run: ActiveRun): Flow<void> {
  if (!run.mustReview) return
  run.mustReview = false
  const changes = new BatchChanges(openBatch(run))
  const entered: Array<number> = []
  for (const call of changes.batch.calls) {
    if (call.phase._tag !== "Executing" || run.live.has(call.position)) continue
    yield* recoverCall(run, { changes, entered, position: call.position, isExecutorLost: false })
  }
  for (const position of entered) lose(changes, { position, before: openBatch(run) })
  if (changes.isEmpty) return
  yield* commitFlow(run, {
    kind: "recover",
    disposition: dispositionOf(changes.batch),
    batch: { _tag: "Change", calls: changes.calls() }
  })
}

const openBatch = (run: ActiveRun): ToolBatch.ToolBatch => {
  const { batch } = run.fold
  if (batch === undefined) throw internal("no batch is open", placeOf(run))
  return batch
}

/** Where recovery would enter a call again, an ending run gives it up instead. */
const lose = (
  changes: BatchChanges,
  { position, before }: { readonly position: number; readonly before: ToolBatch.ToolBatch }
): void => {
  const call = before.calls[position]
  if (call === undefined) return
  changes.put(call)
  changes.apply(position, { _tag: "Lose", reason: "RunEnded", output: lostOutput(call, "RunEnded") })
}

const seal = (changes: BatchChanges, call: ToolBatch.BatchCall): void => {
  if (ToolBatch.isTerminal(call)) return
  if (ToolBatch.sealing(call) === "Indeterminate")
    changes.apply(call.position, { _tag: "Lose", reason: "RunEnded", output: lostOutput(call, "RunEnded") })
  else
    changes.apply(call.position, {
      _tag: "Refuse",
      reason: "RunEnded",
      output: notRunOutput(call, { reason: "RunEnded" })
    })
}

const stoppedBy = (cause: Run.EndCause): string => (cause._tag === "Cancelled" ? "was cancelled" : "was stopped")
