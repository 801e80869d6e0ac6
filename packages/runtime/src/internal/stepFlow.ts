/**
 * One step up to its batch: hooks, the model exchange, and then either the end or commit (a).
 *
 * Guarantees: nothing of a turn is committed before the turn is whole; a step without calls is one commit that also
 * carries the end; `Executing` of the calls that start at once goes down with the message that asked for them (R7).
 * Does not wait for tools: the batch flow does.
 */
import {
  type LlmError,
  type Message,
  type RunHook,
  Run as Runs,
  type StateKey,
  type ToolBatch
} from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { BatchChanges, dispositionOf } from "./batchChanges.js"
import { failure } from "./budget.js"
import { commit, commitFlow } from "./committing.js"
import { applyDecision } from "./deciding.js"
import { endWithText } from "./ending.js"
import { Exchange } from "./exchange.js"
import { type Flow, type Rest, nothingLeft } from "./flow.js"
import { type Asking, askGates, isGateable } from "./gating.js"
import { callHooks, hookContext } from "./hooks.js"
import { readInbox } from "./inbox.js"
import { ingress, type Ingress, type Offer } from "./ingress.js"
import { buildRequest, narrowRequest, stagedContext } from "./request.js"
import { readShared, usesShared } from "./sharedState.js"
import { dispatch, enter } from "./starting.js"
import { sum, type Turn } from "./turn.js"

/** Takes the next step. Returns early, with nothing committed, when the run is ending. */
export function* takeStep(run: ActiveRun): Flow<void> {
  run.view = undefined
  if (usesShared(run)) yield* readShared(run)
  const asked = run.pinned.plan.environment.hooks.length === 0 ? askPlainly(run) : yield* askWithHooks(run)
  while (asked.talk.end === undefined) {
    run.check()
    if (run.hasSignals) yield* readInbox(run) ?? nothingLeft
    if (run.ending !== undefined) asked.talk.interrupt()
    else if (ended(asked.talk) === undefined) yield* run.sleeper.sleep
  }
  const rest = endExchange(run, asked)
  if (rest !== undefined) yield* rest
}

/** A request under way. */
interface Asked {
  readonly talk: Exchange
  readonly offer: Offer
  readonly staged: Array<StateKey.StateCommand>
}

const offerOf = (run: ActiveRun): Offer => {
  const { maxSteps } = run.pinned.limits
  const step = run.fold.step + 1
  return { step, tools: undefined, isLast: step >= maxSteps && maxSteps > 1 }
}

const askPlainly = (run: ActiveRun): Asked => {
  const offer = offerOf(run)
  return { talk: begin(run, buildRequest(run, offer)), offer, staged: nothingStaged }
}

function* askWithHooks(run: ActiveRun): Flow<Asked> {
  const staged: Array<StateKey.StateCommand> = []
  const { offer, request } = yield* prepare(run, { offer: offerOf(run), staged })
  return { talk: begin(run, request), offer, staged }
}

const begin = (run: ActiveRun, request: Parameters<typeof narrowRequest>[0]): Exchange => {
  run.at("inference.before")
  const talk = new Exchange(run, request)
  talk.start()
  return talk
}

/** What the exchange came to. A plain function: a generator that waits keeps room for all that it will ever do. */
const endExchange = (run: ActiveRun, { talk, offer, staged }: Asked): Rest => {
  run.check()
  const end = ended(talk)
  if (end?._tag !== "Turn") return noTurn(run, talk)
  const { turn } = end
  const { step } = offer
  run.attempt = 1
  run.at("inference.after")
  countUsage(run, turn)
  const content = ingress(run, { turn, offer })
  const message = assistantMessage(run, { step, turn, content })
  if (run.pinned.plan.environment.hooks.length > 0 && message !== undefined)
    return hooksAfter(run, { content, message, staged, step, turn, offer })
  return actOn(run, { content, message, staged, step, turn, offer })
}

interface Acting extends Opening {
  readonly turn: Turn
  readonly offer: Offer
}

function* hooksAfter(
  run: ActiveRun,
  acting: Acting & { readonly message: Message.AssistantMessage; readonly staged: Array<StateKey.StateCommand> }
): Flow<void> {
  const { message, staged, step } = acting
  yield* collect(staged, callHooks(run, { phase: "afterInference", context: { ...hookContext(run, step), message } }))
  const rest = actOn(run, acting)
  if (rest !== undefined) yield* rest
}

const actOn = (run: ActiveRun, acting: Acting): Rest =>
  acting.content.proposals.length === 0 ? endWithText(run, acting) : openBatch(run, acting)

/** Shared by all steps without hooks, which stage nothing. */
const nothingStaged: Array<StateKey.StateCommand> = []

interface Preparing {
  readonly offer: Offer
  readonly staged: Array<StateKey.StateCommand>
}

function* prepare(
  run: ActiveRun,
  { offer, staged }: Preparing
): Flow<{ readonly offer: Offer; readonly request: Parameters<typeof narrowRequest>[0] }> {
  const context = hookContext(run, offer.step)
  yield* collect(staged, callHooks(run, { phase: "stepStart", context }))
  const request = buildRequest(run, offer)
  const reactions = yield* collect(
    staged,
    callHooks(run, { phase: "beforeInference", context: { ...context, request } })
  )
  const narrowed = narrowRequest(request, reactions)
  return {
    offer: { ...offer, tools: narrowed.tools },
    request: stagedContext(run, { request: narrowed.request, staged })
  }
}

type Called = ReturnType<typeof callHooks>

