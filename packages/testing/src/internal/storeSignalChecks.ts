/** Signals: a durable inbox that needs no ownership, and tickets that are won inside it. */
import assert from "node:assert/strict"
import { type ResumeTicket, Run, ThreadCommit, TicketRefused, type ThreadStore } from "@toolwright/runtime-contract"
import type { ConformanceCheck } from "../Conformance.js"
import type { StoreSubject } from "../StoreConformance.js"
import { checkOn } from "./storeCheck.js"
import { awaiting, cancelled, reasonOf, Story, tagOf, value } from "./storeStory.js"

const cancel: ThreadStore.SignalBody = { _tag: "Cancel", by: "ada" }

const stopped = Run.Ended({ _tag: "Stopped", reason: "otherwise" })

/** A thread whose run waits for a person. */
const waiting = async (
  store: ThreadStore.ThreadStore,
  ticket: Partial<ResumeTicket.ResumeTicket> = {}
): Promise<{ readonly story: Story; readonly ticketId: string }> => {
  const story = await Story.begin(store)
  const made = story.opening([{ wait: "Permission", ticket }])
  const ticketId = made.tickets[0]?.id ?? ""
  await story.commit({ ...made, disposition: awaiting(ticketId) })
  return { story, ticketId }
}

const refusedWith = (answer: unknown): TicketRefused => {
  const refused = typeof answer === "object" && answer !== null && "refused" in answer ? answer.refused : undefined
  if (refused instanceof TicketRefused) return refused
  throw new Error(`expected a TicketRefused, got ${JSON.stringify(answer)}`)
}

export const signalChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => [
  ...inboxChecks(subject),
  ...openRunChecks(subject),
  ...accountChecks(subject),
  ...ticketChecks(subject),
  ...lifeChecks(subject),
  ...raceChecks(subject)
]

const inboxChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[D3] signals stay in their order until a commit acts on them", async ({ store }) => {
      const story = await Story.begin(store)
      const signals = ["c", "a", "b"].map((id) => story.signal({ _tag: "Pause", by: id }, { id }))
      const receipts = []
      for (const signal of signals) receipts.push(await story.send(signal))
      assert.deepEqual(
        receipts.map((receipt) => [receipt.signalId, receipt.sequence]),
        [
          ["c", 1],
          ["a", 2],
          ["b", 3]
        ]
      )
      assert.deepEqual(await value(store.inbox("thread")), signals)
      await story.commit({ consumed: ["a"] })
      assert.deepEqual(
        (await value(store.inbox("thread"))).map((signal) => signal.id),
        ["c", "b"]
      )
      assert.deepEqual((await value(store.load("thread")))?.inbox, [signals[0], signals[2]])
    }),

    check("[D3] a signal needs no ownership and does not move the revision", async ({ store, clock }) => {
      const story = await Story.begin(store)
      clock.advance(1e6)
      await value(store.signal(story.signal(cancel)))
      await value(store.claim({ threadId: "thread", owner: "new", ttl: 100 }))
      assert.equal((await value(store.load("thread")))?.revision, 1)
    }),

    check("[D3] a signal with a known id is answered as the first was, and is there once", async ({ store }) => {
      const { story, ticketId } = await waiting(store)
      const allow = story.answer(ticketId, { signalId: "s" })
      const first = await value(store.signal(allow))
      assert.deepEqual(await value(store.signal(allow)), first)
      const other = story.answer(ticketId, { signalId: "s", answer: { _tag: "Deny" }, approver: "mallory" })
      assert.deepEqual(await value(store.signal(other)), first)
      assert.deepEqual(await value(store.inbox("thread")), [allow])
    }),

    check("[D3] a signal that was acted on stays known: it does not come back", async ({ store }) => {
      const story = await Story.begin(store)
      const signal = story.signal({ _tag: "Pause", by: "ada" }, { id: "s" })
      const receipt = await story.send(signal)
      await story.commit({ consumed: ["s"] })
      assert.deepEqual(await value(store.signal(signal)), receipt)
      assert.deepEqual(await value(store.inbox("thread")), [])
    })
  ]
}

const openRunChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check(
      "[D3] a signal for no thread, no run or a closed run is refused, so that nobody waits for it",
      async ({ store }) => {
        const story = new Story(store)
        assert.equal(await tagOf(store.signal(story.signal(cancel))), "NotFound")
        await story.claim()
        assert.equal(await tagOf(store.signal(story.signal(cancel))), "NotFound")
        await story.start()
        assert.equal(await tagOf(store.signal(story.signal(cancel, { runId: "other" }))), "Rejected")
        await story.commit({ disposition: cancelled })
        assert.equal(await tagOf(store.signal(story.signal(cancel))), "Rejected")
        assert.deepEqual(await value(store.inbox("thread")), [])
      }
    ),

    check("[D3, R12] the end of a run clears its inbox, but not what settles an outcome", async ({ store }) => {
      const story = await Story.begin(store)
      await story.open([{ running: true }])
      await story.publish([story.lost(0)])
      const operationId = `${story.runId}/1/0`
      const resolve: ThreadStore.SignalBody = {
        _tag: "Resolve",
        by: "bob",
        operationId,
        resolution: { _tag: "DidNotHappen" }
      }
      await story.send(story.signal(cancel))
      await story.send(story.signal(resolve, { id: "resolve" }))
      await story.commit({ disposition: cancelled })
      assert.deepEqual(
        (await value(store.inbox("thread"))).map((signal) => signal.id),
        ["resolve"]
      )
      await story.send(story.signal(resolve, { id: "again" }))
      const unknown = { ...resolve, operationId: "none" }
      assert.equal(await tagOf(store.signal(story.signal(unknown))), "Rejected")
      await story.commit({ disposition: cancelled, resolved: [operationId], consumed: ["resolve", "again"] })
      assert.equal(await tagOf(store.signal(story.signal(resolve))), "Rejected")
    }),

    check("[D3] whoever listens in this process hears of a signal at once", async ({ store }) => {
      if (store.subscribe === undefined) return
      const story = await Story.begin(store)
      const heard: Array<string> = []
      const stop = store.subscribe("thread", () => heard.push("thread"))
      store.subscribe("other", () => heard.push("other"))
      await story.send(story.signal(cancel))
      stop()
      await story.send(story.signal(cancel))
      assert.deepEqual(heard, ["thread"])
    })
  ]
}

const accountChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check(
      "[D3, P8] a refused answer is kept over the end of its run, and accounted for behind it, once",
      async ({ store }) => {
        const { story, ticketId } = await waiting(store)
        const refused: ThreadStore.SignalBody = {
          _tag: "Refused",
          by: "mallory",
          ticketId,
          answer: "Allow",
          reason: "NotEligible"
        }
        await story.send(story.signal(refused, { id: "early" }))
        await story.publish([story.refused(0)], { disposition: cancelled })
        await story.send(story.signal(refused, { id: "late" }))
        const ids = async () => (await value(store.inbox("thread"))).map(({ id }) => id)
        assert.deepEqual(await ids(), ["early", "late"])
        assert.equal(await tagOf(store.signal(story.signal(refused, { runId: "other" }))), "Rejected")
        const record: ThreadCommit.AuditRecord = {
          type: "Refusal",
          at: 1,
          outcome: "NotEligible",
          by: "mallory",
          rule: ThreadCommit.afterEnd
        }
        const account = { disposition: cancelled, consumed: ["early", "late"], audit: [record] }
        const other = story.next({ ...account, audit: [{ ...record, type: "Grant" }] })
        assert.equal(await tagOf(store.commit(other)), "Rejected")
        assert.equal(await tagOf(store.commit(story.next({ ...account, disposition: stopped }))), "Rejected")
        assert.equal((await story.commit(account)).factCount, 1)
        assert.deepEqual(await ids(), [])
        await story.send(story.signal(refused, { id: "late" }))
        assert.deepEqual(await ids(), [])
        assert.deepEqual((await value(store.load("thread")))?.disposition, cancelled)
      }
    )
  ]
}

const ticketChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[H1] a ticket is found by its id alone, as it was issued", async ({ store }) => {
      const { story, ticketId } = await waiting(store)
      const state = await value(store.ticket(ticketId))
      assert.deepEqual(state, story.fold.tickets.get(ticketId))
      assert.equal(await value(store.ticket("none")), undefined)
    }),

    check("[H3] an accepted answer decides the ticket and stands in the inbox", async ({ store }) => {
      const { story, ticketId } = await waiting(store)
      const signal = story.answer(ticketId, { answer: { _tag: "Allow", note: "go" } })
      const receipt = await story.send(signal)
      const decision = { _tag: "Allowed", by: ["bob"], note: "go" }
      assert.deepEqual(receipt.decision, decision)
      assert.deepEqual((await value(store.ticket(ticketId)))?.decision, decision)
      assert.deepEqual(await value(store.inbox("thread")), [signal])
    }),

    check("[H3] a refused answer leaves ticket and inbox as they were", async ({ store }) => {
      const { story, ticketId } = await waiting(store, {
        deadline: 100,
        requirements: [{ reason: "moves money", approvers: ["bob", "cleo"], quorum: 2 }]
      })
      const before = await value(store.ticket(ticketId))
      const refused = [
        story.answer("none"),
        story.answer(ticketId, { approver: "mallory" }),
        story.answer(ticketId, { at: 100 }),
        story.answer(ticketId, { answer: { _tag: "Continue" } }),
        story.answer(ticketId, { answer: { _tag: "Expire" } }),
        story.answer(ticketId, { expect: { digest: "other" } }),
        story.answer(ticketId, { expect: { runId: "other" } })
      ]
      const tags = []
      for (const signal of refused) tags.push(await tagOf(store.signal(signal)))
      assert.deepEqual(tags, [
        "NotWaiting",
        "NotEligible",
        "Expired",
        "AnswerKindMismatch",
        "NotDue",
        "DigestMismatch",
        "RunMismatch"
      ])
      assert.deepEqual(await value(store.ticket(ticketId)), before)
      assert.deepEqual(await value(store.inbox("thread")), [])
    }),

    check("[H3] a refused answer may be sent again under its id once it is right", async ({ store }) => {
      const { story, ticketId } = await waiting(store)
      assert.equal(await tagOf(store.signal(story.answer("none", { signalId: "s" }))), "NotWaiting")
      assert.equal(await tagOf(store.signal(story.answer(ticketId, { signalId: "s" }))), "accepted")
    })
  ]
}

const lifeChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[H3] a quorum counts each approver once, over signals and commits in between", async ({ store }) => {
      const { story, ticketId } = await waiting(store, {
        requirements: [{ reason: "moves money", approvers: ["bob", "cleo", "dora"], quorum: 2 }]
      })
      const first = await story.send(story.answer(ticketId, { approver: "bob" }))
      assert.deepEqual([first.ticket?.allowedBy, first.decision], [["bob"], undefined])
      assert.equal(await tagOf(store.signal(story.answer(ticketId, { approver: "bob" }))), "AlreadyCounted")
      await story.commit({ disposition: awaiting(ticketId), consumed: [first.signalId] })
      const second = await story.send(story.answer(ticketId, { approver: "cleo" }))
      assert.deepEqual(second.decision, { _tag: "Allowed", by: ["bob", "cleo"] })
    }),

    check("[H3, R9] a ticket is void once its call waits no longer, and once its run has ended", async ({ store }) => {
      const story = await Story.begin(store)
      await story.open([{ wait: "Permission" }, { wait: "Permission" }])
      const [one, two] = [story.ticketId(0), story.ticketId(1)]
      await story.change([story.refused(0)])
      assert.equal(await tagOf(store.signal(story.answer(one))), "NotWaiting")
      await story.publish([story.refused(1)], { disposition: cancelled })
      assert.equal(await tagOf(store.signal(story.answer(two))), "NotWaiting")
      assert.deepEqual((await value(store.ticket(two)))?.decision?._tag, "Void")
      story.runId = "second-run"
      await story.start()
      assert.equal(await tagOf(store.signal(story.answer(two))), "NotWaiting")
    }),

    check("[H6] tickets of one batch are answered each by its own, in any order", async ({ store }) => {
      const story = await Story.begin(store)
      await story.open([{ wait: "Permission" }, { wait: "Client" }, { wait: "Permission" }])
      const ids = [0, 1, 2].map((position) => story.ticketId(position))
      await story.send(story.answer(ids[2] ?? "", { answer: { _tag: "Deny" } }))
      await story.send(story.answer(ids[1] ?? "", { answer: { _tag: "ToolResult", content: [] } }))
      const open = []
      for (const id of ids) open.push((await value(store.ticket(id)))?.decision?._tag)
      assert.deepEqual(open, [undefined, "Answered", "Denied"])
    })
  ]
}

