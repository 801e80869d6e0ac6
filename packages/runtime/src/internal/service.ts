/**
 * The Effect form of a runtime: each method is a few words over the engine's flows.
 *
 * Guarantees: methods fail with `RunError` (and `TicketRefused` for answers), never with a defect of a port.
 * Does not hold state of its own.
 */
import type { TicketRefused } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { badRequest, RunError } from "../RunError.js"
import type { RunOutcome } from "../RunOutcome.js"
import type { RunOptions } from "../RuntimeOptions.js"
import type {
  RecoverOptions,
  ResolveRequest,
  RuntimeService,
  SteerRequest,
  TakeOverOptions,
  WorkOptions
} from "../Runtime.js"
import type { ActiveRun } from "./activeRun.js"
import { boundedLoad } from "./bounded.js"
import { climb, withInnerTickets } from "./children.js"
import { close } from "./closing.js"
import { describeTools } from "./describing.js"
import type { Engine } from "./engine.js"
import { listGrants, revokeGrant } from "./grantList.js"
import { previewGrant } from "./grantProposals.js"
import { checkMethod, checkRecover, checkResume } from "./methodOptions.js"
import { isThenable } from "./settle.js"
import { askRun, endRun, resume, steerBody } from "./requests.js"
import { awaitRun, contentOf, continueThread, notFound, startRun } from "./starts.js"
import { verifyAudit } from "./verifying.js"
import { watchThread } from "./watching.js"
import { type Recovered, workOnce } from "./working.js"

export const makeService = (engine: Engine): RuntimeService => ({
  run: (options) => run(engine, options),
  resume: (...[ticketId, answer, options]) =>
    checked(
      () => checkResume(options),
      () => climbing(engine, resume(engine, { ...options, ticketId, answer }))
    ),
  cancel: (ref) =>
    asked(engine, { method: "ref", ref, ask: () => endRun(engine, { ref, cause: { _tag: "Cancelled" } }) }),
  stop: (ref) =>
    asked(engine, {
      method: "stop",
      ref,
      ask: () => endRun(engine, { ref, cause: { _tag: "Stopped", reason: ref.reason } })
    }),
  pause: (ref) =>
    asked(engine, { method: "ref", ref, ask: () => askRun(engine, { ref, bodyOf: (by) => ({ _tag: "Pause", by }) }) }),
  unpause: (ref) =>
    asked(engine, {
      method: "ref",
      ref,
      ask: () => askRun(engine, { ref, bodyOf: (by) => ({ _tag: "Continue", by }) })
    }),
  steer: (request) => asked(engine, { method: "steer", ref: request, ask: () => steer(engine, request) }),
  resolve: (request) => asked(engine, { method: "resolve", ref: request, ask: () => resolve(engine, request) }),
  recover: (options = {}) =>
    checked(
      () => checkRecover(options),
      () => recover(engine, options)
    ),
  work: (options = {}) =>
    checked(
      () => checkMethod("work", options),
      () => work(engine, options)
    ),
  // Neither of these two fails: an option that they do not know is a fault of the program.
  describeTools: (options = {}) =>
    Effect.suspend(() => {
      checkMethod("describeTools", options)
      return describeTools(engine, options)
    }),
  close: (options = {}) =>
    Effect.suspend(() => {
      checkMethod("close", options)
      return close(engine, { grace: options.grace ?? 5_000 })
    }),
  watch: (options) => {
    checkMethod("watch", options)
    return watchThread(engine, { threadId: options.threadId, from: options.from })
  },
  previewGrant: (options) =>
    checked(
      () => checkMethod("previewGrant", options),
      () => previewGrant(engine, options)
    ),
  grants: (query = {}) =>
    checked(
      () => checkMethod("grants", query),
      () => withoutTickets(listGrants(engine, query))
    ),
  revokeGrant: (request) =>
    checked(
      () => checkMethod("revokeGrant", request),
      () => withoutTickets(revokeGrant(engine, request))
    ),
  verifyAudit: (options) =>
    checked(
      () => checkMethod("verifyAudit", options),
      () => verifyAudit(engine, options)
    )
})

/** Options are checked when the effect is run, and nothing is asked of a store before. */
const checked = <A, E>(check: () => void, ask: () => Effect.Effect<A, E>): Effect.Effect<A, E | RunError> =>
  Effect.suspend((): Effect.Effect<A, E | RunError> => {
    try {
      check()
    } catch (error) {
      return error instanceof RunError ? Effect.fail(error) : Effect.die(error)
    }
    return ask()
  })

interface Asked {
  readonly method: "ref" | "stop" | "steer" | "resolve"
  readonly ref: unknown
  readonly ask: () => Effect.Effect<RunOutcome, RunError | TicketRefused>
}

