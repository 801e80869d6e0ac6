/**
 * Answers that were refused, as audit records: who tried what on which ticket, and why it did not count (H3).
 *
 * Guarantees: goes along with the next commit of the run, or is one where the run rests; the same attempt of the same
 * approver is recorded once; nothing else follows from it.
 * Does not record what names no open run: there is no thread that could hold it.
 */
import type { ResumeTicket, ThreadCommit, ThreadStore, TicketRefused } from "@toolwright/runtime-contract"
import { ToolBatch } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import type { Engine } from "./engine.js"
import { isSignal, signalsFor } from "./signals.js"

/** Also words of children whose calls have their outcome: nobody else takes them away. */
export const hasRefusals = (run: ActiveRun): boolean =>
  run.fold.inbox.size > 0 && signalsFor(run).some((signal) => isSignal("Refused")(signal) || isStale(run, signal))

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
  const refused = signalsFor(run).filter(isSignal("Refused"))
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
    by,
    detail: { ticketId, answer }
  }
}

export interface Attempt {
  readonly ticket: ResumeTicket.ResumeTicket
  readonly answer: ResumeTicket.ResumeAnswer
  readonly approver: string
  readonly refused: TicketRefused
}

/** The signal that keeps a refused answer. A store that does not take it (the run has ended) leaves it unrecorded. */
export const refusalSignal = (engine: Engine, { ticket, answer, approver, refused }: Attempt): ThreadStore.Signal => ({
  id: `${ticket.id}/refused/${approver}/${answer._tag}/${refused.reason}`,
  threadId: ticket.threadId,
  runId: ticket.runId,
  at: engine.clock.now(),
  body: { _tag: "Refused", by: approver, ticketId: ticket.id, answer: answer._tag, reason: refused.reason }
})
