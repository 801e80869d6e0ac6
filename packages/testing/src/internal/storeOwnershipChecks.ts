/** Ownership: one owner writes, and a stale one changes nothing. */
import assert from "node:assert/strict"
import type { ConformanceCheck } from "../Conformance.js"
import type { StoreSubject } from "../StoreConformance.js"
import { checkOn } from "./storeCheck.js"
import { cancelled, plainView, reasonOf, Story, tagOf, ttl, user, value } from "./storeStory.js"

export const ownershipChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => [
  ...leaseChecks(subject),
  ...fencingChecks(subject),
  ...epochChecks(subject),
  ...deletionChecks(subject)
]

const leaseChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[R10] a claim gives an epoch and a lease by the store's clock", async ({ store, clock }) => {
      assert.deepEqual(await value(store.claim({ threadId: "t", owner: "a", ttl: 50 })), {
        threadId: "t",
        owner: "a",
        epoch: 1,
        leaseUntil: 1_050
      })
      clock.advance(50)
      assert.deepEqual(await value(store.claim({ threadId: "t", owner: "b", ttl: 50 })), {
        threadId: "t",
        owner: "b",
        epoch: 2,
        leaseUntil: 1_100
      })
    }),

    check("[R10] a live lease is refused to others, unless they take over by name", async ({ store }) => {
      await value(store.claim({ threadId: "t", owner: "a", ttl: 50 }))
      assert.deepEqual(await reasonOf(store.claim({ threadId: "t", owner: "b", ttl: 50 })), {
        _tag: "ThreadBusy",
        owner: "a",
        leaseUntil: 1_050
      })
      assert.equal((await value(store.claim({ threadId: "t", owner: "b", ttl: 50, takeOver: true }))).epoch, 2)
      assert.equal((await value(store.claim({ threadId: "t", owner: "b", ttl: 50 }))).epoch, 3)
      assert.equal((await value(store.claim({ threadId: "other", owner: "a", ttl: 50 }))).epoch, 1)
    }),

    check("[R10] of twenty claims at once exactly one is given", async ({ store }) => {
      const claims = Array.from({ length: 20 }, (_, index) =>
        tagOf(store.claim({ threadId: "t", owner: `owner-${index}`, ttl: 50 }))
      )
      const tags = await Promise.all(claims)
      assert.equal(tags.filter((tag) => tag === "accepted").length, 1)
      assert.equal(tags.filter((tag) => tag === "ThreadBusy").length, 19)
    }),

    check("[R10] nobody commits without a lease, and not with one that ran out", async ({ store, clock }) => {
      const story = new Story(store)
      assert.equal(await tagOf(store.commit(story.starting())), "LeaseLost")
      await story.claim()
      clock.advance(ttl)
      assert.equal(await tagOf(store.commit(story.starting())), "LeaseLost")
      assert.equal(await value(store.load("thread")), undefined)
    }),

    check("[R10] a lease is renewed while nobody else took the thread, also late", async ({ store, clock }) => {
      const story = await Story.begin(store)
      clock.advance(ttl + 5)
      assert.equal(await tagOf(store.commit(story.next())), "LeaseLost")
      assert.deepEqual(await value(store.renew(story.lease, ttl)), {
        threadId: "thread",
        owner: "owner",
        epoch: 1,
        leaseUntil: clock.now() + ttl
      })
      assert.equal(await tagOf(store.commit(story.next())), "accepted")
    })
  ]
}

const fencingChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[R10] a fenced owner neither commits nor renews nor releases", async ({ store }) => {
      const old = await Story.begin(store)
      const stale = old.lease
      const under = old.next({ id: "under way", messages: [user("late")] })
      const before = plainView(await value(store.load("thread")))
      await value(store.claim({ threadId: "thread", owner: "new", ttl, takeOver: true }))
      assert.deepEqual(await reasonOf(store.commit(under)), { _tag: "Fenced", epoch: 1, current: 2 })
      assert.equal(await tagOf(store.renew(stale, ttl)), "Fenced")
      assert.equal(await tagOf(store.release(stale)), "Fenced")
      const after = await value(store.load("thread"))
      assert.deepEqual(plainView(after === undefined ? undefined : { ...after, epoch: 1 }), before)
    }),

    check("[R10, D2] a fenced owner that sends a commit again is told that it was fenced", async ({ store }) => {
      const old = await Story.begin(store)
      const made = old.next({ id: "unanswered", messages: [user("one")] })
      await value(store.commit(made))
      await value(store.claim({ threadId: "thread", owner: "new", ttl, takeOver: true }))
      assert.deepEqual(await reasonOf(store.commit(made)), { _tag: "Fenced", epoch: 1, current: 2 })
      assert.equal((await value(store.load("thread")))?.revision, 2)
    }),

    check(
      "[R10, D2] a commit sent again after the lease was given back is still answered",
      async ({ store, clock }) => {
        const story = await Story.begin(store)
        const made = story.next({ id: "unanswered" })
        const receipt = await value(store.commit(made))
        clock.advance(ttl)
        assert.deepEqual(await value(store.commit(made)), receipt)
        await value(store.release(story.lease))
        assert.deepEqual(await value(store.commit(made)), receipt)
      }
    )
  ]
}

const epochChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check(
      "[R10] a released thread is free at once, and the old owner is fenced by the next claim",
      async ({ store }) => {
        const old = await Story.begin(store)
        await value(store.release(old.lease))
        assert.equal(await tagOf(store.commit(old.next())), "LeaseLost")
        assert.equal(await tagOf(store.renew(old.lease, ttl)), "LeaseLost")
        assert.equal((await value(store.claim({ threadId: "thread", owner: "new", ttl }))).epoch, 2)
        assert.equal(await tagOf(store.commit(old.next())), "Fenced")
      }
    ),

    check("[R10] the epochs of a deleted thread are not given again", async ({ store }) => {
      const old = await Story.begin(store)
      const late = old.starting({ expectedRevision: 0 })
      await value(store.release(old.lease))
      await value(store.delete("thread"))
      const fresh = new Story(store)
      const lease = await fresh.claim("new")
      assert.ok(lease.epoch > old.lease.epoch)
      assert.equal(await tagOf(store.commit(late)), "Fenced")
      await fresh.start()
      assert.equal((await value(store.load("thread")))?.revision, 1)
    }),

    check("[R10] a lease that lasts no time is refused", async ({ store }) => {
      for (const bad of [0, -1, Number.NaN])
        assert.equal(await tagOf(store.claim({ threadId: "t", owner: "a", ttl: bad })), "Rejected")
    })
  ]
}

const deletionChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[D3] a thread under a live lease is not deleted; a free one is gone whole", async ({ store, clock }) => {
      const story = await Story.begin(store)
      await story.open([{ wait: "Permission" }])
      const ticketId = story.ticketId(0)
      await story.send(story.signal({ _tag: "Cancel", by: "ada" }))
      assert.equal(await tagOf(store.delete("thread")), "ThreadBusy")
      clock.advance(ttl)
      await value(store.delete("thread"))
      assert.deepEqual(
        [
          await value(store.load("thread")),
          await value(store.tail({ threadId: "thread", from: 1 })),
          await value(store.inbox("thread")),
          await value(store.ticket(ticketId)),
          await value(store.list({})),
          await value(store.due(1e12, 10))
        ],
        [undefined, [], [], undefined, [], []]
      )
      assert.equal(await tagOf(store.delete("thread")), "accepted")
      assert.equal(await tagOf(store.signal(story.signal({ _tag: "Cancel", by: "ada" }))), "NotFound")
    }),

    check("[D3] deleting one thread leaves the others and the shared state", async ({ store, clock }) => {
      const one = await Story.begin(store, { threadId: "one" })
      const two = await Story.begin(store, { threadId: "two" })
      await one.commit({
        disposition: cancelled,
        state: [{ _tag: "Set", scope: "Shared", key: "k", merge: "Disjoint", value: 1 }]
      })
      clock.advance(ttl)
      const before = plainView(await value(store.load("two")))
      await value(store.delete("one"))
      assert.deepEqual(plainView(await value(store.load("two"))), before)
      assert.deepEqual(await value(store.shared()), { revision: 1, state: new Map([["Shared:k", 1]]) })
      assert.equal(two.threadId, "two")
    })
  ]
}
