/**
 * Checks the plugins of a runtime when it is made (L6): manifests, dependencies, bounds, and ids that nobody may share.
 *
 * Guarantees: fails with `RuntimeDefinitionError` that names the plugin and the axis, before anything is started; the order
 * that comes out is one of dependency, stable in the order given.
 * Does not look at configured contributions: those depend on a snapshot.
 */
import {
  type PermissionGate,
  Plugin,
  type RawToolRegistry,
  type RunEndGuard,
  type RunHook,
  StateKey
} from "@toolwright/runtime-contract"
import { RuntimeDefinitionError } from "../RuntimeDefinitionError.js"

export interface HostParts {
  readonly registry: RawToolRegistry
  readonly gates: ReadonlyArray<PermissionGate.PermissionGate>
  readonly hooks: ReadonlyArray<RunHook.RunHook>
  readonly guards: ReadonlyArray<RunEndGuard.RunEndGuard>
}

/** The plugins in the order of their dependencies. */
export const checkPlugins = (given: ReadonlyArray<Plugin.Plugin>, host: HostParts): ReadonlyArray<Plugin.Plugin> => {
  const byId = new Map<string, Plugin.Plugin>()
  for (const [index, plugin] of given.entries()) {
    const id = idOf(plugin)
    if (id === undefined)
      throw new RuntimeDefinitionError({
        option: `plugins/${index}`,
        expected: "a plugin with a manifest and an id",
        received: "something else"
      })
    if (byId.has(id))
      throw refuse(id, { axis: "id", expected: "an id of its own", received: "an id that another plugin has" })
    byId.set(id, plugin)
  }
  const ordered = inOrder(given, byId)
  const taken = hostIds(host)
  for (const plugin of ordered) {
    const problem = problemOf(plugin, { contributions: plugin.contributions ?? {}, taken })
    if (problem !== undefined) throw refuse(plugin.manifest.id, problem)
  }
  return ordered
}

const idOf = (plugin: unknown): string | undefined => {
  const id = isObject(plugin) && isObject(plugin["manifest"]) ? plugin["manifest"]["id"] : undefined
  return typeof id === "string" && id.trim() !== "" ? id : undefined
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** Depth first in the order given, so that what nothing orders stays where it was put. */
const inOrder = (
  given: ReadonlyArray<Plugin.Plugin>,
  byId: ReadonlyMap<string, Plugin.Plugin>
): ReadonlyArray<Plugin.Plugin> => {
  const ordered = new Set<Plugin.Plugin>()
  const visit = (plugin: Plugin.Plugin, path: ReadonlyArray<string>): void => {
    if (ordered.has(plugin)) return
    const { id, requires } = plugin.manifest
    if (path.includes(id))
      throw refuse(id, {
        axis: "requires",
        expected: "dependencies without a circle",
        received: [...path.slice(path.indexOf(id)), id].join(" > ")
      })
    for (const required of requires ?? []) {
      const next = byId.get(required)
      if (next === undefined)
        throw refuse(id, { axis: "requires", expected: `the plugin ${required}`, received: "no plugin of that id" })
      visit(next, [...path, id])
    }
    ordered.add(plugin)
  }
  for (const plugin of given) visit(plugin, [])
  return [...ordered]
}

export interface Problem {
  readonly axis: Plugin.Axis | "id" | "requires"
  readonly expected: string
  readonly received: string
}

const refuse = (plugin: string, { axis, expected, received }: Problem): RuntimeDefinitionError =>
  new RuntimeDefinitionError({ option: `plugins/${plugin}/${axis}`, expected, received, plugin, axis })

/** Ids that are in use, by axis. Grants and audits name gates by id, so those of the host count as well. */
export type TakenIds = Map<Plugin.Axis, Set<string>>

export const hostIds = ({ registry, gates, hooks, guards }: HostParts): TakenIds =>
  new Map<Plugin.Axis, Set<string>>([
    ["tools", new Set(registry.ids())],
    ["gates", new Set(gates.map(({ id }) => id))],
    ["hooks", new Set(hooks.map(({ id }) => id))],
    ["guards", new Set(guards.map(({ id }) => id))]
  ])

/** Why these contributions cannot be, or `undefined`; then their ids are taken. */
export const problemOf = (
  plugin: Plugin.Plugin,
  { contributions, taken }: { readonly contributions: Plugin.PluginContributions; readonly taken: TakenIds }
): Problem | undefined => {
  const unfit = shapeProblem(contributions)
  if (unfit !== undefined) return unfit
  const breach = Plugin.breachOf(plugin.manifest.bound, contributions)
  if (breach !== undefined) return { axis: breach.axis, expected: "what its bound admits", received: breach.id }
  for (const [axis, ids] of idsOf(contributions)) {
    const used = taken.get(axis) ?? new Set<string>()
    taken.set(axis, used)
    for (const id of ids) {
      if (used.has(id)) return { axis, expected: "an id that is contributed once", received: id }
      used.add(id)
    }
  }
  return undefined
}

const idsOf = (given: Plugin.PluginContributions): ReadonlyArray<readonly [Plugin.Axis, ReadonlyArray<string>]> => [
  ["tools", (given.tools ?? []).map((tool) => tool.spec().id)],
  ["stateKeys", (given.stateKeys ?? []).map(({ scope, name }) => `${scope}:${name}`)],
  ["hooks", (given.hooks ?? []).map(({ id }) => id)],
  ["gates", (given.gates ?? []).map(({ id }) => id)],
  ["guards", (given.guards ?? []).map(({ id }) => id)],
  ["actionKinds", given.actionKinds ?? []],
  ["constraints", (given.constraints ?? []).map(({ id }) => id)]
]

const has = (value: unknown, method: string): boolean => isObject(value) && typeof value[method] === "function"

const isNamed = (value: unknown): boolean =>
  isObject(value) && typeof value["id"] === "string" && value["id"].trim() !== ""

/** Plugins come from callers without a compiler as well. */
const shapeProblem = (given: Plugin.PluginContributions): Problem | undefined => {
  const bad = (axis: Plugin.Axis, expected: string): Problem => ({ axis, expected, received: "something else" })
  if ((given.tools ?? []).some((tool) => !has(tool, "spec") || !has(tool, "invoke")))
    return bad("tools", "erased tools")
  if ((given.stateKeys ?? []).some((key) => !StateKey.isStateKey(key))) return bad("stateKeys", "state keys")
  if ((given.hooks ?? []).some((hook) => !isNamed(hook))) return bad("hooks", "hooks with an id")
  if ((given.gates ?? []).some((gate) => !isNamed(gate) || !has(gate, "decide")))
    return bad("gates", "gates with an id")
  if ((given.guards ?? []).some((guard) => !isNamed(guard) || !has(guard, "decide")))
    return bad("guards", "guards with an id")
  if ((given.constraints ?? []).some((one) => !isNamed(one) || !has(one, "narrow")))
    return bad("constraints", "constraints with an id")
  return undefined
}
