import { createGoogleGenerativeAI } from "@ai-sdk/google"
import { createGoogleGenerativeAI as createGoogleGenerativeAIV4 } from "@ai-sdk/google-v4"
import { type Json, type LlmExecutor, type ToolDescriptor } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import type { CallOptionsV4, FunctionTool } from "../src/AiSdkModel.js"
import { AiSdkExecutor, type ModelSettings } from "../src/index.js"
import { describeTool, emptyArguments } from "./support/descriptors.js"
import { finish, partModel, text } from "./support/partModel.js"
import { collect, requestOf, signalOf } from "./support/requests.js"

const search = describeTool("search", {
  type: "object",
  properties: { q: { type: "string" }, lang: { type: "string" } },
  required: ["q"],
  additionalProperties: false
})
const map = describeTool("map", {
  type: "object",
  properties: { m: { type: "object", additionalProperties: { type: "number" } } }
})
const broken = describeTool("broken", { type: "object", properties: { a: { $ref: "#/$defs/Gone" } } })
const ping = describeTool("ping", emptyArguments)

const binding = (settings?: ModelSettings): LlmExecutor.ModelBinding =>
  settings === undefined
    ? { provider: "p", model: "m" }
    : { provider: "p", model: "m", settings: settings as Json.JsonObject }

interface Asked {
  readonly tools: ReadonlyArray<ToolDescriptor.ToolDescriptor>
  readonly provider?: string
  readonly settings?: ModelSettings
  readonly request?: Parameters<typeof requestOf>[0]
}

const sent = async ({ tools, provider = "openai.chat", settings, request }: Asked): Promise<CallOptionsV4> => {
  const model = partModel([...text("0", "hm"), finish("stop")], provider)
  await collect(
    AiSdkExecutor.fromModel(model).stream(requestOf({ tools, model: binding(settings), ...request }), signalOf())
  )
  return model.calls[0]!
}

const shown = (options: CallOptionsV4): ReadonlyArray<FunctionTool> =>
  (options.tools ?? []).filter((tool) => tool.type === "function")

describe("tools of a request", () => {
  it("[L7] are projected once for a snapshot's list, not once a request", async () => {
    const tools = [search, ping]
    const model = partModel([...text("0", "hm"), finish("stop")], "openai.chat")
    const llm = AiSdkExecutor.fromModel(model)
    for (let step = 1; step <= 3; step++) await collect(llm.stream(requestOf({ tools, step }), signalOf()))
    const [first, second, third] = model.calls.map((call) => call.tools![0])
    expect([first === second, second === third, (first as FunctionTool).inputSchema]).toEqual([
      true,
      true,
      search.inputSchema
    ])
  })

  it("[T7] that cannot be said are reported with tool and place before any request, and cost only themselves (C019)", async () => {
    const tools = [search, broken, ping]
    const llm = AiSdkExecutor.fromModel(partModel([]))
    expect(llm.refused(binding(), tools)).toEqual([
      { toolId: "broken", pointer: "/properties/a/$ref", reason: "a reference that leads nowhere in this schema" }
    ])
    expect(shown(await sent({ tools })).map((tool) => tool.name)).toEqual(["search", "ping"])
  })

  it("[T4] ask for strict mode one by one, where the binding wants it and the schema can be said in it (C022)", async () => {
    const settings = { strictTools: true }
    const tools = [search, map]
    expect(shown(await sent({ tools, settings }))).toEqual([
      expect.objectContaining({
        name: "search",
        strict: true,
        inputSchema: expect.objectContaining({ required: ["q", "lang"] }) as unknown
      }),
      expect.objectContaining({ name: "map", strict: false, inputSchema: map.inputSchema })
    ])
    expect(AiSdkExecutor.fromModel(partModel([], "openai.chat")).projection(binding(settings), tools).notes).toEqual([
      {
        toolId: "map",
        pointer: "/properties/m/additionalProperties",
        note: "shown without strict mode: keys that are not named"
      }
    ])
    expect(shown(await sent({ tools })).map((tool) => tool.strict)).toEqual([false, false])
    expect(shown(await sent({ tools, provider: "anthropic.messages" })).map((tool) => tool.strict)).toEqual([
      undefined,
      undefined
    ])
  })

  it("[L5] are narrowed by the provider's own choice where it has one, and by what is declared elsewhere", async () => {
    const narrow = (provider: string, toolIds: ReadonlyArray<string>) =>
      sent({ tools: [search, ping], provider, request: { toolChoice: { toolIds } } })
    const own = await narrow("openai.responses", ["ping"])
    const declared = await narrow("anthropic.messages", ["ping"])
    const none = await narrow("anthropic.messages", [])
    expect(
      [own, declared, none].map((options) => [shown(options).map((tool) => tool.name), options.toolChoice])
    ).toEqual([
      [["search", "ping"], { type: "auto" }],
      [["ping"], { type: "auto" }],
      [["search", "ping"], { type: "none" }]
    ])
    expect(own.providerOptions).toEqual({
      openai: { store: false, allowedTools: { toolNames: ["ping"], mode: "auto" } }
    })
  })

  it("[L2] stay declared when none may be called", async () => {
    const options = await sent({ tools: [ping], request: { toolChoice: "none" } })
    expect([shown(options).length, options.toolChoice]).toEqual([1, { type: "none" }])
  })

  it("[L7] stand beside tools that the provider runs itself", async () => {
    const settings = {
      providerTools: [{ id: "anthropic.web_search_20250305", name: "web_search", args: { maxUses: 2 } }]
    }
    const clash = describeTool("web_search", emptyArguments)
    const options = await sent({ tools: [ping, clash], provider: "anthropic.messages", settings })
    expect(options.tools?.map((tool) => [tool.type, tool.name])).toEqual([
      ["provider", "web_search"],
      ["function", "ping"]
    ])
  })
})

