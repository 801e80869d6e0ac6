/**
 * Stores what approvers have asked to be remembered, in the commit that accepts their answer (H7).
 *
 * Guarantees: a grant is stored with the approval or not at all, and is an audit record that shows its rule; an answer that
 * was not part of an `Allowed` decision gives nothing.
 * Does not check the proposal: it was made and checked where the answer came in.
 */
import { type Grant, type ResumeTicket, type StateKey, StateKey as Keys } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import type { CommitDraft } from "./committing.js"
import type { Flow } from "./flow.js"
import { grantKeyOf } from "./grants.js"
import { isSignal, signalsFor } from "./inbox.js"
import { commitMerged } from "./publication.js"
import { readShared } from "./sharedState.js"

/** The grants that come with the answers to a ticket. */
export const grantsGiven = (
  run: ActiveRun,
  { ticket, decision }: ResumeTicket.TicketState
): ReadonlyArray<Grant.Grant> => {
  if (decision?._tag !== "Allowed") return none
  const given: Array<Grant.Grant> = []
  for (const signal of signalsFor(run)) {
    if (!isSignal("Answer")(signal) || signal.body.remember === undefined) continue
    const { answer, remember } = signal.body
    if (answer.ticketId !== ticket.id || !decision.by.includes(answer.approver)) continue
    const grant: Grant.Grant = {
      ...remember,
      id: `grant-${signal.id}`,
      grantedBy: answer.approver,
      grantedAt: signal.at
    }
    given.push(grant)
    run.audit.push({
      type: "Grant",
      at: run.engine.clock.now(),
      operationId: ticket.operationId,
      toolId: ticket.toolId,
      digest: ticket.digest,
      outcome: "Given",
      rule: grant.text,
      by: grant.grantedBy,
      detail: {
        grantId: grant.id,
        gate: grant.gate,
        scope: { ...grant.scope },
        match: { ...grant.match },
        ...(grant.expiresAt === undefined ? {} : { expiresAt: grant.expiresAt })
      }
    })
  }
  return given
}

const none: ReadonlyArray<Grant.Grant> = Object.freeze([])

export function* commitGrants(
  run: ActiveRun,
  { draft, granting }: { readonly draft: CommitDraft; readonly granting: ReadonlyArray<Grant.Grant> }
): Flow<void> {
  if (granting.some(({ scope }) => scope._tag === "Workspace")) yield* readShared(run)
  const staged: ReadonlyArray<StateKey.StateCommand> = granting.map((grant) =>
    Keys.set(grantKeyOf(grant.scope), { [grant.id]: { ...grant } })
  )
  yield* commitMerged(run, { staged, draftOf: () => draft })
}
