/**
 * What must hold of a thread that was read back, before anything of it runs again: for stores that read one, and for
 * whoever claims one.
 *
 * Guarantees: pure and total; the answer is one plain sentence about the first thing that is wrong, `undefined` for an
 * intact thread; the cost grows with what is open in the thread, not with its history.
 * Does not repair, and does not look at what is published: that never runs again.
 */
import type { ThreadView } from "../ThreadStore.js"
import { type BatchCall, damageOf as damageOfBatch, digestOf, isSound, type ToolBatch } from "../ToolBatch.js"
import { isWaitedFor } from "./commitRules.js"

/** As much of a thread as is looked at. A `ThreadView` and a `ThreadFold` both are one. */
export type StoredThread = Pick<ThreadView, "run" | "disposition" | "step" | "batch" | "tickets" | "openOutcomes">

export const damageOf = (thread: StoredThread): string | undefined =>
  (thread.batch === undefined ? undefined : damageOfOpen(thread, thread.batch)) ?? damageOfOutcomes(thread)

const damageOfOpen = (thread: StoredThread, batch: ToolBatch): string | undefined => {
  const { run, step, disposition } = thread
  if (run === undefined || batch.runId !== run.runId) return "an open batch is of the run of its thread"
  if (batch.step !== step) return "an open batch is of the last step of its run"
  if (disposition?._tag === "Ended") return "a run ends when its batch is published"
  const damage = damageOfBatch(batch)
  if (damage !== undefined) return damage
  for (const call of batch.calls)
    if (call.phase._tag === "Awaiting" && !hasTicket(thread, call))
      return `call ${call.position}: a wait has a ticket for exactly this call`
  return undefined
}

const hasTicket = ({ tickets }: StoredThread, call: BatchCall): boolean => {
  const { phase } = call
  const ticket = phase._tag === "Awaiting" ? tickets.get(phase.ticketId)?.ticket : undefined
  if (ticket === undefined || !isWaitedFor(ticket, call)) return false
  // What the approver sees is what runs.
  return ticket.arguments === call.arguments || digestOf(ticket.arguments) === call.digest
}

/** They guard their repeats, by tool and digest. */
const damageOfOutcomes = ({ openOutcomes }: StoredThread): string | undefined => {
  for (const [operationId, { call }] of openOutcomes)
    if (
      call.operationId !== operationId ||
      call.phase._tag !== "Indeterminate" ||
      !isSound(call) ||
      call.digest !== digestOf(call.arguments)
    )
      return `operation ${operationId}: an open outcome is that of a call that may have happened`
  return undefined
}
