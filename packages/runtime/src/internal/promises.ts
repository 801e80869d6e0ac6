/**
 * The Promise form of a runtime: a thin fold over the Effect form.
 *
 * Guarantees: the same engine, the same errors; a rejection is always a typed error.
 * Does not decide anything.
 */
import * as Effect from "effect/Effect"
import { badRequest, internal, RunError } from "../RunError.js"
import type { RunHandle } from "../RunHandle.js"
import type { RunOutcome } from "../RunOutcome.js"
import type { PromiseRuntime } from "../Runtime.js"
import type { RunOptions } from "../RuntimeOptions.js"
import { withInnerTickets } from "./children.js"
import type { Engine } from "./engine.js"
import { outcomeOf } from "./launch.js"
import { makeService } from "./service.js"
import { startRun } from "./starts.js"
import { watchThread } from "./watching.js"

export const makePromises = (engine: Engine): PromiseRuntime => {
  const service = makeService(engine)
  const promise = <A, E>(ask: () => Effect.Effect<A, E>): Promise<A> =>
    Effect.runPromiseWith(engine.services)(Effect.catchDefect(Effect.suspend(ask), unreadable))
  return {
    run: (options) => runHandle(engine, options),
    resume: (...answering) => promise(() => service.resume(...answering)),
    cancel: (ref) => promise(() => service.cancel(ref)),
    stop: (ref) => promise(() => service.stop(ref)),
    pause: (ref) => promise(() => service.pause(ref)),
    unpause: (ref) => promise(() => service.unpause(ref)),
    steer: (request) => promise(() => service.steer(request)),
    resolve: (request) => promise(() => service.resolve(request)),
    recover: (options) => promise(() => service.recover(options)),
    work: (options) => working(engine, { service, options }),
    describeTools: (options) => promise(() => service.describeTools(options)),
    watch: (options) => service.watch(options),
    previewGrant: (options) => promise(() => service.previewGrant(options)),
    grants: (query) => promise(() => service.grants(query)),
    revokeGrant: (request) => promise(() => service.revokeGrant(request)),
    verifyAudit: (options) => promise(() => service.verifyAudit(options)),
    close: (options) => promise(() => service.close(options)),
    effect: service
  }
}

const runHandle = (engine: Engine, options: RunOptions): RunHandle => {
  let started: ReturnType<typeof startRun>
  try {
    started = startRun(engine, options)
  } catch (error) {
    return failedHandle(options, error)
  }
  const { run, runId } = started
  const outcome = new Promise<RunOutcome>((resolve, reject) => {
    run.whenDone((end) => (end.ok ? resolve(shown(engine, outcomeOf(run))) : reject(end.error)))
  })
  return Object.assign(outcome, {
    runId,
    threadId: run.threadId,
    events: () => {
      // Whoever reads events meets the error there.
      outcome.catch(ignore)
      return watchThread(engine, { threadId: run.threadId, from: run.firstFact, until: run })
    },
    cancel: () => run.askToEnd({ cause: { _tag: "Cancelled" }, by: options.principal })
  })
}

/** Only an outcome that waits for children has to be looked up. */
const shown = (engine: Engine, outcome: RunOutcome): RunOutcome | Promise<RunOutcome> =>
  outcome.tickets.some(({ kind }) => kind === "Delegation")
    ? Effect.runPromiseWith(engine.services)(withInnerTickets(engine, outcome))
    : outcome

type Working = Parameters<PromiseRuntime["work"]>[0]

/** The signal is ours, the rest the service's. */
const working = async (
  engine: Engine,
  { service, options }: { readonly service: PromiseRuntime["effect"]; readonly options: Working }
): Promise<void> => {
  if (typeof options !== "object" || options === null) throw badRequest("options", "an object with a signal")
  const { signal, ...rest } = options
  if (typeof signal?.addEventListener !== "function") throw badRequest("signal", "an AbortSignal")
  await untilAborted(service.work(rest), { signal, engine })
}

const failedHandle = (options: Partial<RunOptions> | null, error: unknown): RunHandle => {
  const reason =
    error instanceof RunError
      ? error
      : new RunError({ reason: { _tag: "Internal" }, message: String(error), cause: error })
  const outcome = Promise.reject<RunOutcome>(reason)
  return Object.assign(outcome, {
    runId: "",
    threadId: typeof options?.threadId === "string" ? options.threadId : "",
    events: () => {
      // Whoever asks for events meets the error there.
      outcome.catch(ignore)
      throw reason
    },
    cancel: ignore
  })
}

const ignore = (): void => {}

/** What was passed could not even be looked at: a null where there are options, a getter that throws. */
const unreadable = (cause: unknown): Effect.Effect<never, RunError> =>
  cause instanceof RunError ? Effect.fail(cause) : Effect.fail(internal("what was passed could not be read", { cause }))

/** An abort is the end that was asked for; every other end is an error. */
const untilAborted = async (
  effect: Effect.Effect<never, RunError>,
  { signal, engine }: { readonly signal: AbortSignal; readonly engine: Engine }
): Promise<void> => {
  const exit = await Effect.runPromiseExitWith(engine.services)(Effect.result(effect), { signal })
  if (exit._tag === "Success" && exit.value._tag === "Failure" && exit.value.failure.reason._tag !== "Closed")
    throw exit.value.failure
}
