/** Two handles on the same data, and data that outlives its handles. */
import assert from "node:assert/strict"
import type { ThreadStore } from "@toolwright/runtime-contract"
import type { ConformanceCheck } from "../Conformance.js"
import type { StoreUnderTest, StoreSubject } from "../StoreConformance.js"
import { checkOn } from "./storeCheck.js"
import { awaiting, plainView, Story, tagOf, ttl, user, value } from "./storeStory.js"

export const handleChecks = (
  subject: StoreSubject,
  offers: { readonly another?: boolean; readonly reopen?: boolean }
): ReadonlyArray<ConformanceCheck> => [
  ...(offers.another === true ? anotherChecks(subject) : []),
  ...(offers.reopen === true ? reopenChecks(subject) : [])
]

const offered = (opened: StoreUnderTest, what: "another" | "reopen"): Promise<ThreadStore.ThreadStore> => {
  const open = opened[what]
  if (open === undefined) throw new Error(`the subject offers no ${what}`)
  return open()
}

const anotherChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[R10] a second handle sees what the first has written, and is kept out by its lease", async (world) => {
      const story = await Story.begin(world.store)
      const second = await offered(world, "another")
      assert.deepEqual(plainView(await value(second.load("thread"))), plainView(story.fold.view(1)))
      assert.equal(await tagOf(second.claim({ threadId: "thread", owner: "second", ttl })), "ThreadBusy")
      await value(second.signal(story.signal({ _tag: "Cancel", by: "ada" }, { id: "s" })))
      assert.deepEqual(
        (await value(world.store.inbox("thread"))).map((signal) => signal.id),
        ["s"]
      )
    }),

    check("[R10] a handle that another one fenced changes nothing", async (world) => {
      const story = await Story.begin(world.store)
      const second = await offered(world, "another")
      await value(second.claim({ threadId: "thread", owner: "second", ttl, takeOver: true }))
      assert.equal(await tagOf(world.store.commit(story.next())), "Fenced")
      assert.equal((await value(second.load("thread")))?.revision, 1)
    }),

    check("[R10] of claims at once over two handles exactly one is given", async (world) => {
      const second = await offered(world, "another")
      const tags = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          tagOf((index % 2 === 0 ? world.store : second).claim({ threadId: "t", owner: `owner-${index}`, ttl }))
        )
      )
      assert.equal(tags.filter((tag) => tag === "accepted").length, 1)
    }),

    check(
      "[D2] of commits at once over two handles exactly one is made, and sent again it is answered the same",
      async (world) => {
        const story = await Story.begin(world.store)
        const second = await offered(world, "another")
        const rivals = Array.from({ length: 8 }, (_, index) => story.next({ messages: [user(String(index))] }))
        const tags = await Promise.all(
          rivals.map((made, index) => tagOf((index % 2 === 0 ? world.store : second).commit(made)))
        )
        assert.equal(tags.filter((tag) => tag === "accepted").length, 1)
        const winner = rivals[tags.indexOf("accepted")]
        assert.ok(winner)
        assert.deepEqual(await value(second.commit(winner)), await value(world.store.commit(winner)))
      }
    ),

    check("[H3] of twenty racing answers over two handles one wins", async (world) => {
      const story = await Story.begin(world.store)
      await story.open([{ wait: "Permission" }])
      const ticketId = story.ticketId(0)
      const second = await offered(world, "another")
      const tags = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          tagOf(
            (index % 2 === 0 ? world.store : second).signal(story.answer(ticketId, { approver: `person-${index}` }))
          )
        )
      )
      assert.deepEqual(
        [tags.filter((tag) => tag === "accepted").length, tags.filter((tag) => tag === "AlreadyDecided").length],
        [1, 19]
      )
      assert.equal((await value(second.inbox("thread"))).length, 1)
    })
  ]
}

const reopenChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[D4, R11] everything acknowledged is there after reopening", async (world) => {
      const story = await Story.begin(world.store)
      const made = story.opening([{ wait: "Permission" }, { wait: "Client" }, { wait: "Permission" }])
      const [first, second, third] = made.tickets.map((ticket) => ticket.id)
      await story.commit({
        ...made,
        disposition: awaiting(first ?? "", second ?? "", third ?? ""),
        state: [
          { _tag: "Set", scope: "Thread", key: "k", merge: "Disjoint", value: { a: [1] } },
          { _tag: "Set", scope: "Shared", key: "s", merge: "Disjoint", value: 1 }
        ]
      })
      const answer = story.answer(first ?? "", { signalId: "s" })
      const receipt = await story.send(answer)
      const facts = await value(world.store.tail({ threadId: "thread", from: 1 }))

      const reopened = await offered(world, "reopen")

      assert.deepEqual(plainView(await value(reopened.load("thread"))), plainView(story.fold.view(1)))
      assert.deepEqual(await value(reopened.tail({ threadId: "thread", from: 1 })), facts)
      assert.deepEqual(await value(reopened.inbox("thread")), [answer])
      assert.deepEqual(await value(reopened.ticket(first ?? "")), receipt.ticket)
      assert.deepEqual(await value(reopened.shared()), { revision: 1, state: new Map([["Shared:s", 1]]) })
      assert.deepEqual(await value(reopened.signal(answer)), receipt)
    }),

    check("[D2, R10] commit ids, epochs and leases are remembered over reopening", async (world) => {
      const story = await Story.begin(world.store)
      const made = story.next({ id: "once" })
      const receipt = await value(world.store.commit(made))
      const reopened = await offered(world, "reopen")
      assert.deepEqual(await value(reopened.commit(made)), receipt)
      assert.equal(await tagOf(reopened.claim({ threadId: "thread", owner: "other", ttl })), "ThreadBusy")
      world.clock.advance(ttl)
      assert.equal((await value(reopened.claim({ threadId: "thread", owner: "other", ttl }))).epoch, 2)
    }),

    check("[D3] the epochs of a deleted thread are remembered over reopening", async (world) => {
      const story = await Story.begin(world.store)
      await value(world.store.release(story.lease))
      await value(world.store.delete("thread"))
      const reopened = await offered(world, "reopen")
      assert.equal(await value(reopened.load("thread")), undefined)
      assert.ok((await value(reopened.claim({ threadId: "thread", owner: "new", ttl }))).epoch > story.lease.epoch)
    })
  ]
}
