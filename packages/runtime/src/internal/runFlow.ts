/**
 * The one loop that drives a run, fresh or found: from the claim to the rest or the end, and the lease given back.
 *
 * Guarantees: a fresh run, a resumed one and one found after a crash go the same way; nothing new starts while the runtime
 * closes; whatever happens, nothing of ours is left armed, and a run is left as it was last committed.
 * Does not answer callers: `launch` does.
 */
import { type Run, Run as Runs, StateUnreadable, ThreadFold, type ThreadStore } from "@toolwright/runtime-contract"
import { internal, isRunError, RunError } from "../RunError.js"
import type { ActiveRun, DriveEnd } from "./activeRun.js"
import { closed, workBatch } from "./batchFlow.js"
import { endBeforeInference } from "./budget.js"
import { commitFlow, placeOf } from "./committing.js"
import { control, settleOutcomes, supersede } from "./controls.js"
import { errorText } from "./errorText.js"
import { type Flow, waitFor, nothingLeft } from "./flow.js"
import { ask, askWithin, endingOf, lookAgain, readInbox } from "./inbox.js"
import { damageIn } from "./intactness.js"
import { LeaseKeeper } from "./leaseKeeper.js"
import { closeBatch, consumedByEnd } from "./publication.js"
import { pinFound, pinNew, type StartGiven } from "./pinning.js"
import { ledgerKey, RunLedger } from "./runLedger.js"
import { commitRefusals } from "./leftovers.js"
import { hasRefusals } from "./refusals.js"
import { beginEffect, isSettled } from "./settle.js"
import { readShared, usesShared } from "./sharedState.js"
import { administrativeEnd } from "./systemRuns.js"
import { takeStep } from "./stepFlow.js"

export type Job =
  | { readonly _tag: "Start"; readonly given: StartGiven }
  /** Goes on with whatever is found. */
  | { readonly _tag: "Continue"; readonly takeOver: boolean }

export function* main(run: ActiveRun, job: Job): Flow<DriveEnd> {
  const keeper = new LeaseKeeper(run)
  try {
    yield* claim(run, { keeper, takeOver: job._tag === "Continue" && job.takeOver })
    if (job._tag === "Start") yield* start(run, job.given)
    for (;;) {
      yield* drive(run)
      yield* release(run, keeper)
      if (run.fold.disposition?._tag !== "Awaiting" || !(yield* isWantedAgain(run))) return { ok: true }
      if (!(yield* claimAgain(run, keeper))) return { ok: true }
    }
  } catch (thrown) {
    const error = runErrorOf(run, thrown)
    run.interruptWork()
    if (!run.isDead) yield* giveBack(run, keeper)
    return { ok: false, error }
  } finally {
    keeper.stop()
    run.interruptWork()
    closeBatch(run)
  }
}

function* drive(run: ActiveRun): Flow<void> {
  for (;;) {
    run.check()
    if (run.hasSignals) yield* readInbox(run) ?? nothingLeft
    if (run.fold.disposition === undefined) return
    if (run.fold.disposition._tag === "Ended") {
      if (run.fold.inbox.size > 0) while (yield* settleOutcomes(run)) run.check()
      if (hasRefusals(run)) yield* commitRefusals(run)
      return
    }
    if (hasRefusals(run)) yield* commitRefusals(run)
    if (run.fold.batch !== undefined) {
      if (run.sharedRevision === undefined && usesShared(run)) yield* readShared(run)
      if (run.ending === undefined && run.fold.inbox.size > 0 && (yield* supersede(run))) continue
      if ((yield* workBatch(run)) === "Resting") return
      lookAgain(run)
      continue
    }
    const end =
      run.ending ??
      administrativeEnd(run) ??
      (run.fold.disposition._tag === "Awaiting" ? undefined : endBeforeInference(run))
    if (end !== undefined) yield* endRun(run, end)
    else {
      if (run.fold.inbox.size > 0 || run.fold.disposition._tag === "Awaiting") {
        const controlled = yield* control(run)
        if (controlled === "Paused") return
        if (controlled === "Acted") continue
      }
      if (run.isClosing) throw closed(run)
      yield* takeStep(run)
    }
  }
}

function* endRun(run: ActiveRun, cause: Run.EndCause): Flow<void> {
  yield* commitFlow(run, { kind: "end", disposition: Runs.Ended(cause), consumed: consumedByEnd(run) })
}

/** Claims, listens, loads: in this order, so that nothing that comes in between is missed. */
function* claim(
  run: ActiveRun,
  { keeper, takeOver }: { readonly keeper: LeaseKeeper; readonly takeOver: boolean }
): Flow<void> {
  const { store, services, owner, leaseTtl } = run.engine
  const since = run.deadlines.now()
  const request: ThreadStore.ClaimRequest = {
    threadId: run.threadId,
    owner,
    ttl: leaseTtl,
    ...(takeOver ? { takeOver } : {})
  }
  const claimed = beginEffect(services, store.claim(request))
  run.lease = isSettled(claimed) && claimed.ok ? claimed.value : yield* ask(run, claimed)
  keeper.start(since)
  // Whoever is the first that ever owned a thread finds nothing there.
  const view = run.lease.epoch === 1 ? undefined : yield* loaded(run)
  run.at("claimed")
  run.view = undefined
  run.activeSince = run.deadlines.now()
  run.firstFact ??= view?.nextFact ?? 1
  if (view === undefined) return
  run.fold = ThreadFold.from(view)
  run.forgetCallIds()
  run.hasSignals = false
  const damage = damageIn(view)
  if (damage !== undefined) throw damage
  if (view.run === undefined || view.snapshot === undefined) return
  pinFound(run, { record: view.run, snapshot: view.snapshot })
  run.ledger = RunLedger.read(view.state.get(ledgerKey))
  run.mustReview = view.batch !== undefined
  run.ending = endingOf(run)
}

