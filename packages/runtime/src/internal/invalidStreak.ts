/**
 * How often in a row a model has sent the same call that cannot run (T5).
 *
 * Guarantees: a call counts once per step, however often the step repeats it; any other call of a tool breaks the row.
 * Does not end the run: the flow looks at `isHopeless`.
 */
import { ToolArgs } from "@toolwright/runtime-contract"
import type { RunLedger } from "./runLedger.js"

const lastCounted = new WeakMap<RunLedger, number>()

/** The same call was refused again, or another one for the first time. The number of identical refusals in a row. */
export const countInvalid = (
  ledger: RunLedger,
  { key, step }: { readonly key: string; readonly step: number }
): number => {
  const { streak } = ledger
  const isSame = streak?.key === key
  const isCounted = isSame && lastCounted.get(ledger) === step
  const count = isSame ? streak.count + (isCounted ? 0 : 1) : 1
  ledger.streak = { key, count }
  lastCounted.set(ledger, step)
  return count
}

/** A call got through; the row goes on only if it is the very call whose meaning was refused before. */
export const keepStreak = (ledger: RunLedger, key: string): void => {
  if (ledger.streak !== undefined && ledger.streak.key !== key) ledger.streak = undefined
}

/** The call did what it should. */
export const breakStreak = (ledger: RunLedger, key: string): void => {
  if (ledger.streak?.key === key) ledger.streak = undefined
}

export const isHopeless = (ledger: RunLedger): boolean => (ledger.streak?.count ?? 0) >= ToolArgs.endRunAt
