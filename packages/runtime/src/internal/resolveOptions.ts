/**
 * Checks the options of a runtime and fills in its defaults. The only place that knows either.
 *
 * Guarantees: fails with `RuntimeDefinitionError`, naming the option, before anything is started; without a gate there is
 * no runtime (P1).
 */
import { Admission } from "./admission.js"
import {
  CrashPoint,
  ExecutableAgentSnapshot,
  type LlmExecutor,
  type PermissionGate,
  type RawTool,
  RawToolRegistry,
  RuntimeClock,
  type ThreadStore,
  ToolArgs
} from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import * as Context from "effect/Context"
import * as Semaphore from "effect/Semaphore"
import { RuntimeDefinitionError } from "../RuntimeDefinitionError.js"
import type { RuntimeOptions } from "../RuntimeOptions.js"
import { driveChild } from "./children.js"
import { endRun } from "./requests.js"
import { DeadlineSet } from "./deadlines.js"
import { isObject, type Missing, missingMethod, misspeltPhase, storeMethods } from "./portChecks.js"
import { checkPlugins } from "./pluginChecks.js"
import { hostEnvironment } from "./pluginEnvironment.js"
import type { Engine } from "./engine.js"
import { randomId } from "./ids.js"
import type { Services } from "./settle.js"
import { tracerOf } from "./tracing.js"

/** Reading a history of 100,000 messages takes seconds on a quiet machine, and reads are no sign of a dead store. */
const loadPatience = 12

export const resolveOptions = (options: RuntimeOptions, services: Services): Engine => {
  if (!isObject(options)) throw refuse("options", "an object", options)
  checkNames(options)
  const clock = clockOf(options.clock)
  const registry = registryOf(options.tools)
  const { Brain, Sandbox } = executorsOf(options.executors)
  const gates = gatesOf(options.gate)
  const hooks = hooksOf(options.hooks)
  const guards = guardsOf(options.guards)
  const stateKeys = listOf(options.stateKeys, "stateKeys")
  const engine: Engine = {
    llm: llmOf(options.llm),
    gates,
    policies: policiesOf(options.policies),
    ownPolicies: new Map(),
    registry,
    executors: { Brain: Brain ?? registry, Sandbox, isBrainRegistry: Brain === undefined },
    store: storeOf(options.store, clock),
    plugins: checkPlugins(listOf(options.plugins, "plugins"), { registry, gates, hooks, guards }),
    children: {
      drive: (parent, given) => driveChild(parent, given),
      cancel: (threadId) => endRun(engine, { ref: { threadId }, cause: { _tag: "Cancelled" } })
    },
    environment: hostEnvironment({ gates, hooks, guards, stateKeys }),
    stateKeys,
    ceilings: ceilingsOf(options.limits ?? {}),
    clock,
    deadlines: new DeadlineSet(clock),
    services,
    tracer: tracerIn(options.tracer) ?? tracerOf(services),
    owner: ownerOf(options.owner),
    leaseTtl: positive(options.leaseTtl ?? 30_000, "leaseTtl"),
    signalPoll: positive(options.signalPoll ?? 500, "signalPoll"),
    storeTimeout: positive(options.storeTimeout ?? 10_000, "storeTimeout"),
    loadTimeout: loadPatience * positive(options.storeTimeout ?? 10_000, "storeTimeout"),
    newId: callableOf(options.idSource, "idSource") ?? randomId,
    crash: callableOf(options.crashPoint, "crashPoint") ?? Context.get(services, CrashPoint.current),
    redact: callableOf(options.redact, "redact"),
    spill: spillOf(options.spill),
    domains: domainsOf(options.domains),
    active: new Map(),
    admission: new Admission(),
    watchers: new Map(),
    held: new Map(),
    late: new Map(),
    refusals: new Map(),
    refusing: Semaphore.makeUnsafe(1),
    plans: new WeakMap(),
    whenClosed: new Set(),
    closing: false
  }
  return engine
}

