import { RawToolRegistry, ToolConcurrency, ToolError, ToolOutput, type RawTool } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import { EffectRecorder } from "../src/index.js"

const calling = (toolId: string, callId = "call"): RawTool.ToolCall => ({
  callId,
  toolId,
  // Only the parser makes parsed arguments; the recorder looks at nothing of them.
  arguments: Object.freeze({ amount: 5 }) as unknown as RawTool.ToolCall["arguments"]
})

const context = (operationId = "run/1/0", attempt = 1): RawTool.InvocationContext => ({
  signal: new AbortController().signal,
  operation: {
    runId: "run",
    threadId: "thread",
    operationId,
    callId: "call",
    attempt,
    epoch: 1,
    principal: "ada",
    state: { get: () => undefined }
  },
  progress: () => undefined
})

describe("a recorder sees every entry", () => {
  it("[R1] an entry is recorded before the tool does anything, with its operation and attempt", async () => {
    const recorder = new EffectRecorder()
    const pay = recorder.tool({ id: "pay", answer: () => Promise.reject(new Error("boom")) })
    await expect(Promise.resolve(pay.invoke(calling("pay"), context("run/1/0", 2)))).rejects.toThrow("boom")
    expect(recorder.effects).toEqual([
      { toolId: "pay", operationId: "run/1/0", callId: "call", attempt: 2, arguments: { amount: 5 } }
    ])
    expect([recorder.of("run/1/0").length, recorder.of("run/1/1").length]).toEqual([1, 0])
  })

  it("[T2] an answer is a text, an output or an error", async () => {
    const recorder = new EffectRecorder()
    const output = ToolOutput.error("call", "no")
    const refused = ToolError.execution("broken")
    const tools = [
      recorder.tool({ id: "plain" }),
      recorder.tool({ id: "text", answer: (call) => `paid by ${call.callId}` }),
      recorder.tool({ id: "output", answer: () => output }),
      recorder.tool({ id: "error", answer: () => refused })
    ]
    const results = await Promise.allSettled(
      tools.map((tool) => Promise.resolve(tool.invoke(calling(tool.spec().id), context())))
    )
    expect(results).toEqual([
      { status: "fulfilled", value: ToolOutput.ok("call", "done") },
      { status: "fulfilled", value: ToolOutput.ok("call", "paid by call") },
      { status: "fulfilled", value: output },
      { status: "rejected", reason: refused }
    ])
  })

  it("[C2] a held tool stops behind its entry until it is let go", async () => {
    const recorder = new EffectRecorder()
    const pay = recorder.tool({ id: "pay" })
    const release = recorder.hold("pay")
    let isDone = false
    const running = Promise.resolve(pay.invoke(calling("pay"), context())).then(() => {
      isDone = true
    })
    await recorder.whenEntered(1)
    expect([recorder.effects.length, isDone]).toEqual([1, false])
    release()
    await running
    expect(isDone).toBe(true)
    await pay.invoke(calling("pay"), context("run/1/1"))
    await recorder.whenEntered(2)
  })

  it("[T12, T15, C1] it is a tool like any other", () => {
    const recorder = new EffectRecorder()
    const tool = recorder.tool({
      id: "pay",
      version: "2",
      recovery: "Idempotent",
      kind: "ClientExecuted",
      target: "Sandbox",
      concurrency: ToolConcurrency.Serial,
      reconcile: () => ({ _tag: "NotSent" })
    })
    const registry = new RawToolRegistry([tool])
    expect(tool.spec()).toBe(tool.spec())
    expect(tool.spec()).toMatchObject({ id: "pay", version: "2", kind: "ClientExecuted", target: "Sandbox" })
    expect([registry.recovery("pay"), registry.concurrency("pay", calling("pay").arguments)]).toEqual([
      "Idempotent",
      ToolConcurrency.Serial
    ])
    expect(registry.reconcile(calling("pay"), context().operation)).toEqual({ _tag: "NotSent" })
  })
})
