/**
 * Everything that is pinned for a run: instructions, model, visible tools, policies, limits. The first decision.
 *
 * Guarantees: plain frozen data with a fingerprint over all of it; `build` refuses what cannot work; a resume loads the
 * stored copy, never the caller's.
 * Does not make anything executable: registration does.
 */
import { deepFreeze, digest, type Json, type JsonObject } from "./Json.js"
import type { ModelBinding } from "./LlmExecutor.js"
import {
  checkList,
  copied,
  isDescriptor,
  objectOf,
  oneOf,
  onlyOf,
  refuse,
  show,
  textOf
} from "./internal/snapshotChecks.js"
import * as ToolDescriptor from "./ToolDescriptor.js"
import { isMode, supports } from "./ToolRecovery.js"

export interface RunLimits {
  /** Model exchanges over the whole run. Default 16. */
  readonly maxSteps: number
  /** Input and output tokens over the whole run. Default: no limit. */
  readonly maxTokens?: number
  /** Milliseconds over the whole run, waits for people left out. Default: no limit. */
  readonly maxDuration?: number
  /** Calls of one step that may run; later ones are refused. Default 128. */
  readonly maxCallsPerStep: number
  /** Calls running at once. Default 16. */
  readonly width: number
  /** More tries of a dispatch that provably did not happen. Default 2. */
  readonly dispatchRetries: number
  /** More tries of a commit that nobody answered. Default 5. */
  readonly commitRetries: number
  /** Milliseconds for one call of a tool. Default 120,000. */
  readonly toolTimeout: number
  /** Milliseconds for one model exchange. Default 600,000. */
  readonly modelTimeout: number
  /** Milliseconds between the abort signal and giving a call up. Default 2,000. */
  readonly grace: number
  /** UTF-16 code units of one result that the model is shown. Default 65,536. */
  readonly maxResultCharacters: number
}

export const defaultLimits: RunLimits = Object.freeze({
  maxSteps: 16,
  maxCallsPerStep: 128,
  width: 16,
  dispatchRetries: 2,
  commitRetries: 5,
  toolTimeout: 120_000,
  modelTimeout: 600_000,
  grace: 2_000,
  maxResultCharacters: 65_536
})

export interface ExecutableAgentSnapshot {
  readonly agentId: string
  readonly instructions: string
  readonly model: ModelBinding
  /** Tried in order, only before anything was committed from a response. */
  readonly fallbacks: ReadonlyArray<ModelBinding>
  readonly tools: ReadonlyArray<ToolDescriptor.ToolDescriptor>
  readonly plugins: ReadonlyArray<{ readonly id: string; readonly configuration?: Json }>
  readonly limits: RunLimits
  /** Whether a string may become a number or a boolean where no string is allowed. Default `strict`. */
  readonly arguments: "strict" | "lossless"
  /** What a run does after a call whose outcome is unknown. Default `continue`. */
  readonly onIndeterminate: "continue" | "end"
  /** One request-only hint when a text matches a tool's triggers. Default off. */
  readonly triggerHints: boolean
  /** A typed final answer: its schema, and how often a wrong one is sent back (default 2). */
  readonly output?: { readonly schema: JsonObject; readonly repairs: number }
  readonly metadata: JsonObject
  /** SHA-256 (64 hex digits) over canonical JSON of all of the above. */
  readonly fingerprint: string
}

export { SnapshotError, type SnapshotErrorReason } from "./SnapshotError.js"

/** What a builder holds; each method returns a new builder. */
type Draft = Omit<ExecutableAgentSnapshot, "fingerprint" | "limits" | "model"> & {
  readonly limits: Partial<RunLimits>
  readonly model?: ModelBinding
}

