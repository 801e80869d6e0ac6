import { LlmError } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import { call, makeWorld, rawTool, settle, snapshotOf, text } from "./support/world.js"

const note = rawTool({ id: "note" }, text("noted"))
const principal = "ada"

describe("a run ends", () => {
  it("[L2] naturally, when the model answers without calls", async () => {
    const { runtime } = makeWorld({ script: ["Hello."] })
    const outcome = await runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
    expect(outcome.text).toBe("Hello.")
    expect(outcome.messages.length).toBe(2)
  })

  it("[L2] the last step keeps the tools, forbids their use, says so, and its text is a limited natural end", async () => {
    const { runtime, llm } = makeWorld({
      script: [
        { calls: [call("note")], expect: { toolChoice: "auto", notes: [] } },
        { text: "What I have.", expect: { toolChoice: "none", tools: ["note"], notes: ["limits"] } }
      ],
      tools: () => [note]
    })
    const snapshot = snapshotOf([note], (builder) => builder.limits({ maxSteps: 2 }))
    const outcome = await runtime.run({ snapshot, input: "hi", principal })
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd", limited: true } })
    llm.assertDone()
  })

  it("[L2] a call in the last step is not run, and the run ends MaxSteps with every call answered", async () => {
    const { runtime, recorder, tools } = makeWorld({
      script: [{ calls: [call("note")] }, { calls: [call("note")] }],
      tools: (recording) => [recording.tool({ id: "note" })]
    })
    const snapshot = snapshotOf(tools, (builder) => builder.limits({ maxSteps: 2 }))
    const outcome = await runtime.run({ snapshot, input: "hi", principal })
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "MaxSteps" } })
    expect(recorder.effects.length).toBe(1)
    expect(outcome.messages.at(-1)).toMatchObject({ role: "tool", outcome: "NotRun", isError: true })
  })

  it("[L2] with one step the only step may call tools", async () => {
    const { runtime, recorder, tools, llm } = makeWorld({
      script: [{ calls: [call("note")], expect: { toolChoice: "auto" } }],
      tools: (recording) => [recording.tool({ id: "note" })]
    })
    const snapshot = snapshotOf(tools, (builder) => builder.limits({ maxSteps: 1 }))
    const outcome = await runtime.run({ snapshot, input: "hi", principal })
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "MaxSteps" } })
    expect(recorder.effects.length).toBe(1)
    llm.assertDone()
  })

  it("[L2] spent tokens stop the run before the next inference", async () => {
    const { runtime, llm } = makeWorld({
      script: [{ calls: [call("note")], usage: { inputTokens: 60, outputTokens: 50 } }, "never"],
      tools: () => [note]
    })
    const snapshot = snapshotOf([note], (builder) => builder.limits({ maxTokens: 100 }))
    const outcome = await runtime.run({ snapshot, input: "hi", principal })
    expect(outcome.disposition).toEqual({
      _tag: "Ended",
      cause: { _tag: "Error", failure: { reason: "Budget", detail: "110 tokens of 100 are spent" } }
    })
    expect(llm.requests.length).toBe(1)
    expect(outcome.usage).toEqual({ inputTokens: 60, outputTokens: 50 })
  })

  it("[L2] spent time stops the run before the next inference, and never a tool in the middle", async () => {
    const { runtime, llm, clock, recorder, tools } = makeWorld({
      script: [{ calls: [call("note")] }, "never"],
      tools: (recording) => [recording.tool({ id: "note" })]
    })
    const release = recorder.hold("note")
    const snapshot = snapshotOf(tools, (builder) => builder.limits({ maxDuration: 500 }))
    const running = runtime.run({ snapshot, input: "hi", principal })
    await recorder.whenEntered(1)
    clock.advance(600)
    await settle()
    release()
    const outcome = await running
    expect(outcome.disposition).toMatchObject({ cause: { _tag: "Error", failure: { reason: "Budget" } } })
    expect(llm.requests.length).toBe(1)
  })

  it("[L2] the host's ceilings only lower what the snapshot allows", async () => {
    const { runtime, llm } = makeWorld({
      script: [{ calls: [call("note")] }, "never"],
      tools: () => [note],
      limits: { maxSteps: 1, width: 99 }
    })
    const outcome = await runtime.run({ snapshot: snapshotOf([note]), input: "hi", principal })
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "MaxSteps" } })
    expect(llm.requests.length).toBe(1)
  })

  it("[L7] a model that fails ends the run with its reason, and commits nothing it said", async () => {
    const { runtime, watched } = makeWorld({
      script: [{ error: "overloaded", events: [{ type: "text", text: "Hal" }] }]
    })
    const outcome = await runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
    expect(outcome.disposition).toEqual({
      _tag: "Ended",
      cause: { _tag: "Error", failure: { reason: "Inference", detail: "overloaded: scripted failure: overloaded" } }
    })
    expect(outcome.text).toBe("")
    expect(watched.summary).toEqual(["start", "nothing > Ended Error"])
  })

  it("[L7] a stream that ends without its finish is no success", async () => {
    const { runtime } = makeWorld({ script: [{ events: [{ type: "text", text: "Half an ans" }] }] })
    const outcome = await runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
    expect(outcome.disposition).toMatchObject({ cause: { _tag: "Error", failure: { reason: "Inference" } } })
    expect(outcome.text).toBe("Half an ans")
  })

  it("[L7] an answer that was filtered is no success", async () => {
    const { runtime } = makeWorld({ script: [{ text: "I", stop: "contentFilter" }] })
    const outcome = await runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
    expect(outcome.disposition).toMatchObject({ cause: { _tag: "Error", failure: { reason: "Inference" } } })
  })

  it("[L3] a model that never answers is given up at its time limit, deaf or not", async () => {
    for (const stall of ["untilAborted", "deaf"] as const) {
      const { runtime, clock } = makeWorld({ script: [{ stall }] })
      const snapshot = snapshotOf([], (builder) => builder.limits({ modelTimeout: 5_000 }))
      const running = runtime.run({ snapshot, input: "hi", principal })
      await settle()
      clock.advance(5_000)
      const outcome = await running
      expect(outcome.disposition).toMatchObject({
        cause: {
          _tag: "Error",
          failure: { reason: "Inference", detail: "timeout: the model did not finish within 5000 ms" }
        }
      })
      expect(clock.pending).toBe(0)
    }
  })

  it("[L7] a model that throws at once, or gives no stream, ends the run and nothing else", async () => {
    const broken = [
      {
        stream: () => {
          throw new Error("no stream today")
        }
      },
      { stream: () => ({}) },
      { stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => 7 }) }) },
      {
        stream: () => ({
          [Symbol.asyncIterator]: () => ({
            next: () => Promise.reject(new LlmError({ reason: "network", message: "gone" }))
          })
        })
      }
    ]
    for (const llm of broken) {
      const { Runtime } = await import("../src/index.js")
      const { PermissionGate } = await import("@toolwright/runtime-contract")
      const runtime = Runtime.make({ llm: llm as never, gate: PermissionGate.allowAll, tools: [] })
      const outcome = await runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
      expect(outcome.disposition).toMatchObject({ cause: { _tag: "Error", failure: { reason: "Inference" } } })
    }
  })

  it("[L2] a typed final answer is checked, sent back a bounded number of times, and handed out", async () => {
    const asked = (builder: Parameters<NonNullable<Parameters<typeof snapshotOf>[1]>>[0]) =>
      builder.output(
        { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false },
        { repairs: 1 }
      )
    const good = makeWorld({ script: ["seven", '{"n":7}'] })
    const outcome = await good.runtime.run({ snapshot: snapshotOf([], asked), input: "hi", principal })
    expect(outcome.output).toEqual({ n: 7 })
    expect(good.watched.summary).toEqual(["start", "assistant+reminder", "assistant > Ended NaturalEnd"])

    const bad = makeWorld({ script: ['{"n":"7"}', '{"n":"8"}'] })
    const failed = await bad.runtime.run({ snapshot: snapshotOf([], asked), input: "hi", principal })
    expect(failed.disposition).toMatchObject({ cause: { _tag: "Error", failure: { reason: "InvalidFinalAnswer" } } })
    expect(failed.output).toBeUndefined()
  })

  it("[L2] a turn that says nothing leaves no empty message behind", async () => {
    const { runtime } = makeWorld({ script: [{ events: [{ type: "finish", stop: "endTurn" }] }] })
    const outcome = await runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
    expect(outcome.messages.length).toBe(1)
  })

  it("[L1] a thread with an open run is busy, and one whose run has ended goes on with its history", async () => {
    const world = makeWorld({ script: ["One.", { stall: "untilAborted" }, "Three."] })
    const snapshot = snapshotOf([])
    const first = await world.runtime.run({ snapshot, input: "1", principal, threadId: "t" })
    const open = world.runtime.run({ snapshot, input: "2", principal, threadId: "t" })
    await settle()
    await expect(world.runtime.run({ snapshot, input: "3", principal, threadId: "t" })).rejects.toMatchObject({
      _tag: "RunError",
      reason: { _tag: "ThreadBusy", by: "OpenRun" }
    })
    open.cancel()
    await open
    const third = await world.runtime.run({ snapshot, input: "3", principal, threadId: "t" })
    expect(first.text).toBe("One.")
    expect(world.llm.requests.at(-1)?.messages.length).toBe(4)
    expect(third.text).toBe("Three.")
  })

  it("[L1] what cannot be asked is refused with the option's name, and nothing is started", async () => {
    const { runtime, watched } = makeWorld({ script: [] })
    const snapshot = snapshotOf([])
    const bad: ReadonlyArray<readonly [object, string]> = [
      [{ snapshot, input: "hi", principal: " " }, "principal"],
      [{ snapshot, input: 7, principal }, "input"],
      [{ snapshot, input: [], principal }, "input"],
      [{ snapshot, input: [{ type: "text" }], principal }, "input"],
      [{ snapshot, input: "hi", principal, metadata: { at: new Date(0) } }, "metadata"],
      [{ snapshot: undefined, input: "hi", principal }, "snapshot"],
      [{ snapshot: { ...snapshot, instructions: "other" }, input: "hi", principal }, "snapshot"],
      [{ snapshot, input: "hi", principal, narrowing: "Open" }, "narrowing"],
      [{ snapshot, input: "hi", principal, threadId: "" }, "threadId"]
    ]
    for (const [options, option] of bad)
      await expect(runtime.run(options as never)).rejects.toMatchObject({ reason: { _tag: "BadRequest", option } })
    expect(watched.commits).toEqual([])
  })
})