describe("settings of a binding", () => {
  it("[N1] are handed through, and options of the profile give way to them", async () => {
    const settings: ModelSettings = {
      temperature: 0,
      maxOutputTokens: 100,
      stopSequences: ["END"],
      reasoning: "low",
      headers: { "x-team": "a" },
      providerOptions: { openai: { store: true, user: "u" } }
    }
    expect(await sent({ tools: [], provider: "openai.responses", settings, request: { maxOutputTokens: 50 } })).toEqual(
      {
        abortSignal: expect.any(AbortSignal) as unknown,
        prompt: [{ role: "user", content: [{ type: "text", text: "hello" }] }],
        temperature: 0,
        maxOutputTokens: 50,
        stopSequences: ["END"],
        reasoning: "low",
        headers: { "x-team": "a" },
        providerOptions: { openai: { store: true, user: "u" } }
      }
    )
  })

  it("[N1] that are unknown or unfit reject the binding by name", async () => {
    const refusal = (settings: object) => sent({ tools: [], settings }).catch((error: Error) => error.message)
    expect([
      await refusal({ temprature: 1 }),
      await refusal({ temperature: "hot" }),
      await refusal({ providerTools: [{ id: "search", name: "s" }] }),
      await refusal({ profile: "acme" })
    ]).toEqual([
      expect.stringMatching(/^model p:m: settings\/temprature: expected one of temperature, topP/),
      'model p:m: settings/temperature: expected a number, got "hot"',
      expect.stringMatching(/^model p:m: settings\/providerTools: expected a list of/),
      'model p:m: settings/profile: expected one of openai, openai-responses, anthropic, google, mistral, common, got "acme"'
    ])
  })

  it("[N1] of v4 that v3 does not have are refused, not left out", async () => {
    const { specificationVersion: _, ...model } = partModel([])
    const llm = AiSdkExecutor.fromModel({
      ...model,
      specificationVersion: "v3",
      doStream: () => Promise.reject(new Error("not sent"))
    })
    await expect(
      collect(llm.stream(requestOf({ model: binding({ reasoning: "low" }) }), signalOf()))
    ).rejects.toMatchObject({
      reason: "bindingRejected",
      message: "settings/reasoning: a model of specification v3 takes it among providerOptions"
    })
  })
})

