/**
 * What tools came to after they were given up (L3): evidence for the audit, and never a result.
 *
 * Guarantees: goes down with the next commit of its thread in this process, of whichever run that is; given to no model.
 * Does not survive the process, and the oldest are forgotten where a thousand threads are never used again.
 */
import type { ThreadCommit } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"

type LateResult = Extract<ThreadCommit.RunNote, { readonly type: "LateResult" }>

const mostThreads = 1_000

export const keepLate = ({ engine: { late }, threadId }: ActiveRun, result: Omit<LateResult, "type">): void => {
  const kept = late.get(threadId) ?? []
  late.set(threadId, [...kept, { type: "LateResult", ...result }])
  if (late.size <= mostThreads) return
  for (const oldest of late.keys()) {
    late.delete(oldest)
    return
  }
}

/** Moves them to the notes of the commit that is being made. */
export const noteLate = (run: ActiveRun): void => {
  const { late } = run.engine
  if (late.size === 0) return
  const kept = late.get(run.threadId)
  if (kept === undefined) return
  late.delete(run.threadId)
  run.notes.push(...kept)
}
