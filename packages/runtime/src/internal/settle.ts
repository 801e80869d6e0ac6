/**
 * Begins a value that is there now, comes later, or is an `Effect`, without yielding where nothing has to be waited for.
 *
 * Guarantees: never throws; a listener is called exactly once; a value that is there at once costs no fiber switch and
 * no promise. Interrupting an `Effect` interrupts its fiber; a Promise cannot be interrupted, only no longer be waited for.
 */
import type { RawTool } from "@toolwright/runtime-contract"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"

export type Settled<A> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly error: unknown }

/** Something that was begun and has no value yet. */
export interface Started<A> {
  readonly ok?: never
  /** One listener. Called once, never before `onSettled` returns. */
  readonly onSettled: (listener: (settled: Settled<A>) => void) => void
  readonly interrupt: () => void
}

export const isSettled = <A>(value: Settled<A> | Started<A>): value is Settled<A> => value.ok !== undefined

/** The error of an `Effect` that was interrupted, by us or by itself. */
export const interrupted: Error = new Error("interrupted")

export type Services = Context.Context<never>

/** Calls `make` and begins what it gives. */
export const attempt = <A>(services: Services, make: () => RawTool.Eventual<A, unknown>): Settled<A> | Started<A> => {
  try {
    return begin(services, make())
  } catch (error) {
    return { ok: false, error }
  }
}

export const begin = <A>(services: Services, eventual: RawTool.Eventual<A, unknown>): Settled<A> | Started<A> => {
  if (Effect.isEffect(eventual)) return beginEffect(services, eventual)
  return isThenable(eventual) ? beginPromise(eventual) : { ok: true, value: eventual }
}

export const isThenable = <A>(value: A | PromiseLike<A>): value is PromiseLike<A> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"

export const beginEffect = <A>(services: Services, effect: Effect.Effect<A, unknown>): Settled<A> | Started<A> => {
  const fiber = Effect.runForkWith(services)(effect)
  const exit = fiber.pollUnsafe()
  return exit === undefined ? new StartedFiber(fiber) : settledOf(exit)
}

const settledOf = <A>(exit: Exit.Exit<A, unknown>): Settled<A> => {
  if (exit._tag === "Success") return { ok: true, value: exit.value }
  return { ok: false, error: Cause.hasInterruptsOnly(exit.cause) ? interrupted : Cause.squash(exit.cause) }
}

class StartedFiber<A> implements Started<A> {
  readonly #fiber: Fiber.Fiber<A, unknown>
  constructor(fiber: Fiber.Fiber<A, unknown>) {
    this.#fiber = fiber
  }
  readonly onSettled = (listener: (settled: Settled<A>) => void): void => {
    this.#fiber.addObserver((exit) => listener(settledOf(exit)))
  }
  readonly interrupt = (): void => this.#fiber.interruptUnsafe()
}

const beginPromise = <A>(promise: PromiseLike<A>): Started<A> => new StartedPromise(promise)

class StartedPromise<A> implements Started<A> {
  readonly #promise: PromiseLike<A>
  constructor(promise: PromiseLike<A>) {
    this.#promise = promise
  }
  /** A foreign thenable may call back twice, at once, or throw: only its first word counts, and it is heard later. */
  readonly onSettled = (listener: (settled: Settled<A>) => void): void => {
    if (this.#promise instanceof Promise) {
      this.#promise.then(
        (value: A) => listener({ ok: true, value }),
        (error: unknown) => listener({ ok: false, error })
      )
      return
    }
    Promise.resolve(this.#promise).then(
      (value) => listener({ ok: true, value }),
      (error: unknown) => listener({ ok: false, error })
    )
  }
  readonly interrupt = (): void => {}
}
