/** Commits: all or nothing, once, in order, and adding up to the thread. */
import assert from "node:assert/strict"
import { type Json, RunEvent, Run, type StateKey, type ThreadCommit, ToolOutput } from "@toolwright/runtime-contract"
import type { ConformanceCheck } from "../Conformance.js"
import type { StoreSubject } from "../StoreConformance.js"
import { checkOn } from "./storeCheck.js"
import { askingFor, cancelled, plainView, reasonOf, Story, tagOf, user, value } from "./storeStory.js"

const set = (scope: StateKey.StateScope, key: string, given: Json.Json): StateKey.StateCommand => ({
  _tag: "Set",
  scope,
  key,
  merge: "Disjoint",
  value: given
})

export const commitChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => [
  ...sumChecks(subject),
  ...onceChecks(subject),
  ...refusalChecks(subject),
  ...contentChecks(subject)
]

const sumChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[D3] a thread that nobody wrote is not there, claimed or not", async ({ store }) => {
      assert.equal(await value(store.load("thread")), undefined)
      await value(store.claim({ threadId: "thread", owner: "owner", ttl: 100 }))
      assert.equal(await value(store.load("thread")), undefined)
      assert.deepEqual(await value(store.tail({ threadId: "thread", from: 1 })), [])
    }),

    check("[D2] the first commit is revision 1, and its facts are numbered from 1", async ({ store }) => {
      const story = new Story(store)
      await story.claim()
      const made = story.starting({ id: "first" })
      const receipt = await value(store.commit(made))
      assert.deepEqual(receipt, { commitId: "first", revision: 1, firstFact: 1, factCount: 2 })
    }),

    check("[D2, D3] after every commit the thread is what its commits add up to", async ({ store }) => {
      const story = new Story(store)
      const verify = async (): Promise<void> =>
        assert.deepEqual(plainView(await value(store.load("thread"))), plainView(story.fold.view(story.lease.epoch)))
      await story.claim()
      for (const act of wholeStory(story)) {
        await act()
        await verify()
      }
      const facts = await value(store.tail({ threadId: "thread", from: 1 }))
      assert.deepEqual(
        facts.map((one) => one.fact),
        story.commits.flatMap(RunEvent.factsOf)
      )
      assert.deepEqual(
        facts.map((one) => one.number),
        facts.map((_, index) => index + 1)
      )
    })
  ]
}

const onceChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[D2] the same commit id again returns the first receipt and changes nothing", async ({ store }) => {
      const story = await Story.begin(store)
      const made = story.next({ id: "once", messages: [user("one")] })
      const receipt = await value(store.commit(made))
      const before = plainView(await value(store.load("thread")))
      assert.deepEqual(await value(store.commit(made)), receipt)
      assert.deepEqual(await value(store.commit({ ...made, messages: [user("another")] })), receipt)
      // The id alone says that it is the same, also to an owner that has read the thread anew.
      assert.deepEqual(await value(store.commit({ ...made, expectedRevision: receipt.revision })), receipt)
      assert.deepEqual(plainView(await value(store.load("thread"))), before)
    }),

    check("[R10] a commit against another revision is refused and changes nothing", async ({ store }) => {
      const story = await Story.begin(store)
      const before = plainView(await value(store.load("thread")))
      assert.deepEqual(await reasonOf(store.commit(story.next({ expectedRevision: 0 }))), {
        _tag: "RevisionConflict",
        expected: 0,
        actual: 1
      })
      assert.deepEqual(await reasonOf(store.commit(story.next({ expectedRevision: 2 }))), {
        _tag: "RevisionConflict",
        expected: 2,
        actual: 1
      })
      assert.deepEqual(plainView(await value(store.load("thread"))), before)
    }),

    check("[R10, D2] of two commits at one revision exactly one is made", async ({ store }) => {
      const story = await Story.begin(store)
      const rivals = Array.from({ length: 8 }, (_, index) => story.next({ messages: [user(String(index))] }))
      const tags = await Promise.all(rivals.map((made) => tagOf(store.commit(made))))
      assert.deepEqual(tags.toSorted(), [
        "RevisionConflict",
        "RevisionConflict",
        "RevisionConflict",
        "RevisionConflict",
        "RevisionConflict",
        "RevisionConflict",
        "RevisionConflict",
        "accepted"
      ])
      assert.equal((await value(store.load("thread")))?.revision, 2)
    })
  ]
}

const refusalChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[D2] a rejected commit changes nothing, whatever else it carries", async ({ store }) => {
      const story = await Story.begin(store)
      await story.open([{ running: true }, { wait: "Permission" }])
      const before = plainView(await value(store.load("thread")))
      for (const made of illegalCommits(story)) {
        assert.equal(await tagOf(store.commit(made)), "Rejected")
        assert.deepEqual(plainView(await value(store.load("thread"))), before)
      }
      const facts = await value(store.tail({ threadId: "thread", from: 1 }))
      assert.equal(facts.length, story.fold.nextFact - 1)
      assert.deepEqual(await value(store.shared()), { revision: 0, state: new Map() })
      assert.equal(await value(store.ticket("stray")), undefined)
    }),

    check("[R6] a stored call that is terminal stays as it is", async ({ store }) => {
      const story = await Story.begin(store)
      await story.open([{ running: true }, { wait: "Permission" }])
      const other = story.completed(0, "another")
      await story.change([story.completed(0)])
      assert.equal(await tagOf(store.commit(story.next({ batch: { _tag: "Change", calls: [other] } }))), "Rejected")
      assert.deepEqual((await value(store.load("thread")))?.batch?.calls[0], story.call(0))
    }),

    check(
      "[R12] behind the end of a run only a settlement is admitted, and it ends nothing again",
      async ({ store }) => {
        const story = await Story.begin(store)
        await story.open([{ running: true }])
        await story.publish([story.lost(0)], { disposition: Run.Ended({ _tag: "Indeterminate" }) })
        assert.equal(await tagOf(store.commit(story.next())), "Rejected")
        const open = (await value(store.load("thread")))?.openOutcomes
        assert.deepEqual([...(open?.keys() ?? [])], [`${story.runId}/1/0`])
        const receipt = await story.commit({
          resolved: [`${story.runId}/1/0`],
          disposition: Run.Ended({ _tag: "Indeterminate" }),
          messages: [{ role: "reminder", id: "settled", source: "bob", text: "it did not happen" }]
        })
        assert.equal(receipt.factCount, 1)
        const after = await value(store.load("thread"))
        assert.deepEqual([after?.openOutcomes.size, after?.messages.at(-1)?.id], [0, "settled"])
      }
    ),

    check("[R2] a run id is used once in its thread", async ({ store }) => {
      const story = await Story.begin(store)
      await story.commit({ disposition: cancelled })
      assert.equal(await tagOf(store.commit(story.starting())), "Rejected")
      const first = story.runId
      story.runId = "second"
      await story.start()
      await story.commit({ disposition: cancelled })
      story.runId = first
      assert.equal(await tagOf(store.commit(story.starting())), "Rejected")
    })
  ]
}

const contentChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[D1] shared state belongs to no thread and has its own revision", async ({ store }) => {
      const one = await Story.begin(store, { threadId: "one" })
      const two = await Story.begin(store, { threadId: "two" })
      await one.commit({ state: [set("Shared", "k", 1), set("Thread", "k", 2)], expectedSharedRevision: 0 })
      assert.deepEqual(await value(store.shared()), { revision: 1, state: new Map([["Shared:k", 1]]) })
      const late = two.next({ state: [set("Shared", "k", 9)], expectedSharedRevision: 0 })
      assert.deepEqual(await reasonOf(store.commit(late)), { _tag: "SharedConflict", expected: 0, actual: 1 })
      await two.commit({ state: [set("Shared", "k", [1])], expectedSharedRevision: 1 })
      await one.commit({ state: [{ _tag: "Remove", scope: "Shared", key: "k", merge: "Disjoint" }] })
      assert.deepEqual(await value(store.shared()), { revision: 3, state: new Map() })
      assert.deepEqual([...((await value(store.load("one")))?.state ?? [])], [["Thread:k", 2]])
    }),

    check("[D3] a loaded view does not change, though the thread goes on", async ({ store }) => {
      const story = await Story.begin(store)
      await story.open([{ wait: "Permission" }])
      const view = await value(store.load("thread"))
      const before = structuredClone(plainView(view))
      await story.send(story.answer(story.ticketId(0)))
      await story.publish([story.refused(0)], { messages: [user("more")], state: [set("Thread", "k", 1)] })
      assert.equal((await value(store.load("thread")))?.revision, 3)
      assert.deepEqual(plainView(view), before)
    }),

    check("[R11] what is read back is what was written, to the last character", async ({ store }) => {
      const story = await Story.begin(store)
      const odd = JSON.parse('{"__proto__":{"a":1},"constructor":null,"":[[],{}],"n":-1.5e-7}') as Json.JsonObject
      await story.open([{ running: true, arguments: odd }])
      const text = `\u0000 "\\ \u2028 𐌀🔧 é e\u0301 ${"long ".repeat(40_000)}`
      const output = ToolOutput.withState(ToolOutput.ok(story.call(0).callId, text, odd), [set("Thread", "k", odd)])
      await story.publish([story.moved(0, { _tag: "Complete", output })], { state: [set("Thread", "k", odd)] })
      assert.deepEqual(plainView(await value(store.load("thread"))), plainView(story.fold.view(1)))
      const stored = (await value(store.load("thread")))?.state.get("Thread:k")
      assert.equal(JSON.stringify(stored), JSON.stringify(odd))
    })
  ]
}

