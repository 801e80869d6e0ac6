/**
 * When a run may not go on (L2): steps, tokens, time, hopeless calls, unknown outcomes.
 *
 * Guarantees: a spent budget stops the run before the next inference, never in the middle of a step.
 * Does not count: the ledger and the thread do.
 */
import type { Run, ToolBatch } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { isHopeless } from "./invalidStreak.js"

/** What ends the run behind this batch. */
export const endAfterStep = (run: ActiveRun, batch: ToolBatch.ToolBatch): Run.EndCause | undefined => {
  if (isHopeless(run.ledger)) {
    const detail = `the same invalid call was sent ${run.ledger.streak?.count ?? 0} times in a row`
    return failure("RepeatedInvalidCall", detail)
  }
  const isUnknown = batch.calls.some((call) => call.phase._tag === "Indeterminate")
  if (isUnknown && run.pinned.snapshot.onIndeterminate === "end") return { _tag: "Indeterminate" }
  return endBeforeInference(run)
}

/** What forbids the next inference. */
export const endBeforeInference = (run: ActiveRun): Run.EndCause | undefined => {
  const { maxSteps, maxTokens, maxDuration } = run.pinned.limits
  if (run.fold.step >= maxSteps) return { _tag: "MaxSteps" }
  if (maxTokens !== undefined && run.ledger.tokens >= maxTokens)
    return failure("Budget", `${run.ledger.tokens} tokens of ${maxTokens} are spent`)
  if (maxDuration === undefined) return undefined
  const active = run.ledger.active + run.deadlines.now() - run.activeSince
  if (active >= maxDuration) return failure("Budget", `${active} ms of ${maxDuration} ms are spent`)
  return undefined
}

export const failure = (reason: Run.FailureReason, detail: string): Run.EndCause => ({
  _tag: "Error",
  failure: { reason, detail }
})
