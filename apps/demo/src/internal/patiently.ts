/**
 * Waits for a thread that a process has left behind: its lease runs out by itself.
 *
 * Guarantees: bounded; only for a thread that somebody else seems to own; every other error is given on at once.
 * Does not take anything over by force.
 */
import { isRunError } from "@toolwright/runtime"
import { setTimeout as delay } from "node:timers/promises"

/** Milliseconds that a thread stays owned without a word of its owner. Short, so that a crash is soon over. */
export const leaseTtl = 2_000

/** Milliseconds between two looks. */
export const lookEvery = 100

export const patiently = async <A>(start: () => Promise<A>): Promise<A> => {
  const until = Date.now() + 2 * leaseTtl
  for (;;) {
    try {
      return await start()
    } catch (error) {
      const isOwned = isRunError(error) && error.reason._tag === "ThreadBusy" && error.reason.by === "Owner"
      if (!isOwned || Date.now() > until) throw error
    }
    await delay(lookEvery)
  }
}