const asked = (engine: Engine, { method, ref, ask }: Asked): Effect.Effect<RunOutcome, RunError> =>
  checked(
    () => checkMethod(method, ref),
    () => climbed(engine, ask())
  )

/** Interrupting the caller cancels the run, and waits for it within its own grace. */
const run = (engine: Engine, options: RunOptions): Effect.Effect<RunOutcome, RunError> =>
  Effect.suspend(() => {
    let started: { readonly run: ActiveRun }
    try {
      started = startRun(engine, options)
    } catch (error) {
      return error instanceof RunError ? Effect.fail(error) : Effect.die(error)
    }
    const outcome = Effect.flatMap(awaitRun(started.run), (ended) => withInnerTickets(engine, ended))
    return Effect.onInterrupt(outcome, () =>
      Effect.suspend(() => {
        const isOver = engine.active.get(started.run.threadId) !== started.run
        if (isOver) return Effect.void
        started.run.askToEnd({ cause: { _tag: "Cancelled" }, by: options.principal })
        return Effect.ignore(awaitRun(started.run))
      })
    )
  })

/** A child that was moved on lets its parent go on. */
const climbing = <E>(
  engine: Engine,
  effect: Effect.Effect<RunOutcome, RunError | E>
): Effect.Effect<RunOutcome, RunError | E> => Effect.flatMap(effect, (outcome) => climb(engine, outcome))

const climbed = (
  engine: Engine,
  effect: Effect.Effect<RunOutcome, RunError | TicketRefused>
): Effect.Effect<RunOutcome, RunError> => withoutTickets(climbing(engine, effect))

/** Only answers meet tickets. */
const withoutTickets = <A>(effect: Effect.Effect<A, RunError | TicketRefused>): Effect.Effect<A, RunError> =>
  Effect.catchTag(effect, "TicketRefused", Effect.die)

const steer = (engine: Engine, request: SteerRequest): Effect.Effect<RunOutcome, RunError | TicketRefused> =>
  Effect.suspend(() => {
    try {
      const content = contentOf(request.input)
      return askRun(engine, { ref: request, bodyOf: steerBody({ content, interrupt: request.interrupt ?? false }) })
    } catch (error) {
      return error instanceof RunError ? Effect.fail(error) : Effect.die(error)
    }
  })

/** Refused for an operation whose outcome is not open: a settlement settles something. */
const resolve = Effect.fnUntraced(function* (engine: Engine, request: ResolveRequest) {
  const { threadId, operationId, resolution, by } = request
  const view = yield* boundedLoad(engine, threadId)
  if (view?.run === undefined) return yield* Effect.fail(notFound(threadId))
  if (!view.openOutcomes.has(operationId))
    return yield* Effect.fail(badRequest("operationId", "an operation of the thread whose outcome is unknown"))
  const ref = { threadId, by }
  return yield* askRun(engine, { ref, bodyOf: () => ({ _tag: "Resolve", by, operationId, resolution }) })
})

/** Threads taken at one look, by default. */
const defaultLimit = 100

const recover = (
  engine: Engine,
  options: RecoverOptions | TakeOverOptions
): Effect.Effect<ReadonlyArray<Recovered>, RunError> => {
  if (!("takeOver" in options)) return workOnce(engine, options.limit ?? defaultLimit)
  const { threadId } = options
  return Effect.map(continueThread(engine, { threadId, takeOver: true }), (outcome) => [
    { threadId, runId: outcome.runId, why: "LeaseExpired" as const, outcome }
  ])
}

const work = Effect.fnUntraced(function* (engine: Engine, options: WorkOptions) {
  for (;;) {
    const limit = options.limit ?? defaultLimit
    const taken = yield* Effect.result(workOnce(engine, limit))
    if (taken._tag === "Success") for (const one of taken.success) tell(options, one)
    else if (taken.failure.reason._tag === "Unreadable") return yield* Effect.fail(taken.failure)
    if (engine.closing) return yield* Effect.fail(closedError)
    yield* sleep(engine, options.every ?? 1_000)
  }
})

const tell = (options: WorkOptions, recovered: Recovered): void => {
  try {
    const answer: unknown = options.onRecovered?.(recovered)
    if (isThenable(answer)) Promise.resolve(answer).catch(() => {})
  } catch {
    // Whoever watches cannot disturb the work.
  }
}

const closedError = new RunError({ reason: { _tag: "Closed" }, message: "the runtime was closed" })

const sleep = (engine: Engine, delay: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const wake = (): void => {
      deadline.cancel()
      engine.whenClosed.delete(wake)
      resume(Effect.void)
    }
    const deadline = engine.deadlines.after(delay, wake)
    engine.whenClosed.add(wake)
    return Effect.sync(() => {
      deadline.cancel()
      engine.whenClosed.delete(wake)
    })
  })
