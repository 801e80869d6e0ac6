/**
 * A run that was started: a promise of its outcome, with its names and a hand on it.
 *
 * Guarantees: rejects only with `RunError`; cancelling resolves it with `Ended(Cancelled)`.
 * Does not hold the run: whoever drops it only stops waiting.
 */
import type { RunEvent } from "@toolwright/runtime-contract"
import type { RunOutcome } from "./RunOutcome.js"

export interface RunHandle extends Promise<RunOutcome> {
  readonly runId: string
  readonly threadId: string
  /** Facts and deltas, from the start when asked for at once; ends with this call's outcome, throws its error. */
  readonly events: () => AsyncIterableIterator<RunEvent.RunEvent>
  /** Ends the run; the handle then gives its outcome. */
  readonly cancel: () => void
}
