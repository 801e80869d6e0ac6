/**
 * What is in a recorded database: one thread that was asked, answered, ran, was published and goes on; one that waits with
 * a deadline; one that was deleted. And how it is compared: every answer of the store, as plain JSON.
 */
import { type ThreadStore, ToolBatch, ToolOutput } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { asking, ownerOf, publishing, saying, starting } from "./thread.js"

const ticketId = "told-run/1/0:Permission:0"

/** Writes the story to an empty store whose clock stands at 1,000. */
export const tell = async (store: ThreadStore.ThreadStore): Promise<void> => {
  const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)
  const deleted = await run(store.claim({ threadId: "deleted", owner: "one", ttl: 1_000 }))
  await run(store.commit(starting(ownerOf("deleted"))))
  await run(store.release(deleted))
  await run(store.delete("deleted"))
  await tellWhole(store)
  const waiting = await run(store.claim({ threadId: "waiting", owner: "two", ttl: 1_000 }))
  const owner = ownerOf("waiting", waiting.epoch)
  await run(store.commit(starting(owner)))
  await run(store.commit(asking({ owner, revision: 1 }, { deadline: 5_000 })))
  await run(store.release(waiting))
}

const tellWhole = async (store: ThreadStore.ThreadStore): Promise<void> => {
  const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)
  const lease = await run(store.claim({ threadId: "told", owner: "one", ttl: 1_000 }))
  const owner = ownerOf("told", lease.epoch)
  await run(store.commit(starting(owner)))
  const asked = asking({ owner, revision: 1 })
  await run(store.commit(asked))
  const about = { threadId: "told", runId: owner.runId, at: 1_100 }
  const answer = { ticketId, answer: { _tag: "Allow", note: "go on" }, approver: "bob", at: 1_100 } as const
  await run(store.signal({ ...about, id: "answer", body: { _tag: "Answer", answer } }))
  const [call] = asked.batch?.calls ?? []
  if (call === undefined) throw new Error("the story has no call")
  const approved = moved(call, { _tag: "Approve", ticketId, digest: call.digest, by: ["bob"] })
  const running = moved(approved, { _tag: "Enter", digest: call.digest })
  const changing = (revision: number, after: ToolBatch.BatchCall, consumed: ReadonlyArray<string>) =>
    saying({ owner, revision }, { messages: [], batch: { _tag: "Change", calls: [after] }, step: 1, consumed })
  await run(store.commit(changing(2, approved, ["answer"])))
  await run(store.commit(changing(3, running, [])))
  const done = moved(running, { _tag: "Complete", output: ToolOutput.ok(call.callId, "paid 𐌀", { receipt: 7 }) })
  await run(store.commit(publishing({ owner, revision: 4 }, done)))
  const content = [{ type: "text", text: "and then" }] as const
  await run(store.signal({ ...about, id: "steer", body: { _tag: "Steer", by: "ada", content, interrupt: false } }))
}

const moved = (call: ToolBatch.BatchCall, event: ToolBatch.CallEvent): ToolBatch.BatchCall => {
  const result = ToolBatch.transition(call, event)
  if (!result.ok) throw new Error(result.illegal.rule)
  return result.call
}

/** Everything that the store says of the story. */
export const heard = async (store: ThreadStore.ThreadStore): Promise<unknown> => {
  const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)
  const views = await Promise.all(["told", "waiting", "deleted"].map((threadId) => run(store.load(threadId))))
  return plain({
    views: views.map((view) => view && { ...view, messages: view.messages.toArray() }),
    facts: await run(store.tail({ threadId: "told", from: 1 })),
    list: await run(store.list({})),
    due: await run(store.due(1e6, 10)),
    shared: await run(store.shared()),
    ticket: await run(store.ticket(ticketId)),
    inbox: await run(store.inbox("told")),
    fresh: await run(store.claim({ threadId: "fresh", owner: "three", ttl: 1_000 }))
  })
}

/** Maps as lists of pairs, and nothing that JSON does not have. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, one: unknown) => (one instanceof Map ? [...one] : one)))
