import { StoreError } from "@toolwright/runtime-contract"
import { SqliteDriver, SqliteThreadStore } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"

// In a folder that is not there: with a SQLite the file cannot be opened, without one there is nothing to open it with.
const failure = await Effect.runPromise(Effect.flip(SqliteThreadStore.open({ path: "missing/threads.db" })))
if (!(failure instanceof StoreError) || failure.reason._tag !== "Unavailable") throw failure

// A file of its own for each version of Node that runs this.
const path = `threads-${Date.now()}.db`
if (SqliteDriver.nodeSqlite() !== undefined) {
  const store = await Effect.runPromise(SqliteThreadStore.open({ path }))
  const lease = await Effect.runPromise(store.claim({ threadId: "thread", owner: "one", ttl: 1_000 }))
  await Effect.runPromise(store.close)
  if (lease.epoch !== 1) throw new Error(String(lease.epoch))
}
