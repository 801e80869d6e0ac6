/**
 * Asks the run-end guards whether a run that would end by itself goes on (L5).
 *
 * Guarantees: the first that has something to say wins; each is bounded, over crashes and waits; one that fails is a
 * committed note and the run ends. Without guards it costs a length check.
 * Does not commit.
 */
/// <reference lib="es2024.string" />
import { type Message, RunEndGuard } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { type Flow, waitFor } from "./flow.js"
import { hookContext } from "./hooks.js"
import { errorText } from "./errorText.js"
import { attempt } from "./settle.js"

/** The reminder that sends the run on. */
export function* askGuards(
  run: ActiveRun,
  { message, step }: { readonly message: Message.AssistantMessage | undefined; readonly step: number }
): Flow<Message.ReminderMessage | undefined> {
  for (const guard of run.pinned.plan.environment.guards) {
    const sentOn = run.ledger.sentOn.get(guard.id) ?? 0
    if (sentOn >= (guard.times ?? RunEndGuard.defaultTimes)) continue
    const context: RunEndGuard.RunEndContext = { ...hookContext(run, step), message, sentOn }
    const value = attempt<unknown>(run.engine.services, () => guard.decide(context))
    const waited = yield* waitFor(run, { value, limit: run.pinned.limits.toolTimeout })
    const text = typeof waited === "object" && waited.ok ? waited.value : undefined
    if (typeof waited !== "object" || !waited.ok || (text !== undefined && text !== null && typeof text !== "string")) {
      const error: unknown = typeof waited === "object" && !waited.ok ? waited.error : undefined
      run.notes.push({
        type: "HookFailed",
        hook: guard.id,
        phase: "RunEnd",
        message: errorText(error, "the guard failed")
      })
      continue
    }
    if (typeof text !== "string" || text.trim() === "") continue
    run.ledger.sendOn(guard.id)
    return { role: "reminder", id: `${run.runId}/${step}/guard`, source: guard.id, text: text.toWellFormed() }
  }
  return undefined
}
