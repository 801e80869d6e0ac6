/**
 * A question to the store from outside a run: bounded on the runtime's clock, asked again while nobody answers.
 *
 * Guarantees: an answer that is a refusal is final; silence is asked again a few times, which is safe for what is
 * de-duplicated by id, and then an error.
 * Does not own a thread.
 */
import { StoreError, type ThreadStore, TicketRefused } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { fromStore, type RunError } from "../RunError.js"
import type { Engine } from "./engine.js"
import { beginEffect, isSettled, type Settled } from "./settle.js"

/** More tries of a question that nobody answered. */
const retries = 3

interface Question<A> {
  readonly threadId: string
  readonly ask: () => Effect.Effect<A, StoreError | TicketRefused>
  /** Milliseconds for each try. Default `storeTimeout`. */
  readonly limit?: number
}

export const bounded = <A>(
  engine: Engine,
  { threadId, ask, limit = engine.storeTimeout }: Question<A>
): Effect.Effect<A, RunError | TicketRefused> => {
  const tryOnce = (tries: number): Effect.Effect<A, RunError | TicketRefused> =>
    Effect.flatMap(once(engine, { ask, limit }), (settled): Effect.Effect<A, RunError | TicketRefused> => {
      if (settled.ok) return Effect.succeed(settled.value)
      if (settled.error instanceof TicketRefused) return Effect.fail(settled.error)
      return isFinal(settled.error) || tries >= retries
        ? Effect.fail(fromStore(settled.error, { threadId }))
        : tryOnce(tries + 1)
    })
  return tryOnce(0)
}

/** A thread with its history, which may take its time. */
export const boundedLoad = (
  engine: Engine,
  threadId: string
): Effect.Effect<ThreadStore.ThreadView | undefined, RunError | TicketRefused> =>
  bounded(engine, { threadId, ask: () => engine.store.load(threadId), limit: engine.loadTimeout })

const isFinal = (error: unknown): boolean =>
  error instanceof StoreError && error.reason._tag !== "Unanswered" && error.reason._tag !== "Unavailable"

const once = <A>(
  engine: Engine,
  { ask, limit }: { readonly ask: () => Effect.Effect<A, unknown>; readonly limit: number }
): Effect.Effect<Settled<A>> =>
  Effect.callback<Settled<A>>((resume) => {
    const begun = beginEffect(engine.services, Effect.suspend(ask))
    if (isSettled(begun)) {
      resume(Effect.succeed(begun))
      return
    }
    const deadline = engine.deadlines.after(limit, () => {
      begun.interrupt()
      resume(Effect.succeed({ ok: false, error: new Error("the store did not answer in time") }))
    })
    begun.onSettled((settled) => {
      deadline.cancel()
      resume(Effect.succeed(settled))
    })
  })