export interface SnapshotBuilder {
  readonly instructions: (text: string) => SnapshotBuilder
  readonly model: (binding: ModelBinding) => SnapshotBuilder
  readonly fallback: (binding: ModelBinding) => SnapshotBuilder
  readonly tool: (descriptor: ToolDescriptor.ToolDescriptor) => SnapshotBuilder
  readonly tools: (descriptors: ReadonlyArray<ToolDescriptor.ToolDescriptor>) => SnapshotBuilder
  readonly plugin: (id: string, configuration?: Json) => SnapshotBuilder
  readonly limits: (limits: Partial<RunLimits>) => SnapshotBuilder
  readonly arguments: (mode: ExecutableAgentSnapshot["arguments"]) => SnapshotBuilder
  readonly onIndeterminate: (policy: ExecutableAgentSnapshot["onIndeterminate"]) => SnapshotBuilder
  readonly triggerHints: (on: boolean) => SnapshotBuilder
  /** `schema` is plain JSON Schema or a TypeBox schema. */
  readonly output: (schema: object, options?: { readonly repairs?: number }) => SnapshotBuilder
  readonly metadata: (metadata: JsonObject) => SnapshotBuilder
  /** Throws `SnapshotError`; nothing is half-built. */
  readonly build: () => ExecutableAgentSnapshot
}

export const builder = (agentId: string): SnapshotBuilder =>
  builderOf({
    agentId,
    instructions: "",
    fallbacks: [],
    tools: [],
    plugins: [],
    limits: {},
    arguments: "strict",
    onIndeterminate: "continue",
    triggerHints: false,
    metadata: {}
  })

const builderOf = (draft: Draft): SnapshotBuilder => {
  const having = (change: Partial<Draft>): SnapshotBuilder => builderOf({ ...draft, ...change })
  return {
    instructions: (instructions) => having({ instructions }),
    model: (model) => having({ model }),
    fallback: (binding) => having({ fallbacks: [...draft.fallbacks, binding] }),
    tool: (descriptor) => having({ tools: [...draft.tools, descriptor] }),
    tools: (descriptors) => {
      checkList("tools", descriptors)
      return having({ tools: [...draft.tools, ...descriptors] })
    },
    plugin: (id, configuration) =>
      having({ plugins: [...draft.plugins, configuration === undefined ? { id } : { id, configuration }] }),
    limits: (limits) => having({ limits: { ...draft.limits, ...limits } }),
    arguments: (mode) => having({ arguments: mode }),
    onIndeterminate: (policy) => having({ onIndeterminate: policy }),
    triggerHints: (on) => having({ triggerHints: on }),
    output: (schema, options) => having({ output: finalAnswer(schema, options ?? {}) }),
    metadata: (metadata) => having({ metadata }),
    build: () => build(draft)
  }
}

const finalAnswer = (schema: object, options: { readonly repairs?: number }): NonNullable<Draft["output"]> => {
  onlyOf("output", { value: objectOf("output", options), known: ["repairs"] })
  return { schema: copied("output/schema", schema) as JsonObject, repairs: options.repairs ?? 2 }
}

/** The fingerprint of a snapshot's content; a stored snapshot is checked with it. */
export const fingerprintOf = (snapshot: Omit<ExecutableAgentSnapshot, "fingerprint">): string => {
  const { tools, ...rest } = snapshot
  return digest("toolwright/snapshot/1", {
    ...plain(rest),
    tools: tools.map(({ capability, identity, prefix, warnings }) => ({ identity, prefix, capability, warnings }))
  })
}

/** True when fingerprint and tool identities are what the content says. */
export const isGenuine = (snapshot: ExecutableAgentSnapshot): boolean => {
  const { fingerprint, ...content } = snapshot
  return snapshot.tools.every(ToolDescriptor.isGenuine) && fingerprintOf(content) === fingerprint
}

const build = (draft: Draft): ExecutableAgentSnapshot => {
  if (typeof draft.agentId !== "string" || draft.agentId.trim() === "")
    throw refuse("BadAgentId", { place: "agentId", expected: "a name", received: show(draft.agentId) })
  const { output } = draft
  const content = {
    agentId: draft.agentId,
    instructions: textOf("instructions", draft.instructions),
    model: bindingOf("model", draft.model),
    fallbacks: draft.fallbacks.map((binding, index) => bindingOf(`fallbacks/${index}`, binding)),
    tools: toolsOf(draft.tools),
    plugins: pluginsOf(draft.plugins),
    limits: limitsOf(draft.limits),
    arguments: oneOf("arguments", { value: draft.arguments, choices: ["strict", "lossless"] }),
    onIndeterminate: oneOf("onIndeterminate", { value: draft.onIndeterminate, choices: ["continue", "end"] }),
    triggerHints: oneOf("triggerHints", { value: draft.triggerHints, choices: [true, false] }),
    ...(output === undefined ? {} : { output: outputOf(output) }),
    metadata: objectOf("metadata", draft.metadata)
  }
  return deepFreeze({ ...content, fingerprint: fingerprintOf(content) })
}

