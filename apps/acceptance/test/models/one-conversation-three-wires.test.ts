import { framesOf, type WireFormat, type WireTurn, WireServer } from "@toolwright/model-server"
import type { Message } from "@toolwright/runtime-contract"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { snapshotFor, weatherRuntime } from "./support/weather.js"
import { executorOf, wires } from "./support/wires.js"

let server: WireServer
beforeEach(async () => {
  server = await WireServer.start()
})
afterEach(() => server.close())

const turns: ReadonlyArray<WireTurn> = [
  {
    text: "Let me look: café → 甲 😀.",
    calls: [
      { id: "call_1", name: "get_weather", arguments: '{"city":"Zürich 😀"}' },
      { id: "call_2", name: "get_weather", arguments: '{"town":"Oslo"}' }
    ]
  },
  { calls: [{ id: "call_3", name: "get_weather", arguments: '{"city":"Oslo","unit":null}' }], input: 30, output: 4 },
  { text: "Zürich and Oslo: 22 degrees." }
]

/** A message without what only its provider reads, and without what names this run. */
const plain = (message: Message.Message): unknown =>
  JSON.parse(
    JSON.stringify(message, (key: string, value: unknown) =>
      ["id", "runId", "operationId", "providerMetadata"].includes(key) ? undefined : value
    )
  )

const model = { provider: "wire", model: "m" }

const refusal = expect.stringContaining("/town") as unknown as string

const committed = [
  { role: "user", content: [{ type: "text", text: "Zürich and Oslo?" }] },
  {
    role: "assistant",
    step: 1,
    stop: "toolCalls",
    content: [
      { type: "text", text: "Let me look: café → 甲 😀." },
      { type: "toolCall", callId: "call_1", toolId: "get_weather", arguments: { city: "Zürich 😀" } },
      { type: "toolCall", callId: "call_2", toolId: "get_weather", arguments: {}, rawArguments: '{"town":"Oslo"}' }
    ]
  },
  {
    role: "tool",
    callId: "call_1",
    toolId: "get_weather",
    outcome: "Completed",
    isError: false,
    content: [{ type: "text", text: "22 degrees in Zürich 😀" }],
    data: "22 degrees in Zürich 😀"
  },
  {
    role: "tool",
    callId: "call_2",
    toolId: "get_weather",
    outcome: "NotRun",
    isError: true,
    content: [{ type: "text", text: refusal }]
  },
  {
    role: "assistant",
    step: 2,
    stop: "toolCalls",
    content: [{ type: "toolCall", callId: "call_3", toolId: "get_weather", arguments: { city: "Oslo" } }]
  },
  {
    role: "tool",
    callId: "call_3",
    toolId: "get_weather",
    outcome: "Completed",
    isError: false,
    content: [{ type: "text", text: "22 degrees in Oslo" }],
    data: "22 degrees in Oslo"
  },
  { role: "assistant", step: 3, stop: "endTurn", content: [{ type: "text", text: "Zürich and Oslo: 22 degrees." }] }
]

describe.each(wires)("$name", (wire) => {
  it("[L7] a whole conversation with tools ends in the same committed transcript as over any other wire", async () => {
    server.reply(...turns.map((turn) => ({ frames: framesOf(wire.format, turn) })))
    const { called, events, run } = weatherRuntime(executorOf(wire, server.url))
    const outcome = await run({ snapshot: snapshotFor(model), input: "Zürich and Oslo?" })
    expect(outcome.messages.toArray().map(plain)).toEqual(committed)
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
    expect(called).toEqual([{ city: "Zürich 😀" }, { city: "Oslo" }])
    const spent = events.flatMap((event) =>
      event._tag === "Fact" && event.fact.type === "Noted" && event.fact.note.type === "UsageRecorded"
        ? [event.fact.note.usage.inputTokens]
        : []
    )
    expect(spent).toEqual([10, 30, 10])
  })

  it("[L4] reasoning goes back to its provider with its seal, behind results too", async () => {
    server.reply(
      { frames: framesOf(wire.format, { reasoning: "I should look.", ...turns[1] }) },
      { frames: framesOf(wire.format, { text: "22 degrees." }) }
    )
    const { run } = weatherRuntime(executorOf(wire, server.url))
    const outcome = await run({ snapshot: snapshotFor(model), input: "Oslo?" })
    expect(outcome.text).toBe("22 degrees.")
    expect(reasoningIn((await server.request(1)).body, wire.format)).toEqual(
      sealed[wire.name.startsWith("compatible") ? "compatible" : wire.format]
    )
  })
})

const sealed = {
  anthropic: { type: "thinking", thinking: "I should look.", signature: "signed" },
  responses: {
    type: "reasoning",
    id: "rs_1",
    encrypted_content: "sealed",
    summary: [{ type: "summary_text", text: "I should look." }]
  },
  chat: undefined,
  compatible: "I should look."
}

/** The reasoning that a request sends back. */
const reasoningIn = (body: Record<string, unknown>, format: WireFormat): unknown => {
  const items = (body["messages"] ?? body["input"]) as Array<Record<string, unknown>>
  if (format === "responses") return items.find((item) => item["type"] === "reasoning")
  const assistant = items.find((item) => item["role"] === "assistant") ?? {}
  if (format === "chat") return assistant["reasoning_content"]
  return (assistant["content"] as Array<Record<string, unknown>>)[0]
}
