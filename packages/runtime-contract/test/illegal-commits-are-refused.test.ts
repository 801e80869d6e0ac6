import { describe, expect, it } from "vitest"
import type { ReminderMessage } from "../src/Message.js"
import { Ended, isSameCause, mayBecome, type RunDisposition, Running } from "../src/Run.js"
import type { TicketState } from "../src/ResumeTicket.js"
import * as StoreRules from "../src/StoreRules.js"
import type { RunStart, ThreadCommit } from "../src/ThreadCommit.js"
import { ThreadFold } from "../src/ThreadFold.js"
import type { Signal, SignalBody } from "../src/ThreadStore.js"
import type { BatchCall } from "../src/ToolBatch.js"
import { Serial } from "../src/ToolConcurrency.js"
import { headOf } from "./histories.js"
import {
  asking,
  call,
  commit,
  entered,
  opening,
  output,
  phases,
  runId,
  snapshot,
  starting,
  threadId,
  ticketFor,
  user
} from "./kernelWorld.js"

const owned: StoreRules.Ownership = { epoch: 1, owner: "me", leaseUntil: 1_000 }

const headAfter = (...commits: ReadonlyArray<ThreadCommit>): StoreRules.ThreadHead => {
  const fold = new ThreadFold(threadId)
  const runs = new Set<string>()
  for (const one of commits) {
    fold.apply(one)
    if (one.start !== undefined) runs.add(one.runId)
  }
  return headOf(fold, runs)
}

const answer = (head: StoreRules.ThreadHead, made: ThreadCommit): string => {
  const refusal = StoreRules.refusalOfCommit({ head, ownership: owned, now: 0 }, made)
  if (refusal === undefined) return "admitted"
  return refusal._tag === "Rejected" ? refusal.rule : refusal._tag
}

const running = entered(call({ phase: phases.executing() }))
const waiting = call({ position: 1, phase: phases.awaiting("Permission") })
const requested = call({ position: 2, claim: Serial })
const lost: BatchCall = { ...running, phase: phases.indeterminate() }
const done: BatchCall = { ...running, phase: phases.completed() }
const refused = (one: BatchCall): BatchCall => ({
  ...one,
  phase: { _tag: "NotRun", reason: "RunEnded", output: output(one.position) }
})

const fresh = headAfter()
const started = headAfter(starting())
const batch = [running, waiting, requested]
const open = headAfter(starting(), opening(batch))
const ended = headAfter(
  starting(),
  commit({ id: "end", expectedRevision: 1, disposition: Ended({ _tag: "Cancelled" }) })
)
const unknown = headAfter(
  starting(),
  opening([running]),
  commit({
    id: "end",
    expectedRevision: 2,
    step: 1,
    disposition: Ended({ _tag: "Stopped", reason: "by hand" }),
    batch: { _tag: "Publish", calls: [lost], reminders: [] }
  })
)

const startOf = (changes: Partial<RunStart["record"]>): RunStart => ({
  record: { ...starting().start!.record, ...changes },
  snapshot
})

const open1 = (given: Partial<ThreadCommit> = {}): ThreadCommit => opening(batch, given)
const change = (calls: ReadonlyArray<BatchCall>, given: Partial<ThreadCommit> = {}): ThreadCommit =>
  commit({ expectedRevision: 2, step: 1, batch: { _tag: "Change", calls }, ...given })
const publish = (calls: ReadonlyArray<BatchCall>, given: Partial<ThreadCommit> = {}): ThreadCommit =>
  commit({ expectedRevision: 2, step: 1, batch: { _tag: "Publish", calls, reminders: [] }, ...given })
const reminder: ReminderMessage = { role: "reminder", id: "r", source: "hook", text: "note" }
const settle = (given: Partial<ThreadCommit> = {}): ThreadCommit =>
  commit({
    expectedRevision: 3,
    step: 1,
    disposition: Ended({ _tag: "Stopped", reason: "by hand" }),
    resolved: ["run/1/0"],
    ...given
  })
