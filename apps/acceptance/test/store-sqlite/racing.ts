/**
 * One of several processes that want the same things of one file at the same time: threads, revisions, tickets. Arguments
 * are the path, a name, and a file that appears when the race starts. Prints what it got.
 */
import * as fs from "node:fs"
import { StoreError, type TicketRefused } from "@toolwright/runtime-contract"
import { SqliteThreadStore } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { driver } from "./database.js"
import { ownerOf, saying } from "./thread.js"

const [path = "", name = "", go = ""] = process.argv.slice(2)
const store = await Effect.runPromise(SqliteThreadStore.open({ path, driver, patience: 60_000 }))

const tagOf = async <A>(effect: Effect.Effect<A, StoreError | TicketRefused>): Promise<string> => {
  const result = await Effect.runPromise(Effect.result(effect))
  if (Result.isSuccess(result)) return "got"
  return result.failure instanceof StoreError ? result.failure.reason._tag : result.failure.reason
}

console.log("ready")
while (!fs.existsSync(go)) await new Promise((resolve) => setImmediate(resolve))

for (let index = 0; index < 40; index++) {
  const claim = store.claim({ threadId: `free-${index}`, owner: name, ttl: 3_600_000 })
  console.log(`claim ${index} ${await tagOf(claim)}`)
}
for (let revision = 1; revision <= 60; revision++) {
  const commit = saying(
    { owner: ownerOf("contested"), revision },
    { id: `${name}-${revision}`, text: `${name} ${revision}` }
  )
  console.log(`commit ${revision} ${await tagOf(store.commit(commit))}`)
}
for (let index = 0; index < 20; index++) {
  const { runId, threadId } = ownerOf(`asking-${index}`)
  const answer = {
    ticketId: `${runId}/1/0:Permission:0`,
    answer: { _tag: "Allow" } as const,
    approver: name,
    at: 2_000
  }
  const signal = { id: `${name}-${index}`, threadId, runId, at: 2_000, body: { _tag: "Answer", answer } } as const
  console.log(`answer ${index} ${await tagOf(store.signal(signal))}`)
}
await Effect.runPromise(store.close)
