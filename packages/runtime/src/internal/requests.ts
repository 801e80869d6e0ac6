/**
 * What anybody may ask of a run, from any process: answer, cancel, stop, pause, continue, steer, settle.
 *
 * Guarantees: durable in the store's inbox before it counts; every mismatch of an answer is its own typed error and leaves
 * the ticket as it was; whoever asks drives the run on where nobody else does (L8).
 * Does not need ownership.
 */
import {
  type Message,
  ResumeTicket,
  type Run,
  type StoreError,
  type ThreadStore,
  TicketRefused
} from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { badRequest, fromSignal, isRunError, type RunError } from "../RunError.js"
import type { RunOutcome } from "../RunOutcome.js"
import type { ResumeOptions, RunRef } from "../RuntimeOptions.js"
import { clientIssue } from "./answers.js"
import { parseArguments } from "./arguments.js"
import { bounded } from "./bounded.js"
import type { Engine } from "./engine.js"
import { continueThread, driveOn, notFound } from "./starts.js"
import { proposalOf } from "./grantProposals.js"
import { recordRefusal } from "./refusedAnswers.js"
import { readContent } from "./readOutput.js"
import { readSignal } from "./readSignal.js"
import { damageIn } from "./intactness.js"
import { planOf } from "./snapshotPlan.js"

type Failure = RunError | TicketRefused

export interface Answering extends ResumeOptions {
  readonly ticketId: string
  readonly answer: ResumeTicket.ResumeAnswer
}

/** An answer that is refused is recorded, and the ticket is as it was. */
export const resume = (engine: Engine, answering: Answering): Effect.Effect<RunOutcome, Failure> =>
  Effect.catchTag(acceptAnswer(engine, answering), "TicketRefused", (refused) =>
    Effect.andThen(Effect.ignore(recordRefusal(engine, { ...answering, refused })), Effect.fail(refused))
  )

const acceptAnswer = Effect.fnUntraced(function* (engine: Engine, answering: Answering) {
  const { ticketId, answer, approver, expect } = answering
  if (!isAnswer(answer)) return yield* Effect.fail(badRequest("answer", "an answer with a known _tag"))
  // Whatever a host passes on from outside: a name that is none is nobody's.
  if (typeof approver !== "string" || approver.trim() === "")
    return yield* Effect.fail(refused(ticketId, { reason: "NotEligible", detail: "an approver has a name" }))
  const state = yield* inStore(engine, { threadId: "", ask: () => engine.store.ticket(ticketId) })
  if (state === undefined) return yield* Effect.fail(refused(ticketId, { reason: "NotWaiting" }))
  const { ticket } = state
  const given: ResumeTicket.TicketAnswer = {
    ticketId,
    answer,
    approver,
    at: engine.clock.now(),
    ...(expect === undefined ? {} : { expect })
  }
  // Its child run answers it, and nobody else.
  if (ticket.kind === "Delegation")
    return yield* Effect.fail(
      refused(ticketId, { reason: "AnswerKindMismatch", detail: "answer the ticket of the child run" })
    )
  const verdict = ResumeTicket.decide(state, given)
  if (verdict._tag === "Refused") return yield* Effect.fail(new TicketRefused({ ticketId, ...verdict }))
  // What only counts is no decision yet, and there is nothing to remember.
  if (answering.remember !== undefined && verdict._tag !== "Decided")
    return yield* Effect.fail(badRequest("remember", "the answer that completes the quorum"))
  const misfit = yield* misfitOf(engine, { ticket, answer })
  if (misfit !== undefined) return yield* Effect.fail(misfit)
  const remember =
    answering.remember === undefined
      ? undefined
      : yield* proposalOf(engine, { ...answering, ticket, remember: answering.remember })
  const id = answering.answerId === undefined ? engine.newId() : `${ticketId}/${answering.answerId}`
  const { threadId, runId } = ticket
  yield* send(engine, {
    id,
    threadId,
    runId,
    at: given.at,
    body: { _tag: "Answer", answer: given, ...(remember === undefined ? {} : { remember }) }
  })
  const listeners = answering.onEvent === undefined ? [] : [answering.onEvent]
  return yield* driveOn(engine, { threadId, signalId: id, listeners })
})

const isAnswer = (answer: unknown): boolean =>
  typeof answer === "object" && answer !== null && "_tag" in answer && known.has(answer._tag)

const known: ReadonlySet<unknown> = new Set(ResumeTicket.answerTags)

const refused = (
  ticketId: string,
  why: { readonly reason: ResumeTicket.TicketRefusalReason; readonly detail?: string }
): TicketRefused => new TicketRefused({ ticketId, ...why })