const names: Readonly<Record<keyof RuntimeOptions, true>> = {
  llm: true,
  gate: true,
  tools: true,
  executors: true,
  store: true,
  hooks: true,
  guards: true,
  plugins: true,
  policies: true,
  stateKeys: true,
  limits: true,
  clock: true,
  spill: true,
  redact: true,
  domains: true,
  tracer: true,
  owner: true,
  leaseTtl: true,
  signalPoll: true,
  storeTimeout: true,
  idSource: true,
  crashPoint: true
}

/** An option that is ignored is a gate, a limit or a store that its author believes to be there. */
const checkNames = (options: object): void => {
  const known = Object.keys(names)
  for (const name of Object.keys(options))
    if (!Object.hasOwn(names, name)) {
      const meant = ToolArgs.nearestName(name, known)
      throw refuse(name, meant ?? `one of ${known.join(", ")}`, "an unknown option")
    }
}

const llmOf = (llm: LlmExecutor.LlmExecutor): LlmExecutor.LlmExecutor => {
  if (!isObject(llm) || typeof llm["stream"] !== "function") throw refuse("llm", "a model with a stream method", llm)
  return llm
}

const gatesOf = (given: RuntimeOptions["gate"]): ReadonlyArray<PermissionGate.PermissionGate> => {
  const gates: ReadonlyArray<PermissionGate.PermissionGate> = isGates(given) ? given : [given]
  const expected = "a permission gate (PermissionGate.allowAll allows every call)"
  if (gates.length === 0) throw refuse("gate", expected, "none")
  for (const gate of gates) if (!isGate(gate)) throw refuse("gate", expected, gate)
  return gates
}

const isGates = (given: RuntimeOptions["gate"]): given is ReadonlyArray<PermissionGate.PermissionGate> =>
  Array.isArray(given)

const registryOf = (tools: RuntimeOptions["tools"]): RawToolRegistry => {
  if (tools instanceof RawToolRegistry) return tools
  if (!isTools(tools)) throw refuse("tools", "erased tools or a registry", tools)
  for (const [index, tool] of tools.entries())
    if (!isObject(tool) || typeof tool["spec"] !== "function" || typeof tool["invoke"] !== "function")
      throw refuse(`tools/${index}`, "an erased tool (erase(tool))", tool)
  return new RawToolRegistry(tools)
}

const isTools = (tools: unknown): tools is ReadonlyArray<RawTool.RawTool> => Array.isArray(tools)

const storeOf = (
  store: ThreadStore.ThreadStore | undefined,
  clock: RuntimeClock.RuntimeClock
): ThreadStore.ThreadStore => {
  if (store === undefined) return new MemoryThreadStore({ now: clock.now })
  demand(missingMethod(store, { option: "store", what: "a thread store", methods: storeMethods }))
  return store
}

const clockOf = (clock: RuntimeOptions["clock"]): RuntimeClock.RuntimeClock => {
  if (clock === undefined) return RuntimeClock.system
  demand(missingMethod(clock, { option: "clock", what: "a clock", methods: ["now", "after"] }))
  return clock
}

const spillOf = (spill: RuntimeOptions["spill"]): RuntimeOptions["spill"] => {
  if (spill !== undefined) demand(missingMethod(spill, { option: "spill", what: "a spill", methods: ["put", "get"] }))
  return spill
}

const executorsOf = (executors: RuntimeOptions["executors"]): NonNullable<RuntimeOptions["executors"]> => {
  if (executors === undefined) return {}
  if (!isObject(executors)) throw refuse("executors", "an object with Brain, Sandbox or both", executors)
  const methods = ["recovery", "concurrency", "invoke"]
  for (const [place, executor] of Object.entries(executors)) {
    const option = `executors/${place}`
    if (place !== "Brain" && place !== "Sandbox") throw refuse(option, "Brain or Sandbox", "an unknown place")
    if (executor !== undefined) demand(missingMethod(executor, { option, what: "an executor", methods }))
  }
  return executors
}

const domainsOf = (domains: RuntimeOptions["domains"]): NonNullable<RuntimeOptions["domains"]> => {
  if (domains === undefined) return {}
  if (!isObject(domains)) throw refuse("domains", "an object of functions", domains)
  for (const [name, resolver] of Object.entries(domains)) callableOf(resolver, `domains/${name}`)
  return domains
}

