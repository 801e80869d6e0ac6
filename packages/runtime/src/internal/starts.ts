/**
 * Starts runs, and goes on with those that are found.
 *
 * Guarantees: bad options start nothing; a thread with an open run is refused before it is touched; waiting for a drive
 * does not hold it: whoever goes away only stops listening.
 * Does not answer tickets.
 */
import { Json, type Message, SystemThread } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { badRequest, RunError } from "../RunError.js"
import type { RunOutcome } from "../RunOutcome.js"
import type { RunOptions } from "../RuntimeOptions.js"
import type { ActiveRun } from "./activeRun.js"
import { bounded, boundedLoad } from "./bounded.js"
import type { Engine, EventListener } from "./engine.js"
import { launch, outcomeOf } from "./launch.js"
import { checkRunNames } from "./methodOptions.js"
import { outcomeOfView } from "./outcomeOfView.js"
import type { StartGiven } from "./pinning.js"
import { isJson, readContent } from "./readOutput.js"

/** Launches a new run. Throws `RunError` for what cannot be started. */
export const startRun = (engine: Engine, options: RunOptions): { readonly run: ActiveRun; readonly runId: string } => {
  const given = readOptions(engine, options)
  const threadId = options.threadId ?? engine.newId()
  const listeners = options.onEvent === undefined ? [] : [options.onEvent]
  const run = launch(engine, { threadId, job: { _tag: "Start", given }, listeners })
  const { signal } = options
  if (signal !== undefined) {
    const cancel = (): void => run.askToEnd({ cause: { _tag: "Cancelled" }, by: options.principal })
    if (signal.aborted) cancel()
    signal.addEventListener("abort", cancel, { once: true })
    run.whenDone(() => signal.removeEventListener("abort", cancel))
  }
  return { run, runId: given.runId }
}

const readOptions = (engine: Engine, options: RunOptions): StartGiven => {
  if (typeof options !== "object" || options === null) throw badRequest("options", "an object")
  checkRunNames(options)
  checkLive(options)
  if (typeof options.principal !== "string" || options.principal.trim() === "") throw badRequest("principal", "a name")
  if (typeof options.snapshot !== "object" || options.snapshot === null)
    throw badRequest("snapshot", "a built snapshot")
  if (options.threadId !== undefined && !isName(options.threadId))
    throw badRequest("threadId", "a name, or nothing for a new thread")
  if (options.threadId !== undefined && SystemThread.isSystemThread(options.threadId))
    throw badRequest("threadId", `a name that does not begin with ${SystemThread.prefix}`)
  const narrowing = options.narrowing ?? "Configured"
  if (narrowing !== "Configured" && narrowing !== "Unattended" && narrowing !== "DenyAll")
    throw badRequest("narrowing", "Configured, Unattended or DenyAll")
  return {
    runId: engine.newId(),
    snapshot: options.snapshot,
    input: contentOf(options.input),
    principal: options.principal,
    narrowing,
    policy: options.policy,
    metadata: metadataOf(options.metadata)
  }
}

const isName = (value: unknown): boolean => typeof value === "string" && value.trim() !== ""

/** What is called while the run goes on must be there to be called. */
const checkLive = ({ onEvent, policy, signal }: RunOptions): void => {
  if (onEvent !== undefined && typeof onEvent !== "function") throw badRequest("onEvent", "a function")
  // By what it can do: another realm's is one as well.
  if (signal !== undefined && typeof signal?.addEventListener !== "function")
    throw badRequest("signal", "an AbortSignal")
  if (policy === undefined) return
  const isGate = typeof policy === "object" && policy !== null && isName(policy.id)
  if (!isGate || typeof policy.decide !== "function") throw badRequest("policy", "a permission gate with an id")
}

const metadataOf = (metadata: RunOptions["metadata"]): RunOptions["metadata"] => {
  if (metadata === undefined) return metadata
  // A copy: it is read when the run starts, and the caller may go on with its own.
  if (isJson(metadata, 0) && !Array.isArray(metadata)) return Json.deepFreeze(structuredClone(metadata))
  throw badRequest("metadata", "a JSON object")
}

export const contentOf = (input: RunOptions["input"]): ReadonlyArray<Message.ContentBlock> => {
  if (typeof input === "string") return [{ type: "text", text: input.toWellFormed() }]
  const blocks = readContent(input)
  if (blocks === undefined || blocks.length === 0) throw badRequest("input", "a text or content blocks")
  return blocks
}

/** The outcome of a drive, when it is over. An interruption only stops waiting. */
export const awaitRun = (run: ActiveRun): Effect.Effect<RunOutcome, RunError> =>
  Effect.callback<RunOutcome, RunError>((resume) => {
    run.whenDone((end) => resume(end.ok ? finished(run) : Effect.fail(end.error)))
  })

const finished = (run: ActiveRun): Effect.Effect<RunOutcome, RunError> =>
  run.fold.run === undefined ? Effect.fail(notFound(run.threadId)) : Effect.succeed(outcomeOf(run))

export const notFound = (threadId: string): RunError =>
  new RunError({
    reason: { _tag: "NotFound", what: `thread ${threadId}` },
    message: `there is no run on thread ${threadId}`,
    threadId
  })

export interface Continuing {
  readonly threadId: string
  readonly listeners?: ReadonlyArray<EventListener>
  readonly takeOver?: boolean
}

/** Goes on with the thread as it is found, or waits for the drive that is at it here. */
export const continueThread = (
  engine: Engine,
  { threadId, listeners, takeOver }: Continuing
): Effect.Effect<RunOutcome, RunError> =>
  Effect.suspend(() => {
    const active = engine.active.get(threadId)
    if (active !== undefined) {
      active.listen(...(listeners ?? []))
      return awaitRun(active)
    }
    try {
      const job = { _tag: "Continue" as const, takeOver: takeOver ?? false }
      return awaitRun(launch(engine, { threadId, job, listeners: listeners ?? [] }))
    } catch (error) {
      return error instanceof RunError ? Effect.fail(error) : Effect.die(error)
    }
  })

/** What is committed of a thread that another process drives. */
export const foundOutcome = (engine: Engine, threadId: string): Effect.Effect<RunOutcome, RunError> =>
  Effect.flatMap(Effect.catchTag(boundedLoad(engine, threadId), "TicketRefused", Effect.die), (view) =>
    view?.run === undefined ? Effect.fail(notFound(threadId)) : Effect.succeed(outcomeOfView(view))
  )

export interface Driving {
  readonly threadId: string
  readonly signalId: string
  readonly listeners: ReadonlyArray<EventListener>
}

/**
 * Drives the thread until the signal was acted on, here or elsewhere: it may have come in just behind the last look of the
 * drive that was at it.
 */
export const driveOn = Effect.fnUntraced(function* (engine: Engine, { threadId, signalId, listeners }: Driving) {
  for (;;) {
    const wasActive = engine.active.has(threadId)
    const driven = yield* Effect.result(continueThread(engine, { threadId, listeners }))
    if (driven._tag === "Failure") {
      const { reason } = driven.failure
      // Somebody else is at it, and has the signal in the inbox.
      if (reason._tag === "ThreadBusy" && reason.by === "Owner") return yield* foundOutcome(engine, threadId)
      return yield* Effect.fail(driven.failure)
    }
    if (!wasActive) return driven.success
    const inbox = yield* bounded(engine, { threadId, ask: () => engine.store.inbox(threadId) })
    if (!inbox.some((signal) => signal.id === signalId)) return driven.success
  }
})
