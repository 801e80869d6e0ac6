import { type LlmExecutor, PermissionGate, type RawTool, type ThreadStore } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { ScriptedLlm, TestClock } from "@toolwright/testing"
import { describe, expect, it } from "vitest"
import { Runtime } from "../src/index.js"
import { call, dropAt, makeWorld, rawTool, snapshotOf, text } from "./support/world.js"

const principal = "ada"

describe("what the README shows", () => {
  it("[L4] events of a run can be watched while it is awaited", async () => {
    const { runtime } = makeWorld({ script: ["Hello."] })
    const snapshot = snapshotOf([])
    const shown: Array<string> = []
    const show = (line: string): void => void shown.push(line)
    // #region events
    const running = runtime.run({ snapshot, input: "How warm is it in Lisbon?", principal: "ada" })
    for await (const event of running.events()) {
      if (event._tag === "Delta" && event.delta.type === "TextDelta") show(event.delta.text)
      if (event._tag === "Fact") show(`${event.number} ${event.fact.type}`)
    }
    const outcome = await running
    // #endregion
    expect(outcome.text).toBe("Hello.")
    expect(shown).toEqual(["1 RunStarted", "2 MessageCommitted", "Hello.", "3 MessageCommitted", "4 RunEnded"])
  })

  it("[R8] another runtime over the same store goes on with what is due", async () => {
    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    const tool = rawTool({ id: "note", recovery: "ReplaySafe" }, text("noted"))
    const first = makeWorld({
      script: [{ calls: [call("note")] }],
      tools: () => [tool],
      clock,
      memory,
      leaseTtl: 1_000,
      crashPoint: dropAt("dispatch.after")
    })
    await first.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal }).catch(() => undefined)
    clock.advance(1_000)
    const shown: Array<string> = []
    const show = (line: string): void => void shown.push(line)
    const recover = async (
      llm: LlmExecutor.LlmExecutor,
      given: { store: ThreadStore.ThreadStore; tools: ReadonlyArray<RawTool.RawTool> }
    ) => {
      const { store, tools } = given
      const gate = PermissionGate.allowAll
      // #region recover
      const runtime = Runtime.make({ llm, gate, tools, store })
      for (const { threadId, why, outcome, error } of await runtime.recover())
        show(`${threadId} (${why}): ${error?.message ?? outcome?.text ?? ""}`)
      // #endregion
    }
    const clocked = Object.assign(Object.create(memory) as MemoryThreadStore, {
      due: () => memory.due(clock.now(), 10)
    })
    await recover(new ScriptedLlm(["Done."]), { store: clocked, tools: [tool] })
    expect(shown).toEqual([expect.stringContaining("(LeaseExpired): Done.") as string])
  })
})
