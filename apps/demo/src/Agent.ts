/**
 * The agent of the demo: its tools, and what is pinned for each of its runs.
 *
 * Guarantees: the same tools and the same instructions whichever model speaks, and wherever the folder lies.
 * Does not run anything, and does not say who may call what: the policy does.
 */
import { erase } from "@toolwright/builtin-tools"
import { Calculate, calculate } from "@toolwright/builtin-tools/calculate"
import { CurrentTime, currentTime } from "@toolwright/builtin-tools/current-time"
import { ExecutableAgentSnapshot, type LlmExecutor, type RawTool, ToolDescriptor } from "@toolwright/runtime-contract"
import { handDescriptors } from "./Hands.js"
import { saveNote, SaveNote } from "./Notes.js"
import { addToList, AddToList } from "./ShoppingList.js"
import { getWeather, GetWeather, type WeatherSource } from "./Weather.js"

/** The tools that need no folder. */
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

const instructions = "Answer with the tools at hand. Say where an answer comes from."

const workInstructions = [
  "You also work on a folder of files, with paths relative to it. Look before you change: read a file, then edit it.",
  "Run its tests before and after a change; say what you changed and whether they pass.",
  "A call may be refused. In plan mode nothing that writes runs: look, then say what you would do."
].join(" ")

/** With a folder: also what works on it. */
export const snapshotFor = (
  model: LlmExecutor.ModelBinding,
  { hasFolder }: { readonly hasFolder: boolean }
): ExecutableAgentSnapshot.ExecutableAgentSnapshot =>
  ExecutableAgentSnapshot.builder("demo")
    .instructions(hasFolder ? `${instructions} ${workInstructions}` : instructions)
    .model(model)
    .tools([
      ToolDescriptor.forTool(GetWeather, "demo:weather"),
      ToolDescriptor.forTool(Calculate, "builtin:calculate"),
      ToolDescriptor.forTool(CurrentTime, "builtin:current-time"),
      ToolDescriptor.forTool(SaveNote, "demo:notes"),
      ToolDescriptor.forTool(AddToList, "demo:shopping-list"),
      ...(hasFolder ? handDescriptors : [])
    ])
    .build()
