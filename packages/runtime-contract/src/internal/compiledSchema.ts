/**
 * Everything that is made from a schema once: validator, normalisation, limits, explanations. Found by the schema's
 * identity, and gone with it.
 *
 * Guarantees: own schemas are compiled where they are defined, foreign ones at first use; a schema that nobody prepared
 * is guarded like a foreign one; checking a value takes bounded work.
 * Does not close or guard: `closeSchema` and `foreignSchema` make the schemas that come here.
 */
import type { ValidateFunction } from "ajv/dist/2020.js"
import { type Json, type JsonObject } from "../Json.js"
import { ToolDefinitionError } from "../ToolDefinitionError.js"
import type { ArgumentIssue } from "../ToolError.js"
import { compile, hasFormat, patternFor, type SchemaOrigin } from "./ajv.js"
import { isOutOfFuel, refuel } from "./boundedPattern.js"
import { describeValue } from "./describeValue.js"
import { guardSchema, isGuarded } from "./foreignSchema.js"
import { maxDepth } from "./jsonScanner.js"
import type { Normalize } from "./applyNormalization.js"
import { planNormalization, type PlanOptions } from "./normalizeArgs.js"
import type { TextChecks } from "./scalarIssues.js"
import { everyNode, everySchema, list, members } from "./schemaKeywords.js"
import { inWords, SchemaInterpreter } from "./schemaInterpreter.js"
import { maxNodeChecks, type SchemaWork, schemaWork } from "./schemaWork.js"
import type { Fresh } from "./strictJson.js"

export interface CompiledSchema {
  readonly validate: (value: Json) => boolean
  readonly normalize: Normalize | undefined
  /** The normalisation that also spells out strings; planned at first use. */
  readonly lossless: () => Normalize | undefined
  /** What is too large or too deep to check, or `undefined`. */
  readonly tooMuch: (size: { readonly depth: number; readonly values: number }) => ArgumentIssue | undefined
  /** Why `validate` said no: at least one issue. */
  readonly explain: (value: Json) => ReadonlyArray<ArgumentIssue>
}

const compiled = new WeakMap<JsonObject, CompiledSchema | ToolDefinitionError>()

/** The compiled form. Throws `ToolDefinitionError` for a schema that cannot be used, the same one each time. */
export const compiledFor = (schema: JsonObject): CompiledSchema => {
  let found = compiled.get(schema)
  if (found === undefined) {
    found = attempt(schema)
    compiled.set(schema, found)
  }
  if (found instanceof ToolDefinitionError) throw found
  return found
}

/** Compiles an own, closed schema now. Throws `ToolDefinitionError`. */
export const compileOwn = (schema: JsonObject): void => {
  compiled.set(schema, build(schema, "own"))
}

const attempt = (schema: JsonObject): CompiledSchema | ToolDefinitionError => {
  try {
    if (isGuarded(schema)) return build(schema, "foreign")
    const guarded = guardSchema(schema)
    return guarded.ok ? build(guarded.schema, "foreign") : guarded.refusal
  } catch (cause) {
    return cause instanceof ToolDefinitionError ? cause : refusal("BadSchema", cause)
  }
}

/** Nodes of a foreign schema that are compiled, at up to 0.4 ms each; more are interpreted, and no call waits for Ajv. */
const maxCompiledNodes = 400

/** Steps of the interpreter: to explain, to answer while preparing, and to validate a whole value. */
const explainSteps = 20_000
const validateSteps = 400_000

const build = (schema: JsonObject, origin: SchemaOrigin): CompiledSchema => {
  const work = checkWork(schema)
  const nodes = everyNode(schema)
  const checks = textChecks(origin)
  const interpreter = new SchemaInterpreter(schema, checks)
  const fits = (part: Json, value: Json): boolean => {
    const { issues, exhausted } = interpreter.run({ schema: part, value, maxSteps: explainSteps })
    return issues.length === 0 && !exhausted
  }
  const options: Omit<PlanOptions, "lossless"> = {
    defaults: origin === "own",
    takesNull: (part) => fits(part, null),
    matches: checks.matches
  }
  const read = interpreted(interpreter)
  const isLarge = origin === "foreign" && nodes.length > maxCompiledNodes
  const compiledRun = isLarge
    ? read
    : compiledValidator(schema, { origin, inherited: nodes.some(namesInherited), instead: read.isValid })
  // Ajv counts for these keywords what failed conditions and branches have looked at.
  const run = interpreter.tracks ? read : compiledRun
  const normalize = plan(schema, { ...options, lossless: false })
  if (origin === "own") checkDefaults(schema, { fits, options })
  let lossless: { readonly run: Normalize | undefined } | undefined
  return {
    validate: origin === "own" ? run.isValid : (value) => fuelled(() => run.isValid(value)),
    normalize,
    lossless: () => (lossless ??= { run: plan(schema, { ...options, lossless: true }) }).run,
    tooMuch: (size) => tooMuch(work, size),
    explain: (value) => {
      refuel()
      const { issues } = interpreter.run({ value, maxSteps: explainSteps })
      return issues.length > 0 ? inWords(issues) : [run.lastWord(value)]
    }
  }
}

