/**
 * What surrounds the runs of one snapshot: the host's hooks, gates and guards, and those of the plugins it selects.
 *
 * Guarantees: made once per snapshot; only selected plugins contribute, in the order of their dependencies, behind the
 * host; what cannot be had (a plugin that is not installed, a configuration that is refused) is a gate that blocks.
 * Does not call anything. Without plugins it is the host's own, and costs nothing.
 */
import {
  ContextMessages,
  type ExecutableAgentSnapshot,
  GateOutcome,
  type PermissionGate,
  type Plugin,
  type RawTool,
  RawToolRegistry,
  type RunEndGuard,
  type RunHook,
  type StateKey
} from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import type { Engine } from "./engine.js"
import { hostIds, problemOf, type TakenIds } from "./pluginChecks.js"
import { isThenable } from "./settle.js"

export interface PlacedHook {
  readonly hook: RunHook.RunHook
  /** The keys that it may stage, as `scope:name`; `undefined` for the host's own hooks, which may stage any. */
  readonly keys: ReadonlySet<string> | undefined
}

export interface PluginEnvironment {
  readonly hooks: ReadonlyArray<PlacedHook>
  readonly gates: ReadonlyArray<PermissionGate.PermissionGate>
  readonly guards: ReadonlyArray<RunEndGuard.RunEndGuard>
  readonly constraints: ReadonlyArray<Plugin.ConcurrencyConstraint>
  readonly stateKeys: ReadonlyArray<StateKey.StateKey>
  /** Tools of plugins; `undefined` where there are none. */
  readonly tools: RawToolRegistry | undefined
  /** Why runs of this snapshot cannot start here. */
  readonly problem: string | undefined
}

type Selected = ExecutableAgentSnapshot.ExecutableAgentSnapshot["plugins"]

export const environmentOf = (engine: Engine, selected: Selected): PluginEnvironment => {
  if (selected.length === 0) return engine.environment
  const chosen = new Map(selected.map((one) => [one.id, one]))
  const installed = engine.plugins.filter(({ manifest }) => chosen.has(manifest.id))
  const missing = selected.find(({ id }) => !installed.some(({ manifest }) => manifest.id === id))
  if (missing !== undefined) return broken(engine, `the plugin ${missing.id} is not installed`)
  const parts: Array<Part> = []
  const taken = hostIds({
    ...engine,
    hooks: engine.environment.hooks.map(({ hook }) => hook),
    guards: engine.environment.guards
  })
  for (const plugin of installed) {
    const { id, requires } = plugin.manifest
    const absent = (requires ?? []).find((one) => !chosen.has(one))
    if (absent !== undefined)
      return broken(engine, `the plugin ${id} requires ${absent}, which the snapshot does not select`)
    const part = partOf(plugin, { configuration: chosen.get(id)?.configuration, taken })
    if (typeof part === "string") return broken(engine, `the plugin ${id} ${part}`)
    parts.push(part)
  }
  return joined(engine, parts)
}

/** The host's own surroundings. */
export const hostEnvironment = (host: {
  readonly hooks: ReadonlyArray<RunHook.RunHook>
  readonly gates: ReadonlyArray<PermissionGate.PermissionGate>
  readonly guards: ReadonlyArray<RunEndGuard.RunEndGuard>
  readonly stateKeys: ReadonlyArray<StateKey.StateKey>
}): PluginEnvironment => ({
  hooks: host.hooks.map((hook) => ({ hook, keys: undefined })),
  gates: host.gates,
  guards: host.guards,
  constraints: [],
  stateKeys: [...host.stateKeys, ContextMessages.key],
  tools: undefined,
  problem: undefined
})

type Part = Required<Omit<Plugin.PluginContributions, "hooks">> & { readonly hooks: ReadonlyArray<PlacedHook> }

interface Configuring {
  readonly configuration: Selected[number]["configuration"]
  readonly taken: TakenIds
}