const bindingOf = (place: string, binding: ModelBinding | undefined): ModelBinding => {
  const isName = (name: unknown): boolean => typeof name === "string" && name.trim() !== ""
  if (binding === undefined || !isName(binding.provider) || !isName(binding.model))
    throw refuse("EmptyModel", { place, expected: "provider and model names", received: show(binding) })
  onlyOf(place, { value: binding, known: ["provider", "model", "settings"] })
  if (binding.settings !== undefined) objectOf(`${place}/settings`, binding.settings)
  return copied(place, binding)
}

const toolsOf = (tools: Draft["tools"]): Draft["tools"] => {
  const ids = new Set<string>()
  for (const [index, tool] of tools.entries()) {
    if (!isDescriptor(tool))
      throw refuse("BadOption", {
        place: `tools/${index}`,
        expected: "a descriptor (ToolDescriptor.forTool)",
        received: "something else"
      })
    const place = `tools/${tool.id}`
    if (ids.has(tool.id))
      throw refuse("DuplicateTool", { place, expected: "each id once", received: "the same id twice" })
    const { capability, identity, policy } = tool
    const isCount = Number.isInteger(policy.maxAttempts) && policy.maxAttempts >= 1
    if (!isMode(policy.mode) || !isCount || !supports(capability, policy.mode))
      throw refuse("BadPolicy", { place, expected: `a policy that ${capability} supports`, received: show(policy) })
    if (!ToolDescriptor.isGenuine(tool))
      throw refuse("ForgedIdentity", { place, expected: "the identity of its own content", received: identity })
    ids.add(tool.id)
  }
  return [...tools]
}

const pluginsOf = (plugins: Draft["plugins"]): Draft["plugins"] => {
  const ids = new Set<string>()
  return plugins.map((plugin) => {
    const place = `plugins/${plugin.id}`
    if (typeof plugin.id !== "string" || plugin.id === "" || ids.has(plugin.id))
      throw refuse("BadPlugin", { place, expected: "an id that is named once", received: show(plugin.id) })
    ids.add(plugin.id)
    return copied(place, plugin)
  })
}

const outputOf = (output: NonNullable<Draft["output"]>): NonNullable<Draft["output"]> => {
  const place = "output/repairs"
  if (!Number.isInteger(output.repairs) || output.repairs < 0)
    throw refuse("BadOutput", { place, expected: "a whole number from 0", received: show(output.repairs) })
  return copied("output", output)
}

const leastOf: Readonly<Record<keyof RunLimits, number>> = {
  maxSteps: 1,
  maxTokens: 1,
  maxDuration: 1,
  maxCallsPerStep: 1,
  width: 1,
  dispatchRetries: 0,
  commitRetries: 0,
  toolTimeout: 1,
  modelTimeout: 1,
  grace: 0,
  maxResultCharacters: 256
}

const isLimit = (name: string): name is keyof RunLimits => Object.hasOwn(leastOf, name)

const limitsOf = (given: Partial<RunLimits>): RunLimits => {
  const chosen: { -readonly [Name in keyof RunLimits]?: number } = {}
  for (const [name, value] of Object.entries(given)) {
    const place = `limits/${name}`
    if (!isLimit(name))
      throw refuse("BadLimit", {
        place,
        expected: `one of ${Object.keys(leastOf).join(", ")}`,
        received: "an unknown limit"
      })
    // What is named and undefined is not given: the default holds.
    if (value === undefined) continue
    if (!Number.isSafeInteger(value) || value < leastOf[name])
      throw refuse("BadLimit", { place, expected: `a whole number from ${leastOf[name]}`, received: show(value) })
    chosen[name] = value
  }
  return { ...defaultLimits, ...chosen }
}

/** Plain JSON of what is already known to be JSON. */
const plain = (value: object): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject
