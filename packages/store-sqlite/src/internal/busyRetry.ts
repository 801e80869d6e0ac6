/**
 * Tries a synchronous piece of work again while another process holds the lock, without holding the event loop.
 *
 * Guarantees: work that was refused for the lock has done nothing; any other failure ends it at once.
 */
import * as Effect from "effect/Effect"
import { failureOf } from "../SqliteDriver.js"

/** `patience`: milliseconds. Fails with what the driver threw. */
export const busyRetry = <A>(work: () => A, patience: number): Effect.Effect<A, unknown> =>
  Effect.callback((resume) => {
    let timer: NodeJS.Timeout | undefined
    let since: number | undefined
    const attempt = (): void => {
      try {
        resume(Effect.succeed(work()))
      } catch (error) {
        since ??= performance.now()
        if (failureOf(error) === "Busy" && performance.now() - since < patience)
          timer = setTimeout(attempt, 1 + Math.random() * 9)
        else resume(Effect.fail(error))
      }
    }
    attempt()
    return Effect.sync(() => clearTimeout(timer))
  })
