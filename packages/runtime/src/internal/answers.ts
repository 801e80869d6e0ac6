/**
 * Acts on answers that the store has accepted: each used-up ticket moves its call on, in a commit of its own (H4).
 *
 * Guarantees: an answer is acted on once, and only on the call that still waits under its ticket; what is approved are the
 * arguments of the ticket; an edit is a new proposal, parsed and gated like one of the model's.
 * Does not decide between answers: the store has, inside its transaction.
 */
import {
  type GateOutcome,
  type Grant,
  type Json,
  ResumeTicket,
  type ThreadStore,
  type ToolBatch,
  ToolOutput,
  ToolRendering
} from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { parseArguments } from "./arguments.js"
import { BatchChanges, dispositionOf, move } from "./batchChanges.js"
import { commit } from "./committing.js"
import { applyDecision } from "./deciding.js"
import { type Entry, entryOf } from "./entries.js"
import type { Flow } from "./flow.js"
import { askAbout } from "./gating.js"
import { commitGrants, grantsGiven } from "./grantGiving.js"
import { answersTo, isSignal, signalsFor } from "./inbox.js"
import { lostOutput, notRunOutput } from "./outcomes.js"
import { policed } from "./policed.js"
import { traceWait } from "./tracing.js"
import { claimOf } from "./snapshotPlan.js"
import { beginEffect } from "./settle.js"
import { checkFor } from "./valueChecks.js"

/** True when something was committed. */
export function* acceptAnswers(run: ActiveRun): Flow<boolean> {
  const { batch } = run.fold
  if (run.fold.inbox.size === 0 || batch === undefined) return false
  const tickets = new Set<string>()
  for (const signal of signalsFor(run)) if (isSignal("Answer")(signal)) tickets.add(signal.body.answer.ticketId)
  if (tickets.size === 0) return false
  const changes = new BatchChanges(batch)
  const consumed: Array<string> = []
  const counted: Array<Counted> = []
  const granting: Array<Grant.Grant> = []
  for (const id of tickets) {
    const state = run.fold.tickets.get(id)
    const call = batch.calls.find(({ phase }) => phase._tag === "Awaiting" && phase.ticketId === id)
    if (state?.decision !== undefined && call !== undefined) {
      const isDone = yield* act(run, { changes, call, ticket: state.ticket, decision: state.decision, counted })
      if (!isDone) continue
    } else if (state?.ticket.kind === "Pause") continue
    account(run, { state, call, after: call === undefined ? undefined : changes.at(call.position) })
    if (state !== undefined && call !== undefined) granting.push(...grantsGiven(run, state))
    consumed.push(...answersTo(run, id))
  }
  if (consumed.length === 0) return false
  const batchDelta = changes.isEmpty ? {} : { batch: { _tag: "Change" as const, calls: changes.calls() } }
  const disposition = dispositionOf(changes.batch)
  const draft = { kind: "approve" as const, disposition, ...batchDelta, tickets: changes.tickets, consumed }
  const rest = granting.length === 0 ? commit(run, draft) : commitGrants(run, { draft, granting })
  if (rest !== undefined) yield* rest
  for (const one of counted) countEditor(run, one)
  return true
}

interface Counted {
  readonly ticketId: string
  readonly by: string
}

interface Acting {
  readonly changes: BatchChanges
  readonly call: ToolBatch.BatchCall
  readonly ticket: ResumeTicket.ResumeTicket
  readonly decision: ResumeTicket.TicketDecision
  readonly counted: Array<Counted>
}

/** False when the run is ending, and the answer is left where it is. */
function* act(run: ActiveRun, acting: Acting): Flow<boolean> {
  const { changes, call, ticket, decision } = acting
  switch (decision._tag) {
    case "Allowed":
      changes.apply(call.position, { _tag: "Approve", ticketId: ticket.id, digest: call.digest, by: decision.by })
      return true
    case "Denied":
      changes.apply(call.position, denial(call, { ticket, decision }))
      return true
    case "Edited":
      return yield* edit(run, { ...acting, decision })
    case "Answered":
      yield* answered(run, { ...acting, decision })
      return true
    case "Void":
      return true
  }
}

