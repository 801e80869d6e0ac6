import { GateOutcome, type RawTool, Tool } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"
import { ScriptedGate } from "@toolwright/testing"
import { describe, expect, it } from "vitest"
import { call, makeWorld, rawTool, snapshotOf, text } from "./support/world.js"

const principal = "ada"

const cityTool = (ran: Array<unknown> = []): RawTool.RawTool =>
  rawTool(
    {
      id: "weather",
      inputSchema: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false
      }
    },
    ({ callId, arguments: args }) => {
      ran.push(args)
      return text("sunny")({ callId, toolId: "weather", arguments: args })
    }
  )

const noArguments: RawTool.RawTool = rawTool({
  id: "list",
  inputSchema: { type: "object", properties: {}, required: [], additionalProperties: false }
})

describe("calls enter through one door", () => {
  it("[T4] C001 blank, absent and null arguments run a tool without parameters once, with {}", async () => {
    const world = makeWorld({
      script: [
        {
          events: [
            { type: "toolCall", callId: "a", toolId: "list", arguments: "" },
            { type: "toolCall", callId: "b", toolId: "list", arguments: " \n\t" },
            { type: "toolCall", callId: "c", toolId: "list", arguments: undefined },
            { type: "toolCall", callId: "d", toolId: "list", arguments: null },
            { type: "toolCall", callId: "e", toolId: "list", arguments: "null" },
            { type: "finish", stop: "toolCalls" }
          ]
        },
        "Done."
      ],
      tools: (recorder) => [recorder.tool({ id: "list", inputSchema: noArguments.spec().inputSchema })]
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal })
    expect(world.recorder.effects.map((effect) => effect.arguments)).toEqual([{}, {}, {}, {}, {}])
    expect(
      [...outcome.messages].filter((message) => message.role === "tool").map((message) => message.isError)
    ).toEqual([false, false, false, false, false])
  })

  it("[T4] [N2] a run from a snapshot that was stored fills defaults as one from the snapshot that was built", async () => {
    const { spec } = Tool.define({
      id: "list",
      description: "lists",
      args: Type.Object({ path: Type.String({ default: "." }), depth: Type.Integer() })
    })
    const world = makeWorld({
      script: [{ calls: [call("list", { depth: 2 })] }, "Done.", { calls: [call("list", { depth: 2 })] }, "Done."],
      tools: (recorder) => [recorder.tool({ id: "list", inputSchema: spec.inputSchema })]
    })
    const built = snapshotOf(world.tools)
    for (const snapshot of [built, structuredClone(built)])
      await world.runtime.run({ snapshot, input: "hi", principal })
    const whole = { path: ".", depth: 2 }
    expect(world.recorder.effects.map((effect) => effect.arguments)).toEqual([whole, whole])
  })

  it("[T4] C007 nothing of a turn that was cut off runs, though its text may parse", async () => {
    for (const stop of ["length", "contentFilter", "broken"] as const) {
      const ran: Array<unknown> = []
      const tool = cityTool(ran)
      const turn = [
        { type: "toolCall", callId: "a", toolId: "weather", arguments: '{"city":"Oslo"}' },
        { type: "toolCall", callId: "b", toolId: "weather", arguments: '{"city":"Os' },
        ...(stop === "broken" ? [] : [{ type: "finish", stop }])
      ]
      const world = makeWorld({ script: [{ events: turn as never }, "Done."], tools: () => [tool] })
      const outcome = await world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
      expect(ran).toEqual([])
      const results = [...outcome.messages].filter((message) => message.role === "tool")
      expect(results.map((result) => result.outcome)).toEqual(["NotRun", "NotRun"])
      expect(JSON.stringify(results[0]?.content)).toContain("cut off")
      expect(outcome.text).toBe("Done.")
    }
  })

  it("[T4] C044 a call that never became complete leaves no trace in the history", async () => {
    const world = makeWorld({
      script: [
        {
          events: [
            { type: "text", text: "Saving" },
            { type: "toolCallDelta", key: "0", toolId: "weather", argumentsText: '{"path":"a' }
          ]
        }
      ],
      tools: () => [cityTool()]
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([cityTool()]), input: "hi", principal })
    expect([...outcome.messages].map((message) => message.role)).toEqual(["user", "assistant"])
    expect(JSON.stringify(outcome.messages.at(1))).not.toContain("weather")
  })

  it("[T4] refused arguments are kept as capped raw text, well-formed, and go back as {}", async () => {
    const tool = cityTool()
    const raw = `{"city": ${"x".repeat(20_000)}\ud83d`
    const world = makeWorld({
      script: [{ calls: [{ toolId: "weather", arguments: raw }] }, "Done."],
      tools: () => [tool]
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    const message = outcome.messages.at(1)
    const part = message?.role === "assistant" ? message.content[0] : undefined
    expect(part?.type === "toolCall" ? part.arguments : undefined).toEqual({})
    const kept = part?.type === "toolCall" ? (part.rawArguments ?? "") : ""
    expect(kept.length).toBeLessThan(9_000)
    expect(/[\ud800-\udfff]/u.test(kept)).toBe(false)
  })

  it("[T4] C013 a lone surrogate is kept out of the history", async () => {
    const tool = cityTool()
    const world = makeWorld({
      script: [
        { text: "half \ud83d", calls: [{ toolId: "weather", arguments: '{"city":"row \\ud83d end"}' }] },
        "ok \ud83d\ude00"
      ],
      tools: () => [tool]
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([tool]), input: "in \udc00", principal })
    expect(JSON.stringify([...outcome.messages])).not.toMatch(/(?<!\\)\\ud[89a-f]/iu)
    expect(outcome.text).toBe("ok \ud83d\ude00")
  })

  it("[T4] a missing, empty or repeated call id is replaced, and the provider's own is kept as a note", async () => {
    const world = makeWorld({
      script: [
        {
          events: [
            { type: "toolCall", toolId: "note", arguments: "{}" },
            { type: "toolCall", callId: "", toolId: "note", arguments: "{}" },
            { type: "toolCall", callId: "same", toolId: "note", arguments: "{}" },
            { type: "toolCall", callId: "same", toolId: "note", arguments: "{}" },
            { type: "finish", stop: "toolCalls" }
          ]
        },
        {
          calls: [
            { toolId: "note", callId: "same" },
            { toolId: "note", callId: "__proto__" }
          ]
        },
        "Done."
      ],
      tools: (recorder) => [recorder.tool({ id: "note" })]
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal })
    const parts = [...outcome.messages].flatMap((message) => (message.role === "assistant" ? message.content : []))
    const ids = parts.flatMap((part) => (part.type === "toolCall" ? [[part.callId, part.providerCallId]] : []))
    expect(ids).toEqual([
      ["call_1_0", undefined],
      ["call_1_1", ""],
      ["same", undefined],
      ["call_1_3", "same"],
      ["call_2_0", "same"],
      ["__proto__", undefined]
    ])
    const results = [...outcome.messages].flatMap((message) => (message.role === "tool" ? [message.callId] : []))
    expect(results).toEqual(ids.map(([callId]) => callId))
  })

  it("[T12] C035 names that every object has are ordinary unknown tools, and a real tool may have one", async () => {
    const gate = new ScriptedGate({ "*": GateOutcome.allow })
    const names = ["constructor", "toString", "__proto__", "hasOwnProperty"]
    const world = makeWorld({ script: [{ calls: names.map((name) => call(name)) }, "Done."], gate })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
    const results = [...outcome.messages].filter((message) => message.role === "tool")
    expect(results.map((result) => [result.toolId, result.outcome])).toEqual(names.map((name) => [name, "NotRun"]))
    expect(gate.calls).toEqual([])

    const real = makeWorld({
      script: [{ calls: [call("toString")] }, "Done."],
      tools: (recorder) => [recorder.tool({ id: "toString" })]
    })
    await real.runtime.run({ snapshot: snapshotOf(real.tools), input: "hi", principal })
    expect(real.recorder.effects.map((effect) => effect.toolId)).toEqual(["toString"])
  })

  it("[E3] C037 unknown, refused and denied are told apart, an unknown tool has no ticket, and each call one result", async () => {
    const tool = cityTool()
    const gate = { id: "no", decide: () => GateOutcome.block("not today") }
    const world = makeWorld({
      script: [
        { calls: [call("add"), call("add"), { toolId: "weather", arguments: {} }, call("weather", { city: "Oslo" })] },
        "Done."
      ],
      tools: () => [tool],
      gate
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    const texts = [...outcome.messages].flatMap((message) =>
      message.role === "tool" ? [JSON.stringify(message.content)] : []
    )
    expect(texts.length).toBe(4)
    expect(texts[0]).toContain("unknown tool add")
    expect(texts[2]).toContain("city")
    expect(texts[3]).toContain("weather was blocked: not today")
    const phases = world.watched.commits
      .flatMap((commit) => commit.batch?.calls ?? [])
      .map((one) => ("reason" in one.phase ? one.phase.reason : one.phase._tag))
    expect(phases).toEqual(["NotVisible", "NotVisible", "InvalidArguments", "Blocked"])
    expect(world.watched.commits.flatMap((commit) => commit.tickets)).toEqual([])
  })

  it("[T5] the third identical invalid call shows the whole schema, and the fifth ends the run", async () => {
    const tool = cityTool()
    const world = makeWorld({
      script: () => ({ calls: [{ toolId: "weather", arguments: '{"town":"Oslo"}' }] }),
      tools: () => [tool]
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    const texts = [...outcome.messages].flatMap((message) =>
      message.role === "tool" ? [JSON.stringify(message.content)] : []
    )
    expect(texts.map((one) => one.includes("JSON Schema"))).toEqual([false, false, true, true, true])
    expect(outcome.disposition).toMatchObject({ cause: { _tag: "Error", failure: { reason: "RepeatedInvalidCall" } } })
  })

  it("[T5] the same call refused by the tool itself counts as well, and any other call breaks the row", async () => {
    const { ToolError } = await import("@toolwright/runtime-contract")
    const tool = rawTool({ id: "weather" }, ({ arguments: args }) => {
      if (args["city"] === "") throw ToolError.invalidArguments("name the city")
    })
    const cities = ["", "", "Oslo", "", "", "", "", ""]
    const world = makeWorld({
      script: (_request, index) => ({ calls: [call("weather", { city: cities[index] ?? "" })] }),
      tools: () => [tool]
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    expect(outcome.disposition).toMatchObject({ cause: { _tag: "Error", failure: { reason: "RepeatedInvalidCall" } } })
    expect(world.llm.requests.length).toBe(8)
  })

  it("[T5] one step that repeats a call counts once", async () => {
    const tool = cityTool()
    const bad = { toolId: "weather", arguments: "{" }
    const world = makeWorld({ script: [{ calls: [bad, bad, bad, bad, bad, bad] }, "Done."], tools: () => [tool] })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    expect(outcome.text).toBe("Done.")
  })

  it("[T4] lossless reading is an option of the snapshot and each use is a fact", async () => {
    const tool = rawTool({
      id: "count",
      inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
    })
    const script = [{ calls: [call("count", { n: "10" })] }, "Done."]
    const strict = makeWorld({ script, tools: () => [tool] })
    await strict.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    expect(strict.watched.commits[1]?.batch?.calls[0]?.phase._tag).toBe("NotRun")

    const lossless = makeWorld({ script, tools: () => [tool] })
    await lossless.runtime.run({
      snapshot: snapshotOf([tool], (builder) => builder.arguments("lossless")),
      input: "hi",
      principal
    })
    expect(lossless.watched.commits[1]?.batch?.calls[0]?.arguments).toEqual({ n: 10 })
    expect(lossless.watched.commits[1]?.notes).toMatchObject([{ type: "ArgumentsCoerced", pointers: ["/n"] }])
  })

  it("[L2] a step runs at most so many calls, and the others are told so", async () => {
    const world = makeWorld({
      script: [{ calls: [call("note"), call("note"), call("note")] }, "Done."],
      tools: (recorder) => [recorder.tool({ id: "note" })]
    })
    const snapshot = snapshotOf(world.tools, (builder) => builder.limits({ maxCallsPerStep: 2 }))
    const outcome = await world.runtime.run({ snapshot, input: "hi", principal })
    expect(world.recorder.effects.length).toBe(2)
    expect(outcome.messages.at(4)).toMatchObject({ role: "tool", outcome: "NotRun" })
  })
})
