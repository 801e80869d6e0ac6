import { GateOutcome, type LlmExecutor, type Message, Transcript } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { describe, expect, it } from "vitest"
import {
  describeConformance,
  EffectRecorder,
  expectTranscript,
  explore,
  FaultyStore,
  ScriptedGate,
  ScriptedLlm,
  storeConformance,
  TestClock
} from "../src/index.js"

// What the README shows. [L7, P3, D3, R6]

const request: LlmExecutor.LlmRequest = {
  runId: "run",
  threadId: "thread",
  step: 1,
  attempt: 1,
  model: { provider: "scripted", model: "one" },
  instructions: "",
  messages: new Transcript([]),
  notes: [],
  tools: [],
  toolChoice: "auto"
}

const listen = async (llm: LlmExecutor.LlmExecutor, step: number): Promise<ReadonlyArray<string>> => {
  const heard: Array<string> = []
  const context = { signal: new AbortController().signal }
  for await (const event of llm.stream({ ...request, step }, context)) heard.push(event.type)
  return heard
}

describe("what the README shows", () => {
  it("[L7] a scripted model", async () => {
    // #region llm
    const llm = new ScriptedLlm([
      { calls: [{ toolId: "get_weather", arguments: { city: "Oslo" } }] },
      { text: "It is 12 degrees in Oslo.", expect: { step: 2 } }
    ])
    // ... run it ...
    // #endregion
    expect(await listen(llm, 1)).toEqual(["toolCallDelta", "toolCallDelta", "toolCall", "finish"])
    expect(await listen(llm, 2)).toEqual(["text", "text", "text", "finish"])
    // #region llm-done
    llm.assertDone()
    // #endregion
  })

  it("[E1] a transcript as lines", () => {
    const transcript: ReadonlyArray<Message.Message> = [
      { role: "user", id: "1", content: [{ type: "text", text: "weather in Oslo?" }] },
      {
        role: "assistant",
        id: "2",
        runId: "run",
        step: 1,
        content: [{ type: "toolCall", callId: "c", toolId: "get_weather", arguments: { city: "Oslo" } }],
        stop: "toolCalls"
      },
      {
        role: "tool",
        id: "3",
        callId: "c",
        toolId: "get_weather",
        operationId: "run/1/0",
        outcome: "Completed",
        isError: false,
        content: [{ type: "text", text: "12 degrees" }]
      }
    ]
    expect(() => {
      // #region transcript
      expectTranscript(transcript, [
        "user: weather in Oslo?",
        'assistant: get_weather {"city":"Oslo"}',
        "tool get_weather: 12 degrees"
      ])
      // #endregion
    }).not.toThrow()
  })

  it("[P3, R1] a gate, tools and a clock", () => {
    // #region world
    const gate = new ScriptedGate({ get_weather: GateOutcome.allow, "*": GateOutcome.block("not in this test") })
    const recorder = new EffectRecorder()
    const pay = recorder.tool({ id: "pay", recovery: "Idempotent", answer: () => "paid" })
    const clock = new TestClock()
    const release = recorder.hold("pay")
    // ... run it; `await recorder.whenEntered(1)`, then `clock.advance(5_000)` or `release()` ...
    // #endregion
    release()
    clock.advance(5_000)
    expect([gate.calls, recorder.effects, pay.spec().id, clock.now()]).toEqual([[], [], "pay", 5_000])
  })

  it("[D2] a store that fails", () => {
    const clock = new TestClock()
    // #region faults
    const memory = new MemoryThreadStore({ now: clock.now })
    const lost = new FaultyStore(memory, { plan: [{ operation: "commit", index: 1, fault: { _tag: "crashAfter" } }] })
    const unlucky = new FaultyStore(memory, {
      clock,
      plan: { seed: 7, rate: 0.1, faults: [{ _tag: "reject" }, { _tag: "delay", milliseconds: 500 }] }
    })
    // #endregion
    expect([lost.log, unlucky.log]).toEqual([[], []])
    expect(() => lost.assertDone()).toThrow("crashAfter for commit 1 was never met")
  })

  it("[R6] the explorer", () => {
    // #region explore
    const found = explore({ scenarios: [{ calls: [{ kind: "ask", mode: "NeverReplay" }], edits: true }] })
    // #endregion
    expect(found.violations).toEqual([])
  })
})

// #region conformance
const checks = storeConformance({ open: ({ now }) => ({ store: new MemoryThreadStore({ now }) }) })

describeConformance({ name: "my store", checks }, { describe, it })
// #endregion
