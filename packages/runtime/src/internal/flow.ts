/**
 * How the engine's plain code waits: a flow is a generator that yields an `Effect` only where there is nothing to do.
 *
 * Guarantees: one fiber per run and no fiber switch while values are there at once; a wait ends when the value is there,
 * when its time is up, or when the run is stopped from outside.
 * Does not catch: what a flow throws ends the run's drive.
 */
import * as Effect from "effect/Effect"
import type { Deadline, DeadlineSet } from "./deadlines.js"
import { isSettled, type Settled, type Started } from "./settle.js"

/** Plain code that may wait. */
export type Flow<A> = Generator<Effect.Effect<void>, A>

/**
 * What is left to be waited for; `undefined` where everything was there at once. A generator costs more than most of what
 * the engine does, so whatever can end at once is a plain function that gives a rest.
 */
export type Rest = Flow<void> | undefined

/** To be waited for in place of a rest that is not there. */
export const nothingLeft: ReadonlyArray<never> = Object.freeze([])

/** The one sleeper of a run. Woken as often as anybody likes; wakes once per turn of the event loop's microtasks. */
export class Sleeper {
  #isAwake = false
  #isScheduled = false
  #resume: ((woken: Effect.Effect<void>) => void) | undefined

  /** Waits for the next `wake`, or not at all when there was one since the last sleep. */
  readonly sleep: Effect.Effect<void> = Effect.callback<void>((resume) => {
    if (this.#isAwake) {
      this.#isAwake = false
      resume(Effect.void)
      return
    }
    this.#resume = resume
  })

  /** What is settled in the same turn is seen together, so that it can be committed together. */
  readonly wake = (): void => {
    this.#isAwake = true
    if (this.#resume === undefined || this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(this.#flush)
  }

  readonly #flush = (): void => {
    this.#isScheduled = false
    const resume = this.#resume
    if (resume === undefined) return
    this.#resume = undefined
    this.#isAwake = false
    resume(Effect.void)
  }
}

export interface WaitOptions {
  /** Milliseconds until the wait is given up. */
  readonly limit?: number
  /** Run at each waking, for example to read the inbox: true gives the wait up. */
  readonly heed?: () => Flow<boolean>
}

export type Waited<A> = Settled<A> | "late" | "over"

export interface Waiting {
  readonly sleeper: Sleeper
  readonly deadlines: DeadlineSet
  /** Throws what has stopped the run from outside. */
  readonly check: () => void
}

/** Waits for a value within its limit. What is given up is interrupted, and no longer listened to. */
export function* waitFor<A>(
  waiting: Waiting,
  { value, limit, heed }: { readonly value: Settled<A> | Started<A> } & WaitOptions
): Flow<Waited<A>> {
  if (isSettled(value)) return value
  const { sleeper, deadlines } = waiting
  let settled: Settled<A> | undefined
  let isLate = false
  let deadline: Deadline | undefined
  value.onSettled((result) => {
    settled = result
    sleeper.wake()
  })
  if (limit !== undefined)
    deadline = deadlines.after(limit, () => {
      isLate = true
      sleeper.wake()
    })
  try {
    for (;;) {
      waiting.check()
      // Heeding may itself sleep, so the value is looked at behind it.
      if (heed !== undefined && (yield* heed())) return "over"
      const found = readSettled()
      if (found !== undefined) return found
      if (isLate) return "late"
      yield* sleeper.sleep
    }
  } finally {
    deadline?.cancel()
    if (settled === undefined) value.interrupt()
  }

  // Read through a function: the compiler does not see that the listener assigns.
  function readSettled(): Settled<A> | undefined {
    return settled
  }
}