const awaiting = (...tickets: readonly [string, ...Array<string>]): RunDisposition => ({ _tag: "Awaiting", tickets })
const allDone = [done, refused(waiting), refused(requested)]
const toolMessage = {
  role: "tool",
  id: "t",
  callId: "call-0",
  toolId: "pay",
  operationId: "run/1/0",
  outcome: "Completed",
  isError: false,
  content: []
} as const

type Row = readonly [head: StoreRules.ThreadHead, made: ThreadCommit]

const pauseState: TicketState = { ticket: ticketFor(call(), { id: "pause", kind: "Pause" }), allowedBy: [] }

/** Each rule by its sentence, and a commit that breaks this one and no earlier rule. */
const illegal: Readonly<Record<string, ReadonlyArray<Row>>> = {
  "a run starts only when none is open": [[started, starting({ runId: "run-2", expectedRevision: 1 })]],
  "a run's record names its own run and thread": [
    [fresh, starting({ start: startOf({ runId: "other" }) })],
    [fresh, starting({ start: startOf({ threadId: "other" }) })]
  ],
  "a run id is used once in its thread": [[ended, starting({ expectedRevision: 2 })]],
  "a run's record names its own snapshot": [[fresh, starting({ start: startOf({ snapshotFingerprint: "other" }) })]],
  "a run starts running, before its first step": [
    [fresh, starting({ disposition: Ended({ _tag: "Cancelled" }) })],
    [fresh, starting({ step: 1 })]
  ],
  "a run starts without a batch": [[fresh, starting({ batch: { _tag: "Open", step: 0, calls: batch } })]],
  "a commit belongs to the open run of its thread": [
    [fresh, commit()],
    [started, commit({ expectedRevision: 1, runId: "other" })]
  ],
  "nothing follows the end of a run": [
    [ended, commit({ expectedRevision: 2 })],
    [ended, commit({ expectedRevision: 2, disposition: Ended({ _tag: "Cancelled" }) })],
    [unknown, settle({ disposition: Ended({ _tag: "Cancelled" }) })],
    [unknown, settle({ disposition: Ended({ _tag: "Stopped", reason: "another" }) })],
    [unknown, settle({ disposition: Running })],
    [unknown, settle({ messages: [user()] })],
    [unknown, settle({ state: [{ _tag: "Remove", scope: "Thread", key: "k", merge: "Disjoint" }] })],
    [unknown, settle({ batch: { _tag: "Change", calls: [] } })]
  ],
  "a commit that ends a run settles nothing": [
    [started, commit({ expectedRevision: 1, disposition: Ended({ _tag: "Cancelled" }), resolved: ["run/1/0"] })]
  ],
  "a waiting run names its tickets, each once": [[open, change([], { disposition: awaiting("ticket", "ticket") })]],
  "results enter the transcript by publication only": [
    [started, commit({ expectedRevision: 1, messages: [toolMessage] })],
    [open, publish(allDone, { messages: [toolMessage] })]
  ],
  "a step has one assistant message": [
    [started, commit({ expectedRevision: 1, step: 1, messages: [asking([]), asking([])] })]
  ],
  "steps are counted one by one, by assistant messages": [
    [started, commit({ expectedRevision: 1, step: 1 })],
    [started, commit({ expectedRevision: 1, step: 2, messages: [asking([], 2)] })],
    [started, commit({ expectedRevision: 1, step: 0, messages: [asking([], 0)] })],
    [open, change([done], { step: 0 })],
    [open, change([done], { step: 2 })]
  ],
  "an assistant message belongs to the run and the step of its commit": [
    [started, commit({ expectedRevision: 1, step: 1, messages: [{ ...asking([]), runId: "other" }] })],
    [started, commit({ expectedRevision: 1, step: 1, messages: [asking([], 7)] })]
  ],
  "nothing enters the transcript between calls and their results": [
    [open, change([done], { messages: [user("steered")] })],
    [open, commit({ expectedRevision: 2, step: 1, messages: [reminder] })],
    [open, commit({ expectedRevision: 2, step: 2, messages: [asking([], 2)] })]
  ],
  "every call of an assistant message opens in the same commit, in its order and as it was asked": [
    [started, commit({ expectedRevision: 1, step: 1, messages: [asking([requested])] })],
    [started, open1({ messages: [asking([running, waiting])] })],
    [started, open1({ messages: [asking([waiting, running, requested])] })],
    [started, open1({ messages: [asking([{ ...running, toolId: "other" }, waiting, requested])] })],
    [started, open1({ messages: [asking([{ ...running, arguments: { amount: 9 } }, waiting, requested])] })],
    [started, open1({ messages: [], step: 0 })]
  ],
  "calls are followed by their results": [[started, open1({ messages: [asking(batch), reminder] })]],
  "a batch opens when the one before it is published": [
    [open, commit({ expectedRevision: 2, step: 1, batch: { _tag: "Open", step: 1, calls: [] } })]
  ],
  "a batch has calls and the step of its commit": [
    [started, opening([], { messages: [], step: 0, batch: { _tag: "Open", step: 0, calls: [] } })],
    [started, open1({ batch: { _tag: "Open", step: 2, calls: batch } })]
  ],
  "call run/1/0 may not open so": [
    { ...running, attempts: 2 },
    { ...running, phase: phases.completed() },
    { ...call(), phase: phases.indeterminate() },
    { ...call(), phase: phases.approved() },
    { ...call(), proposal: 1 },
    { ...call(), phase: phases.completed(5) }
  ].map((bad): Row => [started, opening([bad], { tickets: [] })]),
  "call run/1/9 may not open so": [[started, opening([call({ operationId: "run/1/9" })])]],
  "call run/1/1 may not open so": [[started, opening([call({ position: 1 })])]],
  "a call id is used once in its batch": [
    [started, opening([call({ callId: "same" }), call({ position: 1, callId: "same" })])]
  ],
  "only an open batch changes": [
    [started, commit({ expectedRevision: 1, batch: { _tag: "Change", calls: [done] } })],
    [started, commit({ expectedRevision: 1, batch: { _tag: "Publish", calls: [], reminders: [] } })]
  ],
  "a commit names a call once": [[open, change([done, done])]],
  "call run/1/0 may not change so": [
    [open, change([running])],
    [open, change([call()])],
    [open, change([{ ...done, toolId: "other" }])],
    [open, change([{ ...done, digest: "other", entered: "other" }])],
    [open, change([{ ...running, attempts: 2, phase: phases.executing(2) }])],
    [open, publish([{ ...done, position: -1 }])]
  ],
  "call run/1/1 may not change so": [
    [open, change([entered({ ...waiting, phase: phases.executing() })])],
    [open, change([{ ...waiting, phase: phases.completed(1) }])]
  ],
  "call run/9/9 may not change so": [[open, change([{ ...done, position: 9, operationId: "run/9/9" }])]],
  "results are published when every call has one": [[open, publish([done])]],
  "a reminder stands behind a call of its batch": [
    [
      open,
      publish(allDone, {
        batch: { _tag: "Publish", calls: allDone, reminders: [{ position: 3, message: reminder }] }
      })
    ]
  ],
  "ticket ticket was issued before": [
    [open, change([done], { tickets: [ticketFor(waiting)] })],
    [started, open1({ tickets: [ticketFor(waiting), ticketFor(waiting)] })]
  ],
  "ticket ticket is of another run": [
    [started, open1({ tickets: [ticketFor(waiting, { runId: "other" })] })],
    [started, open1({ tickets: [ticketFor(waiting, { threadId: "other" })] })]
  ],
  "ticket ticket is for no call that waits for it": [
    ...(
      [
        { operationId: "run/1/0" },
        { callId: "call-0" },
        { toolId: "other" },
        { digest: "other" },
        { proposal: 1 },
        { kind: "Client" }
      ] as const
    ).map((changes): Row => [started, open1({ tickets: [ticketFor(waiting, changes)] })]),
    [started, commit({ expectedRevision: 1, tickets: [ticketFor(waiting)] })]
  ],
  "the wait of run/1/1 has no ticket": [[started, open1({ tickets: [] })]],
  "the wait of run/1/0 has no ticket": [
    [started, opening([call({ phase: phases.awaiting("Client") })], { tickets: [] })]
  ],
  "a run waits only when no call is running or can run": [
    [started, open1({ disposition: awaiting("ticket") })],
    [started, opening([call(), waiting], { disposition: awaiting("ticket") })]
  ],
  "ticket other is of no waiting call": [
    [open, change([done], { disposition: awaiting("ticket", "other") })],
    [
      started,
      commit({
        expectedRevision: 1,
        tickets: [ticketFor(call(), { id: "pause", kind: "Pause" })],
        disposition: awaiting("other")
      })
    ]
  ],
  "ticket pause is of no waiting call": [
    [
      { ...started, ticket: () => ({ ...pauseState, decision: { _tag: "Void", reason: "the run went on" } }) },
      commit({ expectedRevision: 1, disposition: awaiting("pause") })
    ]
  ],
  "a waiting run names every ticket: second is missing": [
    [
      started,
      opening(
        [
          call({ phase: phases.awaiting("Permission", "first") }),
          { ...waiting, phase: phases.awaiting("Permission", "second") }
        ],
        {
          disposition: awaiting("first")
        }
      )
    ]
  ],
  "a run ends when its batch is published": [
    [open, change([done], { disposition: Ended({ _tag: "Cancelled" }) })],
    [open, commit({ expectedRevision: 2, step: 1, disposition: Ended({ _tag: "Cancelled" }) })],
    [started, open1({ disposition: Ended({ _tag: "Cancelled" }) })]
  ],
  "signal s is not in the inbox": [[started, commit({ expectedRevision: 1, consumed: ["s"] })]],
  "operation run/9/9 has no open outcome": [
    [started, commit({ expectedRevision: 1, resolved: ["run/9/9"] })],
    [unknown, settle({ resolved: ["run/1/0", "run/9/9"] })]
  ]
}

