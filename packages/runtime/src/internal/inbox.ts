/**
 * Reads what others have left for the owner of the thread: answers, cancel, stop, pause, steer, settlements.
 *
 * Guarantees: seen at once where the store can tell, else within `signalPoll`; a signal stays until a commit consumes it,
 * so one that was seen and not acted on is seen again by the next owner.
 * Does not act: the flows do, at their next look.
 */
import type { Run, ThreadStore } from "@toolwright/runtime-contract"
import { fromStore } from "../RunError.js"
import type { ActiveRun } from "./activeRun.js"
import { placeOf } from "./committing.js"
import { type Flow, type Rest, waitFor, nothingLeft } from "./flow.js"
import { signalsFor } from "./signals.js"
import { beginEffect, isSettled, type Settled, type Started } from "./settle.js"

export { answersTo, isSignal, type SignalOf, signalsFor } from "./signals.js"

/** Reads the inbox if something came in. True when the run is to end now. */
export function* heed(run: ActiveRun): Flow<boolean> {
  if (run.hasSignals) yield* readInbox(run) ?? nothingLeft
  return run.ending !== undefined
}

/** It is read in each step where other processes can reach the thread, and nearly always empty. */
export const readInbox = (run: ActiveRun): Rest => {
  const { store, services } = run.engine
  run.hasSignals = false
  const read = beginEffect(services, store.inbox(run.threadId))
  if (!isSettled(read) || !read.ok || read.value.length > 0) return takeSignals(run, read)
  run.ending = endingOf(run)
  return undefined
}

function* takeSignals(
  run: ActiveRun,
  read: Settled<ReadonlyArray<ThreadStore.Signal>> | Started<ReadonlyArray<ThreadStore.Signal>>
): Flow<void> {
  const { store, services } = run.engine
  const signals = yield* ask(run, read)
  for (const signal of signals) {
    if (run.fold.inbox.has(signal.id)) continue
    const { body } = signal
    const ticket =
      body._tag === "Answer" ? yield* ask(run, beginEffect(services, store.ticket(body.answer.ticketId))) : undefined
    run.fold.applySignal(signal, ticket)
  }
  run.ending = endingOf(run)
}

/** A read of the store, bounded. Throws `RunError`. */
export const ask = <A>(run: ActiveRun, value: Settled<A> | Started<A>): Flow<A> =>
  askWithin(run, { value, limit: run.engine.storeTimeout })

/** `ask`, with a limit of its own in milliseconds. */
export function* askWithin<A>(
  run: ActiveRun,
  asked: { readonly value: Settled<A> | Started<A>; readonly limit: number }
): Flow<A> {
  const answer = yield* waitFor(run, asked)
  if (typeof answer === "object" && answer.ok) return answer.value
  throw fromStore(typeof answer === "object" ? answer.error : undefined, placeOf(run))
}

/** The first of the signals that end the run, or what was asked in this process. */
export const endingOf = (run: ActiveRun): Run.EndCause | undefined => {
  for (const signal of signalsFor(run)) {
    if (signal.body._tag === "Cancel") return { _tag: "Cancelled" }
    if (signal.body._tag === "Stop") return { _tag: "Stopped", reason: signal.body.reason }
  }
  return run.askedToEnd
}

/**
 * Before the next inference and before the end of a run the inbox of a shared store is read, however short ago the last
 * look was: a message that another process was told is accepted stands behind the results of the step, and is never lost
 * to an end.
 */
export const lookAgain = (run: ActiveRun): void => {
  if (run.engine.store.isProcessLocal !== true) run.hasSignals = true
}
