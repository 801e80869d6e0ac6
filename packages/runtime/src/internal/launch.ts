/**
 * Starts the drive of a thread on a fiber of its own, and tells whoever waits how it ended.
 *
 * Guarantees: one drive per thread and runtime; a drive is detached, so that a caller who goes away does not stop it; a
 * fault of ours reaches every waiter as an error, never as silence.
 * Does not choose what is driven.
 */
import { hold, letGo } from "./keepAlive.js"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { internal, RunError } from "../RunError.js"
import type { RunOutcome } from "../RunOutcome.js"
import { outcomeOfView } from "./outcomeOfView.js"
import { ActiveRun, type DriveEnd } from "./activeRun.js"
import type { Engine, EventListener } from "./engine.js"
import { type Job, main } from "./runFlow.js"

export interface Launching {
  readonly threadId: string
  readonly job: Job
  readonly listeners: ReadonlyArray<EventListener>
}

/** The drive begins in the next microtask, so that the caller can attach itself first. Throws `RunError` when the thread is driven here. */
export const launch = (engine: Engine, { threadId, job, listeners }: Launching): ActiveRun => {
  if (engine.closing) throw new RunError({ reason: { _tag: "Closed" }, message: "the runtime is closed", threadId })
  if (engine.active.has(threadId))
    throw new RunError({
      reason: { _tag: "ThreadBusy", by: "OpenRun" },
      message: `thread ${threadId} is being worked on`,
      threadId
    })
  const run = new ActiveRun(engine, { threadId, listeners })
  if (job._tag === "Start") run.startsAs = job.given.runId
  engine.active.set(threadId, run)
  hold()
  engine.admission.admit(() => begin(run, job))
  return run
}

const drive = Effect.fnUntraced(main)

const begin = (run: ActiveRun, job: Job): void => {
  const fiber = Effect.runForkWith(run.engine.services)(drive(run, job))
  fiber.addObserver((exit) => {
    const end: DriveEnd =
      exit._tag === "Success"
        ? exit.value
        : {
            ok: false,
            error: internal("the engine failed", { threadId: run.threadId, cause: Cause.squash(exit.cause) })
          }
    finish(run, end)
  })
}

const finish = (run: ActiveRun, end: DriveEnd): void => {
  const { engine, threadId } = run
  letGo()
  engine.admission.leave()
  if (engine.active.get(threadId) === run) engine.active.delete(threadId)
  if (run.fold.disposition?._tag === "Ended") engine.ownPolicies.delete(run.runId)
  run.finish(end)
}

/** Committed truth of the run as it stands. */
export const outcomeOf = (run: ActiveRun): RunOutcome => ({
  ...outcomeOfView(run.fold),
  runId: run.runId,
  ...(run.output === undefined ? {} : { output: run.output }),
  usage: run.usage
})
