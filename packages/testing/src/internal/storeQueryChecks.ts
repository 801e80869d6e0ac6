/** What is due, what is there, and facts from any number. */
import assert from "node:assert/strict"
import { RunEvent, SystemThread, type ThreadStore } from "@toolwright/runtime-contract"
import type { ConformanceCheck } from "../Conformance.js"
import type { StoreSubject } from "../StoreConformance.js"
import { checkOn } from "./storeCheck.js"
import { awaiting, cancelled, Story, ttl, user, value } from "./storeStory.js"

export const queryChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => [
  ...dueChecks(subject),
  ...listChecks(subject),
  ...tailChecks(subject)
]

const shape = (item: ThreadStore.DueItem): ReadonlyArray<string | number> => [
  item._tag,
  item.threadId,
  "ticketId" in item ? item.ticketId : item.runId,
  item.at
]

const dueChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check(
      "[D3] a running run is due when its lease was given back or has run out, and not before",
      async ({ store, clock }) => {
        const expired = await Story.begin(store, { threadId: "expired" })
        const released = await Story.begin(store, { threadId: "released" })
        await value(store.release(released.lease))
        assert.deepEqual((await value(store.due(clock.now(), 10))).map(shape), [
          ["LeaseExpired", "released", "released-run", 0]
        ])
        assert.deepEqual((await value(store.due(clock.now() + ttl, 10))).map(shape), [
          ["LeaseExpired", "released", "released-run", 0],
          ["LeaseExpired", "expired", "expired-run", 1_000 + ttl]
        ])
        await value(store.renew(expired.lease, 5 * ttl))
        assert.equal((await value(store.due(clock.now() + ttl, 10))).length, 1)
      }
    ),

    check("[D3] deadlines and schedules are due at their moment, also under a live lease", async ({ store }) => {
      const story = await Story.begin(store)
      const made = story.opening([
        { wait: "Permission", ticket: { deadline: 1_200 } },
        { wait: "Schedule", ticket: { dueAt: 1_100, requirements: [] } }
      ])
      const [first, second] = made.tickets.map((ticket) => ticket.id)
      await story.commit({ ...made, disposition: awaiting(first ?? "", second ?? "") })
      const at = async (moment: number) => (await value(store.due(moment, 10))).map(shape)
      assert.deepEqual(
        [await at(1_099), await at(1_100), await at(1_200)],
        [
          [],
          [["ScheduleDue", "thread", second, 1_100]],
          [
            ["ScheduleDue", "thread", second, 1_100],
            ["DeadlinePassed", "thread", first, 1_200]
          ]
        ]
      )
      await story.send(story.answer(second ?? "", { answer: { _tag: "Due" }, approver: "clock", at: 1_150 }))
      assert.deepEqual(await at(1_200), [["DeadlinePassed", "thread", first, 1_200]])
    }),

    check("[D3] an unread signal is due when nobody owns the thread", async ({ store, clock }) => {
      const story = await Story.begin(store)
      const made = story.opening([{ wait: "Permission" }])
      const ticketId = made.tickets[0]?.id ?? ""
      await story.commit({ ...made, disposition: awaiting(ticketId) })
      const answer = story.answer(ticketId, { signalId: "s" })
      await story.send(answer)
      assert.deepEqual(await value(store.due(clock.now(), 10)), [])
      await value(store.release(story.lease))
      assert.deepEqual((await value(store.due(clock.now(), 10))).map(shape), [
        ["SignalUnread", "thread", story.runId, answer.at]
      ])
    }),

    check("[D3] a run that waits or has ended is not due by itself", async ({ store, clock }) => {
      const waiting = await Story.begin(store, { threadId: "waiting" })
      const made = waiting.opening([{ wait: "Permission", ticket: { deadline: 9_000 } }])
      await waiting.commit({ ...made, disposition: awaiting(made.tickets[0]?.id ?? "") })
      const ended = await Story.begin(store, { threadId: "ended" })
      await ended.open([{ wait: "Permission", ticket: { deadline: 1_001 } }])
      await ended.publish([ended.refused(0)], { disposition: cancelled })
      await value(store.claim({ threadId: "only claimed", owner: "a", ttl: 1 }))
      clock.advance(5_000)
      assert.deepEqual(await value(store.due(clock.now(), 10)), [])
    }),

    check("[D3] what is due comes oldest first, and no more than asked for", async ({ store, clock }) => {
      for (const threadId of ["a", "b", "c"]) {
        await Story.begin(store, { threadId })
        clock.advance(10)
      }
      clock.advance(ttl)
      const due = async (limit: number) => (await value(store.due(clock.now(), limit))).map((item) => item.threadId)
      assert.deepEqual([await due(10), await due(2), await due(0)], [["a", "b", "c"], ["a", "b"], []])
    })
  ]
}

const listChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[D3] threads are listed by id, with their last run", async ({ store }) => {
      const one = await Story.begin(store, { threadId: "b" })
      const two = await Story.begin(store, { threadId: "a" })
      await one.commit({ at: 77, disposition: cancelled })
      await value(store.claim({ threadId: "never written", owner: "x", ttl: 10 }))
      assert.deepEqual(await value(store.list({})), [
        { threadId: "a", revision: 1, runId: "a-run", disposition: { _tag: "Running" }, updatedAt: two.commits[0]?.at },
        { threadId: "b", revision: 2, runId: "b-run", disposition: cancelled, updatedAt: 77 }
      ])
      const ended = await value(store.list({ disposition: "Ended" }))
      assert.deepEqual(
        ended.map((thread) => thread.threadId),
        ["b"]
      )
    }),

    check("[D3] pages follow one another by id, in the order of UTF-16 code units", async ({ store }) => {
      // U+1F527 is written with surrogates and sorts before U+FF61, though its code point is larger.
      const ids = ["A", "a", "a/", "a0", "é", "\u{1f527}", "\uff61"]
      for (const threadId of ids.toReversed()) await Story.begin(store, { threadId })
      const seen: Array<string> = []
      for (let after: string | undefined; ;) {
        const page = await value(store.list({ limit: 2, ...(after === undefined ? {} : { after }) }))
        if (page.length === 0) break
        seen.push(...page.map((thread) => thread.threadId))
        after = page.at(-1)?.threadId
      }
      assert.deepEqual(seen, ids)
    }),

    check(
      "[D3] threads that a runtime keeps for itself are listed only where they are asked for",
      async ({ store }) => {
        const own = [SystemThread.ofGrant("g"), SystemThread.ofRefusals(0), `${SystemThread.prefix}\uffff`]
        const users = ["toolwright", "toolwright.", "toolwright0", "u"]
        for (const threadId of [...own, ...users]) await Story.begin(store, { threadId })
        const ids = async (request: ThreadStore.ListRequest) =>
          (await value(store.list(request))).map(({ threadId }) => threadId)
        assert.deepEqual(await ids({}), users)
        assert.deepEqual(await ids({ system: true }), [...users.slice(0, 2), ...own, ...users.slice(2)])
        assert.deepEqual(await ids({ after: "toolwright", limit: 2 }), ["toolwright.", "toolwright0"])
        assert.deepEqual(await ids({ after: SystemThread.ofGrant("g") }), ["toolwright0", "u"])
        assert.deepEqual(await ids({ disposition: "Running", limit: 3 }), users.slice(0, 3))
        assert.deepEqual(await ids({ disposition: "Ended", system: true }), [])
      }
    ),

    check("[D3] a list has at most fifty threads unless more are asked for", async ({ store }) => {
      for (let index = 0; index < 53; index++) await Story.begin(store, { threadId: `thread-${index}` })
      assert.equal((await value(store.list({}))).length, 50)
      assert.equal((await value(store.list({ limit: 1_000 }))).length, 53)
    })
  ]
}

const tailChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[L4] facts are the same from whatever number they are read", async ({ store }) => {
      const story = await Story.begin(store)
      await story.open([{ running: true }, { wait: "Permission" }], { notes: [{ type: "StateConflict", keys: ["k"] }] })
      await story.change([story.completed(0)])
      await story.publish([story.refused(1)], { messages: [user("more")], disposition: cancelled })
      const facts = story.commits.flatMap(RunEvent.factsOf)
      const numbered = facts.map((fact, index) => ({ number: index + 1, fact }))
      for (let from = 0; from <= facts.length + 2; from++)
        assert.deepEqual(
          await value(store.tail({ threadId: "thread", from })),
          numbered.filter((one) => one.number >= from)
        )
      assert.deepEqual(await value(store.tail({ threadId: "thread", from: 3, limit: 2 })), numbered.slice(2, 4))
    }),

    check("[L4] a commit without facts takes no number", async ({ store }) => {
      const story = await Story.begin(store)
      const silent = await story.commit({
        state: [{ _tag: "Set", scope: "Thread", key: "k", merge: "Disjoint", value: 1 }]
      })
      const next = await story.commit({ messages: [user("more")] })
      assert.deepEqual([silent.firstFact, silent.factCount, next.firstFact, next.factCount], [3, 0, 3, 1])
      assert.deepEqual(
        (await value(store.tail({ threadId: "thread", from: 3 }))).map((one) => one.number),
        [3]
      )
    }),

    check("[L4] a reader is given at most a thousand facts at once, and can go on from there", async ({ store }) => {
      const story = await Story.begin(store)
      for (let index = 0; index < 11; index++)
        await story.commit({ messages: Array.from({ length: 100 }, (_, at) => user(`${index}-${at}`)) })
      const first = await value(store.tail({ threadId: "thread", from: 1 }))
      const rest = await value(store.tail({ threadId: "thread", from: 1_001 }))
      assert.deepEqual([first.length, first.at(-1)?.number, rest.length, rest[0]?.number], [1_000, 1_000, 102, 1_001])
    })
  ]
}
