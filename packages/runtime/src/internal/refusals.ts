/**
 * Answers that were refused, as audit records: who tried what on which ticket, and why it did not count (H3).
 *
 * Guarantees: goes along with the next commit of the thread, or is one where the run rests or has ended; nothing else
 * follows from it.
 * Does not choose the thread: `refusedAnswers` does, where the answer came in.
 */
import { type ResumeTicket, ThreadCommit, type ThreadStore, ToolBatch } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { isSignal, signalsFor } from "./signals.js"

/** Also words of children whose calls have their outcome: nobody else takes them away. */
export const hasRefusals = (run: ActiveRun): boolean =>
  run.fold.inbox.size > 0 && (refusalsOf(run).length > 0 || signalsFor(run).some((signal) => isStale(run, signal)))

/** Of whatever run of the thread: one that came behind the end of its run may meet the next. */
const refusalsOf = (run: ActiveRun) => [...run.fold.inbox.values()].filter(isSignal("Refused"))

const isStale = (run: ActiveRun, signal: ThreadStore.Signal): boolean => {
  if (!isSignal("Child")(signal)) return false
  const call = run.fold.batch?.calls.find(({ operationId }) => operationId === signal.body.operationId)
  return call === undefined || ToolBatch.isTerminal(call)
}

/** Puts the records into a commit that is being made. */
export const accountRefusals = (
  run: ActiveRun,
  made: { audit: ThreadCommit.ThreadCommit["audit"]; consumed: ThreadCommit.ThreadCommit["consumed"] }
): void => {
  const stale = signalsFor(run).filter((signal) => isStale(run, signal) && !made.consumed.includes(signal.id))
  if (stale.length > 0) made.consumed = [...made.consumed, ...stale.map(({ id }) => id)]
  const refused = refusalsOf(run)
  if (refused.length === 0) return
  made.consumed = [...made.consumed, ...refused.map(({ id }) => id)]
  made.audit = [...made.audit, ...refused.map(({ at, body }) => recordOf(run, { at, ...body }))]
}

interface RefusedAnswer {
  readonly at: number
  readonly by: string
  readonly ticketId: string
  readonly answer: ResumeTicket.ResumeAnswer["_tag"]
  readonly reason: ResumeTicket.TicketRefusalReason
}

const recordOf = (run: ActiveRun, { at, by, ticketId, answer, reason }: RefusedAnswer): ThreadCommit.AuditRecord => {
  const ticket = run.fold.tickets.get(ticketId)?.ticket
  return {
    type: "Refusal",
    at,
    ...(ticket === undefined ? {} : { operationId: ticket.operationId, toolId: ticket.toolId, digest: ticket.digest }),
    outcome: reason,
    ...(run.fold.disposition?._tag === "Ended" ? { rule: ThreadCommit.afterEnd } : {}),
    by,
    detail: { ticketId, answer }
  }
}
