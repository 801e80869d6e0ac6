/**
 * Everything that is checked when a tool is defined, and the frozen spec that comes of it.
 *
 * Guarantees: a definition that cannot work throws `ToolDefinitionError` with the tool's id, a JSON Pointer into the
 * options and what was expected there; nothing is kept of it.
 * Does not build the definition: `Tool.define` does.
 */
/// <reference lib="es2024.string" />
import { isDomain } from "../OptionDomain.js"
import type { ToolSpec } from "../RawTool.js"
import { isStateKey } from "../StateKey.js"
import { ToolDefinitionError, type ToolDefinitionProblem, type ToolDefinitionReason } from "../ToolDefinitionError.js"
import { isCapability } from "../ToolRecovery.js"
import { closeArgs, readOutput } from "../ToolSchema.js"
import { describeValue, nearestName, shorten } from "./describeValue.js"
import { pointerTo } from "./jsonPointer.js"

/** The options of `Tool.define` as they may come from plain JavaScript. */
export interface SpecOptions {
  readonly id: unknown
  readonly description: unknown
  readonly args: unknown
  readonly output?: unknown
  readonly version?: unknown
  readonly recovery?: unknown
  readonly kind?: unknown
  readonly target?: unknown
  readonly state?: unknown
  readonly concurrency?: unknown
  readonly paramDomains?: unknown
  readonly invocationTriggers?: unknown
  readonly reconcile?: unknown
}

/** `hasCall`: the one-step form takes the call along. */
export const makeSpec = (options: SpecOptions, { hasCall = false }: { readonly hasCall?: boolean } = {}): ToolSpec => {
  const id = idOf(options.id)
  try {
    checkNames(options, hasCall)
    return specOf(id, options)
  } catch (cause) {
    throw cause instanceof ToolDefinitionError ? cause.forTool(id) : cause
  }
}

const specOf = (id: string, options: SpecOptions): ToolSpec => {
  const description = textOf(options.description, { option: "description", reason: "BadDescription" })
  const version =
    options.version === undefined ? undefined : textOf(options.version, { option: "version", reason: "BadVersion" })
  if (options.recovery !== undefined && !isCapability(options.recovery))
    throw refused("BadRecovery", {
      pointer: "/recovery",
      expected: capabilities,
      received: describeValue(options.recovery)
    })
  const kind = oneOf(options.kind, { option: "kind", known: ["Regular", "ClientExecuted"] as const })
  const target = oneOf(options.target, { option: "target", known: ["Brain", "Sandbox"] as const })
  checkFunctions(options)
  checkState(options.state)
  const args = within("/args", () => closeArgs(options.args))
  const output = options.output === undefined ? undefined : within("/output", () => readOutput(options.output))
  checkAttribution(options)
  checkDomains(options.paramDomains, args.schema["properties"])
  return Object.freeze({
    id,
    description,
    ...(version === undefined ? {} : { version }),
    inputSchema: args.schema,
    ...(output === undefined ? {} : { outputSchema: output.schema }),
    kind,
    target,
    warnings: Object.freeze([...args.warnings, ...(output?.warnings ?? [])])
  })
}

const capabilities = "NonRecoverable, ReplaySafe, Idempotent or DurableRequest"

const idOf = (id: unknown): string => {
  if (typeof id === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(id)) return id
  const toolId = typeof id === "string" ? shorten(id, 64) : undefined
  throw new ToolDefinitionError({
    reason: "BadId",
    ...(toolId === undefined ? {} : { toolId }),
    pointer: "/id",
    expected: "1 to 64 of the characters A-Z a-z 0-9 _ -",
    received: describeValue(id)
  })
}

const names: Readonly<Record<keyof SpecOptions | "attribution", true>> = {
  id: true,
  description: true,
  args: true,
  output: true,
  version: true,
  recovery: true,
  kind: true,
  target: true,
  state: true,
  concurrency: true,
  paramDomains: true,
  invocationTriggers: true,
  reconcile: true,
  attribution: true
}

/** What a definition has beside its options: whoever spreads one into another means the options. */
const derived: ReadonlySet<string> = new Set(["spec", "~standard"])

