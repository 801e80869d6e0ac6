/**
 * What a snapshot's tools come to on this runtime: visible by id, and for each whether it can run here, where, and why not.
 *
 * Guarantees: built once per snapshot, so a step costs the same with ten tools and with a thousand; the registry is asked
 * live, so an id that becomes ambiguous fails closed at once.
 * Does not permit: gates do.
 */
import {
  type ExecutableAgentSnapshot,
  type Plugin,
  type RawTool,
  ToolConcurrency,
  ToolDescriptor,
  ToolError,
  type ToolArgs,
  type ToolBatch
} from "@toolwright/runtime-contract"
import { type Delegated, delegations } from "./delegations.js"
import type { Engine } from "./engine.js"
import { environmentOf, type PluginEnvironment } from "./pluginEnvironment.js"

export interface Refusal {
  readonly reason: ToolBatch.NotRunReason
  /** What the model reads. */
  readonly text: string
}

/** A visible tool with the code behind it. */
export interface Installed {
  readonly descriptor: ToolDescriptor.ToolDescriptor
  readonly tool: RawTool.RawTool
  readonly executor: RawTool.ToolExecutor
  /** Does a failure of the executor prove something? Not where it only calls the tool. */
  readonly isProving: boolean
  /** Does it send calls away, so that one can be lost on the way? */
  readonly isRemote: boolean
  readonly constraints: ReadonlyArray<Plugin.ConcurrencyConstraint>
  /** Where the call is a child run. */
  readonly delegated: Delegated | undefined
}

export type Resolved =
  | { readonly ok: true; readonly installed: Installed }
  | { readonly ok: false; readonly refusal: Refusal }

interface Known {
  readonly tool: RawTool.RawTool
  readonly resolved: Resolved
}

export class SnapshotPlan {
  readonly snapshot: ExecutableAgentSnapshot.ExecutableAgentSnapshot
  readonly #engine: Engine
  readonly #visible: ReadonlyMap<string, ToolDescriptor.ToolDescriptor>
  readonly #known = new Map<string, Known>()
  #usesShared: boolean | undefined
  /** What surrounds runs of this snapshot. */
  readonly environment: PluginEnvironment

  constructor(engine: Engine, snapshot: ExecutableAgentSnapshot.ExecutableAgentSnapshot) {
    this.#engine = engine
    this.snapshot = snapshot
    this.environment = environmentOf(engine, snapshot.plugins)
    this.#visible = new Map(snapshot.tools.map((descriptor) => [descriptor.id, descriptor]))
  }

  descriptor(toolId: string): ToolDescriptor.ToolDescriptor | undefined {
    return this.#visible.get(toolId)
  }

  resolve(toolId: string): Resolved {
    const descriptor = this.#visible.get(toolId)
    if (descriptor === undefined) return refuse("NotVisible", ToolError.unknown(toolId, "NotVisible").message)
    const found = this.lookup(toolId)
    if (found._tag !== "Found")
      return refuse(
        "Unknown",
        ToolError.unknown(toolId, found._tag === "Ambiguous" ? "Ambiguous" : "NotRegistered").message
      )
    const known = this.#known.get(toolId)
    if (known?.tool === found.tool) return known.resolved
    const resolved = this.#install(descriptor, found.tool)
    this.#known.set(toolId, { tool: found.tool, resolved })
    return resolved
  }

  /** The installed tool, the host's or a selected plugin's. An id that both have is callable by nobody. */
  lookup(toolId: string): ReturnType<Engine["registry"]["lookup"]> {
    const found = this.#engine.registry.lookup(toolId)
    const { tools } = this.environment
    if (tools === undefined) return found
    const own = tools.lookup(toolId)
    if (own._tag === "Unknown") return found
    return found._tag === "Unknown" ? own : { _tag: "Ambiguous" }
  }

