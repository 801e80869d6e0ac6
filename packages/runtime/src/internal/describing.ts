/**
 * Lists what a runtime can do, for authoring surfaces (Z1, Z4): tools with schemas, domains, provenance, triggers.
 *
 * Guarantees: domains and triggers are resolved live, at each call; a resolver that fails leaves its parameter without
 * options and says so, and harms no other.
 * Does not permit or show anything to a model.
 */
import type {
  Attribution,
  ExecutableAgentSnapshot,
  Json,
  OptionDomain,
  RawTool,
  ToolRecovery
} from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { bounded } from "./bounded.js"
import type { Engine } from "./engine.js"
import { attempt, isSettled, type Settled } from "./settle.js"
import { planOf } from "./snapshotPlan.js"

export interface DescribeOptions {
  /** Only the tools of this snapshot, with what stands in their way here. Default: every registered tool. */
  readonly snapshot?: ExecutableAgentSnapshot.ExecutableAgentSnapshot
  /** By tool id: values already chosen for the parameters of that tool. */
  readonly chosen?: Readonly<Record<string, Json.JsonObject>>
}

export interface ParameterOptions {
  readonly domain: OptionDomain.OptionDomain
  readonly options: ReadonlyArray<OptionDomain.DomainOption>
  /** Why there are no options. */
  readonly problem?: string
}

export interface ToolDescription {
  readonly id: string
  /** Can a call of it be executed here, whatever the gates say? Else `problem` says why not. */
  readonly executable: boolean
  readonly problem?: string
  readonly spec?: RawTool.ToolSpec
  readonly attribution?: Attribution.Attribution
  readonly recovery?: ToolRecovery.ToolRecoveryCapability
  readonly triggers: ReadonlyArray<string>
  /** By name of the parameter. */
  readonly domains: Readonly<Record<string, ParameterOptions>>
}

export const describeTools = (
  engine: Engine,
  options: DescribeOptions
): Effect.Effect<ReadonlyArray<ToolDescription>> => {
  const ids = options.snapshot === undefined ? engine.registry.ids() : options.snapshot.tools.map(({ id }) => id)
  return Effect.all(
    ids.map((id) => describeTool(engine, { id, options })),
    { concurrency: "unbounded" }
  )
}

const describeTool = (
  engine: Engine,
  { id, options }: { readonly id: string; readonly options: DescribeOptions }
): Effect.Effect<ToolDescription> => {
  const found =
    options.snapshot === undefined ? engine.registry.lookup(id) : planOf(engine, options.snapshot).lookup(id)
  const problem = problemOf(engine, { id, options })
  const base = { id, executable: problem === undefined, ...(problem === undefined ? {} : { problem }) }
  if (found._tag !== "Found") return Effect.succeed({ ...base, triggers: [], domains: {} })
  const { tool } = found
  const chosen = options.chosen !== undefined && Object.hasOwn(options.chosen, id) ? options.chosen[id] : undefined
  return Effect.map(resolveDomains(engine, { domains: tool.paramDomains ?? {}, chosen: chosen ?? {} }), (domains) => ({
    ...base,
    spec: tool.spec(),
    attribution: tool.attribution,
    recovery: tool.recovery,
    triggers: triggersOf(tool),
    domains
  }))
}

const problemOf = (
  engine: Engine,
  { id, options }: { readonly id: string; readonly options: DescribeOptions }
): string | undefined => {
  if (options.snapshot !== undefined) {
    const resolved = planOf(engine, options.snapshot).resolve(id)
    return resolved.ok ? undefined : resolved.refusal.text
  }
  const found = engine.registry.lookup(id)
  if (found._tag !== "Found") return `tool ${id} is registered more than once`
  const isHomeless = found.tool.spec().target === "Sandbox" && engine.executors.Sandbox === undefined
  return isHomeless ? `tool ${id} runs in a sandbox, and there is none here` : undefined
}

const triggersOf = (tool: RawTool.RawTool): ReadonlyArray<string> => {
  try {
    return tool.invocationTriggers?.() ?? []
  } catch {
    return []
  }
}

interface Resolving {
  readonly domains: OptionDomain.ParamDomains
  readonly chosen: Json.JsonObject
}

const resolveDomains = (
  engine: Engine,
  { domains, chosen }: Resolving
): Effect.Effect<Record<string, ParameterOptions>> =>
  Effect.map(
    Effect.all(
      Object.entries(domains).map(([parameter, domain]) =>
        Effect.map(resolveDomain(engine, { domain, chosen }), (resolved) => [parameter, resolved] as const)
      ),
      { concurrency: "unbounded" }
    ),
    (entries) => Object.fromEntries(entries)
  )

const resolveDomain = (
  engine: Engine,
  { domain, chosen }: { readonly domain: OptionDomain.OptionDomain; readonly chosen: Json.JsonObject }
): Effect.Effect<ParameterOptions> => {
  switch (domain._tag) {
    case "ToolNames":
      return Effect.succeed({ domain, options: engine.registry.ids().map((value) => ({ value })) })
    case "ThreadIds":
      return Effect.match(bounded(engine, { threadId: "", ask: () => engine.store.list({ limit: 1_000 }) }), {
        onSuccess: (threads): ParameterOptions => ({
          domain,
          options: threads.map(({ threadId }) => ({ value: threadId }))
        }),
        onFailure: (error): ParameterOptions => ({ domain, options: [], problem: error.message })
      })
    case "AgentIds":
      return custom(engine, { domain, name: "AgentIds", chosen })
    case "Custom":
      return custom(engine, { domain, name: domain.name, chosen })
  }
}

interface CustomDomain {
  readonly domain: OptionDomain.OptionDomain
  readonly name: string
  readonly chosen: Json.JsonObject
}

const custom = (engine: Engine, { domain, name, chosen }: CustomDomain): Effect.Effect<ParameterOptions> =>
  Effect.callback<ParameterOptions>((resume) => {
    const resolver = Object.hasOwn(engine.domains, name) ? engine.domains[name] : undefined
    const answer = (settled: Settled<ReadonlyArray<OptionDomain.DomainOption>>): void => {
      const { options, problem } = read(settled)
      resume(Effect.succeed({ domain, options, ...(problem === undefined ? {} : { problem }) }))
    }
    if (resolver === undefined) return answer({ ok: false, error: new Error(`no resolver for the domain ${name}`) })
    const begun = attempt(engine.services, () => resolver(chosen))
    if (isSettled(begun)) return answer(begun)
    const late = engine.deadlines.after(engine.storeTimeout, () =>
      answer({ ok: false, error: new Error("the resolver did not answer in time") })
    )
    begun.onSettled((settled) => {
      late.cancel()
      answer(settled)
    })
  })

const read = (
  settled: Settled<ReadonlyArray<OptionDomain.DomainOption>>
): { readonly options: ReadonlyArray<OptionDomain.DomainOption>; readonly problem?: string } => {
  if (!settled.ok)
    return { options: [], problem: settled.error instanceof Error ? settled.error.message : "the resolver failed" }
  return Array.isArray(settled.value)
    ? { options: settled.value }
    : { options: [], problem: "the resolver gave no list" }
}
