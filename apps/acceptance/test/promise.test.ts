import { erase } from "@toolwright/builtin-tools"
import { Runtime } from "@toolwright/runtime"
import {
  ExecutableAgentSnapshot,
  GateOutcome,
  Tool,
  ToolArgs,
  ToolDescriptor,
  ToolRecovery
} from "@toolwright/runtime-contract"
import { expectTranscript, ScriptedGate, ScriptedLlm } from "@toolwright/testing"
import { Type } from "typebox"
import { describe, expect, it } from "vitest"

// A tool is defined once. What the model sees and what runs both come from this.
const GetWeather = Tool.define({
  id: "get_weather",
  description: "Return the current weather for one city",
  args: Type.Object({ city: Type.String() }),
  output: Type.String(),
  recovery: "ReplaySafe"
})

interface WeatherClient {
  readonly current: (city: string) => Promise<string>
}

const weather = (client: WeatherClient) =>
  Tool.implement(GetWeather, ({ city }) => {
    if (city.trim() === "")
      throw ToolArgs.invalidArguments("get_weather", [
        { pointer: "/city", expected: "the name of a city", received: "an empty text", fix: "name the city" }
      ])
    return client.current(city)
  })

const sunnyClient = (): WeatherClient & { readonly asked: Array<string> } => {
  const asked: Array<string> = []
  return {
    asked,
    current: (city) => {
      asked.push(city)
      return Promise.resolve(`22 degrees and sunny in ${city}`)
    }
  }
}

// What the model may see is pinned without a client: visibility and executability are separate decisions.
const snapshot = ExecutableAgentSnapshot.builder("weather-agent")
  .instructions("Answer questions about the weather.")
  .model({ provider: "scripted", model: "one" })
  .tool(ToolDescriptor.forTool(GetWeather, "custom:weather"))
  .build()