/** What the owner knows and the store does not: whether the tool is still the one, and whether the answer fits it. */
const misfitOf = (
  engine: Engine,
  { ticket, answer }: { readonly ticket: ResumeTicket.ResumeTicket; readonly answer: ResumeTicket.ResumeAnswer }
): Effect.Effect<Failure | undefined, Failure> => {
  if (answer._tag !== "Allow" && answer._tag !== "Edit" && answer._tag !== "ToolResult")
    return Effect.succeed(undefined)
  return Effect.map(
    inStore(engine, { threadId: ticket.threadId, ask: () => engine.store.load(ticket.threadId) }),
    (view) => {
      if (view?.snapshot === undefined) return refused(ticket.id, { reason: "NotWaiting" })
      const damage = damageIn(view)
      if (damage !== undefined) return damage
      const resolved = planOf(engine, view.snapshot).resolve(ticket.toolId)
      if (!resolved.ok)
        return answer._tag === "ToolResult"
          ? undefined
          : refused(ticket.id, { reason: "ToolChanged", detail: resolved.refusal.text })
      const { descriptor } = resolved.installed
      if (answer._tag === "ToolResult" && readContent(answer.content) === undefined)
        return refused(ticket.id, { reason: "InvalidArguments", detail: "the content is no list of content blocks" })
      if (answer._tag === "ToolResult") {
        const issue = clientIssue(resolved.installed.tool.spec().outputSchema, answer)
        return issue === undefined ? undefined : refused(ticket.id, { reason: "InvalidArguments", detail: issue })
      }
      if (answer._tag === "Allow") return undefined
      const parsed = parseArguments(descriptor, { raw: answer.arguments, mode: "strict" })
      return parsed.ok ? undefined : refused(ticket.id, { reason: "InvalidArguments", detail: parsed.text })
    }
  )
}

/** Ends the open run of a thread, from wherever it is asked. Gives the outcome when the run has ended here. */
export const endRun = (
  engine: Engine,
  { ref, cause }: { readonly ref: RunRef; readonly cause: EndAsked }
): Effect.Effect<RunOutcome, Failure> =>
  Effect.suspend(() => {
    const active = engine.active.get(ref.threadId)
    if (active !== undefined && (ref.runId === undefined || (active.startsAs ?? active.runId) === ref.runId)) {
      const by = ref.by ?? "runtime"
      if (typeof by !== "string") return Effect.fail(badRequest("by", "a name"))
      if (cause._tag === "Stopped" && typeof cause.reason !== "string")
        return Effect.fail(badRequest("reason", "a text"))
      active.askToEnd({ cause, by })
      // It may have come to rest just before it was asked.
      return Effect.flatMap(continueThread(engine, { threadId: ref.threadId }), (outcome) =>
        outcome.disposition._tag === "Awaiting" ? endRun(engine, { ref, cause }) : Effect.succeed(outcome)
      )
    }
    return askRun(engine, { ref, bodyOf: (by) => endBody(cause, by) })
  })

type EndAsked = Extract<Run.EndCause, { readonly _tag: "Cancelled" | "Stopped" }>

const endBody = (cause: EndAsked, by: string): ThreadStore.SignalBody =>
  cause._tag === "Cancelled" ? { _tag: "Cancel", by } : { _tag: "Stop", by, reason: cause.reason }

export interface AskingRun {
  readonly ref: RunRef
  readonly bodyOf: (by: string) => ThreadStore.SignalBody
}

/** Puts a signal into the inbox of the open run, and drives the run on where nobody does. */
export const askRun = Effect.fnUntraced(function* (engine: Engine, { ref, bodyOf }: AskingRun) {
  const { threadId } = ref
  const view = yield* inStore(engine, { threadId, ask: () => engine.store.load(threadId) })
  if (view?.run === undefined) return yield* Effect.fail(notFound(threadId))
  const { runId, principal } = view.run
  if (ref.runId !== undefined && ref.runId !== runId) return yield* Effect.fail(notFound(threadId))
  const id = engine.newId()
  yield* send(engine, { id, threadId, runId, at: engine.clock.now(), body: bodyOf(ref.by ?? principal) })
  return yield* driveOn(engine, { threadId, signalId: id, listeners: [] })
})

export const steerBody =
  ({ content, interrupt }: { readonly content: ReadonlyArray<Message.ContentBlock>; readonly interrupt: boolean }) =>
  (by: string): ThreadStore.SignalBody => ({ _tag: "Steer", by, content, interrupt })

export const send = (engine: Engine, given: ThreadStore.Signal): Effect.Effect<ThreadStore.SignalReceipt, Failure> => {
  const read = readSignal(given)
  if (!read.ok) return Effect.fail(read.error)
  const { signal } = read
  return Effect.tap(askForSignal(engine, signal), () =>
    Effect.sync(() => {
      engine.crash("signal.accepted")
      engine.active.get(signal.threadId)?.hear()
    })
  )
}

const askForSignal = (engine: Engine, signal: ThreadStore.Signal): Effect.Effect<ThreadStore.SignalReceipt, Failure> =>
  Effect.mapError(inStore(engine, { threadId: signal.threadId, ask: () => engine.store.signal(signal) }), (error) =>
    isRunError(error) ? fromSignal(error) : error
  )

const inStore = <A>(
  engine: Engine,
  question: { readonly threadId: string; readonly ask: () => Effect.Effect<A, StoreError | TicketRefused> }
): Effect.Effect<A, Failure> => bounded(engine, question)