const raceChecks = (subject: StoreSubject): ReadonlyArray<ConformanceCheck> => {
  const check = checkOn(subject)
  return [
    check("[H3] of twenty racing answers one wins, and the others are told how it was decided", async ({ store }) => {
      const { story, ticketId } = await waiting(store)
      const answers = Array.from({ length: 20 }, (_, index) =>
        story.answer(ticketId, {
          approver: `person-${index}`,
          answer: index % 2 === 0 ? { _tag: "Allow" } : { _tag: "Deny", reason: String(index) }
        })
      )
      const results = await Promise.all(answers.map((signal) => reasonOf(store.signal(signal))))
      const receipts = results.flatMap((result) => ("signalId" in result ? [result] : []))
      assert.equal(receipts.length, 1)
      const losers = results.filter((result) => !("signalId" in result)).map(refusedWith)
      assert.deepEqual(
        losers.map((refused) => [refused.reason, refused.ticketId, refused.decision]),
        losers.map(() => ["AlreadyDecided", ticketId, receipts[0]?.decision])
      )
      assert.equal(losers.length, 19)
      assert.equal((await value(store.inbox("thread"))).length, 1)
    }),

    check("[H5] of expiry and an answer exactly one wins", async ({ store }) => {
      const { story, ticketId } = await waiting(store, { deadline: 100 })
      const expire = story.answer(ticketId, { answer: { _tag: "Expire" }, approver: "clock", at: 100 })
      const allow = story.answer(ticketId, { at: 99 })
      const tags = await Promise.all([tagOf(store.signal(expire)), tagOf(store.signal(allow))])
      assert.deepEqual(tags.toSorted(), ["AlreadyDecided", "accepted"])
      const decision = (await value(store.ticket(ticketId)))?.decision
      assert.equal(decision?._tag, tags[0] === "accepted" ? "Denied" : "Allowed")
    }),

    check("[H5] a late answer is refused, though no process has looked at the deadline", async ({ store }) => {
      const { story, ticketId } = await waiting(store, { deadline: 100 })
      assert.equal(await tagOf(store.signal(story.answer(ticketId, { at: 5_000 }))), "Expired")
    }),

    check("[H4, D3] an answer and the end of the run: whichever comes second finds the other", async ({ store }) => {
      const { story, ticketId } = await waiting(store)
      const ending = story.next({
        batch: { _tag: "Publish", calls: [story.refused(0)], reminders: [] },
        disposition: Run.Ended({ _tag: "Cancelled" })
      })
      const [answered, ended] = await Promise.all([
        tagOf(store.signal(story.answer(ticketId))),
        tagOf(store.commit(ending))
      ])
      assert.equal(ended, "accepted")
      assert.ok(answered === "accepted" || answered === "NotWaiting")
      const decision = (await value(store.ticket(ticketId)))?.decision?._tag
      assert.equal(decision, answered === "accepted" ? "Allowed" : "Void")
      assert.deepEqual(await value(store.inbox("thread")), [])
    })
  ]
}
