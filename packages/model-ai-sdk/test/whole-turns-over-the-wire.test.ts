import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { AiSdkExecutor } from "../src/index.js"
import { describeTool } from "./support/descriptors.js"
import { type Provider, providers } from "./support/providers.js"
import { collect, requestOf, signalOf, summary } from "./support/requests.js"
import { framesOf, type WireTurn } from "@toolwright/model-server"
import { WireServer } from "@toolwright/model-server"

let server: WireServer
beforeEach(async () => {
  server = await WireServer.start()
})
afterEach(() => server.close())

const weather = describeTool("get_weather", {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false
})

const turn: WireTurn = {
  text: "Let me look: café → 甲 😀.",
  calls: [
    { id: "call_1", name: "get_weather", arguments: '{"city":"Zürich 😀"}' },
    { id: "call_2", name: "get_weather", arguments: '{"city":"Oslo"}' }
  ],
  input: 21,
  output: 9
}

const said = [
  { type: "text", text: "Let me look: café → 甲 😀." },
  { type: "toolCall", callId: "call_1", toolId: "get_weather", arguments: '{"city":"Zürich 😀"}' },
  { type: "toolCall", callId: "call_2", toolId: "get_weather", arguments: '{"city":"Oslo"}' },
  { type: "finish", stop: "toolCalls", usage: expect.objectContaining({ inputTokens: 21, outputTokens: 9 }) as unknown }
]

const ask = (provider: Provider, fetch?: typeof globalThis.fetch) =>
  collect(
    AiSdkExecutor.fromModel(provider.model(server.url, fetch)).stream(
      requestOf({ instructions: "Be brief.", tools: [weather] }),
      signalOf()
    )
  )

/** The answer of the server in chunks of one byte. */
const byByte: typeof globalThis.fetch = async (input, init) => {
  const response = await fetch(input, init)
  const bytes = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      for (const byte of chunk) controller.enqueue(Uint8Array.of(byte))
    }
  })
  return new Response(response.body?.pipeThrough(bytes) ?? null, response)
}

describe.each(providers)("$name", (provider) => {
  it("[L7] gives text, both calls, usage and the stop of a turn, in order", async () => {
    server.reply({ frames: framesOf(provider.format, turn) })
    expect(summary(await ask(provider))).toEqual(said)
  })

  it("[L7] gives the same when every byte comes alone, characters of several bytes too (C109)", async () => {
    server.reply({ frames: framesOf(provider.format, turn) })
    expect(summary(await ask(provider, byByte))).toEqual(said)
  })

  it("[L7] shows arguments while they come, and a call only at the end of its turn (C106)", async () => {
    server.reply({ frames: framesOf(provider.format, turn) })
    const kinds = (await ask(provider)).map((event) => event.type)
    expect(kinds.indexOf("toolCallDelta")).toBeGreaterThan(-1)
    expect(kinds.slice(kinds.indexOf("toolCall"))).toEqual(["toolCall", "toolCall", "finish"])
  })
})