/** An option that is ignored is a promise that nobody keeps: a misspelt `recovery` would never be replayed. */
const checkNames = (options: object, hasCall: boolean): void => {
  for (const option of Object.keys(options)) {
    if (Object.hasOwn(names, option) || derived.has(option)) continue
    if (option === "call" && hasCall) continue
    const meant = nearestName(option, Object.keys(names))
    const hint =
      option === "call"
        ? "Tool.make takes a call, and so does Tool.implement"
        : meant === undefined
          ? undefined
          : `did you mean ${meant}`
    throw refused("BadOption", {
      pointer: pointerTo("", option),
      expected: `one of the options ${Object.keys(names).join(", ")}`,
      received: "an unknown option",
      ...(hint === undefined ? {} : { hint })
    })
  }
}

const textOf = (
  text: unknown,
  { option, reason }: { readonly option: string; readonly reason: "BadDescription" | "BadVersion" }
): string => {
  if (typeof text === "string" && text.trim() !== "" && text.isWellFormed()) return text
  throw refused(reason, { pointer: `/${option}`, expected: "a text that is not blank", received: describeValue(text) })
}

const oneOf = <A extends string>(
  value: unknown,
  { option, known }: { readonly option: string; readonly known: readonly [A, ...ReadonlyArray<A>] }
): A => {
  if (value === undefined) return known[0]
  const found = known.find((one) => one === value)
  if (found === undefined) throw badOption(option, { expected: known.join(" or "), received: value })
  return found
}

const checkFunctions = (options: SpecOptions): void => {
  for (const option of ["concurrency", "invocationTriggers", "reconcile"] as const) {
    const given = options[option]
    if (given !== undefined && typeof given !== "function")
      throw badOption(option, { expected: "a function", received: given })
  }
}

/** Spans, events and records carry it, so it is written as texts. */
const checkAttribution = (options: object): void => {
  const given: unknown = "attribution" in options ? options.attribution : undefined
  if (given === undefined) return
  if (typeof given !== "object" || given === null)
    throw badOption("attribution", { expected: "an object with role, alias or provenance", received: given })
  for (const [member, value] of Object.entries(given)) {
    const option = `attribution/${member}`
    if (member !== "role" && member !== "alias" && member !== "provenance")
      throw badOption(option, { expected: "role, alias or provenance", received: value })
    if (member === "provenance") oneOf(value, { option, known: ["Extension", "Native"] })
    else if (value !== undefined && (typeof value !== "string" || value.trim() === ""))
      throw badOption(option, { expected: "a text that is not blank", received: value })
  }
}

/** Pointers of a schema's own problems start at the schema; here they start at the options. */
const within = <A>(pointer: string, read: () => A): A => {
  try {
    return read()
  } catch (cause) {
    throw cause instanceof ToolDefinitionError ? cause.under(pointer) : cause
  }
}

const checkState = (keys: unknown): void => {
  if (keys === undefined) return
  if (!Array.isArray(keys)) throw badOption("state", { expected: "a list of state keys", received: keys })
  const seen = new Set<string>()
  keys.forEach((key: unknown, index) => {
    const pointer = `/state/${index}`
    if (!isStateKey(key))
      throw refused("BadStateKeys", {
        pointer,
        expected: "a state key, as StateKey.make gives it",
        received: describeValue(key)
      })
    const place = `${key.scope}/${key.name}`
    if (seen.has(place))
      throw refused("BadStateKeys", { pointer, expected: "each key once", received: `${place} a second time` })
    seen.add(place)
    within(`${pointer}/schema`, () => readOutput(key.schema))
  })
}

const checkDomains = (domains: unknown, properties: unknown): void => {
  if (domains === undefined) return
  if (typeof domains !== "object" || domains === null)
    throw badOption("paramDomains", { expected: "an object from argument names to option domains", received: domains })
  const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : []
  for (const [name, domain] of Object.entries(domains)) {
    const pointer = pointerTo("/paramDomains", name)
    if (!names.includes(name))
      throw refused("BadOption", {
        pointer,
        expected: `one of the arguments ${names.join(", ")}`,
        received: describeValue(name)
      })
    if (!isDomain(domain))
      throw refused("BadOption", {
        pointer,
        expected: "an option domain, as OptionDomain gives it",
        received: describeValue(domain)
      })
  }
}

const badOption = (
  option: string,
  { expected, received }: { readonly expected: string; readonly received: unknown }
): ToolDefinitionError => refused("BadOption", { pointer: `/${option}`, expected, received: describeValue(received) })

const refused = (reason: ToolDefinitionReason, problem: Omit<ToolDefinitionProblem, "reason">): ToolDefinitionError =>
  new ToolDefinitionError({ reason, ...problem })
