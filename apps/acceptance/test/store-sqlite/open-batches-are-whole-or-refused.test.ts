import { crc32 } from "node:zlib"
import {
  type Json,
  type ResumeTicket,
  StoreError,
  ThreadCommit,
  ToolBatch,
  ToolOperation,
  ToolOutput
} from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type Scratch, scratch } from "./database.js"
import { type Damage, damagesOf, edited } from "./damages.js"
import { asking, ownerOf, saying, starting } from "./thread.js"

const owner = ownerOf("thread")
const { runId } = owner

/** Two calls: the first is running, the second waits for permission. */
const opening = (): ThreadCommit.ThreadCommit => {
  const asked = asking({ owner, revision: 1 })
  const [call] = asked.batch?.calls ?? []
  const [ticket] = asked.tickets
  const [turn] = asked.messages
  if (call === undefined || ticket === undefined || turn?.role !== "assistant") throw new Error("no call is asked for")
  const operationId = ToolOperation.idOf(runId, 1, 1)
  const ticketId = `${operationId}/ticket`
  const running: ToolBatch.BatchCall = {
    ...call,
    attempts: 1,
    entered: call.digest,
    phase: { _tag: "Executing", attempt: 1 }
  }
  const waiting: ToolBatch.BatchCall = {
    ...call,
    operationId,
    position: 1,
    callId: "call-2",
    phase: { _tag: "Awaiting", ticketId, wait: "Permission" }
  }
  const second: ResumeTicket.ResumeTicket = { ...ticket, id: ticketId, operationId, callId: "call-2" }
  const parts = [
    ...turn.content,
    { type: "toolCall" as const, callId: "call-2", toolId: "pay", arguments: { amount: 12 } }
  ]
  return {
    ...asked,
    messages: [{ ...turn, content: parts }],
    batch: { _tag: "Open", step: 1, calls: [running, waiting] },
    tickets: [second],
    disposition: { _tag: "Running" }
  }
}

/** The outcome of the first call. */
const completing = (): ThreadCommit.ThreadCommit => {
  const [call] = opening().batch?.calls ?? []
  if (call === undefined) throw new Error("no call is open")
  const done = ToolBatch.transition(call, { _tag: "Complete", output: ToolOutput.ok(call.callId, "paid") })
  if (!done.ok) throw new Error(done.illegal.rule)
  const [, waiting] = opening().batch?.calls ?? []
  const ticket = waiting?.phase._tag === "Awaiting" ? waiting.phase.ticketId : ""
  return ThreadCommit.make({
    id: `${runId}/2`,
    threadId: "thread",
    runId,
    expectedRevision: 2,
    epoch: 1,
    at: 1_003,
    step: 1,
    disposition: { _tag: "Awaiting", tickets: [ticket] },
    batch: { _tag: "Change", calls: [done.call] }
  })
}

let world: Scratch
beforeEach(async () => {
  world = scratch()
  const store = await world.open()
  await Effect.runPromise(store.claim({ threadId: "thread", owner: "one", ttl: 60_000 }))
  for (const commit of [starting(owner), opening(), completing()]) await Effect.runPromise(store.commit(commit))
  await world.closeAll()
})
afterEach(() => world.remove())

/** Rewrites one record as somebody with an editor would: checksum and all. */
const apply = (damage: Damage): void => {
  const connection = world.connect()
  const find = connection.prepare("SELECT record FROM thread_commit WHERE revision = ?")
  const text = String(find.get(damage.revision)?.["record"])
  const record: Json.Json = JSON.parse(text) as Json.Json
  const after = JSON.stringify(edited(record, damage))
  if (after === text) throw new Error("the record is as it was")
  const put = connection.prepare("UPDATE thread_commit SET record = ?, checksum = ? WHERE revision = ?")
  put.run(after, crc32(after), damage.revision)
  connection.close()
}

const rows = (): unknown => {
  const connection = world.connect()
  const all = ["thread_head", "thread_commit", "thread_signal", "thread_ticket"].map((table) =>
    connection.prepare(`SELECT * FROM ${table}`).all()
  )
  connection.close()
  return all
}

const failureOf = async (effect: Effect.Effect<unknown, unknown>): Promise<StoreError> => {
  const failure = await Effect.runPromise(Effect.flip(effect))
  if (failure instanceof StoreError) return failure
  throw new Error("it failed for another reason")
}

describe("an open batch that was read back", () => {
  it("[R6, R11] is read as it was written where nobody touched it", async () => {
    const view = await Effect.runPromise((await world.open()).load("thread"))
    expect(view?.batch?.calls.map(({ phase }) => phase._tag)).toEqual(["Completed", "Awaiting"])
  })

  it.each(damagesOf(runId))("[R6, R11] is refused with its position: $name", async (given) => {
    apply(given)
    const store = await world.open()
    const position = given.position ?? `thread_commit thread revision ${given.revision}`
    const before = rows()
    const loading = await failureOf(store.load("thread"))
    const committing = await failureOf(store.commit(saying({ owner, revision: 3 })))
    const again = await failureOf(store.load("thread"))
    expect([loading.reason, committing.reason, again.reason]).toEqual(
      [1, 2, 3].map(() => ({ _tag: "Unreadable", position }))
    )
    expect(loading.message).toContain(given.says)
    expect(rows()).toEqual(before)
  })

  it.each([
    ["a decision that the answer does not give", { _tag: "Denied", by: "bob", reason: "no", expired: false }],
    ["a decision by others than answered", { _tag: "Allowed", by: ["bob", "eve"] }]
  ])("[H3, R11] is refused where a ticket holds %s", async (_, decision) => {
    const store = await world.open()
    const [ticket] = [...((await Effect.runPromise(store.load("thread")))?.tickets.values() ?? [])]
    const answer: ResumeTicket.TicketAnswer = {
      ticketId: ticket?.ticket.id ?? "",
      answer: { _tag: "Allow" },
      approver: "bob",
      at: 1_004
    }
    const signal = { id: "s1", threadId: "thread", runId, at: 1_004, body: { _tag: "Answer" as const, answer } }
    const { decision: given } = await Effect.runPromise(store.signal(signal))
    expect(given).toEqual({ _tag: "Allowed", by: ["bob"] })
    await world.closeAll()
    const connection = world.connect()
    const text = JSON.stringify({ version: 1, ...ticket, allowedBy: ["bob"], decision })
    connection.prepare("UPDATE thread_signal SET ticket = ?, ticket_checksum = ?").run(text, crc32(text))
    connection.close()
    expect((await failureOf((await world.open()).load("thread"))).reason).toEqual({
      _tag: "Unreadable",
      position: "thread_signal thread sequence 1"
    })
  })
})