type Decided<Tag extends ResumeTicket.TicketDecision["_tag"]> = Extract<
  ResumeTicket.TicketDecision,
  { readonly _tag: Tag }
>

/** What a client was handed and nobody answered for may have happened; its own refusal says that it did not. */
const denial = (
  call: ToolBatch.BatchCall,
  { ticket, decision }: { readonly ticket: ResumeTicket.ResumeTicket; readonly decision: Decided<"Denied"> }
): ToolBatch.CallEvent => {
  const isOutside = ticket.kind === "Client" || ticket.kind === "Delegation"
  if (isOutside && decision.expired) return { _tag: "Lose", reason: "NoAnswer", output: lostOutput(call, "NoAnswer") }
  const reason = decision.expired ? "Expired" : "Denied"
  const detail = decision.expired ? undefined : decision.reason
  return { _tag: "Refuse", reason, output: notRunOutput(call, { reason, detail }), ticketId: ticket.id }
}

function* answered(
  run: ActiveRun,
  { changes, call, ticket, decision }: Acting & { readonly decision: Decided<"Answered"> }
): Flow<void> {
  const { answer } = decision
  switch (answer._tag) {
    case "Due":
      changes.apply(call.position, { _tag: "Approve", ticketId: ticket.id, digest: call.digest, by: ["clock"] })
      return
    case "Input": {
      const output = { ...ToolOutput.ok(call.callId, answer.text), foreign: true }
      changes.apply(call.position, { _tag: "Complete", ticketId: ticket.id, output })
      return
    }
    case "ToolResult": {
      const output = yield* clientOutput(run, { call, answer })
      changes.apply(call.position, { _tag: "Complete", ticketId: ticket.id, output })
      return
    }
    case "Allow":
    case "Deny":
    case "Edit":
    case "Continue":
    case "Expire":
      return
  }
}

type ToolResult = Extract<ResumeTicket.ResumeAnswer, { readonly _tag: "ToolResult" }>

/** A result from outside: held to the output schema, labelled, and under the same policy as any other. */
function* clientOutput(
  run: ActiveRun,
  { call, answer }: { readonly call: ToolBatch.BatchCall; readonly answer: ToolResult }
): Flow<ToolOutput.ToolOutput> {
  const found = entryOf(run, call)
  const output: ToolOutput.ToolOutput = {
    callId: call.callId,
    content: saidBy(answer),
    isError: answer.isError ?? false,
    ...(answer.data === undefined ? {} : { data: answer.data }),
    state: [],
    foreign: true
  }
  if (!found.ok) return yield* policed(run, { call, installed: undefined, output })
  const { installed } = found.entry
  const issue = clientIssue(installed.tool.spec().outputSchema, answer)
  if (issue === undefined) return yield* policed(run, { call, installed, output })
  return {
    ...ToolOutput.error(call.callId, `the call completed outside, but its result does not fit: ${issue}`),
    foreign: true
  }
}

/** What the model reads. A client that gave data and no words has answered: `false`, `0` and `null` are words then. */
const saidBy = ({ content, data }: ToolResult): ToolResult["content"] => {
  const isBlank = content.every((block) => block.type === "text" && block.text.trim() === "")
  return isBlank && data !== undefined ? [{ type: "text", text: ToolRendering.renderToolOutput(data) }] : content
}

/** Why the data of a client's result does not fit, or `undefined`. An error result carries no data to be held to. */
export const clientIssue = (schema: Json.JsonObject | undefined, answer: ToolResult): string | undefined => {
  if (schema === undefined || answer.isError === true) return undefined
  if (answer.data === undefined) return "structured data is missing"
  const [issue] = checkFor(schema)(answer.data)
  return issue === undefined
    ? undefined
    : `${issue.pointer === "" ? "the data" : issue.pointer}: expected ${issue.expected}, received ${issue.received}`
}

