// A model that has its next word at once, again and again, is still one of many: timers, cancels and other runs go on.
import { type LlmExecutor, PermissionGate } from "@toolwright/runtime-contract"
import { ScriptedLlm } from "@toolwright/testing"
import { describe, expect, it } from "vitest"
import { Runtime } from "../src/index.js"
import { call, rawTool, snapshotOf } from "./support/world.js"

/** Says the same for ever, does not look at its signal, and cannot be closed. */
const endless = (event: unknown): LlmExecutor.LlmExecutor => ({
  stream: () => ({
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.resolve({ done: false, value: event as LlmExecutor.LlmEvent }),
      return: () => new Promise<IteratorResult<LlmExecutor.LlmEvent>>(() => {})
    })
  })
})

const runtimeOf = (llm: LlmExecutor.LlmExecutor) => {
  const tools = [rawTool({ id: "look" })]
  const runtime = Runtime.make({ llm, gate: PermissionGate.allowAll, tools })
  return { runtime, tools }
}

const kinds: ReadonlyArray<readonly [string, unknown]> = [
  ["texts", { type: "text", text: "x" }],
  ["empty texts", { type: "text", text: "" }],
  ["calls", { type: "toolCall", callId: "c", toolId: "look", arguments: {} }],
  ["events of an unknown kind", { type: "smoke" }]
]

describe("a model that streams without end and without waiting", () => {
  it.each(kinds)("[L3] is cancelled in the middle of its %s", async (_, event) => {
    const { runtime, tools } = runtimeOf(endless(event))
    const running = runtime.run({ snapshot: snapshotOf(tools), input: "go", principal: "ada" })
    setTimeout(running.cancel, 5)
    expect((await running).disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
  })

  it("[L3] reaches its time limit", async () => {
    const { runtime, tools } = runtimeOf(endless({ type: "text", text: "" }))
    const snapshot = snapshotOf(tools, (builder) => builder.limits({ modelTimeout: 20 }))
    const { disposition } = await runtime.run({ snapshot, input: "go", principal: "ada" })
    expect(disposition).toMatchObject({
      cause: { failure: { reason: "Inference", detail: "timeout: the model did not finish within 20 ms" } }
    })
  })

  it("[L3] lets another run of the process come to its end", async () => {
    const { runtime, tools } = runtimeOf(endless({ type: "text", text: "x" }))
    const running = runtime.run({ snapshot: snapshotOf(tools), input: "go", principal: "ada" })
    const other = runtimeOf(new ScriptedLlm([{ calls: [call("look")] }, "done"]))
    const outcome = await other.runtime.run({ snapshot: snapshotOf(tools), input: "go", principal: "ada" })
    expect(outcome.text).toBe("done")
    running.cancel()
    await running
  })

  it("[L7] is given up when its turn is longer than any turn", async () => {
    const { runtime, tools } = runtimeOf(endless({ type: "text", text: "x".repeat(1_000_000) }))
    const { disposition } = await runtime.run({ snapshot: snapshotOf(tools), input: "go", principal: "ada" })
    expect(disposition).toMatchObject({
      cause: { failure: { detail: "malformedResponse: the model's turn is longer than 67108864 characters" } }
    })
  })
})

describe("a run whose model and tools never wait", () => {
  it("[L3] is cancelled between two of its steps", async () => {
    const { runtime, tools } = runtimeOf(new ScriptedLlm(() => ({ calls: [call("look")] })))
    const snapshot = snapshotOf(tools, (builder) => builder.limits({ maxSteps: 1_000_000 }))
    const running = runtime.run({ snapshot, input: "go", principal: "ada" })
    setTimeout(running.cancel, 5)
    expect((await running).disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
  })
})
