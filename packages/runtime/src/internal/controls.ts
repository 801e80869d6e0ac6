/**
 * Acts between steps on what was asked of a run: steer, pause, continue, settle an unknown outcome (L8, R12).
 *
 * Guarantees: a steering message is durable before it is seen by the model and stands behind the results of the step; a
 * pause takes effect before the next inference and stops no tool; a settlement is an audit record and a message, never a
 * second result.
 * Does not cancel: the drive does.
 */
import {
  type Message,
  ResumeTicket,
  type Run,
  Run as Runs,
  type ThreadStore,
  ToolBatch
} from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { BatchChanges, dispositionOf } from "./batchChanges.js"
import { type CommitDraft, commitFlow } from "./committing.js"
import type { Flow } from "./flow.js"
import { answersTo, isSignal, type SignalOf, signalsFor } from "./inbox.js"
import { lostOutput, notRunOutput } from "./outcomes.js"

/** `Paused`: the drive is over until somebody continues. `Acted`: something was committed. */
export type Controlled = "Nothing" | "Acted" | "Paused"

/** Only while no batch is open. */
export function* control(run: ActiveRun): Flow<Controlled> {
  if (run.fold.disposition?._tag === "Awaiting") return yield* unpause(run)
  if (run.fold.inbox.size === 0) return "Nothing"
  if (yield* settleOutcomes(run)) return "Acted"
  if (yield* steer(run)) return "Acted"
  if (yield* dropStale(run)) return "Acted"
  return yield* pauseRun(run)
}

/** Answers and settlements that nothing waits for any more would be found unread for ever. */
function* dropStale(run: ActiveRun): Flow<boolean> {
  const stale = signalsFor(run).filter(({ body }) => body._tag === "Answer" || body._tag === "Resolve")
  if (stale.length === 0) return false
  for (const { id } of stale) run.notes.push({ type: "SignalRefused", signalId: id, reason: "nothing waits for it" })
  yield* commitFlow(run, { kind: "steer", disposition: Runs.Running, consumed: stale.map(({ id }) => id) })
  return true
}

/** Also behind the end of a run: an unknown outcome may be settled at any time. */
export function* settleOutcomes(run: ActiveRun): Flow<boolean> {
  const signals = [...run.fold.inbox.values()].filter(isSignal("Resolve"))
  const open = signals.filter(({ body }) => run.fold.openOutcomes.has(body.operationId))
  if (open.length === 0) return false
  for (const { body } of open)
    run.audit.push({
      type: "Resolution",
      at: run.engine.clock.now(),
      operationId: body.operationId,
      outcome: body.resolution._tag,
      by: body.by
    })
  yield* commitFlow(run, {
    kind: "resolve",
    disposition: run.fold.disposition ?? Runs.Running,
    messages: open.map((signal) => settledMessage(run, signal)),
    consumed: open.map(({ id }) => id),
    resolved: [...new Set(open.map(({ body }) => body.operationId))]
  })
  return true
}

const settledMessage = (run: ActiveRun, { id, body }: SignalOf<"Resolve">): Message.ReminderMessage => {
  const toolId = run.fold.openOutcomes.get(body.operationId)?.call.toolId ?? "the call"
  const { resolution } = body
  const text =
    resolution._tag === "DidNotHappen"
      ? `The earlier call of ${toolId} whose outcome was unknown did not happen (operation ${body.operationId}, settled by ${body.by}).`
      : `The earlier call of ${toolId} whose outcome was unknown did happen (operation ${body.operationId}, settled by ${body.by}). ${textOf(resolution.content)}`
  return { role: "reminder", id: `${id}/settled`, source: "resolution", text: text.trim() }
}

const textOf = (content: ReadonlyArray<Message.ContentBlock>): string =>
  content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n")

function* steer(run: ActiveRun): Flow<boolean> {
  const signals = signalsFor(run).filter(isSignal("Steer"))
  if (signals.length === 0) return false
  for (const { id, body } of signals)
    run.audit.push({ type: "Control", at: run.engine.clock.now(), outcome: "Steered", by: body.by, detail: id })
  yield* commitFlow(run, {
    kind: "steer",
    disposition: Runs.Running,
    messages: signals.map(({ id, body }) => ({ role: "user", id, content: body.content })),
    consumed: signals.map(({ id }) => id)
  })
  return true
}