  /** Does any tool of the snapshot read or stage state that belongs to no thread? */
  get usesShared(): boolean {
    return (this.#usesShared ??= this.snapshot.tools.some(({ id }) => {
      const found = this.lookup(id)
      return found._tag === "Found" && found.tool.stateKeys.some((key) => key.scope === "Shared")
    }))
  }

  #install(descriptor: ToolDescriptor.ToolDescriptor, tool: RawTool.RawTool): Resolved {
    const { Brain, Sandbox, isBrainRegistry } = this.#engine.executors
    const isSandbox = descriptor.target === "Sandbox"
    const { tools } = this.environment
    const isPlugins = isBrainRegistry && tools !== undefined && tools.lookup(descriptor.id)._tag === "Found"
    const executor = isSandbox ? Sandbox : isPlugins ? tools : Brain
    if (executor === undefined)
      return refuse("Unavailable", `tool ${descriptor.id} runs in a sandbox, and there is none here`)
    const isProving = isSandbox || !isBrainRegistry
    const recovery = isProving ? executor.recovery(descriptor.id) : tool.recovery
    if (!ToolDescriptor.fits(descriptor, { spec: tool.spec(), recovery }))
      return refuse("ToolChanged", `tool ${descriptor.id} has changed since this run started and cannot be used in it`)
    return {
      ok: true,
      installed: {
        descriptor: withOwnSchema(descriptor, tool.spec()),
        tool,
        executor,
        isProving,
        isRemote: isSandbox,
        constraints: this.environment.constraints,
        delegated: delegations.get(tool)
      }
    }
  }
}

/**
 * A stored snapshot holds copies of the schemas. The tool's own is the same, as was checked, and it is the one that is
 * known for an own schema: a copy would be read like a stranger's, which has no defaults to fill.
 */
const withOwnSchema = (
  descriptor: ToolDescriptor.ToolDescriptor,
  { inputSchema }: RawTool.ToolSpec
): ToolDescriptor.ToolDescriptor =>
  descriptor.inputSchema === inputSchema ? descriptor : Object.freeze({ ...descriptor, inputSchema })

/** What a call may run beside. A tool that cannot say runs alone. */
export const claimOf = (installed: Installed, args: ToolArgs.ParsedArguments): ToolConcurrency.ToolConcurrency => {
  const { descriptor, tool, executor, isProving, constraints } = installed
  try {
    let claim = tool.concurrency(args)
    if (isProving) claim = ToolConcurrency.narrow(claim, executor.concurrency(descriptor.id, args))
    for (const constraint of constraints)
      claim = ToolConcurrency.narrow(claim, constraint.narrow({ toolId: descriptor.id, arguments: args }))
    return readClaim(claim)
  } catch {
    return ToolConcurrency.Serial
  }
}

/** A plain copy, for it is written down with the call. What is no claim is the narrowest one. */
const readClaim = (claim: ToolConcurrency.ToolConcurrency): ToolConcurrency.ToolConcurrency => {
  if (claim === ToolConcurrency.Parallel || claim._tag === "Parallel") return ToolConcurrency.Parallel
  if (claim._tag !== "Resources" || !claim.claims.every(isResource)) return ToolConcurrency.Serial
  return ToolConcurrency.Resources(claim.claims.map(({ access, namespace, key }) => ({ access, namespace, key })))
}

const isResource = ({ access, namespace, key }: ToolConcurrency.ResourceClaim): boolean =>
  (access === "Read" || access === "Write") && typeof namespace === "string" && typeof key === "string"

export const planOf = (engine: Engine, snapshot: ExecutableAgentSnapshot.ExecutableAgentSnapshot): SnapshotPlan => {
  const known = engine.plans.get(snapshot)
  if (known !== undefined) return known
  const plan = new SnapshotPlan(engine, snapshot)
  engine.plans.set(snapshot, plan)
  return plan
}

const refuse = (reason: ToolBatch.NotRunReason, text: string): Resolved => ({ ok: false, refusal: { reason, text } })