/** Found again by their ids after a restart, so each has its own. */
const policiesOf = (policies: RuntimeOptions["policies"]): ReadonlyMap<string, PermissionGate.PermissionGate> => {
  const known = new Map<string, PermissionGate.PermissionGate>()
  for (const [index, gate] of listOf(policies, "policies").entries()) {
    const option = `policies/${index}`
    if (!isGate(gate)) throw refuse(option, "a permission gate", gate)
    if (known.has(gate.id)) throw refuse(`${option}/id`, "an id of its own", gate.id)
    known.set(gate.id, gate)
  }
  return known
}

const ownerOf = (owner: string | undefined): string => {
  if (owner === undefined) return `runtime-${randomId()}`
  if (typeof owner !== "string" || owner.trim() === "") throw refuse("owner", "a name", owner)
  return owner
}

const listOf = <A>(list: ReadonlyArray<A> | undefined, option: string): ReadonlyArray<A> => {
  if (list === undefined) return []
  if (!isList(list)) throw refuse(option, "a list", list)
  return list
}

const isList = (list: unknown): boolean => Array.isArray(list)

const callableOf = <A>(value: A, option: string): A => {
  if (value !== undefined && typeof value !== "function") throw refuse(option, "a function", value)
  return value
}

const demand = (missing: Missing | undefined): void => {
  if (missing !== undefined) throw refuse(missing.option, missing.expected, missing.received)
}

const isGate = (gate: unknown): boolean =>
  isObject(gate) && typeof gate["decide"] === "function" && typeof gate["id"] === "string"

const tracerIn = (tracer: RuntimeOptions["tracer"]): RuntimeOptions["tracer"] => {
  if (tracer === undefined || (isObject(tracer) && typeof tracer["start"] === "function")) return tracer
  throw refuse("tracer", "a tracer with a start method", tracer)
}

const hooksOf = (hooks: RuntimeOptions["hooks"]): NonNullable<RuntimeOptions["hooks"]> => {
  const known = listOf(hooks, "hooks")
  for (const [index, hook] of known.entries()) {
    if (!isObject(hook) || typeof hook["id"] !== "string") throw refuse(`hooks/${index}`, "a hook with an id", hook)
    demand(misspeltPhase(hook, `hooks/${index}`))
  }
  return known
}

const guardsOf = (guards: RuntimeOptions["guards"]): NonNullable<RuntimeOptions["guards"]> => {
  const known = listOf(guards, "guards")
  for (const [index, guard] of known.entries())
    if (!isObject(guard) || typeof guard["id"] !== "string" || typeof guard["decide"] !== "function")
      throw refuse(`guards/${index}`, "a run-end guard with an id", guard)
  return known
}

const ceilingsOf = (limits: Partial<ExecutableAgentSnapshot.RunLimits>): Partial<ExecutableAgentSnapshot.RunLimits> => {
  if (!isObject(limits) || Array.isArray(limits)) throw refuse("limits", "an object of limits", limits)
  const known = new Set([...Object.keys(ExecutableAgentSnapshot.defaultLimits), "maxTokens", "maxDuration"])
  for (const [name, value] of Object.entries(limits)) {
    if (!known.has(name)) throw refuse(`limits/${name}`, `one of ${[...known].join(", ")}`, "an unknown limit")
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0))
      throw refuse(`limits/${name}`, "a whole number", value)
  }
  return limits
}

const positive = (value: number, option: string): number => {
  if (!Number.isFinite(value) || value <= 0) throw refuse(option, "milliseconds, more than 0", value)
  return value
}

const refuse = (option: string, expected: string, received: unknown): RuntimeDefinitionError =>
  new RuntimeDefinitionError({ option, expected, received: describe(received) })

const describe = (value: unknown): string => {
  if (typeof value === "string") return value
  return value === null || value === undefined || typeof value === "number"
    ? String(value)
    : `a value of type ${typeof value}`
}
