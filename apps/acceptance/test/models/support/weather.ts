import { erase } from "@toolwright/builtin-tools"
import { PermissionGate } from "@toolwright/permissions"
import { Runtime } from "@toolwright/runtime"
import {
  ExecutableAgentSnapshot,
  type LlmExecutor,
  type RunEvent,
  Tool,
  ToolDescriptor
} from "@toolwright/runtime-contract"
import { Type } from "typebox"

export const GetWeather = Tool.define({
  id: "get_weather",
  description: "Return the current weather for one city",
  args: Type.Object({ city: Type.String(), unit: Type.Optional(Type.Union([Type.Literal("c"), Type.Literal("f")])) }),
  output: Type.String(),
  recovery: "ReplaySafe"
})

export const snapshotFor = (model: LlmExecutor.ModelBinding, ...fallbacks: ReadonlyArray<LlmExecutor.ModelBinding>) =>
  fallbacks
    .reduce(
      (builder, fallback) => builder.fallback(fallback),
      ExecutableAgentSnapshot.builder("weather-agent").instructions("Answer questions about the weather.").model(model)
    )
    .tool(ToolDescriptor.forTool(GetWeather, "custom:weather"))
    .build()

/** A runtime over a model, with what its tool was called with and what was to be seen of its runs. */
export const weatherRuntime = (llm: LlmExecutor.LlmExecutor) => {
  const called: Array<object> = []
  const events: Array<RunEvent.RunEvent> = []
  const weather = Tool.implement(GetWeather, (args) => {
    called.push(args)
    return `22 degrees in ${args.city}`
  })
  let ids = 0
  const runtime = Runtime.make({
    llm,
    gate: PermissionGate.allowAll,
    tools: [erase(weather)],
    idSource: () => `id-${++ids}`
  })
  const run = (given: { readonly snapshot: ReturnType<typeof snapshotFor>; readonly input: string }) =>
    runtime.run({ ...given, principal: "ada", onEvent: (event) => events.push(event) })
  return { called, events, run }
}