function* edit(
  run: ActiveRun,
  { changes, call, ticket, decision, counted }: Acting & { readonly decision: Decided<"Edited"> }
): Flow<boolean> {
  const refuse = (text: string): true => {
    const output = notRunOutput(call, { reason: "InvalidArguments", detail: text })
    changes.apply(call.position, { _tag: "Refuse", reason: "InvalidArguments", output })
    return true
  }
  const found = entryOf(run, call)
  if (!found.ok) return refuse(found.refusal.text)
  const { installed } = found.entry
  const parsed = parseArguments(installed.descriptor, { raw: decision.arguments, mode: "strict" })
  if (!parsed.ok) return refuse(parsed.text)
  const { digest } = parsed
  const entry: Entry = { installed, arguments: parsed.arguments, digest }
  const proposal = { arguments: parsed.arguments, digest, claim: claimOf(installed, parsed.arguments) }
  const event: ToolBatch.CallEvent = { _tag: "Edit", ticketId: ticket.id, ...proposal }
  const edited = move(call, event)
  const gated = yield* askAbout(run, { asked: { call: edited, entry }, earlier: [] })
  if (gated === undefined) return false
  run.entries.set(call.position, entry)
  const applied = applyDecision(run, { asked: { call: edited, entry }, decision: gated })
  if (isSatisfied({ outcome: gated.outcome, ticket: applied.ticket, by: decision.by })) {
    changes.apply(call.position, { ...event, by: [decision.by] })
    return true
  }
  changes.put(applied.call)
  if (applied.ticket === undefined) return true
  changes.issue(applied.ticket)
  if (applied.ticket.kind === "Permission") counted.push({ ticketId: applied.ticket.id, by: decision.by })
  return true
}

/** The edit counts as its editor's allow; is that all that the gates want? */
const isSatisfied = (given: {
  readonly outcome: GateOutcome.GateOutcome
  readonly ticket: ResumeTicket.ResumeTicket | undefined
  readonly by: string
}): boolean => {
  if (given.outcome._tag === "Allow") return true
  const isAsked = given.outcome._tag === "RequireConfirmation" && given.ticket !== undefined
  return isAsked && ResumeTicket.isComplete(given.ticket, [given.by])
}

/** The editor's allow on the new ticket. If it is lost in a crash, the editor is asked again. */
const countEditor = (run: ActiveRun, { ticketId, by }: Counted): void => {
  const { engine } = run
  const at = engine.clock.now()
  const signal: ThreadStore.Signal = {
    id: `${ticketId}/editor`,
    threadId: run.threadId,
    runId: run.runId,
    at,
    body: { _tag: "Answer", answer: { ticketId, answer: { _tag: "Allow" }, approver: by, at } }
  }
  beginEffect(engine.services, engine.store.signal(signal))
}

interface Accounted {
  readonly state: ResumeTicket.TicketState | undefined
  readonly call: ToolBatch.BatchCall | undefined
  /** The call as the answer has made it. */
  readonly after: ToolBatch.BatchCall | undefined
}

const account = (run: ActiveRun, { state, call, after }: Accounted): void => {
  if (state === undefined) return
  const { ticket, decision } = state
  traceWait(run, state)
  run.audit.push({
    type: "Answer",
    at: run.engine.clock.now(),
    operationId: ticket.operationId,
    toolId: ticket.toolId,
    digest: ticket.digest,
    outcome: call === undefined ? "Late" : (decision?._tag ?? "Counted"),
    by: byOf(state),
    ...detailOf(decision, after)
  })
}

const byOf = ({ decision, allowedBy }: ResumeTicket.TicketState): string => {
  if (decision === undefined || decision._tag === "Void") return allowedBy.join(", ")
  return decision._tag === "Allowed" ? decision.by.join(", ") : decision.by
}

/** Behind an edit, what was decided on is no longer what was shown: both digests are in the chain. */
const detailOf = (
  decision: ResumeTicket.TicketDecision | undefined,
  after: ToolBatch.BatchCall | undefined
): { readonly detail?: Json.Json } => {
  if (decision?._tag === "Denied") return { detail: decision.reason }
  if (decision?._tag === "Edited" && after !== undefined && after.proposal > 0)
    return { detail: { editedTo: after.digest } }
  return decision?._tag === "Allowed" && decision.note !== undefined ? { detail: decision.note } : {}
}
