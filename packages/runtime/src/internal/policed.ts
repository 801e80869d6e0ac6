/** The output policy for a flow: waits where the spill has to be waited for. Bounded; what fails is an unreadable output. */
import type { ToolBatch, ToolOutput } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { type Flow, waitFor } from "./flow.js"
import { applyPolicy, unreadable } from "./outputPolicy.js"
import type { Installed } from "./snapshotPlan.js"

export function* policed(
  run: ActiveRun,
  given: { readonly call: ToolBatch.BatchCall; readonly installed: Installed | undefined; readonly output: unknown }
): Flow<ToolOutput.ToolOutput> {
  const { call, installed, output } = given
  const value = applyPolicy(run, { given: { call, installed }, output })
  const waited = yield* waitFor(run, { value, limit: run.engine.storeTimeout })
  return typeof waited === "object" && waited.ok ? waited.value : unreadable(call.callId)
}
