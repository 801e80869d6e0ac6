// C044: a call whose arguments were still streaming when the run was cancelled, or its process died, was never made.
import { PermissionGate } from "@toolwright/runtime-contract"
import { Runtime } from "@toolwright/runtime"
import { EffectRecorder, ScriptedLlm, type StallingTurn } from "@toolwright/testing"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { snapshotOf } from "../../scenarios/agent.js"
import { type Scratch, scratch } from "../store-sqlite/database.js"

let world: Scratch
beforeEach(() => {
  world = scratch()
})
afterEach(() => world.remove())

const halfACall: StallingTurn = {
  stall: "untilAborted",
  events: [
    { type: "text", text: "I save it." },
    { type: "toolCallDelta", key: "0", toolId: "save_page", argumentsText: '{"path":"a' }
  ]
}

describe("a call that was cut off while it streamed", () => {
  it("[L4, T4] is never run, and no trace of it is in what is sent next", async () => {
    const store = await world.open()
    const recorder = new EffectRecorder()
    const tools = [recorder.tool({ id: "save_page" })]
    const llm = new ScriptedLlm([halfACall, "Here I am."])
    const runtime = Runtime.make({ llm, gate: PermissionGate.allowAll, tools, store })
    const snapshot = snapshotOf(tools)
    const running = runtime.run({
      snapshot,
      input: "Save it.",
      principal: "ada",
      threadId: "t",
      onEvent: (event) => {
        if (event._tag === "Delta" && event.delta.type === "ToolArgumentsDelta") running.cancel()
      }
    })
    expect((await running).disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
    await runtime.run({ snapshot, input: "And now?", principal: "ada", threadId: "t" })
    await runtime.close()
    expect(JSON.stringify(llm.requests[1]?.messages.toArray())).not.toContain("save_page")
    expect(
      llm.requests[1]?.messages
        .toArray()
        .map(({ role }) => role)
        .at(-1)
    ).toBe("user")
    expect(recorder.effects).toEqual([])
  })
})
