/**
 * Closes a runtime (L8): nothing new starts, what is in flight may finish within the grace, leases are given back.
 *
 * Guarantees: shutdown is never stored as a result or a cancel; a run that was at work is left as it was last committed,
 * and any runtime may go on with it.
 * Does not end runs.
 */
import * as Effect from "effect/Effect"
import { RunError } from "../RunError.js"
import type { Engine } from "./engine.js"

export const close = (engine: Engine, { grace }: { readonly grace: number }): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    engine.closing = true
    for (const leave of engine.whenClosed) leave()
    const runs = [...engine.active.values()]
    if (runs.length === 0) return resume(Effect.void)
    let left = runs.length
    const deadline = engine.deadlines.after(grace, () => {
      for (const run of runs) run.stop(closedError(run.threadId))
    })
    for (const run of runs) {
      run.whenDone(() => {
        if (--left > 0) return
        deadline.cancel()
        resume(Effect.void)
      })
      run.isClosing = true
      run.wake()
    }
  })

const closedError = (threadId: string): RunError =>
  new RunError({ reason: { _tag: "Closed" }, message: "the runtime was closed; the run can be recovered", threadId })
