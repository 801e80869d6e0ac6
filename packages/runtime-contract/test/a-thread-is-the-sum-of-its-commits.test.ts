import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { toolCallsOf } from "../src/Message.js"
import { Ended } from "../src/Run.js"
import { countFacts, factsOf, type RunFact } from "../src/RunEvent.js"
import * as ThreadCommit from "../src/ThreadCommit.js"
import { ThreadFold } from "../src/ThreadFold.js"
import type { ThreadView } from "../src/ThreadStore.js"
import { commitsOf, applyEntry, history } from "./histories.js"
import {
  asking,
  call,
  commit,
  entered,
  opening,
  output,
  phases,
  starting,
  threadId,
  user,
  ticketFor
} from "./kernelWorld.js"

const plain = (view: ThreadView): unknown => ({ ...view, messages: view.messages.toArray() })

const folded = (...commits: ReadonlyArray<ThreadCommit.ThreadCommit>): ThreadFold => {
  const fold = new ThreadFold(threadId)
  for (const one of commits) fold.apply(one)
  return fold
}

describe("a thread is the sum of its commits", () => {
  it("[D2, D3] wherever a fold is cut and taken up again, it adds up to the same thread", () => {
    fc.assert(
      fc.property(history, fc.nat(), ({ entries, fold }, at) => {
        const cut = at % (entries.length + 1)
        const first = new ThreadFold(threadId)
        for (const entry of entries.slice(0, cut)) applyEntry(first, entry)
        const second = ThreadFold.from(first.view(1))
        for (const entry of entries.slice(cut)) applyEntry(second, entry)
        expect(plain(second.view(1))).toEqual(plain(fold.view(1)))
      }),
      { numRuns: 500 }
    )
  })

  it("[D3] a view does not change, though the thread goes on", () => {
    fc.assert(
      fc.property(history, fc.nat(), ({ entries }, at) => {
        const fold = new ThreadFold(threadId)
        const cut = at % (entries.length + 1)
        for (const entry of entries.slice(0, cut)) applyEntry(fold, entry)
        const view = fold.view(1)
        const before = structuredClone(plain(view))
        for (const entry of entries.slice(cut)) applyEntry(fold, entry)
        expect(plain(view)).toEqual(before)
      }),
      { numRuns: 300 }
    )
  })

  it("[E1] every call of a published step has exactly one result, directly behind it and in model order", () => {
    fc.assert(
      fc.property(history, ({ fold }) => {
        const messages = fold.messages.toArray()
        let owed: ReadonlyArray<string> = []
        const misplaced: Array<string> = []
        for (const message of messages) {
          if (message.role === "tool" && message.callId !== owed[0]) misplaced.push(message.id)
          if (message.role === "user" && owed.length > 0) misplaced.push(message.id)
          if (message.role === "tool") owed = owed.slice(1)
          if (message.role === "assistant") owed = [...owed, ...toolCallsOf(message).map((part) => part.callId)]
        }
        expect(misplaced).toEqual([])
        expect(owed).toEqual((fold.batch?.calls ?? []).map((one) => one.callId))
      }),
      { numRuns: 500 }
    )
  })

  it("[R12] an open outcome is an unresolved call that may have happened, and nothing else", () => {
    fc.assert(
      fc.property(history, ({ entries, fold }) => {
        const open = new Set<string>()
        for (const one of commitsOf(entries)) {
          for (const changed of one.batch?.calls ?? [])
            if (changed.phase._tag === "Indeterminate") open.add(changed.operationId)
          for (const id of one.resolved) open.delete(id)
        }
        expect([...fold.openOutcomes.keys()]).toEqual([...open])
      }),
      { numRuns: 300 }
    )
  })

  it("[H3, R9] the end of a run voids the tickets that are still open", () => {
    fc.assert(
      fc.property(history, ({ fold }) => {
        if (fold.disposition?._tag !== "Ended") return
        for (const state of fold.tickets.values()) expect(state.decision).toBeDefined()
      })
    )
  })

  it("[H3, H4] a ticket is void once its call waits for it no longer, and not before", () => {
    const waits = [0, 1, 2].map((position) =>
      call({ position, phase: phases.awaiting("Permission", `ticket-${position}`) })
    )
    const fold = folded(
      starting(),
      opening(waits),
      commit({
        id: "change",
        expectedRevision: 2,
        step: 1,
        batch: {
          _tag: "Change",
          calls: [
            { ...waits[0]!, phase: phases.notRun(0) },
            { ...waits[1]!, proposal: 1, phase: phases.awaiting("Permission", "ticket-1b") }
          ]
        },
        tickets: [ticketFor(waits[1]!, { id: "ticket-1b", proposal: 1 })]
      })
    )
    const decided = [...fold.tickets.values()].map(({ decision, ticket }) => [ticket.id, decision?._tag])
    expect(decided).toEqual([
      ["ticket-0", "Void"],
      ["ticket-1", "Void"],
      ["ticket-2", undefined],
      ["ticket-1b", undefined]
    ])
  })

  it("[L8] what a publishing commit says stands behind the results", () => {
    const running = entered(call({ phase: phases.executing() }))
    const done = { ...running, phase: phases.completed() }
    const fold = folded(
      starting(),
      opening([running]),
      commit({
        id: "publish",
        expectedRevision: 2,
        step: 1,
        messages: [user("steered", "m-steer")],
        batch: {
          _tag: "Publish",
          calls: [done],
          reminders: [{ position: 0, message: { role: "reminder", id: "m-r", source: "hook", text: "note" } }]
        }
      })
    )
    expect(fold.messages.toArray()).toEqual([
      user(),
      asking([running]),
      {
        role: "tool",
        id: "run/1/0/result",
        callId: "call-0",
        toolId: "pay",
        operationId: "run/1/0",
        outcome: "Completed",
        isError: false,
        content: [{ type: "text", text: "done" }]
      },
      { role: "reminder", id: "m-r", source: "hook", text: "note" },
      user("steered", "m-steer")
    ])
  })

  it("[D1] state of a run ends with it, state of the thread stays, shared state is not the thread's", () => {
    const set = (scope: "Run" | "Thread" | "Shared") =>
      ({ _tag: "Set", scope, key: "k", merge: "Disjoint", value: scope }) as const
    const fold = folded(
      starting({ state: [set("Run"), set("Thread"), set("Shared")] }),
      commit({ id: "end", expectedRevision: 1, disposition: Ended({ _tag: "Cancelled" }) }),
      starting({ id: "again", runId: "run-2", expectedRevision: 2 })
    )
    expect([...fold.state]).toEqual([["Thread:k", "Thread"]])
  })

  it("[T16] the result of a call that was executed outside says so", () => {
    const waiting = call({ phase: phases.awaiting("Client") })
    const answered = { ...waiting, phase: { _tag: "Completed" as const, output: { ...output(0), foreign: true } } }
    const fold = folded(
      starting(),
      opening([waiting]),
      commit({ id: "p", expectedRevision: 2, step: 1, batch: { _tag: "Publish", calls: [answered], reminders: [] } })
    )
    expect(fold.messages.at(-1)).toMatchObject({ role: "tool", foreign: true, outcome: "Completed" })
    expect(Object.hasOwn(fold.messages.at(-1)!, "data")).toBe(false)
  })

  it("[T9] structured output stands beside the text of a result", () => {
    const running = entered(call({ phase: phases.executing() }))
    const done = {
      ...running,
      phase: { _tag: "Completed" as const, output: { ...output(0), data: { ok: [0, null] } } }
    }
    const fold = folded(
      starting(),
      opening([running]),
      commit({ id: "p", expectedRevision: 2, step: 1, batch: { _tag: "Publish", calls: [done], reminders: [] } })
    )
    expect(fold.messages.at(-1)).toMatchObject({ role: "tool", data: { ok: [0, null] } })
  })
})

describe("facts are numbered truth", () => {
  it("[L4] counting facts is making them", () => {
    fc.assert(
      fc.property(history, ({ entries }) => {
        for (const one of commitsOf(entries)) expect(countFacts(one)).toBe(factsOf(one).length)
      })
    )
  })

  it("[L4] facts from any number are the same facts", () => {
    fc.assert(
      fc.property(history, fc.nat(), ({ entries, fold }, at) => {
        const all: Array<RunFact> = commitsOf(entries).flatMap(factsOf)
        expect(fold.nextFact).toBe(all.length + 1)
        const cut = at % (entries.length + 1)
        const first = new ThreadFold(threadId)
        for (const entry of entries.slice(0, cut)) applyEntry(first, entry)
        const rest = commitsOf(entries.slice(cut)).flatMap(factsOf)
        expect(all.slice(first.nextFact - 1)).toEqual(rest)
      })
    )
  })

  it("[L4] the facts alone tell the transcript", () => {
    fc.assert(
      fc.property(history, ({ entries, fold }) => {
        const told: Array<string> = []
        const latest = new Map<string, string>()
        for (const fact of commitsOf(entries).flatMap(factsOf)) {
          if (fact.type === "MessageCommitted") told.push(fact.message.id)
          if (fact.type === "CallChanged") latest.set(fact.call.operationId, `${fact.call.operationId}/result`)
          if (fact.type !== "BatchPublished") continue
          told.push(...latest.values(), ...fact.reminders.map((reminder) => reminder.id))
          latest.clear()
        }
        const results = (ids: ReadonlyArray<string>): ReadonlyArray<string> => [...ids].sort()
        expect(results(told)).toEqual(results(fold.messages.toArray().map((message) => message.id)))
      })
    )
  })

  it("[L4] what settles an outcome behind the end of a run is no second end", () => {
    const ended = Ended({ _tag: "Indeterminate" })
    const settling = commit({ id: "s", step: 1, disposition: ended, resolved: ["run/1/0"] })
    expect([ThreadCommit.isSettlement(settling), factsOf(settling), countFacts(settling)]).toEqual([true, [], 0])
    expect(factsOf(commit({ id: "e", step: 1, disposition: ended })).map((fact) => fact.type)).toEqual(["RunEnded"])
  })
})
