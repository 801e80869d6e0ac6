// The README of the package says these lines word for word.
import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAI } from "@ai-sdk/openai"
import { erase } from "@toolwright/builtin-tools"
import { AiSdkExecutor } from "@toolwright/model-ai-sdk"
import { framesOf, WireServer } from "@toolwright/model-server"
import { PermissionGate } from "@toolwright/permissions"
import { ModelPolicy, Runtime } from "@toolwright/runtime"
import {
  ExecutableAgentSnapshot,
  type LlmExecutor,
  RuntimeClock,
  Tool,
  ToolDescriptor
} from "@toolwright/runtime-contract"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { GetWeather } from "./support/weather.js"

let server: WireServer
beforeEach(async () => {
  server = await WireServer.start()
})
afterEach(() => server.close())

const weather = Tool.implement(GetWeather, ({ city }) => `22 degrees in ${city}`)

describe("the README of the model adapter", () => {
  it("shows a model that is handed over, and one that is found by name", async () => {
    server.reply(
      { frames: framesOf("responses", { calls: [{ id: "c", name: "get_weather", arguments: '{"city":"Oslo"}' }] }) },
      { frames: framesOf("responses", { text: "22 degrees." }) },
      { frames: framesOf("anthropic", { text: "Good morning." }) }
    )
    const openai = createOpenAI({ apiKey: "k", baseURL: server.url })
    const anthropic = createAnthropic({ apiKey: "k", baseURL: server.url })
    // #region model
    const runtime = Runtime.make({
      llm: AiSdkExecutor.fromModel(openai("gpt-5-mini")),
      gate: PermissionGate.allowAll,
      tools: [erase(weather)]
    })
    const snapshot = ExecutableAgentSnapshot.builder("weather-agent")
      .model({ provider: "openai", model: "gpt-5-mini", settings: { maxOutputTokens: 2_000 } })
      .tool(ToolDescriptor.forTool(GetWeather, "custom:weather"))
      .build()
    const { text } = await runtime.run({ snapshot, input: "How warm is it in Oslo?", principal: "ada" })
    // #endregion
    expect(text).toBe("22 degrees.")

    // #region providers
    const models = AiSdkExecutor.fromProviders({
      openai: (name) => openai(name),
      anthropic: (name) => anthropic(name)
    })
    const llm = ModelPolicy.around(models, { environment: { clock: RuntimeClock.system } })
    const named = ExecutableAgentSnapshot.builder("greeter")
      .model({ provider: "anthropic", model: "claude-sonnet-4-5" })
      .fallback({ provider: "openai", model: "gpt-5-mini" })
      .build()
    // #endregion
    const greeter = Runtime.make({ llm, gate: PermissionGate.allowAll, tools: [] })
    expect((await greeter.run({ snapshot: named, input: "Hello", principal: "ada" })).text).toBe("Good morning.")
  })

  it("shows how a tool that a model cannot be shown is found before the first request", () => {
    const llm: AiSdkExecutor.AiSdkExecutor = AiSdkExecutor.fromModel(
      createAnthropic({ apiKey: "k" })("claude-sonnet-4-5")
    )
    const binding: LlmExecutor.ModelBinding = { provider: "anthropic", model: "claude-sonnet-4-5" }
    const odd = ToolDescriptor.forTool(
      {
        spec: {
          id: "odd",
          description: "A tool with a name in it that this provider does not take",
          inputSchema: { type: "object", properties: { "naïve key": { type: "string" } } },
          kind: "Regular",
          target: "Brain",
          warnings: []
        },
        recovery: "NonRecoverable"
      },
      "mcp:odd"
    )
    const tools = [odd, ToolDescriptor.forTool(GetWeather, "custom:weather")]
    // #region refused
    const refused = llm.refused(binding, tools)
    // [{ toolId: "odd", pointer: "/properties/naïve key", reason: "a property name that does not match …" }]
    // #endregion
    expect(refused).toEqual([
      {
        toolId: "odd",
        pointer: "/properties/naïve key",
        reason: "a property name that does not match ^[a-zA-Z0-9_.-]{1,64}$"
      }
    ])
  })
})