/** A story that touches everything a commit may carry, act by act. */
const wholeStory = (story: Story): ReadonlyArray<() => Promise<unknown>> => [
  () => story.start({ state: [set("Run", "a", 1), set("Thread", "b", { c: [null] })] }),
  () =>
    story.open([{ running: true }, { wait: "Permission" }, { wait: "Client" }, {}], {
      audit: [{ type: "Decision", at: 1, outcome: "ask", by: "gate", rule: "pay: ask", detail: { why: ["money"] } }],
      notes: [{ type: "UsageRecorded", provider: "p", model: "m", usage: { inputTokens: 3, outputTokens: 4 } }]
    }),
  () => story.send(story.answer(story.ticketId(1), { signalId: "allow" })),
  () =>
    story.change(
      [
        story.completed(0),
        story.moved(1, { _tag: "Approve", ticketId: story.ticketId(1), digest: story.call(1).digest, by: ["bob"] })
      ],
      { consumed: ["allow"] }
    ),
  () => story.change([story.moved(1, { _tag: "Enter", digest: story.call(1).digest }), story.refused(3)]),
  () =>
    story.send(
      story.signal(
        { _tag: "Steer", by: "ada", content: [{ type: "text", text: "also" }], interrupt: false },
        { id: "steer" }
      )
    ),
  () => story.change([story.lost(1)], { disposition: { _tag: "Awaiting", tickets: [story.ticketId(2)] } }),
  () => {
    const output = { ...ToolOutput.ok(story.call(2).callId, "from outside", { ok: true }), foreign: true }
    const answered = story.moved(2, { _tag: "Complete", output, ticketId: story.ticketId(2) })
    const message = { role: "reminder", id: "r-1", source: "hook", text: "note" } as const
    return story.commit({
      batch: { _tag: "Publish", calls: [answered], reminders: [{ position: 1, message }] },
      messages: [user("also")],
      consumed: ["steer"],
      state: [{ _tag: "Remove", scope: "Run", key: "a", merge: "Disjoint" }, set("Shared", "s", true)]
    })
  },
  () =>
    story.commit({
      step: 2,
      messages: [
        {
          role: "assistant",
          id: "last",
          runId: story.runId,
          step: 2,
          content: [
            { type: "reasoning", text: "so", providerMetadata: { signature: "x" } },
            { type: "text", text: "done" },
            { type: "image", mediaType: "image/png", data: "QUJD" }
          ],
          stop: "endTurn"
        }
      ],
      disposition: Run.Ended({ _tag: "NaturalEnd" })
    }),
  () =>
    story.commit({
      resolved: [`${story.runId}/1/1`],
      disposition: Run.Ended({ _tag: "NaturalEnd" }),
      audit: [{ type: "Resolution", at: 2, operationId: `${story.runId}/1/1`, outcome: "DidNotHappen", by: "bob" }]
    }),
  () => {
    story.runId = "second-run"
    return story.start({ messages: [user("again")] })
  }
]

/** One illegal commit of each kind, each also carrying things that must not be kept. */
const illegalCommits = (story: Story): ReadonlyArray<ThreadCommit.ThreadCommit> => {
  const luggage = { state: [set("Shared", "k", 1), set("Thread", "k", 1)] }
  const stray = { ...story.opening([{ wait: "Permission" }]).tickets[0] }
  const done = story.completed(0)
  const illegal: ReadonlyArray<Partial<ThreadCommit.ThreadCommit>> = [
    { runId: "other" },
    { step: 5 },
    { messages: [user("between")] },
    { messages: [askingFor([story.call(0)], { runId: story.runId, step: 2 })], step: 2 },
    { disposition: cancelled },
    { batch: { _tag: "Change", calls: [{ ...done, toolId: "other" }] } },
    { batch: { _tag: "Change", calls: [done, done] } },
    { batch: { _tag: "Publish", calls: [done], reminders: [] } },
    { batch: { _tag: "Change", calls: [done] }, disposition: { _tag: "Awaiting", tickets: ["stray"] } },
    { consumed: ["nothing"] },
    { resolved: ["nothing"] }
  ]
  const withTicket = story.opening([{ wait: "Permission", ticket: { ...stray, id: "stray" } }])
  return [...illegal.map((given) => story.next({ ...luggage, ...given })), { ...withTicket, ...luggage }]
}
