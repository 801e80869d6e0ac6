import { Run, type ThreadStore } from "@toolwright/runtime-contract"
import type { SqliteThreadStore } from "@toolwright/store-sqlite"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type Scratch, scratch } from "./database.js"
import { asking, cancelling, ownerOf, saying, starting } from "./thread.js"

/** The store of the owner, whose memory holds the thread, and that of somebody who only ever sees the rows. */
let world: Scratch
let owning: SqliteThreadStore.SqliteThreadStore
let looking: SqliteThreadStore.SqliteThreadStore
beforeEach(async () => {
  world = scratch()
  owning = await world.open({ now: () => 1_000 })
  looking = await world.open({ now: () => 1_000 })
})
afterEach(() => world.remove())

const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)
const owner = ownerOf("thread")

const steer = (id: string, at: number): ThreadStore.Signal => ({
  id,
  threadId: "thread",
  runId: owner.runId,
  at,
  body: { _tag: "Steer", by: "ada", content: [], interrupt: false }
})

/** What the rows say is due, behind every moment. */
const due = async (): Promise<ReadonlyArray<unknown>> =>
  (await run(looking.due(1e9, 10))).map((item) => [item._tag, item.at])

const unread = async (): Promise<ReadonlyArray<string>> =>
  (await run(looking.inbox("thread"))).map((signal) => signal.id)

const begin = async (): Promise<ThreadStore.Lease> => {
  const lease = await run(owning.claim({ threadId: "thread", owner: "one", ttl: 60_000 }))
  await run(owning.commit(starting(owner)))
  return lease
}

describe("the rows of an inbox", () => {
  it("[D3] lose what a commit acted on, and what is due is the oldest that is left", async () => {
    const lease = await begin()
    await run(owning.signal(steer("first", 1_100)))
    await run(owning.signal(steer("second", 1_200)))
    await run(owning.release(lease))
    const before = [await unread(), await due()]
    const again = await run(owning.claim({ threadId: "thread", owner: "one", ttl: 60_000 }))
    const next = { ...owner, epoch: again.epoch }
    await run(owning.commit(saying({ owner: next, revision: 1 }, { consumed: ["first"] })))
    await run(owning.release(again))
    expect([before, [await unread(), await due()]]).toEqual([
      [
        ["first", "second"],
        [
          ["LeaseExpired", 0],
          ["SignalUnread", 1_100]
        ]
      ],
      [
        ["second"],
        [
          ["LeaseExpired", 0],
          ["SignalUnread", 1_200]
        ]
      ]
    ])
  })

  it("[D3] are empty behind the end of the run", async () => {
    const lease = await begin()
    await run(owning.signal(steer("first", 1_100)))
    await run(owning.commit(saying({ owner, revision: 1 }, { disposition: Run.Ended({ _tag: "Cancelled" }) })))
    await run(owning.release(lease))
    expect([await unread(), await due()]).toEqual([[], []])
  })
})

describe("the rows of tickets", () => {
  it("[H5] are due once each, until they are decided, whoever decides", async () => {
    const lease = await begin()
    const asked = asking({ owner, revision: 1 }, { deadline: 5_000, dueAt: 4_000 })
    await run(owning.commit(asked))
    await run(owning.release(lease))
    const before = await due()
    const ticketId = asked.tickets[0]?.id ?? ""
    const answer = { ticketId, answer: { _tag: "Deny" }, approver: "bob", at: 2_000 } as const
    await run(looking.signal({ ...steer("answer", 2_000), body: { _tag: "Answer", answer } }))
    expect([before, await due()]).toEqual([
      [
        ["ScheduleDue", 4_000],
        ["DeadlinePassed", 5_000]
      ],
      [["SignalUnread", 2_000]]
    ])
    // The owner's memory learns of it from the rows.
    expect((await run(owning.load("thread")))?.tickets.get(ticketId)?.decision).toMatchObject({ _tag: "Denied" })
  })

  it("[R9] are gone when the next run starts", async () => {
    await begin()
    const asked = asking({ owner, revision: 1 })
    await run(owning.commit(asked))
    const ticketId = asked.tickets[0]?.id ?? ""
    const before = await run(looking.ticket(ticketId))
    await run(owning.signal({ ...steer("cancel", 2_000), body: { _tag: "Cancel", by: "ada" } }))
    await run(owning.commit(cancelling({ owner, revision: 2 }, asked)))
    const voided = await run(looking.ticket(ticketId))
    const next = { ...owner, runId: "thread-next" }
    await run(owning.commit(starting(next, 3)))
    expect([before?.decision, voided?.decision?._tag, await run(looking.ticket(ticketId))]).toEqual([
      undefined,
      "Void",
      undefined
    ])
  })
})

describe("the rows of a deleted thread", () => {
  it("[D3] are gone with its snapshot, unless another thread uses it", async () => {
    const count = (): unknown => {
      const connection = world.connect()
      const tables = ["head", "commit", "run", "signal", "ticket", "snapshot"]
      const rows = tables.map((name) => connection.prepare(`SELECT count(*) AS n FROM thread_${name}`).get()?.["n"])
      connection.close()
      return rows
    }
    const lease = await begin()
    await run(owning.commit(asking({ owner, revision: 1 })))
    await run(owning.signal(steer("first", 1_100)))
    await run(owning.release(lease))
    const other = await run(looking.claim({ threadId: "other", owner: "two", ttl: 60_000 }))
    await run(looking.commit(starting(ownerOf("other", other.epoch))))
    const counts = [count()]
    await run(owning.delete("thread"))
    counts.push(count())
    await run(looking.release(other))
    await run(owning.delete("other"))
    counts.push(count())
    expect(counts).toEqual([
      [2, 3, 2, 1, 1, 1],
      [1, 1, 1, 0, 0, 1],
      [0, 0, 0, 0, 0, 0]
    ])
  })

  it("[D3] are not mistaken for those of a thread that was written anew under its name", async () => {
    const texts = async (store: SqliteThreadStore.SqliteThreadStore): Promise<ReadonlyArray<unknown>> =>
      ((await run(store.load("thread")))?.messages.toArray() ?? []).map((message) =>
        message.role === "user" ? message.content : []
      )
    const lease = await begin()
    await run(owning.commit(saying({ owner, revision: 1 }, { text: "old" })))
    await run(owning.release(lease))
    await run(looking.delete("thread"))
    const anew = await run(looking.claim({ threadId: "thread", owner: "two", ttl: 60_000 }))
    const next = { ...owner, epoch: anew.epoch }
    await run(looking.commit(starting(next)))
    for (const revision of [1, 2]) await run(looking.commit(saying({ owner: next, revision }, { text: "new" })))
    const text = (one: string) => [{ type: "text", text: one }]
    expect([anew.epoch, await texts(owning)]).toEqual([2, [text("start"), text("new"), text("new")]])
  })
})
