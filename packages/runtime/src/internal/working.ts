/**
 * Goes on with what nobody is at (L1): runs whose owner is gone, waits that are due, signals that nobody has read.
 *
 * Guarantees: takes only threads without a live lease, so a live run is never disturbed; a wait that is due or expired is
 * decided by the store, exactly once, against every other answer; one thread that cannot be read does not stop the others.
 * Does not retry what failed: the next look finds it again.
 */
import type { ThreadStore } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import type { RunError } from "../RunError.js"
import type { RunOutcome } from "../RunOutcome.js"
import { climb } from "./children.js"
import { bounded } from "./bounded.js"
import type { Engine } from "./engine.js"
import { send } from "./requests.js"
import { continueThread } from "./starts.js"

/** What became of one thread that was due. */
export interface Recovered {
  readonly threadId: string
  readonly runId: string
  readonly why: ThreadStore.DueItem["_tag"]
  readonly outcome?: RunOutcome
  /** The thread could not be taken or driven; it is as it was. */
  readonly error?: RunError
}

/** Looks once, and drives what it finds, side by side. */
export const workOnce = Effect.fnUntraced(function* (engine: Engine, limit: number) {
  const now = engine.clock.now()
  const due = yield* Effect.catchTag(
    bounded(engine, { threadId: "", ask: () => engine.store.due(now, limit) }),
    "TicketRefused",
    Effect.die
  )
  const first = new Map<string, ThreadStore.DueItem>()
  for (const item of due) {
    yield* decideDue(engine, item)
    if (!first.has(item.threadId) && !engine.active.has(item.threadId)) first.set(item.threadId, item)
  }
  return yield* Effect.all(
    [...first.values()].map((item) => take(engine, item)),
    { concurrency: "unbounded" }
  )
})

/** A wait whose time has come is answered by the clock; the store decides whether it was in time. */
const decideDue = (engine: Engine, item: ThreadStore.DueItem): Effect.Effect<void> => {
  if (item._tag !== "DeadlinePassed" && item._tag !== "ScheduleDue") return Effect.void
  const { ticketId, threadId, runId } = item
  const at = engine.clock.now()
  const answer = { _tag: item._tag === "ScheduleDue" ? ("Due" as const) : ("Expire" as const) }
  const id = `${ticketId}/${answer._tag}`
  const signal: ThreadStore.Signal = {
    id,
    threadId,
    runId,
    at,
    body: { _tag: "Answer", answer: { ticketId, answer, approver: "clock", at } }
  }
  // Refused means that somebody answered first; a store that fails is asked again at the next look.
  return Effect.ignore(send(engine, signal))
}

const take = (engine: Engine, { threadId, runId, _tag: why }: ThreadStore.DueItem): Effect.Effect<Recovered> =>
  Effect.match(
    Effect.flatMap(continueThread(engine, { threadId }), (outcome) => climb(engine, outcome)),
    {
      onSuccess: (outcome): Recovered => ({ threadId, runId, why, outcome }),
      onFailure: (error): Recovered => ({ threadId, runId, why, error })
    }
  )