describe("illegal commits are refused", () => {
  for (const [rule, rows] of Object.entries(illegal))
    it(`[D2] ${rule}`, () => {
      expect(rows.map(([head, made]) => answer(head, made))).toEqual(rows.map(() => rule))
    })

  it("[D2] legal commits are admitted", () => {
    const pause = ticketFor(call(), { id: "pause", kind: "Pause" })
    const rows: ReadonlyArray<Row> = [
      [fresh, starting()],
      [ended, starting({ runId: "run-2", expectedRevision: 2 })],
      [started, open1()],
      [
        started,
        opening(
          [waiting].map((one) => ({ ...one, position: 0, operationId: "run/1/0", callId: "call-0" })),
          {
            disposition: awaiting("ticket")
          }
        )
      ],
      [
        started,
        commit({ expectedRevision: 1, step: 1, messages: [asking([])], disposition: Ended({ _tag: "NaturalEnd" }) })
      ],
      [started, commit({ expectedRevision: 1, tickets: [pause], disposition: awaiting("pause") })],
      [{ ...started, ticket: () => pauseState }, commit({ expectedRevision: 1, disposition: awaiting("pause") })],
      [open, change([done], { disposition: awaiting("ticket") })],
      [open, publish(allDone, { messages: [user("steered")] })],
      [open, publish(allDone, { disposition: Ended({ _tag: "MaxSteps" }) })],
      [unknown, settle({ messages: [reminder] })]
    ]
    expect(rows.map(([head, made]) => answer(head, made))).toEqual(rows.map(() => "admitted"))
  })

  it("[R10] epoch, lease, revision and shared revision are checked first, in this order", () => {
    const made = starting({ epoch: 2, expectedRevision: 5, expectedSharedRevision: 9 })
    const ask = (ownership: StoreRules.Ownership, one: ThreadCommit): unknown =>
      StoreRules.refusalOfCommit({ head: fresh, ownership, now: 500 }, one)
    expect([
      ask(owned, made),
      ask({ ...owned, leaseUntil: 500 }, { ...made, epoch: 1 }),
      ask({ ...owned, owner: undefined }, { ...made, epoch: 1 }),
      ask(owned, { ...made, epoch: 1 }),
      ask(owned, { ...made, epoch: 1, expectedRevision: 0 }),
      ask(owned, starting())
    ]).toEqual([
      { _tag: "Fenced", epoch: 2, current: 1 },
      { _tag: "LeaseLost" },
      { _tag: "LeaseLost" },
      { _tag: "RevisionConflict", expected: 5, actual: 0 },
      { _tag: "SharedConflict", expected: 9, actual: 0 },
      undefined
    ])
  })

  it("[R10, D2] a commit that is sent again is answered, unless its owner was fenced in between", () => {
    expect(StoreRules.refusalOfRepeat(owned, starting())).toBeUndefined()
    expect(StoreRules.refusalOfRepeat({ ...owned, owner: undefined }, starting())).toBeUndefined()
    expect(StoreRules.refusalOfRepeat({ ...owned, epoch: 2 }, starting())).toEqual({
      _tag: "Fenced",
      epoch: 1,
      current: 2
    })
  })
})

