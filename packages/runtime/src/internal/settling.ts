/**
 * Takes what live calls have come to into the batch.
 *
 * Guarantees: in the order in which it happened; what a call said first stands; a late result is not taken.
 * Does not commit.
 */
import { ToolArgs, type ToolBatch, ToolOutput } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import type { BatchChanges } from "./batchChanges.js"
import { internal } from "../RunError.js"
import { placeOf } from "./committing.js"
import { waiting } from "./deciding.js"
import { entryOf } from "./entries.js"
import type { Flow, Rest } from "./flow.js"
import { breakStreak, countInvalid } from "./invalidStreak.js"
import type { Settlement } from "./liveCall.js"
import { recoverCall } from "./recovery.js"

export interface Taking {
  readonly changes: BatchChanges
  /** Positions that were entered anew, to be dispatched behind the commit. */
  readonly entered: Array<number>
}

export const takeSettled = (run: ActiveRun, taking: Taking): Rest => {
  const { settled } = run
  if (settled.length === 0) return undefined
  run.settled = []
  let lost: Array<Unsettled> | undefined
  for (const settlement of settled) {
    run.live.delete(settlement.position)
    if (settlement._tag === "Outcome") takeOutcome(run, { settlement, changes: taking.changes })
    else if (settlement._tag === "Handed") handOver(run, { changes: taking.changes, position: settlement.position })
    else (lost ??= []).push(settlement)
  }
  return lost === undefined ? undefined : recoverLost(run, { taking, lost })
}

type Unsettled = Exclude<Settlement, { readonly _tag: "Outcome" | "Handed" }>

function* recoverLost(
  run: ActiveRun,
  { taking, lost }: { readonly taking: Taking; readonly lost: ReadonlyArray<Unsettled> }
): Flow<void> {
  for (const settlement of lost) {
    const reconciled = settlement._tag === "Reconciled" ? { reconciled: settlement.answer } : {}
    const isExecutorLost = settlement._tag === "Lost"
    yield* recoverCall(run, { ...taking, position: settlement.position, isExecutorLost, ...reconciled })
  }
}

/** The call waits for its child run, under a ticket that nobody answers. */
const handOver = (
  run: ActiveRun,
  { changes, position }: { readonly changes: BatchChanges; readonly position: number }
): void => {
  const call = changes.at(position)
  const found = entryOf(run, call)
  if (!found.ok) throw internal(found.refusal.text, placeOf(run))
  const applied = waiting(run, { asked: { call, entry: found.entry }, kind: "Delegation", requirements: [] })
  changes.put(applied.call)
  if (applied.ticket !== undefined) changes.issue(applied.ticket)
}

const takeOutcome = (
  run: ActiveRun,
  {
    settlement,
    changes
  }: { readonly settlement: Extract<Settlement, { readonly _tag: "Outcome" }>; readonly changes: BatchChanges }
): void => {
  const { position, event, isInvalid } = settlement
  const call = changes.at(position)
  if (!isInvalid) {
    if (run.ledger.streak !== undefined) breakStreak(run.ledger, streakKey(call))
    changes.apply(position, event)
  } else
    changes.apply(
      position,
      event._tag === "Complete" ? { ...event, output: told(run, { call, output: event.output }) } : event
    )
}

/** A semantic refusal by the tool counts like one of the schema (T5). */
const told = (
  run: ActiveRun,
  { call, output }: { readonly call: ToolBatch.BatchCall; readonly output: ToolOutput.ToolOutput }
): ToolOutput.ToolOutput => {
  const count = countInvalid(run.ledger, { key: streakKey(call), step: run.fold.step })
  const descriptor = run.pinned.plan.descriptor(call.toolId)
  if (descriptor === undefined) return output
  const { text } = ToolArgs.answerInvalid(descriptor, { count, message: ToolOutput.text(output) })
  return ToolOutput.error(call.callId, text)
}

const streakKey = (call: ToolBatch.BatchCall): string => `${call.toolId}\n${call.digest}`
