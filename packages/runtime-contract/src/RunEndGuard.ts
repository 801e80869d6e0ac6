/**
 * Looks at a run that is about to end by itself, and may send it on.
 *
 * Guarantees: asked only at a natural end that leaves a step; sends a run on at most `times` times, counted durably; what
 * it says is committed as a reminder. One that fails is a committed note, and the run ends.
 * Does not prolong budgets: a run that is sent on has the steps it had.
 */
import type { AssistantMessage } from "./Message.js"
import type { Eventual } from "./RawTool.js"
import type { HookContext } from "./RunHook.js"

export interface RunEndContext extends HookContext {
  /** What the run is about to end with; `undefined` where the model said nothing. */
  readonly message: AssistantMessage | undefined
  /** How often this guard has sent this run on. */
  readonly sentOn: number
}

export interface RunEndGuard {
  readonly id: string
  /** How often one run may be sent on by this guard. Default 3. */
  readonly times?: number
  /** The text that sends the run on, or nothing to let it end. */
  readonly decide: (context: RunEndContext) => Eventual<string | undefined | void, unknown>
}

/** Times that a guard may send a run on where it does not say. */
export const defaultTimes = 3