describe("errors of a store", () => {
  it("[E2] an error says which thread and why, and keeps its cause", () => {
    const cause = new Error("disk full")
    const error = StoreRules.storeError("t", { reason: { _tag: "Unavailable" }, cause })
    expect([error.message, error.cause, error.threadId]).toEqual(["thread t: the store cannot be reached", cause, "t"])
    const reasons = [
      { _tag: "RevisionConflict", expected: 1, actual: 2 },
      { _tag: "SharedConflict", expected: 1, actual: 2 },
      { _tag: "Fenced", epoch: 1, current: 2 },
      { _tag: "LeaseLost" },
      { _tag: "ThreadBusy", owner: "you", leaseUntil: 9 },
      { _tag: "Rejected", rule: "no" },
      { _tag: "Unreadable", position: "commit 7" },
      { _tag: "NotFound" },
      { _tag: "Unanswered" }
    ] as const
    expect(reasons.map((reason) => StoreRules.storeError("t", { reason }).message)).toEqual([
      "thread t: expected revision 1, it is 2",
      "thread t: expected revision 1 of shared state, it is 2",
      "thread t: epoch 1 was fenced by epoch 2",
      "thread t: the lease has expired or was released",
      "thread t: owned by you until 9",
      "thread t: rejected: no",
      "thread t: unreadable record at commit 7",
      "thread t: not found",
      "thread t: the store did not answer"
    ])
  })
})

