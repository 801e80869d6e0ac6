/**
 * Makes the grant that an approver would give with a ticket, to be shown in full before it is stored (H7).
 *
 * Guarantees: made by the gate that asks, and held against the ticket: same gate, tool identity, principal, and no wider
 * than the call unless a rule was written; nothing for a quorum above one, an excluded approver or a child run.
 * Stores nothing.
 */
import {
  type Grant,
  Grant as Grants,
  type PermissionGate,
  type ResumeTicket,
  type StoreError,
  TicketRefused
} from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { badRequest, type RunError } from "../RunError.js"
import type { PreviewOptions, RememberOptions } from "../RuntimeOptions.js"
import { bounded } from "./bounded.js"
import type { Engine } from "./engine.js"
import { policyOf } from "./pinning.js"
import { attempt, isSettled, type Settled } from "./settle.js"
import { planOf } from "./snapshotPlan.js"

type Failure = RunError | TicketRefused

export const previewGrant = Effect.fnUntraced(function* (engine: Engine, { ticketId, ...remember }: PreviewOptions) {
  const state = yield* inStore(engine, { threadId: "", ask: () => engine.store.ticket(ticketId) })
  if (state === undefined) return yield* Effect.fail(new TicketRefused({ ticketId, reason: "NotWaiting" }))
  return yield* proposalOf(engine, { ticket: state.ticket, remember, answer: { _tag: "Allow" }, approver: undefined })
})

export interface Remembering {
  readonly ticket: ResumeTicket.ResumeTicket
  readonly remember: RememberOptions
  readonly answer: ResumeTicket.ResumeAnswer
  /** `undefined` where only the rule is asked for. */
  readonly approver: string | undefined
}

export const proposalOf = Effect.fnUntraced(function* (
  engine: Engine,
  { ticket, remember, answer, approver }: Remembering
) {
  if (answer._tag !== "Allow" || ticket.kind !== "Permission") return yield* refuse("an Allow to a permission wait")
  if (remember.expiresAt !== undefined && !(remember.expiresAt > engine.clock.now()))
    return yield* refuse("an expiry that is not past")
  const view = yield* inStore(engine, { threadId: ticket.threadId, ask: () => engine.store.load(ticket.threadId) })
  if (view?.snapshot === undefined || view.run?.runId !== ticket.runId)
    return yield* refuse("the open run of its thread")
  if (view.run.parent !== undefined) return yield* refuse("a run that is no child: a child has no grants of its own")
  const policy = policyOf(engine, view.run)
  const plan = planOf(engine, view.snapshot)
  const gates = policy === undefined ? plan.environment.gates : [policy, ...plan.environment.gates]
  const asking = ticket.requirements.filter(({ gate }) => remember.gate === undefined || gate === remember.gate)
  const gate = gates.find(({ id, remember: port }) => port !== undefined && asking.some((one) => one.gate === id))
  if (gate?.remember === undefined) return yield* refuse("a ticket of a gate that lets its approvals be remembered")
  const own = ticket.requirements.filter((one) => one.gate === gate.id)
  if (own.some(({ quorum }) => (quorum ?? 1) > 1)) return yield* refuse("a requirement that one approver can meet")
  const scope = scopeOf(ticket, { remember, workspace: gate.remember.workspace })
  if (scope === undefined) return yield* refuse("a scope: run, thread or workspace")
  const proposal = yield* ask(engine, {
    remember: gate.remember,
    request: {
      ticket,
      scope,
      schema: plan.descriptor(ticket.toolId)?.inputSchema,
      ...(remember.rule === undefined ? {} : { rule: remember.rule }),
      ...(remember.expiresAt === undefined ? {} : { expiresAt: remember.expiresAt })
    }
  })
  const misfit = misfitOf(proposal, { ticket, gate: gate.id, scope, remember })
  if (misfit !== undefined) return yield* refuse(misfit)
  const grant = { ...proposal, id: "", grantedBy: approver ?? "", grantedAt: 0 }
  if (approver !== undefined && !own.some((requirement) => Grants.mayAnswer(grant, requirement)))
    return yield* refuse("an approver who may answer alone")
  return proposal
})

const refuse = (expected: string): Effect.Effect<never, RunError> => Effect.fail(badRequest("remember", expected))

const scopeOf = (
  { runId, threadId }: ResumeTicket.ResumeTicket,
  { remember, workspace }: { readonly remember: RememberOptions; readonly workspace: string }
): Grant.GrantScope | undefined => {
  switch (remember.scope) {
    case "run":
      return { _tag: "Run", runId }
    case "thread":
      return { _tag: "Thread", threadId }
    case "workspace":
      return { _tag: "Workspace", workspace }
    default:
      return undefined
  }
}

interface Asking {
  readonly remember: PermissionGate.RememberPort
  readonly request: PermissionGate.RememberRequest
}

/** The gate's proposal; what it throws is the reason why there is none. */
const ask = (engine: Engine, { remember, request }: Asking): Effect.Effect<Grant.GrantProposal, RunError> =>
  Effect.callback<Grant.GrantProposal, RunError>((resume) => {
    const answer = (settled: Settled<Grant.GrantProposal>): void =>
      resume(
        settled.ok
          ? Effect.succeed(settled.value)
          : refuse(
              `a rule that can be stored (${settled.error instanceof Error ? settled.error.message : "the gate failed"})`
            )
      )
    const begun = attempt(engine.services, () => remember.preview(request))
    if (isSettled(begun)) return answer(begun)
    const late = engine.deadlines.after(engine.storeTimeout, () =>
      answer({ ok: false, error: new Error("the gate did not answer in time") })
    )
    begun.onSettled((settled) => {
      late.cancel()
      answer(settled)
    })
  })

interface Holding {
  readonly ticket: ResumeTicket.ResumeTicket
  readonly gate: string
  readonly scope: Grant.GrantScope
  readonly remember: RememberOptions
}

/** A gate may only propose what was asked of it. */
const misfitOf = (proposal: Grant.GrantProposal, { ticket, gate, scope, remember }: Holding): string | undefined => {
  const isOwn =
    proposal.gate === gate &&
    proposal.toolId === ticket.toolId &&
    proposal.toolIdentity === ticket.toolIdentity &&
    proposal.principal === ticket.principal &&
    JSON.stringify(proposal.scope) === JSON.stringify(scope) &&
    proposal.expiresAt === remember.expiresAt
  if (!isOwn) return "a proposal for the ticket's own gate, tool, principal, scope and expiry"
  const isExact = proposal.match._tag === "Exact" && proposal.match.digest === ticket.digest
  if (remember.rule === undefined && !isExact) return "a rule no wider than the call"
  return remember.shown === undefined || remember.shown === proposal.text
    ? undefined
    : `the rule that was shown; it is ${proposal.text}`
}

const inStore = <A>(
  engine: Engine,
  question: { readonly threadId: string; readonly ask: () => Effect.Effect<A, StoreError | TicketRefused> }
): Effect.Effect<A, Failure> => bounded(engine, question)
