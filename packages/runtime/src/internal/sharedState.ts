/**
 * State that belongs to no thread, as a run sees it: read at the start of a step where anybody declared such a key (D1).
 *
 * Guarantees: what is computed from it is committed only against the revision it was read at.
 * Does not write: publication does.
 */
import type { ActiveRun } from "./activeRun.js"
import type { Flow } from "./flow.js"
import { ask } from "./inbox.js"
import { beginEffect } from "./settle.js"

export const usesShared = (run: ActiveRun): boolean =>
  run.pinned.plan.usesShared || run.pinned.plan.environment.stateKeys.some((key) => key.scope === "Shared")

export function* readShared(run: ActiveRun): Flow<void> {
  const { store, services } = run.engine
  const shared = yield* ask(run, beginEffect(services, store.shared()))
  run.shared = shared.state
  run.sharedRevision = shared.revision
  run.view = undefined
}
