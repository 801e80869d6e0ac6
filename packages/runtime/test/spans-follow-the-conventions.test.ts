import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { EffectRecorder, ScriptedLlm, TestClock } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import { describe, expect, it } from "vitest"
import { Runtime } from "../src/index.js"
import { ask, call, snapshotOf } from "./support/world.js"

describe("spans follow the conventions", () => {
  it("[Z3] gate, wait and tool are spans with the names of the GenAI conventions, the tool's attribution, and no arguments", async () => {
    const spans: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    const clock = new TestClock(1_000)
    const recorder = new EffectRecorder()
    const tools = [recorder.tool({ id: "note" })]
    const options = {
      llm: new ScriptedLlm([{ calls: [call("note", { password: "s3cret" })] }, "Done."]),
      gate: { id: "asks", decide: () => ask() },
      tools,
      clock,
      store: new MemoryThreadStore({ now: clock.now })
    }
    const program = Effect.gen(function* () {
      const runtime = yield* Runtime
      const { tickets } = yield* runtime.run({
        snapshot: snapshotOf(tools),
        input: "hi",
        principal: "ada",
        threadId: "t"
      })
      clock.advance(4_000)
      return yield* runtime.resume(tickets[0]?.id ?? "", { _tag: "Allow" }, { approver: "bob" })
    })
    const traced = Effect.provide(program, Runtime.layer(options)).pipe(Effect.provideService(Tracer.Tracer, tracer))
    expect((await Effect.runPromise(traced)).text).toBe("Done.")
    const own = spans.filter(({ attributes }) => attributes.has("gen_ai.tool.name"))
    expect(own.map(({ name }) => name)).toEqual(["gate note", "wait note", "execute_tool note"])
    const [gate, wait, tool] = own.map(({ attributes }) => Object.fromEntries(attributes))
    expect(gate).toMatchObject({
      "gen_ai.tool.name": "note",
      "toolwright.gate.outcome": "RequireConfirmation",
      "toolwright.gate.by": "asks",
      "gen_ai.conversation.id": "t"
    })
    expect(wait).toMatchObject({ "toolwright.wait.kind": "Permission", "toolwright.wait.decision": "Allowed" })
    expect(tool).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.type": "function",
      "toolwright.tool.provenance": "Extension",
      "toolwright.attempt": 1,
      "toolwright.outcome": "Complete"
    })
    const waited = own[1]?.status
    expect(waited?._tag === "Ended" && waited.endTime - waited.startTime).toBe(4_000_000_000n)
    expect(JSON.stringify([gate, wait, tool])).not.toContain("s3cret")
  })
})
