/**
 * Claims of calls that were given up while their tool may still be running (L3).
 *
 * Guarantees: a claim is held, across the runs of its thread, until its tool settles.
 * Does not survive the process: then the tool is gone as well.
 */
import type { ToolConcurrency } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"

/** Holds a claim; the returned function lets it go, and wakes whoever works on the thread then. */
export const holdClaim = (run: ActiveRun, claim: ToolConcurrency.ToolConcurrency): (() => void) => {
  const { engine, threadId } = run
  const held = engine.held.get(threadId) ?? new Set<ToolConcurrency.ToolConcurrency>()
  engine.held.set(threadId, held)
  // The same claim may be held twice, so each hold is an object of its own.
  const one = { ...claim }
  held.add(one)
  return () => {
    held.delete(one)
    if (held.size === 0 && engine.held.get(threadId) === held) engine.held.delete(threadId)
    engine.active.get(threadId)?.wake()
  }
}

export const heldClaims = (run: ActiveRun): ReadonlyArray<ToolConcurrency.ToolConcurrency> => {
  const held = run.engine.held.get(run.threadId)
  return held === undefined ? none : [...held]
}

const none: ReadonlyArray<ToolConcurrency.ToolConcurrency> = Object.freeze([])