const fuelled = (validate: () => boolean): boolean => {
  refuel()
  return validate() && !isOutOfFuel()
}

/** A validator, and what it says where the interpreter finds no words. */
interface Validator {
  readonly isValid: (value: Json) => boolean
  readonly lastWord: (value: Json) => ArgumentIssue
}

const interpreted = (interpreter: SchemaInterpreter): Validator => ({
  isValid: (value) => {
    const { issues, exhausted } = interpreter.run({ value, maxSteps: validateSteps })
    return issues.length === 0 && !exhausted
  },
  lastWord: () => ({ pointer: "", expected: "a value that can be checked in bounded work", received: "a larger one" })
})

interface CompileOptions {
  readonly origin: SchemaOrigin
  readonly inherited: boolean
  /** Asked where the compiled code breaks. */
  readonly instead: (value: Json) => boolean
}

const compiledValidator = (schema: JsonObject, options: CompileOptions): Validator => {
  const run = validatorOf(schema, options)
  const isValid = (value: Json): boolean => {
    try {
      return run(value)
    } catch {
      // Some of Ajv's code for conditions and unions beside `patternProperties` throws a TypeError of its own.
      return options.instead(value)
    }
  }
  return {
    isValid,
    lastWord: (value) => {
      const first = isValid(value) ? undefined : run.errors?.[0]
      if (first === undefined)
        return { pointer: "", expected: "texts that can be checked against their patterns", received: "too much text" }
      const expected = `a value that keeps to the schema's ${first.keyword}`
      return { pointer: first.instancePath, expected, received: describeValue(value) }
    }
  }
}

const validatorOf = (schema: JsonObject, options: CompileOptions): ValidateFunction => {
  try {
    return compile(schema, options)
  } catch (cause) {
    throw refusal("BadSchema", cause)
  }
}

const plan = (schema: JsonObject, options: PlanOptions): Normalize | undefined => {
  try {
    return planNormalization(schema, options)
  } catch (cause) {
    throw refusal("SchemaTooLarge", cause)
  }
}

const checkWork = (schema: JsonObject): SchemaWork => {
  const work = schemaWork(schema)
  if (work === undefined)
    throw new ToolDefinitionError({
      reason: "BadReference",
      pointer: "",
      expected: "references that lead further into the value",
      received: "a reference that applies itself to the same value again"
    })
  if (work.depth < 3)
    throw new ToolDefinitionError({
      reason: "SchemaTooLarge",
      pointer: "",
      expected: "a schema that checks a value in bounded work",
      received: "alternatives or shared parts that multiply"
    })
  return work
}

const refusal = (reason: "BadSchema" | "SchemaTooLarge", cause: unknown): ToolDefinitionError =>
  new ToolDefinitionError({
    reason,
    pointer: "",
    expected: "a JSON Schema that the validator accepts",
    received: cause instanceof Error ? cause.message : "one that it refuses",
    cause
  })

const tooMuch = (
  work: SchemaWork,
  { depth, values }: { readonly depth: number; readonly values: number }
): ArgumentIssue | undefined => {
  if (depth > work.depth)
    return {
      pointer: "",
      expected: `at most ${Math.min(work.depth, maxDepth)} levels of nesting`,
      received: `${depth} levels`
    }
  if (values * work.perMember <= maxNodeChecks) return undefined
  return {
    pointer: "",
    expected: `at most ${Math.floor(maxNodeChecks / work.perMember)} values in all`,
    received: `${values} values`
  }
}

const textChecks = (origin: SchemaOrigin): TextChecks => {
  const patterns = new Map<string, { readonly test: (text: string) => boolean }>()
  const patternOf = (source: string): { readonly test: (text: string) => boolean } => {
    const known = patterns.get(source)
    if (known !== undefined) return known
    const pattern = origin === "own" ? new RegExp(source, "u") : patternFor(source)
    patterns.set(source, pattern)
    return pattern
  }
  return {
    matches: (source, text) => patternOf(source).test(text),
    hasFormat: (format, value) => hasFormat(format, value) !== false
  }
}

/** Whether a node names a member that every object inherits, such as `constructor`. */
const namesInherited = (node: JsonObject): boolean =>
  [
    ...list(node["required"]),
    ...["properties", "dependentRequired", "dependentSchemas"].flatMap((keyword) =>
      members(node[keyword]).map(([key]) => key)
    )
  ].some((key) => typeof key === "string" && key in Object.prototype)

interface DefaultCheck {
  readonly fits: (part: Json, value: Json) => boolean
  readonly options: Omit<PlanOptions, "lossless">
}

/** A default that its own schema refuses would make every call that leaves the field out fail. */
const checkDefaults = (root: JsonObject, { fits, options }: DefaultCheck): void => {
  for (const [pointer, node] of everySchema(root)) {
    const given = node["default"]
    if (given === undefined) continue
    const value = JSON.parse(JSON.stringify(given)) as Fresh
    planNormalization(root, { ...options, lossless: false, start: node })?.(value)
    if (fits(node, value)) continue
    throw new ToolDefinitionError({
      reason: "BadDefault",
      pointer: `${pointer}/default`,
      expected: "a default that its own schema accepts",
      received: describeValue(given)
    })
  }
}
