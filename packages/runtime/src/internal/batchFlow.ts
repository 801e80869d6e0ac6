/**
 * Works an open batch until its results are published, or until only people can move it on.
 *
 * Guarantees: an outcome is durable before anything acts on it, and never waits for a slower sibling; outcomes that come
 * in while a commit is in flight go down together; an accepted answer is a commit of its own (R7, H4); a batch found after
 * a crash goes the same way as a fresh one.
 * Does not start the batch: the step flow opens it.
 */
import { type Run, ToolBatch } from "@toolwright/runtime-contract"
import { RunError } from "../RunError.js"
import type { ActiveRun } from "./activeRun.js"
import { acceptAnswers } from "./answers.js"
import { BatchChanges, dispositionOf } from "./batchChanges.js"
import { acceptChildren } from "./childReports.js"
import { commit, placeOf } from "./committing.js"
import { type Flow, nothingLeft } from "./flow.js"
import { readInbox } from "./inbox.js"
import { publish } from "./publication.js"
import { reviewCalls } from "./recovery.js"
import { commitRefusals } from "./leftovers.js"
import { hasRefusals } from "./refusals.js"
import { sealBatch } from "./sealing.js"
import { takeSettled } from "./settling.js"
import { dispatch, enter } from "./starting.js"

/** `Resting`: the run awaits tickets, and the drive is over. */
export function* workBatch(run: ActiveRun): Flow<"Published" | "Resting"> {
  for (;;) {
    run.check()
    if (run.hasSignals) yield* readInbox(run) ?? nothingLeft
    if (run.ending !== undefined) {
      yield* sealBatch(run, run.ending)
      return "Published"
    }
    if (run.fold.inbox.size > 0 && (yield* acceptAnswers(run))) continue
    if (run.fold.inbox.size > 0 && (yield* acceptChildren(run))) continue
    const changes = new BatchChanges(openBatchOf(run))
    const entered: Array<number> = []
    const taken = takeSettled(run, { changes, entered })
    if (taken !== undefined) yield* taken
    if (run.mustReview && !run.isClosing) yield* reviewCalls(run, { changes, entered })
    const isRecovery = entered.length > 0
    const entering = enter(run, { changes, entered, isFresh: false })
    if (entering !== undefined) yield* entering
    if (ToolBatch.isPublishable(changes.batch)) {
      const publishing = publish(run, { changes })
      if (publishing !== undefined) yield* publishing
      return "Published"
    }
    const disposition = dispositionOf(changes.batch)
    if (!changes.isEmpty || !isSame(disposition, run.fold.disposition)) {
      const kind = disposition._tag === "Awaiting" ? "await" : isRecovery ? "recover" : "change"
      const { tickets } = changes
      const rest = commit(run, { kind, disposition, batch: { _tag: "Change", calls: changes.calls() }, tickets })
      if (rest !== undefined) yield* rest
      dispatch(run, entered)
      continue
    }
    if (run.settled.length > 0) continue
    if (disposition._tag === "Awaiting" && run.live.size === 0) {
      if (!hasRefusals(run)) return "Resting"
      yield* commitRefusals(run)
      continue
    }
    if (run.isClosing && run.live.size === 0) throw closed(run)
    yield* run.sleeper.sleep
  }
}

const openBatchOf = (run: ActiveRun): ToolBatch.ToolBatch => {
  const { batch } = run.fold
  if (batch === undefined)
    throw new RunError({ reason: { _tag: "Internal" }, message: "no batch is open", ...placeOf(run) })
  return batch
}

/** The batch is left as it is committed; whoever recovers it goes on. */
export const closed = (run: ActiveRun): RunError =>
  new RunError({
    reason: { _tag: "Closed" },
    message: "the runtime was closed; the run can be recovered",
    ...placeOf(run)
  })

const isSame = (left: Run.RunDisposition, right: Run.RunDisposition | undefined): boolean => {
  if (left._tag !== "Awaiting" || right?._tag !== "Awaiting") return left._tag === right?._tag
  return left.tickets.length === right.tickets.length && left.tickets.every((id, index) => id === right.tickets[index])
}