describe("ownership", () => {
  const claiming = (changes: object = {}) =>
    StoreRules.claim(owned, { threadId, owner: "you", ttl: 100, now: 500, ...changes })
  const lease = { threadId, owner: "me", epoch: 1, leaseUntil: 1_000 }

  it("[R10] a live lease is refused to others unless they take it over by name", () => {
    expect(claiming()).toEqual({ ok: false, reason: { _tag: "ThreadBusy", owner: "me", leaseUntil: 1_000 } })
    const taken = { ok: true, ownership: { epoch: 2, owner: "you", leaseUntil: 600 } }
    expect(claiming({ takeOver: true })).toEqual(taken)
    expect(claiming({ now: 1_000 })).toEqual({ ok: true, ownership: { epoch: 2, owner: "you", leaseUntil: 1_100 } })
    expect(claiming({ owner: "me" })).toEqual({ ok: true, ownership: { epoch: 2, owner: "me", leaseUntil: 600 } })
  })

  it("[R10] a lease is renewed by its owner while nobody else took the thread, also late", () => {
    const renewing = (ownership: StoreRules.Ownership, ttl = 50) =>
      StoreRules.renew(ownership, { lease, ttl, now: 2_000 })
    expect(renewing(owned)).toEqual({ ok: true, ownership: { epoch: 1, owner: "me", leaseUntil: 2_050 } })
    expect(renewing({ ...owned, epoch: 2, owner: "you" })).toMatchObject({ reason: { _tag: "Fenced" } })
    expect(renewing({ ...owned, owner: undefined })).toMatchObject({ reason: { _tag: "LeaseLost" } })
  })

  it("[R10] a release keeps the epoch, so that the next claim fences what is still under way", () => {
    const released = StoreRules.release(owned, lease)
    expect(released).toEqual({ ok: true, ownership: { epoch: 1, owner: undefined, leaseUntil: 0 } })
    expect(StoreRules.release({ ...owned, epoch: 2 }, lease)).toMatchObject({ reason: { _tag: "Fenced" } })
  })

  it("[R10] a lease lasts a positive number of milliseconds", () => {
    const bad = { ok: false, reason: { _tag: "Rejected", rule: "a lease lasts a positive number of milliseconds" } }
    for (const ttl of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(StoreRules.claim(StoreRules.unowned, { threadId, owner: "me", ttl, now: 0 })).toEqual(bad)
      expect(StoreRules.renew(owned, { lease, ttl, now: 0 })).toEqual(bad)
    }
  })

  it("[D3] a thread under a live lease is not deleted", () => {
    expect([StoreRules.refusalOfDelete(owned, 0), StoreRules.refusalOfDelete(owned, 1_000)]).toEqual([
      { _tag: "ThreadBusy", owner: "me", leaseUntil: 1_000 },
      undefined
    ])
  })
})

