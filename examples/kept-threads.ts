/**
 * Threads in a file: what waits for somebody, and who decided what.
 */
// #region open
import { SqliteThreadStore } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"

/** Ids of the threads in a file that wait for somebody. */
export const waiting = (path: string) => {
  const program = Effect.gen(function* () {
    const store = yield* SqliteThreadStore.scoped({ path })
    const threads = yield* store.list({ disposition: "Awaiting" })
    return threads.map(({ threadId }) => threadId)
  })
  // The store is closed when the scope is left.
  return Effect.runPromise(Effect.scoped(program))
}
// #endregion
