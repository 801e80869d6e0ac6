/**
 * Runs on the runtime's own threads: they carry records and state, and end without asking a model.
 *
 * Guarantees: begun and ended by two commits; whoever comes behind a crash in between finds the run open and ends it, so
 * doing it again finishes what was begun.
 * Does not drive: what comes in behind the end is accounted for like on any other thread.
 */
import {
  ExecutableAgentSnapshot,
  type Run,
  Run as Runs,
  ThreadCommit,
  type ThreadStore,
  type TicketRefused
} from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import type { RunError } from "../RunError.js"
import type { ActiveRun } from "./activeRun.js"
import { bounded, boundedLoad } from "./bounded.js"
import type { Engine } from "./engine.js"

type Failure = RunError | TicketRefused

/** Marks such runs. */
const administrative = "toolwright/administrative"

export const administrativeEnd = (run: ActiveRun): Run.EndCause | undefined =>
  run.pinned.record.metadata?.[administrative] === true ? ended : undefined

const ended: Run.EndCause = { _tag: "Stopped", reason: "done" }

const snapshot = ExecutableAgentSnapshot.builder("toolwright/grants").model({ provider: "none", model: "none" }).build()

export interface SystemRun {
  readonly threadId: string
  readonly runId: string
  /** Who asked for it. */
  readonly by: string
}

/** A run begun on the thread: what the first commit carries beside its beginning. */
export type Begin = (lease: ThreadStore.Lease) => Effect.Effect<void, Failure>

/** Does it once: a thread that has its run, ended, is left as it is. */
export const oneRun = Effect.fnUntraced(function* (
  engine: Engine,
  { run, begin }: { readonly run: SystemRun; readonly begin: Begin }
) {
  const { threadId } = run
  const { leaseTtl: ttl, owner, store } = engine
  const lease = yield* bounded(engine, { threadId, ask: () => store.claim({ threadId, owner, ttl }) })
  const view = yield* boundedLoad(engine, threadId)
  if (view === undefined) yield* begin(lease)
  if (view?.disposition?._tag !== "Ended")
    yield* bounded(engine, { threadId, ask: () => store.commit(endOf(engine, { run, epoch: lease.epoch })) })
  yield* Effect.ignore(bounded(engine, { threadId, ask: () => store.release(lease) }))
})

export const startOf = (
  engine: Engine,
  given: {
    readonly run: SystemRun
    readonly epoch: number
    /** Tells this try from another of the same epoch. */
    readonly attempt: number
    readonly carried: Pick<
      Partial<ThreadCommit.ThreadCommit>,
      "state" | "audit" | "auditHead" | "expectedSharedRevision"
    >
  }
): ThreadCommit.ThreadCommit => {
  const { run, epoch, attempt, carried } = given
  const { runId, threadId, by } = run
  const at = engine.clock.now()
  const record: Run.RunRecord = {
    runId,
    threadId,
    principal: by,
    snapshotFingerprint: snapshot.fingerprint,
    narrowing: "DenyAll",
    startedAt: at,
    metadata: { [administrative]: true }
  }
  return ThreadCommit.make({
    ...carried,
    id: `${runId}/${epoch}/${attempt}`,
    threadId,
    runId,
    expectedRevision: 0,
    epoch,
    at,
    disposition: Runs.Running,
    step: 0,
    start: { record, snapshot }
  })
}

const endOf = (
  engine: Engine,
  { run, epoch }: { readonly run: SystemRun; readonly epoch: number }
): ThreadCommit.ThreadCommit =>
  ThreadCommit.make({
    id: `${run.runId}/${epoch}/end`,
    threadId: run.threadId,
    runId: run.runId,
    expectedRevision: 1,
    epoch,
    at: engine.clock.now(),
    disposition: Runs.Ended(ended),
    step: 0
  })