describe("signals", () => {
  const signal = (body: SignalBody, to = runId): Signal => ({ id: "s", threadId, runId: to, at: 0, body })
  const cancel: SignalBody = { _tag: "Cancel", by: "ada" }
  const resolve = (operationId: string): SignalBody => ({
    _tag: "Resolve",
    by: "ada",
    operationId,
    resolution: { _tag: "DidNotHappen" }
  })

  it("[D3] a signal is for the open run of its thread, so that nobody waits for its effect", () => {
    const rejected = { _tag: "Rejected", rule: "a signal is for the open run of its thread" }
    expect([
      StoreRules.refusalOfSignal(fresh, signal(cancel)),
      StoreRules.refusalOfSignal(started, signal(cancel)),
      StoreRules.refusalOfSignal(started, signal(cancel, "other")),
      StoreRules.refusalOfSignal(ended, signal(cancel))
    ]).toEqual([{ _tag: "NotFound" }, undefined, rejected, rejected])
  })

  it("[R12] an outcome is settled also behind the end of its run, but only one that is open", () => {
    expect([
      StoreRules.refusalOfSignal(unknown, signal(resolve("run/1/0"))),
      StoreRules.refusalOfSignal(unknown, signal(resolve("run/1/1")))
    ]).toEqual([undefined, { _tag: "Rejected", rule: "operation run/1/1 has no open outcome" }])
  })
})

describe("the run's own states", () => {
  it("[L2] ended absorbs, a run begins running, and a wait names tickets once", () => {
    const states: ReadonlyArray<RunDisposition> = [Running, awaiting("a"), Ended({ _tag: "Cancelled" })]
    expect([undefined, ...states].map((from) => states.map((to) => mayBecome(from, to)))).toEqual([
      [true, false, false],
      [true, true, true],
      [true, true, true],
      [false, false, false]
    ])
    expect(mayBecome(Running, awaiting("a", "a"))).toBe(false)
    expect(mayBecome(Running, { _tag: "Awaiting", tickets: [] } as unknown as RunDisposition)).toBe(false)
  })

  it("[L2] two ends are the same only with the same reason", () => {
    const failure = { reason: "Budget", detail: "tokens" } as const
    const causes = [
      { _tag: "NaturalEnd" },
      { _tag: "NaturalEnd", limited: true },
      { _tag: "MaxSteps" },
      { _tag: "Cancelled" },
      { _tag: "Stopped", reason: "a" },
      { _tag: "Stopped", reason: "b" },
      { _tag: "Error", failure },
      { _tag: "Error", failure: { ...failure, detail: "time" } },
      { _tag: "Indeterminate" }
    ] as const
    expect(causes.map((left) => causes.filter((right) => isSameCause(left, right)).length)).toEqual(causes.map(() => 1))
    expect(causes.map((cause) => isSameCause(cause, structuredClone(cause)))).toEqual(causes.map(() => true))
    expect(isSameCause({ _tag: "NaturalEnd", limited: false }, { _tag: "NaturalEnd" })).toBe(true)
  })
})
