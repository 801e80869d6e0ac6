/**
 * The look at a thread that was loaded, before anything of it runs again (R11).
 *
 * Guarantees: a stored batch, ticket or open outcome that breaks an invariant stops the call with its position, whatever
 * store it comes from; nothing is run, repaired or written then.
 * Does not look at what is published.
 */
import { StoreRules, type ThreadStore } from "@toolwright/runtime-contract"
import { RunError } from "../RunError.js"

/** Why the thread cannot be gone on with; `undefined` for an intact one. */
export const damageIn = (view: ThreadStore.ThreadView): RunError | undefined => {
  const damage = StoreRules.damageOf(view)
  if (damage === undefined) return undefined
  const position = `thread ${view.threadId} revision ${view.revision}`
  return new RunError({
    reason: { _tag: "Unreadable", position },
    message: `${position}: ${damage}`,
    threadId: view.threadId,
    ...(view.run === undefined ? {} : { runId: view.run.runId })
  })
}