describe("models by provider", () => {
  it("[L7] are made once a name, may load first, and reject what is no model or no provider", async () => {
    let made = 0
    const llm = AiSdkExecutor.fromProviders({
      good: async (name) => {
        made++
        await Promise.resolve()
        return { ...partModel([...text("0", name), finish("stop")]), modelId: name }
      },
      old: () => ({ specificationVersion: "v2", provider: "old", modelId: "m", doStream: () => {} }),
      absent: () => Promise.reject(new Error("Cannot find package"))
    })
    const ask = (provider: string) =>
      collect(llm.stream(requestOf({ model: { provider, model: "m" } }), signalOf())).then(
        (events) => events[0],
        (error: { readonly reason: string; readonly message: string }) => `${error.reason}: ${error.message}`
      )
    expect([
      await ask("good"),
      await ask("good"),
      made,
      await ask("old"),
      await ask("absent"),
      await ask("constructor")
    ]).toEqual([
      { type: "text", text: "m" },
      { type: "text", text: "m" },
      1,
      "bindingRejected: model old:m: expected a language model of AI SDK specification v3 or v4",
      "bindingRejected: model absent:m: its package could not make it: Cannot find package",
      "bindingRejected: model constructor:m: expected a provider among good, old, absent"
    ])
  })
})

describe("a typed final answer", () => {
  const output = {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "number" } },
    required: ["a"],
    additionalProperties: false
  }

  it("[L2] is asked for by format where the provider has one, and in words elsewhere", async () => {
    const format = (await sent({ tools: [], request: { output } })).responseFormat
    expect(format).toEqual({
      type: "json",
      name: "answer",
      schema: expect.objectContaining({ required: ["a", "b"] }) as unknown
    })
    const loose = await sent({ tools: [], request: { output: map.inputSchema } })
    expect(loose.providerOptions).toEqual({ openai: { strictJsonSchema: false } })
    const words = await sent({ tools: [], provider: "ollama.chat", request: { output, instructions: "Be brief." } })
    expect([words.responseFormat, words.prompt[0]?.content]).toEqual([
      undefined,
      `Be brief.\n\nGive the final answer as one JSON value and nothing else. It must fit this JSON Schema:\n${JSON.stringify(output)}`
    ])
  })
})

describe("Google's own package", () => {
  it.each([
    ["v3", createGoogleGenerativeAI],
    ["v4", createGoogleGenerativeAIV4]
  ])(
    "[T7] %s accepts every projected tool, and sends none of the keywords that Google refuses (C023)",
    async (_, create) => {
      let body = ""
      const model = create({
        apiKey: "k",
        fetch: (_input, init) => {
          body = typeof init?.body === "string" ? init.body : ""
          return Promise.resolve(new Response("", { status: 500 }))
        }
      })("gemini-2.5-flash")
      const tools = [
        search,
        map,
        describeTool("enums", {
          type: "object",
          properties: { a: { enum: [1, "x", null] }, b: { type: ["string", "number", "null"] }, c: true }
        }),
        describeTool("tree", {
          type: "object",
          properties: { n: { $ref: "#/$defs/N" } },
          $defs: { N: { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/N" } } } } }
        })
      ]
      await expect(
        collect(AiSdkExecutor.fromModel(model).stream(requestOf({ tools }), signalOf()))
      ).rejects.toMatchObject({ status: 500 })
      const declared = (JSON.parse(body) as { tools: Array<{ functionDeclarations: Array<{ name: string }> }> })
        .tools[0]!.functionDeclarations
      expect(declared.map((tool) => tool.name)).toEqual(["search", "map", "enums", "tree"])
      expect(JSON.stringify(declared)).not.toMatch(/\$ref|\$defs|"additionalProperties":|"oneOf":|"const":|"type":\[/)
    }
  )
})
