/**
 * The agent of the demo: its five tools, and what is pinned for each of its runs.
 *
 * Guarantees: the same tools and the same instructions whichever model speaks.
 * Does not run anything, and does not say who may call what: the policy does.
 */
import { erase } from "@toolwright/builtin-tools"
import { Calculate, calculate } from "@toolwright/builtin-tools/calculate"
import { CurrentTime, currentTime } from "@toolwright/builtin-tools/current-time"
import { ExecutableAgentSnapshot, type LlmExecutor, type RawTool, ToolDescriptor } from "@toolwright/runtime-contract"
import { saveNote, SaveNote } from "./Notes.js"
import { addToList, AddToList } from "./ShoppingList.js"
import { getWeather, GetWeather, type WeatherSource } from "./Weather.js"

export const toolsOf = (sources: {
  readonly weather: WeatherSource
  readonly notes: string
}): ReadonlyArray<RawTool.RawTool> => [
  erase(getWeather(sources.weather)),
  erase(calculate()),
  erase(currentTime()),
  erase(saveNote(sources.notes)),
  erase(addToList(sources.notes))
]

export const snapshotFor = (model: LlmExecutor.ModelBinding): ExecutableAgentSnapshot.ExecutableAgentSnapshot =>
  ExecutableAgentSnapshot.builder("demo")
    .instructions("Answer with the tools at hand. Say where an answer comes from.")
    .model(model)
    .tools([
      ToolDescriptor.forTool(GetWeather, "demo:weather"),
      ToolDescriptor.forTool(Calculate, "builtin:calculate"),
      ToolDescriptor.forTool(CurrentTime, "builtin:current-time"),
      ToolDescriptor.forTool(SaveNote, "demo:notes"),
      ToolDescriptor.forTool(AddToList, "demo:shopping-list")
    ])
    .build()
