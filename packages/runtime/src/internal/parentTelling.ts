/**
 * A child run tells its parent that it is about to end (L9). The parent believes only the committed end.
 */
import type { ThreadStore } from "@toolwright/runtime-contract"
import { fromStore } from "../RunError.js"
import type { ActiveRun } from "./activeRun.js"
import { type Flow, waitFor } from "./flow.js"
import { beginEffect } from "./settle.js"

/** Before a child's end is committed. A parent that has ended is told nothing any more. */
export function* tellParent(run: ActiveRun): Flow<void> {
  const { parent } = run.pinned.record
  if (parent === undefined) return
  const { engine, threadId } = run
  const signal: ThreadStore.Signal = {
    id: `${parent.operationId}/child-ended`,
    threadId: parent.threadId,
    runId: parent.runId,
    at: engine.clock.now(),
    body: { _tag: "Child", operationId: parent.operationId, threadId }
  }
  for (let tries = 0; ; tries++) {
    const answer = yield* waitFor(run, {
      value: beginEffect(engine.services, engine.store.signal(signal)),
      limit: engine.storeTimeout
    })
    if (typeof answer === "object" && answer.ok) return
    const error = typeof answer === "object" ? fromStore(answer.error, { threadId, runId: run.runId }) : undefined
    if (error !== undefined && error.reason._tag !== "StoreUnavailable") return
    if (tries >= run.pinned.limits.commitRetries) throw error ?? fromStore(undefined, { threadId, runId: run.runId })
  }
}