/** The lease is kept meanwhile, so a long history may take its time. */
function* loaded(run: ActiveRun): Flow<ThreadStore.ThreadView | undefined> {
  const { store, services, loadTimeout } = run.engine
  return yield* askWithin(run, { value: beginEffect(services, store.load(run.threadId)), limit: loadTimeout })
}

/** False when somebody else has taken the run up meanwhile: it came to rest here, and is no longer ours. */
function* claimAgain(run: ActiveRun, keeper: LeaseKeeper): Flow<boolean> {
  try {
    yield* claim(run, { keeper, takeOver: false })
    return true
  } catch (thrown) {
    if (!isRunError(thrown) || thrown.reason._tag !== "ThreadBusy") throw thrown
    if (run.askedToEnd !== undefined) yield* tellOwner(run, run.askedToEnd)
    return false
  }
}

/** What was asked here behind the last look is for whoever has the run now. */
function* tellOwner(run: ActiveRun, cause: Run.EndCause): Flow<void> {
  const { engine, threadId, runId } = run
  const by = run.pinned.record.principal
  const body: ThreadStore.SignalBody =
    cause._tag === "Stopped" ? { _tag: "Stop", by, reason: cause.reason } : { _tag: "Cancel", by }
  const signal: ThreadStore.Signal = { id: engine.newId(), threadId, runId, at: engine.clock.now(), body }
  const value = beginEffect(engine.services, engine.store.signal(signal))
  yield* waitFor(
    { sleeper: run.sleeper, deadlines: run.deadlines, check: nothing },
    { value, limit: engine.storeTimeout }
  )
}

function* start(run: ActiveRun, given: StartGiven): Flow<void> {
  const { disposition } = run.fold
  if (disposition !== undefined && disposition._tag !== "Ended") throw busy(run)
  const pinned = pinNew(run, given)
  if (run.fold.run !== undefined) run.ledger = new RunLedger()
  run.ending = run.askedToEnd
  yield* commitFlow(run, {
    kind: "start",
    step: 0,
    disposition: Runs.Running,
    start: { record: pinned.record, snapshot: pinned.snapshot },
    messages: [{ role: "user", id: `${pinned.record.runId}/input`, content: given.input }]
  })
}

const busy = (run: { readonly threadId: string }): RunError =>
  new RunError({
    reason: { _tag: "ThreadBusy", by: "OpenRun" },
    message: `thread ${run.threadId} has an open run`,
    threadId: run.threadId
  })

function* release(run: ActiveRun, keeper: LeaseKeeper): Flow<void> {
  run.at("release.before")
  yield* giveBack(run, keeper)
  run.at("release.after")
}

/** A lease that cannot be given back runs out by itself. */
function* giveBack(run: ActiveRun, keeper: LeaseKeeper): Flow<void> {
  const { lease, engine } = run
  keeper.stop()
  if (lease === undefined) return
  run.lease = undefined
  const value = beginEffect(engine.services, engine.store.release(lease))
  if (isSettled(value)) return
  yield* waitFor(
    { sleeper: run.sleeper, deadlines: run.deadlines, check: nothing },
    { value, limit: engine.storeTimeout }
  )
}

const nothing = (): void => {}

/** What came in between the last look and the release would wait for nobody. What was seen and left there may wait. */
function* isWantedAgain(run: ActiveRun): Flow<boolean> {
  if (run.isClosing) return false
  // Said in this process, behind the last look.
  if (run.askedToEnd !== undefined) return true
  const seen = run.fold.inbox.size
  yield* readInbox(run) ?? nothingLeft
  return run.fold.inbox.size > seen || wasAsked(run)
}

// Read through a function: the compiler does not see that somebody asks while the inbox is read.
const wasAsked = (run: ActiveRun): boolean => run.askedToEnd !== undefined

const runErrorOf = (run: ActiveRun, thrown: unknown): RunError => {
  if (isRunError(thrown)) return thrown.runId === undefined ? named(run, thrown) : thrown
  if (thrown instanceof StateUnreadable) {
    const position = `state ${thrown.scope}/${thrown.key}`
    return new RunError({
      reason: { _tag: "Unreadable", position },
      message: thrown.message,
      ...placeOf(run),
      cause: thrown
    })
  }
  const message = errorText(thrown, "the engine failed")
  return internal(message, { ...placeOf(run), cause: thrown })
}

const named = (run: ActiveRun, error: RunError): RunError =>
  new RunError({
    reason: error.reason,
    message: error.message,
    ...placeOf(run),
    ...(error.cause === undefined ? {} : { cause: error.cause })
  })
