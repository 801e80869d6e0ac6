/** Commits what lies in the inbox of a run at rest and needs no more than to be accounted for. */
import { Run } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { commitFlow } from "./committing.js"
import type { Flow } from "./flow.js"

export function* commitRefusals(run: ActiveRun): Flow<void> {
  yield* commitFlow(run, { kind: "approve", disposition: run.fold.disposition ?? Run.Running })
}
