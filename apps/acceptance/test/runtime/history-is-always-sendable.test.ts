import { Runtime } from "@toolwright/runtime"
import { type CrashPoint, ExecutableAgentSnapshot, PermissionGate, ToolDescriptor } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { EffectRecorder, expectTranscript, ScriptedLlm, TestClock } from "@toolwright/testing"
import { describe, expect, it } from "vitest"

describe("history is always sendable", () => {
  it("C043 after a kill between two calls each call has one result before anything new, and neither runs again", async () => {
    const clock = new TestClock(1_000)
    const store = new MemoryThreadStore({ now: clock.now })
    const recorder = new EffectRecorder()
    const tools = [recorder.tool({ id: "quick" }), recorder.tool({ id: "slow" })]
    const snapshot = ExecutableAgentSnapshot.builder("agent")
      .model({ provider: "scripted", model: "one" })
      .tools(tools.map((tool) => ToolDescriptor.forTool(tool, "test:two")))
      .build()
    const common = { gate: PermissionGate.allowAll, tools, store, clock, leaseTtl: 1_000 }
    recorder.hold("slow")
    const first = Runtime.make({
      ...common,
      llm: new ScriptedLlm([{ calls: [{ toolId: "quick" }, { toolId: "slow" }] }]),
      // The outcome of the quick call is durable; then the process is gone.
      crashPoint: (point: CrashPoint.CrashPointName) => {
        if (point === "change.afterCommit") throw new Error("killed")
      }
    })
    await expect(first.run({ snapshot, input: "go", principal: "ada", threadId: "t" })).rejects.toMatchObject({
      _tag: "RunError"
    })
    clock.advance(1_000)
    const llm = new ScriptedLlm(["I do not know about the slow one.", "Continuing."])
    const second = Runtime.make({ ...common, llm })
    await second.recover()
    const outcome = await second.run({ snapshot, input: "continue", principal: "ada", threadId: "t" })
    expectTranscript(outcome.messages, [
      "user: go",
      "assistant: quick {} | slow {}",
      "tool quick: done",
      /^tool slow error Indeterminate: .*it may have happened/u,
      "assistant: I do not know about the slow one.",
      "user: continue",
      "assistant: Continuing."
    ])
    expect(recorder.effects.map(({ toolId, attempt }) => [toolId, attempt])).toEqual([
      ["quick", 1],
      ["slow", 1]
    ])
    expect(await second.recover()).toEqual([])
  })
})