/** What a plugin contributes to this snapshot, or what is wrong with it. */
const partOf = (plugin: Plugin.Plugin, { configuration, taken }: Configuring): Part | string => {
  const { bound } = plugin.manifest
  let more: Plugin.PluginContributions
  try {
    more = plugin.configure?.(configuration) ?? {}
  } catch (error) {
    return `refuses its configuration: ${error instanceof Error ? error.message : "it failed"}`
  }
  const fixed = plugin.contributions ?? {}
  for (const contributions of [fixed, more]) {
    const problem = problemOf(plugin, { contributions, taken })
    if (problem !== undefined)
      return `contributes outside its bound (${problem.axis}): expected ${problem.expected}, received ${problem.received}`
  }
  const stateKeys = [...(fixed.stateKeys ?? []), ...(more.stateKeys ?? [])]
  const own = bound?.requestContext === true ? [...stateKeys, ContextMessages.key] : stateKeys
  const keys = new Set(own.map(({ scope, name }) => `${scope}:${name}`))
  const actionKinds = [...(fixed.actionKinds ?? []), ...(more.actionKinds ?? [])]
  return {
    tools: [...(fixed.tools ?? []), ...(more.tools ?? [])],
    stateKeys,
    hooks: [...(fixed.hooks ?? []), ...(more.hooks ?? [])].map((hook) => ({ hook, keys })),
    gates: [...(fixed.gates ?? []), ...(more.gates ?? [])].map((gate) => bounded(gate, actionKinds)),
    guards: [...(fixed.guards ?? []), ...(more.guards ?? [])],
    actionKinds,
    constraints: [...(fixed.constraints ?? []), ...(more.constraints ?? [])]
  }
}

const joined = (engine: Engine, parts: ReadonlyArray<Part>): PluginEnvironment => {
  const { environment: host } = engine
  const tools = parts.flatMap((part) => part.tools)
  return {
    hooks: [...host.hooks, ...parts.flatMap(({ hooks }) => hooks)],
    gates: [...host.gates, ...parts.flatMap(({ gates }) => gates)],
    guards: [...host.guards, ...parts.flatMap(({ guards }) => guards)],
    constraints: parts.flatMap(({ constraints }) => constraints),
    stateKeys: [...host.stateKeys, ...parts.flatMap(({ stateKeys }) => stateKeys)],
    tools: tools.length === 0 ? undefined : new RawToolRegistry(tools),
    problem: undefined
  }
}

/** Calls are blocked, so that answers, cancel and stop still work on a run that is found. */
const broken = (engine: Engine, problem: string): PluginEnvironment => {
  const gate: PermissionGate.PermissionGate = Object.freeze({
    id: "missing-plugin",
    decide: () => GateOutcome.block(`this run cannot call tools here: ${problem}`),
    denies: () => `this run cannot call tools here: ${problem}`
  })
  return { ...engine.environment, gates: [gate, ...engine.environment.gates], problem }
}

/** A plugin's gate may schedule only the kinds of actions that its plugin contributes. */
const bounded = (gate: PermissionGate.PermissionGate, kinds: ReadonlyArray<string>): PermissionGate.PermissionGate => {
  const check = (outcome: GateOutcome.GateOutcome): GateOutcome.GateOutcome => {
    if (
      typeof outcome !== "object" ||
      outcome === null ||
      outcome._tag !== "Schedule" ||
      outcome.actionKind === undefined
    )
      return outcome
    return kinds.includes(outcome.actionKind)
      ? outcome
      : GateOutcome.block(`the action kind ${outcome.actionKind} is not contributed by the gate's plugin`)
  }
  return {
    id: gate.id,
    ...(gate.remember === undefined ? {} : { remember: gate.remember }),
    decide: (call) => mapped(gate.decide(call), check),
    ...(gate.denies === undefined ? {} : { denies: (call: PermissionGate.GateCall) => gate.denies?.(call) })
  }
}

const mapped = <A>(value: RawTool.Eventual<A, unknown>, change: (value: A) => A): RawTool.Eventual<A, unknown> => {
  if (Effect.isEffect(value)) return Effect.map(value, change)
  return isThenable(value) ? Promise.resolve(value).then(change) : change(value)
}
