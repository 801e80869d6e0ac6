import { type LlmExecutor, PermissionGate, type RunEvent } from "@toolwright/runtime-contract"
import { ScriptedLlm } from "@toolwright/testing"
import { expect, it } from "vitest"
import { Runtime } from "../src/index.js"
import { rawTool, snapshotOf } from "./support/world.js"

// C016, C019: what a provider cannot be shown costs that tool, and is told when the snapshot meets the model.
it("[L7, T4] a tool that the model cannot be shown is told once, at the start, with its place, and the run goes on", async () => {
  const tools = [rawTool({ id: "plain" }), rawTool({ id: "odd" })]
  const script = new ScriptedLlm(["Hello."])
  const asked: Array<ReadonlyArray<string>> = []
  const llm: LlmExecutor.LlmExecutor = {
    stream: (request, context) => script.stream(request, context),
    refused: (_model, visible) => {
      asked.push(visible.map(({ id }) => id))
      return [{ toolId: "odd", pointer: "/properties/x", reason: "a keyword that the provider has not" }]
    }
  }
  const events: Array<RunEvent.RunEvent> = []
  const runtime = Runtime.make({ llm, gate: PermissionGate.allowAll, tools })
  const outcome = await runtime.run({
    snapshot: snapshotOf(tools),
    input: "hi",
    principal: "ada",
    onEvent: (event) => events.push(event)
  })
  await runtime.close()
  const notes = events.flatMap((event) =>
    event._tag === "Fact" && event.fact.type === "Noted" ? [event.fact.note] : []
  )
  expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
  expect(asked).toEqual([["plain", "odd"]])
  expect(notes.filter(({ type }) => type === "ToolRefused")).toEqual([
    {
      type: "ToolRefused",
      toolId: "odd",
      pointer: "/properties/x",
      reason: "a keyword that the provider has not"
    }
  ])
  script.assertDone()
})