describe("the promise", () => {
  it("a model asks for get_weather once, the gate allows it, it runs once, its result is committed, and the run ends", async () => {
    const client = sunnyClient()
    const llm = new ScriptedLlm([
      { calls: [{ toolId: "get_weather", arguments: { city: "Lisbon" } }] },
      "It is 22 degrees and sunny in Lisbon."
    ])
    const gate = new ScriptedGate({ get_weather: GateOutcome.allow })
    const runtime = Runtime.make({ llm, gate, tools: [erase(weather(client))] })

    const outcome = await runtime.run({ snapshot, input: "What is the weather in Lisbon?", principal: "ada" })

    expect(snapshot.tools.map((tool) => tool.id)).toEqual(["get_weather"])
    expect(gate.calls.map((call) => [call.tool.id, call.arguments, call.principal])).toEqual([
      ["get_weather", { city: "Lisbon" }, "ada"]
    ])
    expect(client.asked).toEqual(["Lisbon"])
    expectTranscript(outcome.messages, [
      "user: What is the weather in Lisbon?",
      'assistant: get_weather {"city":"Lisbon"}',
      "tool get_weather: 22 degrees and sunny in Lisbon",
      "assistant: It is 22 degrees and sunny in Lisbon."
    ])
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
    expect(outcome.text).toBe("It is 22 degrees and sunny in Lisbon.")
    llm.assertDone()
    gate.assertDone()
  })

  it("invalid JSON and an empty city come back to the model as errors, and it corrects itself", async () => {
    const client = sunnyClient()
    const llm = new ScriptedLlm([
      { calls: [{ toolId: "get_weather", arguments: '{"city": Lisbon}' }] },
      { calls: [{ toolId: "get_weather", arguments: { city: " " } }] },
      { calls: [{ toolId: "get_weather", arguments: { city: "Lisbon" } }] },
      "Sunny."
    ])
    const gate = new ScriptedGate({ get_weather: GateOutcome.allow })
    const runtime = Runtime.make({ llm, gate, tools: [erase(weather(client))] })

    const outcome = await runtime.run({ snapshot, input: "Weather in Lisbon?", principal: "ada" })

    expectTranscript(outcome.messages, [
      "user: Weather in Lisbon?",
      'assistant: get_weather refused {"city": Lisbon}',
      /^tool get_weather error NotRun: .*JSON/su,
      'assistant: get_weather {"city":" "}',
      /^tool get_weather error: .*\/city.*the name of a city/su,
      'assistant: get_weather {"city":"Lisbon"}',
      "tool get_weather: 22 degrees and sunny in Lisbon",
      "assistant: Sunny."
    ])
    expect(client.asked).toEqual(["Lisbon"])
    expect(gate.calls.map((call) => call.arguments)).toEqual([{ city: " " }, { city: "Lisbon" }])
    llm.assertDone()
  })

  it("[T12] an id that is registered twice is callable by nobody, even with the same object", async () => {
    const client = sunnyClient()
    const tool = erase(weather(client))
    const llm = new ScriptedLlm([
      { calls: [{ toolId: "get_weather", arguments: { city: "Lisbon" } }] },
      "I cannot tell."
    ])
    const gate = new ScriptedGate({})
    const runtime = Runtime.make({ llm, gate, tools: [tool, tool] })

    const outcome = await runtime.run({ snapshot, input: "Weather?", principal: "ada" })

    expectTranscript(outcome.messages, [
      "user: Weather?",
      'assistant: get_weather refused {"city":"Lisbon"}',
      "tool get_weather error NotRun: tool get_weather is registered more than once",
      "assistant: I cannot tell."
    ])
    expect(client.asked).toEqual([])
    expect(gate.calls).toEqual([])
  })

  it("[E4] a tool that is registered but not in the snapshot cannot be called", async () => {
    const client = sunnyClient()
    const blind = ExecutableAgentSnapshot.builder("blind-agent").model({ provider: "scripted", model: "one" }).build()
    const llm = new ScriptedLlm([
      { calls: [{ toolId: "get_weather", arguments: { city: "Lisbon" } }] },
      "I have no tools."
    ])
    const gate = new ScriptedGate({})
    const runtime = Runtime.make({ llm, gate, tools: [erase(weather(client))] })

    const outcome = await runtime.run({ snapshot: blind, input: "Weather?", principal: "ada" })

    expectTranscript(outcome.messages, [
      "user: Weather?",
      'assistant: get_weather refused {"city":"Lisbon"}',
      "tool get_weather error NotRun: unknown tool get_weather",
      "assistant: I have no tools."
    ])
    expect(client.asked).toEqual([])
    expect(gate.calls).toEqual([])
  })

  it("[E4] a tool that is in the snapshot but not registered is unknown", async () => {
    const llm = new ScriptedLlm([
      { calls: [{ toolId: "get_weather", arguments: { city: "Lisbon" } }] },
      "It is not there."
    ])
    const gate = new ScriptedGate({})
    const runtime = Runtime.make({ llm, gate, tools: [] })

    const outcome = await runtime.run({ snapshot, input: "Weather?", principal: "ada" })

    expectTranscript(outcome.messages, [
      "user: Weather?",
      'assistant: get_weather refused {"city":"Lisbon"}',
      "tool get_weather error NotRun: unknown tool get_weather",
      "assistant: It is not there."
    ])
    expect(gate.calls).toEqual([])
  })

  it("[P1] a runtime without a gate does not build", () => {
    const llm = new ScriptedLlm([])
    // Somebody without a compiler can forget the gate.
    const options = { llm, tools: [] } as unknown as Parameters<typeof Runtime.make>[0]
    expect(() => Runtime.make(options)).toThrow("Runtime.make: gate: expected a permission gate")
  })

  it("[R4] the pinned policy is derived from the tool's capability", () => {
    expect(snapshot.tools[0]?.policy).toEqual(ToolRecovery.make("ReplaySafe"))
  })
})