/** Denies the open tickets of a batch because something newer was said. */
export function* supersede(run: ActiveRun): Flow<boolean> {
  const { batch, inbox } = run.fold
  if (inbox.size === 0 || batch === undefined) return false
  if (!signalsFor(run).some((signal) => isSignal("Steer")(signal) && signal.body.interrupt)) return false
  const changes = new BatchChanges(batch)
  for (const call of batch.calls) {
    if (call.phase._tag !== "Awaiting") continue
    if (ToolBatch.sealing(call) === "Indeterminate")
      changes.apply(call.position, { _tag: "Lose", reason: "Abandoned", output: lostOutput(call, "Abandoned") })
    else
      changes.apply(call.position, {
        _tag: "Refuse",
        reason: "Superseded",
        output: notRunOutput(call, { reason: "Superseded" })
      })
  }
  if (changes.isEmpty) return false
  const disposition = dispositionOf(changes.batch)
  yield* commitFlow(run, { kind: "steer", disposition, batch: { _tag: "Change", calls: changes.calls() } })
  return true
}

/** A pause that was taken back before it took effect leaves no trace but its audit record. */
function* pauseRun(run: ActiveRun): Flow<Controlled> {
  const signals = signalsFor(run).filter(isControl)
  const [first] = signals
  if (first === undefined) return "Nothing"
  const consumed = signals.map(({ id }) => id)
  const last = signals.at(-1)
  for (const { body } of signals)
    run.audit.push({ type: "Control", at: run.engine.clock.now(), outcome: body._tag, by: body.by })
  if (last?.body._tag === "Continue") {
    yield* commitFlow(run, { kind: "steer", disposition: Runs.Running, consumed })
    return "Acted"
  }
  const ticket = pauseTicket(run)
  const draft: CommitDraft = {
    kind: "await",
    disposition: Runs.awaitingOrRunning([ticket.id]),
    tickets: [ticket],
    consumed
  }
  yield* commitFlow(run, draft)
  return "Paused"
}

const isControl = (signal: ThreadStore.Signal): signal is SignalOf<"Pause"> | SignalOf<"Continue"> =>
  signal.body._tag === "Pause" || signal.body._tag === "Continue"

const pauseTicket = (run: ActiveRun): ResumeTicket.ResumeTicket => {
  const operationId = `${run.runId}/pause/${run.fold.revision}`
  return {
    id: ResumeTicket.idOf(operationId, "Pause", 0),
    kind: "Pause",
    runId: run.runId,
    threadId: run.threadId,
    principal: run.pinned.record.principal,
    snapshotFingerprint: run.pinned.snapshot.fingerprint,
    operationId,
    callId: "",
    toolId: "",
    toolIdentity: "",
    arguments: {},
    digest: "",
    proposal: 0,
    requirements: [],
    issuedAt: run.engine.clock.now()
  }
}

/** A paused run goes on when its ticket is answered, or when somebody says so to the run. */
function* unpause(run: ActiveRun): Flow<Controlled> {
  const tickets = run.fold.disposition?._tag === "Awaiting" ? run.fold.disposition.tickets : []
  const states = tickets.map((id) => run.fold.tickets.get(id))
  const continued = signalsFor(run).filter(isSignal("Continue"))
  const isAnswered = states.some((state) => state?.decision !== undefined)
  if (!isAnswered && continued.length === 0) return "Paused"
  const said = states.flatMap((state) => inputOf(state?.decision))
  const messages: ReadonlyArray<Message.UserMessage> = said.map((text, index) => ({
    role: "user",
    id: `${run.runId}/input/${run.fold.revision}/${index}`,
    content: [{ type: "text", text }]
  }))
  const consumed = [...continued.map(({ id }) => id), ...tickets.flatMap((id) => answersTo(run, id))]
  run.audit.push({
    type: "Control",
    at: run.engine.clock.now(),
    outcome: "Continue",
    by: continuedBy(run, { states, continued })
  })
  const running: Run.RunDisposition = Runs.Running
  yield* commitFlow(run, { kind: "steer", disposition: running, messages, consumed })
  return "Acted"
}

const inputOf = (decision: ResumeTicket.TicketDecision | undefined): ReadonlyArray<string> =>
  decision?._tag === "Answered" && decision.answer._tag === "Input" ? [decision.answer.text] : []

const continuedBy = (
  run: ActiveRun,
  given: {
    readonly states: ReadonlyArray<ResumeTicket.TicketState | undefined>
    readonly continued: ReadonlyArray<SignalOf<"Continue">>
  }
): string => {
  const decision = given.states.find((state) => state?.decision !== undefined)?.decision
  return decision?._tag === "Answered" ? decision.by : (given.continued[0]?.body.by ?? run.pinned.record.principal)
}
