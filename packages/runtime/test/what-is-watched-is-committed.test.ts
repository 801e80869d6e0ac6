import { type RunEvent, RunEvent as Events } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { call, makeWorld, rawTool, settle, snapshotOf, text } from "./support/world.js"

const principal = "ada"
const note = rawTool({ id: "note" }, (one, { progress }) => (progress("half way"), text("noted")(one)))
const script = [{ text: "Let me see.", calls: [call("note", { n: 1 })] }, "All done here."]

const facts = (events: ReadonlyArray<RunEvent.RunEvent>) =>
  events.flatMap((event) => (event._tag === "Fact" ? [event] : []))

describe("what is watched is committed", () => {
  it("[L4] facts come from commits, numbered from 1 without a gap, and are the same when read from the store", async () => {
    const events: Array<RunEvent.RunEvent> = []
    const world = makeWorld({ script, tools: () => [note] })
    const { threadId } = await world.runtime.run({
      snapshot: snapshotOf([note]),
      input: "hi",
      principal,
      onEvent: (event) => events.push(event)
    })
    const seen = facts(events)
    expect(seen.map(({ number }) => number)).toEqual(seen.map((_, index) => index + 1))
    expect(seen.map(({ fact }) => fact.type)).toEqual([
      "RunStarted",
      "MessageCommitted",
      "MessageCommitted",
      "Decided",
      "CallChanged",
      "CallChanged",
      "BatchPublished",
      "MessageCommitted",
      "RunEnded"
    ])
    const stored = await Effect.runPromise(world.memory.tail({ threadId, from: 1 }))
    expect(seen.map(({ number, fact }) => ({ number, fact }))).toEqual(stored)
    expect(world.watched.commits.flatMap((commit) => Events.factsOf(commit))).toEqual(stored.map(({ fact }) => fact))
  })

  it("[L4] deltas are tagged with step and attempt, add up to the text, and are void when the attempt is", async () => {
    const events: Array<RunEvent.RunEvent> = []
    const world = makeWorld({ script, tools: () => [note] })
    const outcome = await world.runtime.run({
      snapshot: snapshotOf([note]),
      input: "hi",
      principal,
      onEvent: (event) => events.push(event)
    })
    const deltas = events.flatMap((event) => (event._tag === "Delta" ? [event.delta] : []))
    const said = deltas.flatMap((delta) => (delta.type === "TextDelta" && delta.step === 2 ? [delta.text] : []))
    expect(said.length).toBeGreaterThan(1)
    expect(said.join("")).toBe(outcome.text)
    expect(deltas.filter(({ type }) => type === "ToolProgress")).toMatchObject([
      { text: "half way", step: 1, attempt: 1 }
    ])
    expect(deltas.some(({ type }) => type === "ToolArgumentsDelta")).toBe(true)

    const voided: Array<RunEvent.RunEvent> = []
    const failing = makeWorld({ script: [{ error: "network", events: [{ type: "text", text: "Hal" }] }] })
    await failing.runtime.run({
      snapshot: snapshotOf([]),
      input: "hi",
      principal,
      onEvent: (event) => voided.push(event)
    })
    expect(voided.flatMap((event) => (event._tag === "Delta" ? [event.delta.type] : []))).toEqual([
      "TextDelta",
      "AttemptVoided"
    ])
  })

  it("[L4] a tool never starts from a partial argument stream", async () => {
    let proceed: () => void = () => undefined
    const until = new Promise<void>((resolve) => (proceed = resolve))
    let entered = 0
    const tool = rawTool({ id: "note" }, () => void entered++)
    const world = makeWorld({ script: [], tools: () => [tool] })
    void world
    const llm = {
      async *stream() {
        yield { type: "toolCallDelta", key: "0", toolId: "note", argumentsText: "{}" } as const
        yield { type: "toolCall", callId: "a", toolId: "note", arguments: "{}" } as const
        await until
        yield { type: "finish", stop: "toolCalls" } as const
      }
    }
    const { Runtime } = await import("../src/index.js")
    const { PermissionGate } = await import("@toolwright/runtime-contract")
    const runtime = Runtime.make({ llm, gate: PermissionGate.allowAll, tools: [tool], limits: { maxSteps: 1 } })
    const running = runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    await settle()
    expect(entered).toBe(0)
    proceed()
    await running
    expect(entered).toBe(1)
  })

  it("[L4] a listener that throws disturbs neither the run nor the other listeners", async () => {
    const world = makeWorld({ script: ["Done."] })
    const outcome = await world.runtime.run({
      snapshot: snapshotOf([]),
      input: "hi",
      principal,
      onEvent: () => {
        throw new Error("no")
      }
    })
    expect(outcome.text).toBe("Done.")
  })

  it("[L4] the events of a handle begin at the start, end with the run, and may be left early", async () => {
    const world = makeWorld({ script, tools: () => [note] })
    const running = world.runtime.run({ snapshot: snapshotOf([note]), input: "hi", principal })
    const seen: Array<string> = []
    for await (const event of running.events()) if (event._tag === "Fact") seen.push(event.fact.type)
    expect([seen[0], seen.at(-1)]).toEqual(["RunStarted", "RunEnded"])
    const late: Array<string> = []
    for await (const event of running.events()) if (event._tag === "Fact") late.push(event.fact.type)
    expect(late).toEqual(seen)
    const again = makeWorld({ script: ["Done."] })
    const left = again.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
    for await (const event of left.events()) if (event._tag === "Fact") break
    expect((await left).text).toBe("Done.")
  })

  it("[L4] the events of a call that fails end with its error", async () => {
    const { StoreError } = await import("@toolwright/runtime-contract")
    const world = makeWorld({
      script: [],
      store: (inner) =>
        ({
          ...inner,
          claim: () => Effect.fail(new StoreError({ reason: { _tag: "Unavailable" }, threadId: "t", message: "down" }))
        }) as never
    })
    const running = world.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
    const reading = (async () => {
      for await (const event of running.events()) void event
    })()
    await expect(reading).rejects.toMatchObject({ reason: { _tag: "StoreUnavailable" } })
  })

  it("[L4] a thread can be watched from any fact on, over runs, and the reader leaves nothing behind", async () => {
    const world = makeWorld({ script: ["One.", "Two."] })
    await world.runtime.run({ snapshot: snapshotOf([]), input: "1", principal, threadId: "t" })
    const numbers: Array<number> = []
    const watching = (async () => {
      for await (const event of world.runtime.watch({ threadId: "t", from: 3 })) {
        if (event._tag === "Fact") numbers.push(event.number)
        if (event._tag === "Fact" && event.fact.type === "RunEnded" && event.number > 4) break
      }
    })()
    await settle()
    await world.runtime.run({ snapshot: snapshotOf([]), input: "2", principal, threadId: "t" })
    await watching
    expect(numbers).toEqual([3, 4, 5, 6, 7, 8])
    expect(world.clock.pending).toBe(0)
  })

  it("[L4] facts that another process committed are read from the store", async () => {
    const world = makeWorld({ script: [] })
    const other = makeWorld({ script: ["One."], memory: world.memory, clock: world.clock })
    const reader = world.runtime.watch({ threadId: "t", from: 1 })
    const first = reader.next()
    await settle()
    await other.runtime.run({ snapshot: snapshotOf([]), input: "1", principal, threadId: "t" })
    world.clock.advance(500)
    expect((await first).value).toMatchObject({ _tag: "Fact", number: 1, fact: { type: "RunStarted" } })
    await reader.return?.()
    expect(world.clock.pending).toBe(0)
  })
})
