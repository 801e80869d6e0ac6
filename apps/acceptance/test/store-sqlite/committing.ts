/**
 * Commits to many threads at once, round after round, prints each round that was acknowledged, and dies at the COMMIT it
 * is told: arguments are the path, `before`, `after` or `never`, and which COMMIT, counted from the first round on.
 */
import * as Effect from "effect/Effect"
import { SqliteThreadStore } from "@toolwright/store-sqlite"
import { ownerOf, saying, starting } from "./thread.js"
import { watched } from "./watched.js"

const [path = "", moment = "never", at = "0"] = process.argv.slice(2)
const threads = Array.from({ length: 8 }, (_, index) => `thread-${index}`)
let isCounting = false
let commits = 0

const dieAt = (now: "before" | "after", sql: string): void => {
  if (!isCounting || sql !== "COMMIT") return
  if (now === "before") commits++
  if (now === moment && commits === Number(at)) process.kill(process.pid, "SIGKILL")
}

const store = await Effect.runPromise(
  SqliteThreadStore.open({
    path,
    driver: watched({ before: (sql) => dieAt("before", sql), after: (sql) => dieAt("after", sql) })
  })
)
await Promise.all(
  threads.map((threadId) => Effect.runPromise(store.claim({ threadId, owner: "child", ttl: 3_600_000 })))
)
isCounting = true
for (let revision = 0; revision < 10_000; revision++) {
  const commitOf = (threadId: string) =>
    revision === 0
      ? starting(ownerOf(threadId))
      : saying({ owner: ownerOf(threadId), revision }, { text: `round ${revision}`.padEnd(700, ".") })
  await Promise.all(threads.map((threadId) => Effect.runPromise(store.commit(commitOf(threadId)))))
  console.log(revision + 1)
}
