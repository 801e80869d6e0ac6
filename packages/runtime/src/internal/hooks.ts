/**
 * Calls hooks at the phases of a run (L5).
 *
 * Guarantees: in the order in which they were given; a hook that throws, rejects, does not answer or answers nonsense is a
 * committed note, its reaction is dropped whole, and the run goes on. Without hooks it costs a length check.
 * Does not apply reactions.
 */
import type { RunHook } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { type Flow, waitFor } from "./flow.js"
import { errorText } from "./errorText.js"
import { readReaction } from "./readReaction.js"
import { attempt } from "./settle.js"
import { stateView } from "./stateReader.js"

type Phased = "stepStart" | "beforeInference" | "afterInference" | "afterTool" | "stepEnd"

type ContextOf<P extends Phased> = Parameters<NonNullable<RunHook.RunHook[P]>>[0]

const phases: Readonly<Record<Phased, RunHook.Phase>> = {
  stepStart: "StepStart",
  beforeInference: "BeforeInference",
  afterInference: "AfterInference",
  afterTool: "AfterTool",
  stepEnd: "StepEnd"
}

/** The reactions of the hooks that have something to say, in their order. */
export function* callHooks<P extends Phased>(
  run: ActiveRun,
  { phase, context }: { readonly phase: P; readonly context: ContextOf<P> }
): Flow<ReadonlyArray<{ readonly hook: string; readonly reaction: RunHook.RequestReaction }>> {
  const reactions: Array<{ readonly hook: string; readonly reaction: RunHook.RequestReaction }> = []
  // An ending run waits for a hook no longer than for a tool that was told to stop.
  const limit = run.ending === undefined ? run.pinned.limits.toolTimeout : run.pinned.limits.grace
  for (const { hook, keys } of run.pinned.plan.environment.hooks) {
    // The context fits the hook of its phase; the compiler cannot follow a method by a variable name.
    const call = hook[phase] as ((context: ContextOf<P>) => unknown) | undefined
    if (call === undefined) continue
    const value = attempt<unknown>(run.engine.services, () => call.call(hook, context))
    const waited = yield* waitFor(run, { value, limit })
    const answer =
      typeof waited === "object" ? waited : { ok: false as const, error: new Error("the hook did not answer in time") }
    if (!answer.ok) failed(run, { hook: hook.id, phase: phases[phase], error: answer.error })
    else if (answer.value !== undefined && answer.value !== null) {
      const reaction = readReaction(answer.value)
      const problem = reaction === undefined ? "the reaction has another shape" : foreignState(reaction, keys)
      if (reaction !== undefined && problem === undefined) reactions.push({ hook: hook.id, reaction })
      else failed(run, { hook: hook.id, phase: phases[phase], error: new Error(problem) })
    }
  }
  return reactions
}

export const hookContext = (run: ActiveRun, step: number): RunHook.HookContext => ({
  runId: run.runId,
  threadId: run.threadId,
  step,
  principal: run.pinned.record.principal,
  state: stateView(run),
  messages: run.fold.messages
})

const failed = (
  run: ActiveRun,
  given: { readonly hook: string; readonly phase: string; readonly error: unknown }
): void => {
  const { hook, phase, error } = given
  run.notes.push({
    type: "HookFailed",
    hook,
    phase,
    message: errorText(error, "the hook failed")
  })
}

/** A key that the hook's plugin did not contribute: the whole reaction is dropped. */
const foreignState = ({ state }: RunHook.HookReaction, keys: ReadonlySet<string> | undefined): string | undefined => {
  if (keys === undefined || state === undefined) return undefined
  const foreign = state.find(({ scope, key }) => !keys.has(`${scope}:${key}`))
  return foreign === undefined ? undefined : `the state ${foreign.scope}:${foreign.key} is not its plugin's`
}
