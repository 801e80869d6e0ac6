// #region run
import { erase } from "@toolwright/builtin-tools"
import { PermissionGate } from "@toolwright/permissions"
import { Runtime } from "@toolwright/runtime"
import { ExecutableAgentSnapshot, type LlmExecutor, ToolDescriptor } from "@toolwright/runtime-contract"
import { GetWeather, getWeather } from "./first-tool.js"

// What the model may see, pinned for a run. It needs no weather station.
export const snapshot = ExecutableAgentSnapshot.builder("weather-agent")
  .instructions("Answer questions about the weather.")
  .model({ provider: "openai", model: "gpt-5" })
  .tool(ToolDescriptor.forTool(GetWeather, "custom:weather"))
  .build()

export const ask = async (llm: LlmExecutor.LlmExecutor, station: (city: string) => Promise<number | undefined>) => {
  // What can run, and who may call it. Without a gate there is no runtime.
  const runtime = Runtime.make({
    llm,
    gate: PermissionGate.make({ allow: ["get_weather"], default: "deny" }),
    tools: [erase(getWeather(station))]
  })
  const outcome = await runtime.run({ snapshot, input: "How warm is it in Lisbon?", principal: "ada" })
  await runtime.close()
  return outcome
}
// #endregion
