/**
 * An extension of the runtime: a manifest that says what it may touch, and contributions that stay inside of it.
 *
 * Guarantees: a bound denies everything that it does not name; a plugin contributes only to runs whose snapshot selects it;
 * its gates, constraints and hooks only narrow.
 * Does not run anything: the runtime checks contributions when it is made, and calls them in the order of dependencies.
 */
import type { Json } from "./Json.js"
import type { PermissionGate } from "./PermissionGate.js"
import type { RawTool } from "./RawTool.js"
import type { RunEndGuard } from "./RunEndGuard.js"
import type { Phase, RunHook } from "./RunHook.js"
import type { StateKey } from "./StateKey.js"
import type { ParsedArguments } from "./ToolArgs.js"
import type { ToolConcurrency } from "./ToolConcurrency.js"

/** Which ids an axis may hold. `Namespace` is the ids that begin with `prefix`; a blank prefix admits nothing. */
export type IdBound =
  | { readonly _tag: "None" }
  | { readonly _tag: "Any" }
  | { readonly _tag: "Exact"; readonly ids: ReadonlyArray<string> }
  | { readonly _tag: "Namespace"; readonly prefix: string }

export const none: IdBound = Object.freeze({ _tag: "None" })
export const any: IdBound = Object.freeze({ _tag: "Any" })
export const exactly = (...ids: ReadonlyArray<string>): IdBound => ({ _tag: "Exact", ids })
export const namespace = (prefix: string): IdBound => ({ _tag: "Namespace", prefix })

/** True where the bound holds the id. Absent holds nothing. */
export const admits = (bound: IdBound | undefined, id: string): boolean => {
  switch (bound?._tag) {
    case "Any":
      return true
    case "Exact":
      return bound.ids.includes(id)
    case "Namespace":
      return bound.prefix.trim() !== "" && id.startsWith(bound.prefix)
    case "None":
    case undefined:
      return false
    default:
      // A bound of an unknown kind, from a caller without a compiler.
      return false
  }
}

/** What a plugin may contribute, one axis each. What is absent is denied. */
export interface CapabilityBound {
  readonly tools?: IdBound
  readonly stateKeys?: IdBound
  /** Ids of hooks. They may look on at `phases` only. */
  readonly hooks?: IdBound
  readonly phases?: ReadonlyArray<Phase>
  readonly gates?: IdBound
  readonly guards?: IdBound
  /** Kinds of scheduled actions that its gates may name. */
  readonly actionKinds?: IdBound
  readonly constraints?: IdBound
  /** May its hooks stage `ContextMessages`? */
  readonly requestContext?: boolean
}

export type Axis = keyof CapabilityBound

export interface PluginManifest {
  readonly id: string
  /** Ids of plugins that must be there, and come first. */
  readonly requires?: ReadonlyArray<string>
  readonly bound?: CapabilityBound
}

/** Narrows what calls may run beside. One that throws makes the call run alone. */
export interface ConcurrencyConstraint {
  readonly id: string
  readonly narrow: (call: { readonly toolId: string; readonly arguments: ParsedArguments }) => ToolConcurrency
}

export interface PluginContributions {
  /** Executable only; what a model sees of them is in the snapshot, as for any tool. */
  readonly tools?: ReadonlyArray<RawTool>
  readonly stateKeys?: ReadonlyArray<StateKey>
  readonly hooks?: ReadonlyArray<RunHook>
  readonly gates?: ReadonlyArray<PermissionGate>
  readonly guards?: ReadonlyArray<RunEndGuard>
  readonly actionKinds?: ReadonlyArray<string>
  readonly constraints?: ReadonlyArray<ConcurrencyConstraint>
}

export interface Plugin {
  readonly manifest: PluginManifest
  /** The same for every run. Checked against the bound when the runtime is made. */
  readonly contributions?: PluginContributions
  /**
   * More, made from the configuration in the snapshot (`undefined` where it has none). Pure; checked against the bound
   * before a run starts. Throwing refuses the run.
   */
  readonly configure?: (configuration: Json | undefined) => PluginContributions
}

/** A contribution outside of its plugin's bound. */
export interface Breach {
  readonly axis: Axis
  readonly id: string
}

const phaseOf: Readonly<Record<string, Phase>> = {
  stepStart: "StepStart",
  beforeInference: "BeforeInference",
  afterInference: "AfterInference",
  afterTool: "AfterTool",
  stepEnd: "StepEnd"
}

/** The first contribution outside of the bound, or `undefined`. */
export const breachOf = (
  bound: CapabilityBound | undefined,
  contributions: PluginContributions
): Breach | undefined => {
  const { tools, stateKeys, hooks, gates, guards, actionKinds, constraints } = contributions
  const ids: ReadonlyArray<readonly [Exclude<Axis, "phases" | "requestContext">, ReadonlyArray<string>]> = [
    ["tools", (tools ?? []).map((tool) => tool.spec().id)],
    ["stateKeys", (stateKeys ?? []).map(({ name }) => name)],
    ["hooks", (hooks ?? []).map(({ id }) => id)],
    ["gates", (gates ?? []).map(({ id }) => id)],
    ["guards", (guards ?? []).map(({ id }) => id)],
    ["actionKinds", actionKinds ?? []],
    ["constraints", (constraints ?? []).map(({ id }) => id)]
  ]
  for (const [axis, named] of ids) for (const id of named) if (!admits(bound?.[axis], id)) return { axis, id }
  for (const hook of hooks ?? [])
    for (const [method, phase] of Object.entries(phaseOf))
      if (method in hook && !(bound?.phases ?? []).includes(phase)) return { axis: "phases", id: `${hook.id} ${phase}` }
  return undefined
}
