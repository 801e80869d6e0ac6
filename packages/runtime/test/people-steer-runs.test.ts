import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { EffectRecorder, TestClock } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { ask, call, dropAt, makeWorld, rawTool, settle, snapshotOf } from "./support/world.js"

const principal = "ada"
const note = (recorder: EffectRecorder) => [recorder.tool({ id: "note" })]
const roles = (messages: Iterable<{ readonly role: string }>) => [...messages].map(({ role }) => role)

describe("people steer runs", () => {
  it("[L8] a message during an open batch is queued durably and stands behind its results", async () => {
    const world = makeWorld({ script: [{ calls: [call("note")] }, "Done."], tools: note })
    const release = world.recorder.hold("note")
    const running = world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal, threadId: "t" })
    await world.recorder.whenEntered(1)
    const steered = world.runtime.steer({ threadId: "t", input: "and be brief" })
    await settle()
    const inbox = await Effect.runPromise(world.memory.inbox("t"))
    expect(inbox.map(({ body }) => body._tag)).toEqual(["Steer"])
    release()
    const outcome = await running
    expect(roles(outcome.messages)).toEqual(["user", "assistant", "tool", "user", "assistant"])
    expect((await steered).text).toBe("Done.")
  })

  it("[L8] a message that comes in during the final answer sends the run on", async () => {
    let proceed: () => void = () => undefined
    const until = new Promise<void>((resolve) => (proceed = resolve))
    const world = makeWorld({ script: [{ text: "First.", until }, "Second."] })
    const running = world.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal, threadId: "t" })
    await settle()
    void world.runtime.steer({ threadId: "t", input: "wait" })
    await settle()
    proceed()
    const outcome = await running
    expect([outcome.text, roles(outcome.messages)]).toEqual(["Second.", ["user", "assistant", "user", "assistant"]])
  })

  it("[L8] with interrupt the open tickets are first denied as superseded", async () => {
    const world = makeWorld({
      script: [{ calls: [call("note")] }, "Done."],
      tools: note,
      gate: { id: "a", decide: () => ask() }
    })
    const waiting = await world.runtime.run({
      snapshot: snapshotOf(world.tools),
      input: "hi",
      principal,
      threadId: "t"
    })
    const outcome = await world.runtime.steer({ threadId: "t", input: "never mind", interrupt: true })
    expect(outcome.messages.at(2)).toMatchObject({
      outcome: "NotRun",
      content: [{ text: expect.stringContaining("a newer message replaced it") as string }]
    })
    expect([outcome.text, world.recorder.effects.length]).toEqual(["Done.", 0])
    await expect(
      world.runtime.resume(waiting.tickets[0]?.id ?? "", { _tag: "Allow" }, { approver: "b" })
    ).rejects.toMatchObject({ reason: "NotWaiting" })
  })

  it("[L8] without interrupt the tickets stay, and the message waits behind them", async () => {
    const world = makeWorld({
      script: [{ calls: [call("note")] }, "Done."],
      tools: note,
      gate: { id: "a", decide: () => ask() }
    })
    const waiting = await world.runtime.run({
      snapshot: snapshotOf(world.tools),
      input: "hi",
      principal,
      threadId: "t"
    })
    const still = await world.runtime.steer({ threadId: "t", input: "by the way" })
    expect(still.disposition._tag).toBe("Awaiting")
    const outcome = await world.runtime.resume(waiting.tickets[0]?.id ?? "", { _tag: "Allow" }, { approver: "b" })
    expect(roles(outcome.messages)).toEqual(["user", "assistant", "tool", "user", "assistant"])
  })

  it("[L8] a pause stops no tool, takes effect before the next inference, and holds no process", async () => {
    const world = makeWorld({ script: [{ calls: [call("note")] }, "Done."], tools: note })
    const release = world.recorder.hold("note")
    const running = world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal, threadId: "t" })
    await world.recorder.whenEntered(1)
    void world.runtime.pause({ threadId: "t", by: "eve" })
    await settle()
    release()
    const paused = await running
    expect(paused.tickets.map(({ kind }) => kind)).toEqual(["Pause"])
    expect(paused.messages.at(2)).toMatchObject({ outcome: "Completed" })
    expect([world.llm.requests.length, world.clock.pending]).toEqual([1, 0])
    const outcome = await world.runtime.resume(paused.tickets[0]?.id ?? "", { _tag: "Continue" }, { approver: "eve" })
    expect(outcome.text).toBe("Done.")
  })

  it("[L8] a paused run goes on by its own name, with words, or is cancelled", async () => {
    const pausing = async () => {
      let proceed: () => void = () => undefined
      const until = new Promise<void>((resolve) => (proceed = resolve))
      const world = makeWorld({ script: [{ calls: [call("note")], until }, "Done."], tools: note })
      const running = world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal, threadId: "t" })
      await settle()
      void world.runtime.pause({ threadId: "t" })
      await settle()
      proceed()
      return { ...world, paused: await running }
    }
    const named = await pausing()
    expect((await named.runtime.unpause({ threadId: "t" })).text).toBe("Done.")
    const spoken = await pausing()
    const outcome = await spoken.runtime.resume(
      spoken.paused.tickets[0]?.id ?? "",
      { _tag: "Input", text: "go on" },
      { approver: "eve" }
    )
    expect(roles(outcome.messages)).toEqual(["user", "assistant", "tool", "user", "assistant"])
    const cancelled = await pausing()
    expect((await cancelled.runtime.cancel({ threadId: "t" })).disposition).toEqual({
      _tag: "Ended",
      cause: { _tag: "Cancelled" }
    })
  })

  it("[L8] a request for another run, or for no run, is refused", async () => {
    const world = makeWorld({ script: ["Done."] })
    await world.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal, threadId: "t" })
    await expect(world.runtime.cancel({ threadId: "none" })).rejects.toMatchObject({ reason: { _tag: "NotFound" } })
    await expect(world.runtime.steer({ threadId: "t", runId: "other", input: "x" })).rejects.toMatchObject({
      reason: { _tag: "NotFound" }
    })
    await expect(world.runtime.pause({ threadId: "t" })).rejects.toMatchObject({ _tag: "RunError" })
  })

  it("[R12] a person settles an unknown outcome: an audit record and a message, never a second result", async () => {
    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    const recorder = new EffectRecorder()
    const common = { clock, memory, recorder, tools: note, leaseTtl: 1_000 }
    const first = makeWorld({
      ...common,
      script: [{ calls: [call("note", { n: 1 })] }],
      crashPoint: dropAt("dispatch.after")
    })
    await first.runtime
      .run({ snapshot: snapshotOf(first.tools), input: "hi", principal, threadId: "t" })
      .catch(() => undefined)
    clock.advance(1_000)
    const second = makeWorld({ ...common, script: ["Unknown.", { calls: [call("note", { n: 1 })] }, "Twice."] })
    const [recovered] = await second.runtime.recover()
    const operationId = `${recovered?.runId}/1/0`
    await expect(
      second.runtime.resolve({ threadId: "t", operationId: "other", resolution: { _tag: "DidNotHappen" }, by: "eve" })
    ).rejects.toMatchObject({
      reason: { _tag: "BadRequest", option: "operationId" }
    })
    const settled = await second.runtime.resolve({
      threadId: "t",
      operationId,
      resolution: { _tag: "DidNotHappen" },
      by: "eve"
    })
    expect(settled.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
    expect(settled.messages.at(-1)).toMatchObject({
      role: "reminder",
      source: "resolution",
      text: expect.stringContaining("did not happen") as string
    })
    expect(second.watched.commits.at(-1)).toMatchObject({
      resolved: [operationId],
      audit: [{ type: "Resolution", by: "eve" }]
    })
    expect([...settled.messages].filter(({ role }) => role === "tool").length).toBe(1)
    const again = await second.runtime.run({
      snapshot: snapshotOf(second.tools),
      input: "again",
      principal,
      threadId: "t"
    })
    expect([again.text, recorder.effects.length]).toEqual(["Twice.", 2])
  })

  it("[R12] an outcome may be settled while its run waits for a confirmation of the repeat", async () => {
    const world = makeWorld({
      script: [{ calls: [call("pay")] }, { calls: [call("pay")] }, "Done."],
      tools: (recorder) => [recorder.tool({ id: "pay", answer: () => new Promise(() => undefined) })]
    })
    const snapshot = snapshotOf(world.tools, (builder) => builder.limits({ toolTimeout: 100, grace: 10 }))
    const running = world.runtime.run({ snapshot, input: "hi", principal, threadId: "t" })
    await world.recorder.whenEntered(1)
    for (const wait of [100, 10]) {
      await settle()
      world.clock.advance(wait)
    }
    const waiting = await running
    expect(waiting.tickets.length).toBe(1)
    const operationId = `${waiting.runId}/1/0`
    void world.runtime.resolve({
      threadId: "t",
      operationId,
      resolution: { _tag: "Happened", content: [{ type: "text", text: "receipt 7" }] },
      by: "eve"
    })
    await settle()
    const outcome = await world.runtime.resume(waiting.tickets[0]?.id ?? "", { _tag: "Deny" }, { approver: "eve" })
    expect([...outcome.messages].find(({ role }) => role === "reminder")).toMatchObject({
      text: expect.stringContaining("receipt 7") as string
    })
    expect(outcome.text).toBe("Done.")
  })

  it("[L8] close lets calls in flight finish and commit, stores no end, and another runtime goes on", async () => {
    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    const recorder = new EffectRecorder()
    const common = { clock, memory, recorder, tools: note }
    const first = makeWorld({ ...common, script: [{ calls: [call("note")] }] })
    const release = recorder.hold("note")
    const running = first.runtime.run({ snapshot: snapshotOf(first.tools), input: "hi", principal, threadId: "t" })
    running.catch(() => undefined)
    await recorder.whenEntered(1)
    const closing = first.runtime.close({ grace: 5_000 })
    await expect(first.runtime.run({ snapshot: snapshotOf([]), input: "x", principal })).rejects.toMatchObject({
      reason: { _tag: "Closed" }
    })
    await settle()
    release()
    await closing
    await expect(running).rejects.toMatchObject({ reason: { _tag: "Closed" } })
    expect(first.watched.summary).toEqual(["start", "Open 0:Executing", "Publish 0:Completed"])
    expect(clock.pending).toBe(0)
    const [recovered] = await makeWorld({ ...common, script: ["Done."] }).runtime.recover()
    expect([recovered?.outcome?.text, recorder.effects.length]).toEqual(["Done.", 1])
  })

  it("[L8] close gives up what is deaf after the grace, and the call is found Executing by the next owner", async () => {
    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    const recorder = new EffectRecorder()
    const common = { clock, memory, recorder, tools: note }
    const first = makeWorld({ ...common, script: [{ calls: [call("note")] }] })
    recorder.hold("note")
    const running = first.runtime.run({ snapshot: snapshotOf(first.tools), input: "hi", principal, threadId: "t" })
    running.catch(() => undefined)
    await recorder.whenEntered(1)
    const closing = first.runtime.close({ grace: 300 })
    await settle()
    clock.advance(300)
    await closing
    await expect(running).rejects.toMatchObject({ reason: { _tag: "Closed" } })
    expect(first.watched.summary).toEqual(["start", "Open 0:Executing"])
    const [recovered] = await makeWorld({ ...common, script: ["Done."] }).runtime.recover()
    expect(recovered?.outcome?.messages.at(2)).toMatchObject({ outcome: "Indeterminate" })
  })

  it("[L8] close starts nothing new: not the next call of a batch, and not the calls of a turn that comes in", async () => {
    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    const recorder = new EffectRecorder()
    const serial = { _tag: "Serial" } as const
    const tools = (recording: EffectRecorder) => [recording.tool({ id: "note", concurrency: serial })]
    const common = { clock, memory, recorder, tools }
    let proceed: () => void = () => undefined
    const until = new Promise<void>((resolve) => (proceed = resolve))
    const first = makeWorld({
      ...common,
      script: (request) => ({ calls: [call("note"), call("note")], ...(request.threadId === "turn" ? { until } : {}) })
    })
    const release = recorder.hold("note")
    const snapshot = snapshotOf(first.tools)
    const runs = ["batch", "turn"].map((threadId) => first.runtime.run({ snapshot, input: "hi", principal, threadId }))
    for (const run of runs) run.catch(() => undefined)
    await recorder.whenEntered(1)
    await settle()
    const closing = first.runtime.close({ grace: 5_000 })
    release()
    proceed()
    await closing
    for (const run of runs) await expect(run).rejects.toMatchObject({ reason: { _tag: "Closed" } })
    expect(recorder.effects.length).toBe(1)
    expect(first.watched.summary.toSorted()).toEqual([
      "Change 0:Completed",
      "Open 0:Executing 1:Requested",
      "Open 0:Requested 1:Requested",
      "start",
      "start"
    ])
    const second = makeWorld({ ...common, script: () => "Done." })
    const recovered = await second.runtime.recover()
    expect(recovered.map(({ outcome }) => outcome?.text)).toEqual(["Done.", "Done."])
    expect(recorder.effects.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1])
  })

  it("[L1] work goes on with what is due, again and again, until it is told to stop", async () => {
    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    const recorder = new EffectRecorder()
    const common = { clock, memory, recorder, tools: note }
    const first = makeWorld({
      ...common,
      script: [{ calls: [call("note")] }],
      gate: { id: "later", decide: () => ({ _tag: "Schedule", at: 5_000 }) }
    })
    await first.runtime.run({ snapshot: snapshotOf(first.tools), input: "hi", principal, threadId: "t" })
    const worker = makeWorld({
      ...common,
      script: ["Done."],
      gate: { id: "later", decide: () => ({ _tag: "Schedule", at: 5_000 }) }
    })
    const stop = new AbortController()
    const taken: Array<string> = []
    const working = worker.runtime.work({
      signal: stop.signal,
      every: 500,
      onRecovered: ({ why, outcome }) => taken.push(`${why} ${outcome?.text}`)
    })
    for (let turn = 0; turn < 10; turn++) {
      await settle()
      clock.advance(500)
    }
    await settle()
    stop.abort()
    await working
    expect([taken, recorder.effects.length, clock.pending]).toEqual([["ScheduleDue Done."], 1, 0])
  })

  it("[H6] an answer given in another process is seen by the owner within its poll", async () => {
    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    // A store that tells nobody, as one in another process cannot.
    const silent = (inner: MemoryThreadStore) => ({ ...makeQuiet(inner) })
    const world = makeWorld({
      clock,
      memory,
      store: silent as never,
      script: [{ calls: [call("slow"), call("note")] }, "Done."],
      tools: (recorder) => [recorder.tool({ id: "slow" }), recorder.tool({ id: "note" })],
      gate: { id: "some", decide: ({ tool }) => (tool.id === "note" ? ask() : { _tag: "Allow" }) }
    })
    const release = world.recorder.hold("slow")
    const running = world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal, threadId: "t" })
    await world.recorder.whenEntered(1)
    await settle()
    const other = makeWorld({
      clock,
      memory,
      script: [],
      tools: () => [rawTool({ id: "slow" }), rawTool({ id: "note" })]
    })
    const ticketId = `${running.runId}/1/1:Permission:0`
    const answered = await other.runtime.resume(ticketId, { _tag: "Allow" }, { approver: "bob" })
    expect(answered.disposition._tag).toBe("Running")
    await settle()
    expect(world.recorder.effects.length).toBe(1)
    clock.advance(500)
    await settle()
    expect(world.recorder.effects.map(({ toolId }) => toolId)).toEqual(["slow", "note"])
    release()
    expect((await running).text).toBe("Done.")
  })
})

const makeQuiet = (inner: MemoryThreadStore) => ({
  commit: inner.commit,
  load: inner.load,
  tail: inner.tail,
  claim: inner.claim,
  renew: inner.renew,
  release: inner.release,
  signal: inner.signal,
  inbox: inner.inbox,
  ticket: inner.ticket,
  due: inner.due,
  list: inner.list,
  delete: inner.delete,
  shared: inner.shared
})
