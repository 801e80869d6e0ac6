/**
 * What a decision of the gates makes of a call: let through, set, refused, or waiting under a ticket.
 *
 * Guarantees: only an allowed call is let through; a ticket names exactly the arguments that will run; a client-executed
 * call that is allowed waits for its result from outside and is never entered here.
 * Does not ask gates.
 */
import { type GateOutcome, ResumeTicket, type ToolBatch, ToolOutput } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { move } from "./batchChanges.js"
import { type Decision, decisionRecord, type Gateable } from "./gating.js"
import { policyNow } from "./outputPolicy.js"
import { traceGate } from "./tracing.js"

export interface Applied {
  readonly call: ToolBatch.BatchCall
  readonly ticket?: ResumeTicket.ResumeTicket
  /** It may be entered as soon as nothing conflicts. */
  readonly isReady: boolean
}

/** Applies the decision on a requested call and accounts for it. */
export const applyDecision = (
  run: ActiveRun,
  { asked, decision }: { readonly asked: Gateable; readonly decision: Decision }
): Applied => {
  run.audit.push(decisionRecord(asked.call, decision))
  const { call } = asked
  const { outcome } = decision
  if (run.engine.tracer !== undefined) traceGate(run, { call, decision, installed: asked.entry.installed })
  switch (outcome._tag) {
    case "Allow":
      return asked.entry.installed.descriptor.kind === "ClientExecuted"
        ? waiting(run, { asked, kind: "Client", requirements: [] })
        : { call, isReady: true }
    case "SetResult": {
      const output = policyNow(run, { call, installed: asked.entry.installed, output: outcome.output })
      return { call: move(call, { _tag: "Complete", output }), isReady: false }
    }
    case "Schedule":
      return waiting(run, { asked, kind: "Schedule", requirements: [], dueAt: outcome.at })
    case "RequireConfirmation":
      return waiting(run, { asked, kind: "Permission", requirements: outcome.requirements })
    case "Block": {
      const output = ToolOutput.error(call.callId, `${call.toolId} was blocked: ${outcome.reason}`)
      return { call: move(call, { _tag: "Refuse", reason: "Blocked", output }), isReady: false }
    }
  }
}

interface Wait {
  readonly asked: Gateable
  readonly kind: "Client" | "Schedule" | "Permission" | "Delegation"
  readonly requirements: ReadonlyArray<GateOutcome.Requirement>
  readonly dueAt?: number
}

/** Puts the call to wait, under a ticket of its own. */
export const waiting = (run: ActiveRun, wait: Wait): Applied => {
  const { asked, kind } = wait
  const { call } = asked
  const { installed } = asked.entry
  const id = ResumeTicket.idOf(call.operationId, kind, call.proposal)
  const deadline = ResumeTicket.deadlineOf({ _tag: "RequireConfirmation", requirements: wait.requirements })
  const ticket: ResumeTicket.ResumeTicket = {
    id,
    kind,
    runId: run.runId,
    threadId: run.threadId,
    principal: run.pinned.record.principal,
    snapshotFingerprint: run.pinned.snapshot.fingerprint,
    operationId: call.operationId,
    callId: call.callId,
    toolId: call.toolId,
    toolIdentity: installed.descriptor.identity,
    arguments: call.arguments,
    digest: call.digest,
    proposal: call.proposal,
    requirements: wait.requirements,
    ...(deadline === undefined ? {} : { deadline }),
    ...(wait.dueAt === undefined ? {} : { dueAt: wait.dueAt }),
    issuedAt: run.engine.clock.now()
  }
  return { call: move(call, { _tag: "Wait", ticketId: id, wait: kind }), ticket, isReady: false }
}
