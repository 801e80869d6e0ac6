/**
 * The tools of a snapshot as one kind of provider is shown them, and the way back from a call to its tool.
 *
 * Guarantees: made once per list of tools and profile, not per request; a tool that cannot be shown is refused with its
 * place and costs only itself; a name leads back to one tool, inherited names lead nowhere.
 * Does not decide what may be called: the snapshot, the registry and the gate do.
 */
import type { LlmExecutor, ToolDescriptor } from "@toolwright/runtime-contract"
import type { FunctionTool, JsonValue, ProviderTool } from "./AiSdkModel.js"
import { type ModelSettings, providerToolsOf } from "./ModelSettings.js"
import type { ProviderProfile } from "./ProviderProfile.js"
import { projectSchema } from "./SchemaProjection.js"
import { exposedName } from "./ToolNames.js"

/** What the model is shown differently from what was defined. Not a fault. */
export interface ProjectionNote {
  readonly toolId: string
  readonly pointer: string
  readonly note: string
}

export interface ProjectedTools {
  readonly tools: ReadonlyArray<FunctionTool | ProviderTool>
  readonly refused: ReadonlyArray<LlmExecutor.RefusedTool>
  readonly notes: ReadonlyArray<ProjectionNote>
  /** The id of the tool that was shown under this name; the name itself where there is none. */
  readonly toolIdOf: (name: string) => string
  /** The name that a tool was shown under, `undefined` where it was not. */
  readonly nameOf: (toolId: string) => string | undefined
}

/** Projects tools for a profile. `strictTools` and `providerTools` of the settings count. */
export const projectTools = (
  tools: ReadonlyArray<ToolDescriptor.ToolDescriptor>,
  to: { readonly profile: ProviderProfile; readonly settings?: ModelSettings }
): ProjectedTools => {
  const settings = to.settings ?? {}
  const own = providerToolsOf(settings)
  const shown = new Map<string, FunctionTool | ProviderTool>(own.map((tool) => [tool.name, tool]))
  const names = new Map<string, string>()
  const ids = new Map<string, string>()
  const refused: Array<LlmExecutor.RefusedTool> = []
  const notes: Array<ProjectionNote> = []
  const count = new Map<string, number>()
  for (const { id } of tools) count.set(id, (count.get(id) ?? 0) + 1)
  // Ids that fit come first, so that a changed name never takes the place of a tool that is called so.
  const kept = (tool: ToolDescriptor.ToolDescriptor): boolean => exposedName(tool.id, to.profile.names) === tool.id
  const ordered = [...tools.filter(kept), ...tools.filter((tool) => !kept(tool))]
  for (const tool of ordered) {
    const name = exposedName(tool.id, to.profile.names)
    const refuse = (pointer: string, reason: string): void => void refused.push({ toolId: tool.id, pointer, reason })
    if (count.get(tool.id) !== 1) refuse("", "the same id stands for more than one tool")
    else if (name === undefined) refuse("", "no name can be made of this id")
    else if (shown.has(name)) refuse("", `the name ${name} is taken by another tool`)
    else {
      const projected = projectTool(tool, { name, profile: to.profile, strict: settings.strictTools === true })
      if ("reason" in projected) {
        refuse(projected.pointer, projected.reason)
        continue
      }
      shown.set(name, projected.tool)
      names.set(tool.id, name)
      ids.set(name, tool.id)
      notes.push(...projected.notes)
      if (name !== tool.id) notes.push({ toolId: tool.id, pointer: "", note: `shown as ${name}` })
    }
  }
  const order = new Map(tools.map((tool, index) => [names.get(tool.id) ?? "", index]))
  const list = [...shown.values()].sort((a, b) => (order.get(a.name) ?? -1) - (order.get(b.name) ?? -1))
  return {
    tools: list,
    refused,
    notes,
    toolIdOf: (name) => ids.get(name) ?? name.toWellFormed(),
    nameOf: (toolId) => names.get(toolId)
  }
}

type ProjectedTool =
  | { readonly tool: FunctionTool; readonly notes: ReadonlyArray<ProjectionNote> }
  | { readonly pointer: string; readonly reason: string }

const projectTool = (
  tool: ToolDescriptor.ToolDescriptor,
  as: { readonly name: string; readonly profile: ProviderProfile; readonly strict: boolean }
): ProjectedTool => {
  const { dialect, strict } = as.profile
  const note = (pointer: string, text: string): ProjectionNote => ({ toolId: tool.id, pointer, note: text })
  const notes: Array<ProjectionNote> = []
  const tight = strict === undefined || !as.strict ? undefined : projectSchema(tool.inputSchema, strict)
  if (tight?.ok === false) notes.push(note(tight.pointer, `shown without strict mode: ${tight.reason}`))
  const projected = tight?.ok === true ? tight : projectSchema(tool.inputSchema, dialect)
  if (!projected.ok) return { pointer: projected.pointer, reason: projected.reason }
  for (const { keyword, pointer } of projected.dropped) notes.push(note(pointer, `${keyword} is not shown`))
  return {
    tool: {
      type: "function",
      name: as.name,
      description: tool.description.toWellFormed(),
      // Plain JSON, which the specification types as mutable; nobody changes it.
      inputSchema: projected.schema as { [key: string]: JsonValue },
      ...(strict === undefined ? {} : { strict: tight?.ok === true })
    },
    notes
  }
}

const cache = new WeakMap<ReadonlyArray<ToolDescriptor.ToolDescriptor>, Map<string, ProjectedTools>>()

/** The same projection for the same list of tools: every request of a snapshot carries the same list. */
export const projectedOnce = (
  tools: ReadonlyArray<ToolDescriptor.ToolDescriptor>,
  to: { readonly profile: ProviderProfile; readonly settings: ModelSettings }
): ProjectedTools => {
  const { providerTools, strictTools } = to.settings
  const key = `${to.profile.name} ${strictTools === true} ${providerTools === undefined ? "" : JSON.stringify(providerTools)}`
  let known = cache.get(tools)
  if (known === undefined) cache.set(tools, (known = new Map<string, ProjectedTools>()))
  let projected = known.get(key)
  if (projected === undefined) known.set(key, (projected = projectTools(tools, to)))
  return projected
}
