import { GateOutcome, type PermissionGate } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { EffectRecorder, ScriptedLlm, TestClock } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import { describe, expect, it } from "vitest"
import {
  type AttributeValue,
  Delegation,
  type OpenSpan,
  type RunError,
  Runtime,
  RuntimeDefinitionError,
  type RuntimeTracer,
  type StartedSpan
} from "../src/index.js"
import { ask, call, makeWorld, rawTool, snapshotOf } from "./support/world.js"

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

  it("[Z3] [L1] the plain form takes a tracer of any library: gate, wait and tool are seen, in order, with their times", async () => {
    const { spans, tracer } = recording()
    const { clock, runtime, tools } = makeWorld({
      script: [{ calls: [call("note", { password: "s3cret" })] }, "Done."],
      tools: (recorder) => [recorder.tool({ id: "note" })],
      gate: { id: "asks", decide: () => ask() },
      tracer
    })
    const { tickets } = await runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal: "ada", threadId: "t" })
    clock.advance(4_000)
    await runtime.resume(tickets[0]?.id ?? "", { _tag: "Allow" }, { approver: "bob" })
    expect(spans.map(({ name, startTime, endTime }) => [name, startTime, endTime])).toEqual([
      ["gate note", 1_000, 1_000],
      ["wait note", 1_000, 5_000],
      ["execute_tool note", 5_000, 5_000]
    ])
    expect(spans[2]?.attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.conversation.id": "t",
      "toolwright.outcome": "Complete"
    })
    expect(JSON.stringify(spans)).not.toContain("s3cret")
  })

  it("[L9] a call that runs another agent is a span of its own, whether its child ends at once or is handed over to wait", async () => {
    const { spans, tracer } = recording()
    const inner = snapshotOf([rawTool({ id: "note" })], (builder) => builder.instructions("inner"))
    const helper = Delegation.tool({ id: "helper", description: "helps", snapshot: inner })
    const family = (gate: PermissionGate.PermissionGate) =>
      makeWorld({
        script: ({ instructions, messages }) => {
          if (messages.at(-1)?.role === "tool") return "Done."
          return { calls: [instructions === "" ? call("helper", { input: "please" }) : call("note")] }
        },
        tools: (recorder) => [helper, recorder.tool({ id: "note" })],
        gate,
        tracer
      })
    const start = ({ runtime }: ReturnType<typeof family>) =>
      runtime.run({ snapshot: snapshotOf([helper]), input: "hi", principal: "ada" })
    const seen = () =>
      spans.splice(0).map(({ name, attributes, endTime }) => {
        const { "toolwright.outcome": outcome, "toolwright.wait.decision": decision } = attributes
        return [name, outcome ?? decision ?? "", endTime]
      })
    await start(family({ id: "yes", decide: () => GateOutcome.allow }))
    expect(seen()).toEqual([
      ["gate helper", "", 1_000],
      ["execute_tool helper", "Complete", 1_000],
      ["gate note", "", 1_000],
      ["execute_tool note", "Complete", 1_000]
    ])
    const waiting = family({ id: "asks", decide: ({ tool }) => (tool.id === "note" ? ask() : GateOutcome.allow) })
    const { tickets } = await start(waiting)
    expect(seen()).toEqual([
      ["gate helper", "", 1_000],
      ["execute_tool helper", "Handed", 1_000],
      ["gate note", "", 1_000]
    ])
    waiting.clock.advance(50)
    await waiting.runtime.resume(tickets[0]?.id ?? "", { _tag: "Allow" }, { approver: "bob" })
    expect(seen()).toEqual([
      ["wait note", "Allowed", 1_050],
      ["execute_tool note", "Complete", 1_050],
      ["wait helper", "NaturalEnd", 1_050]
    ])
  })

  it("[Z3] [L8] a call that a closing runtime gives up ends its span, and does so once", async () => {
    const { spans, ends, tracer } = recording()
    const { clock, recorder, runtime, tools } = makeWorld({
      script: [{ calls: [call("note")] }],
      tools: (recording) => [recording.tool({ id: "note" })],
      tracer
    })
    const release = recorder.hold("note")
    const running = runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal: "ada" })
    const dropped = running.then(
      () => "ended",
      (error: RunError) => error.reason._tag
    )
    await recorder.whenEntered(1)
    const closed = runtime.close({ grace: 100 })
    clock.advance(100)
    await closed
    expect(await dropped).toBe("Closed")
    release()
    expect(spans.map(({ name, attributes, endTime }) => [name, attributes["toolwright.outcome"], endTime])).toEqual([
      ["gate note", undefined, 1_000],
      ["execute_tool note", "Dropped", 1_100]
    ])
    expect(ends()).toBe(2)
  })

  it("[Z3] a tracer that throws, or gives nothing, disturbs no run; one that is none is refused by name", async () => {
    const broken = (): never => {
      throw new Error("no spans today")
    }
    const tracers: ReadonlyArray<RuntimeTracer> = [
      { start: broken },
      { start: () => ({ attribute: broken, end: broken }) },
      { start: () => undefined as unknown as OpenSpan }
    ]
    for (const tracer of tracers) {
      const { runtime, tools } = makeWorld({
        script: [{ calls: [call("note")] }, "Done."],
        tools: (recorder) => [recorder.tool({ id: "note" })],
        tracer
      })
      expect((await runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal: "ada" })).text).toBe("Done.")
    }
    expect(() => makeWorld({ script: [], tracer: {} as unknown as RuntimeTracer })).toThrow(RuntimeDefinitionError)
  })
})

interface SeenSpan extends StartedSpan {
  readonly attributes: Record<string, AttributeValue>
  endTime?: number
}

const recording = () => {
  const spans: Array<SeenSpan> = []
  // #region tracer
  const tracer: RuntimeTracer = {
    start: ({ name, startTime, attributes }) => {
      const span: SeenSpan = { name, startTime, attributes: { ...attributes } }
      spans.push(span)
      return {
        attribute: (key, value) => void (span.attributes[key] = value),
        end: (endTime) => void (span.endTime = endTime)
      }
    }
  }
  // #endregion
  // A count beside the tracer, for a span that is ended twice looks like one that was ended.
  let ended = 0
  const counting: RuntimeTracer = {
    start: (given) => {
      const span = tracer.start(given)
      return { attribute: span.attribute, end: (at) => (ended++, span.end(at)) }
    }
  }
  return { spans, ends: () => ended, tracer: counting }
}