function* collect(staged: Array<StateKey.StateCommand>, phase: Called): Flow<ReadonlyArray<RunHook.RequestReaction>> {
  const called = yield* phase
  for (const { reaction } of called) staged.push(...(reaction.state ?? []))
  return called.map(({ reaction }) => reaction)
}

/** The run is ending, or it ends because the model failed. */
function* noTurn(run: ActiveRun, talk: Exchange): Flow<void> {
  const end = ended(talk)
  run.attempt++
  if (end?._tag !== "Failed") return
  countUsage(run, talk.turn)
  yield* commitFlow(run, { kind: "end", disposition: Runs.Ended(inferenceFailure(end.error)) })
}

// Read through a function: the compiler does not see that the exchange ends between two looks.
const ended = (talk: Exchange): Exchange["end"] => talk.end

const inferenceFailure = (error: LlmError): ReturnType<typeof failure> =>
  failure("Inference", `${error.reason}: ${error.message}`)

const countUsage = (run: ActiveRun, turn: Turn): void => {
  for (const change of turn.fallbacks) run.notes.push({ type: "ModelFallback", ...change })
  for (const { model, usage } of turn.spent) {
    run.usage = sum(run.usage, usage)
    run.notes.push({ type: "UsageRecorded", provider: model.provider, model: model.model, usage })
    if (run.pinned.limits.maxTokens !== undefined) run.ledger.tokens += usage.inputTokens + usage.outputTokens
  }
}

/** `undefined` for a turn that said nothing: no provider takes an empty message back. */
const assistantMessage = (
  run: ActiveRun,
  { step, turn, content }: { readonly step: number; readonly turn: Turn; readonly content: Ingress }
): Message.AssistantMessage | undefined =>
  content.parts.length === 0
    ? undefined
    : Object.freeze({
        role: "assistant",
        id: `${run.runId}/${step}`,
        runId: run.runId,
        step,
        content: Object.freeze(content.parts),
        stop: turn.stop
      })

interface Opening {
  readonly content: Ingress
  readonly message: Message.AssistantMessage | undefined
  readonly staged: ReadonlyArray<StateKey.StateCommand>
  readonly step: number
}

/** Commit (a): message, batch, decisions, tickets, and `Executing` of what starts now. */
const openBatch = (run: ActiveRun, opening: Opening): Rest => {
  const asking: Asking = { calls: opening.content.proposals, earlier: [], decisions: [] }
  const rest = askGates(run, asking)
  return rest === undefined ? openDecided(run, { opening, asking }) : waitToOpen(run, { opening, asking, rest })
}

interface Decided {
  readonly opening: Opening
  readonly asking: Asking
}

function* waitToOpen(run: ActiveRun, { opening, asking, rest }: Decided & { readonly rest: Flow<void> }): Flow<void> {
  yield* rest
  // Nobody waits for the turn any more: it was never committed, so nothing of it has to be told.
  if (asking.decisions.length < asking.calls.length) return dropTurn(run)
  const opened = openDecided(run, { opening, asking })
  if (opened !== undefined) yield* opened
}

const openDecided = (run: ActiveRun, { opening, asking }: Decided): Rest => {
  const { step } = opening
  const calls: Array<ToolBatch.BatchCall> = []
  const changes = new BatchChanges({ runId: run.runId, step, calls })
  for (let position = 0; position < asking.calls.length; position++) {
    const proposal = asking.calls[position]
    const decision = asking.decisions[position]
    if (proposal === undefined) continue
    if (!isGateable(proposal) || decision === undefined) {
      calls.push(proposal.call)
      continue
    }
    const applied = applyDecision(run, { asked: proposal, decision })
    calls.push(applied.call)
    run.entries.set(position, proposal.entry)
    if (applied.ticket !== undefined) changes.issue(applied.ticket)
    if (applied.isReady) run.ready.set(position, true)
  }
  const entered: Array<number> = []
  const entering = enter(run, { changes, entered, isFresh: true })
  return entering === undefined
    ? commitOpen(run, { opening, changes, entered })
    : waitToCommit(run, { opening, changes, entered, entering })
}

interface Opened {
  readonly opening: Opening
  readonly changes: BatchChanges
  readonly entered: ReadonlyArray<number>
}

function* waitToCommit(
  run: ActiveRun,
  { entering, ...opened }: Opened & { readonly entering: Flow<void> }
): Flow<void> {
  yield* entering
  const rest = commitOpen(run, opened)
  if (rest !== undefined) yield* rest
}

const commitOpen = (run: ActiveRun, { opening, changes, entered }: Opened): Rest => {
  const { message, staged, step } = opening
  run.ledger.staged = staged
  const { calls } = changes.batch
  const rest = commit(run, {
    kind: "open",
    step,
    disposition: dispositionOf(changes.batch),
    messages: message === undefined ? noMessages : [message],
    batch: { _tag: "Open", step, calls },
    tickets: changes.tickets
  })
  if (rest !== undefined) return thenDispatch(run, { rest, entered })
  dispatch(run, entered)
  return undefined
}

const noMessages: ReadonlyArray<Message.Message> = Object.freeze([])

function* thenDispatch(
  run: ActiveRun,
  { rest, entered }: { readonly rest: Flow<void>; readonly entered: ReadonlyArray<number> }
): Flow<void> {
  yield* rest
  dispatch(run, entered)
}

/** What was spent was spent; nothing else of the turn happened. */
const dropTurn = (run: ActiveRun): void => {
  run.notes = run.notes.filter((note) => note.type !== "ArgumentsCoerced")
  run.audit = []
}
