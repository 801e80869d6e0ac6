/**
 * The guard for schemas that strangers wrote (MCP): rebuilds them from known keywords as plain 2020-12.
 *
 * Guarantees: draft-07 and 2020-12 both come in; nothing leaves the document, loops, or can make compiling or checking
 * long; what is ignored is named in a diagnostic, what cannot be used is a typed refusal. Never throws.
 * Does not close objects and fills no defaults: a foreign schema means what its author wrote.
 */
import { deepFreeze, type Json, type JsonObject } from "../Json.js"
import { ToolDefinitionError, type ToolDefinitionProblem } from "../ToolDefinitionError.js"
import { shorten } from "./describeValue.js"
import { ForeignReader } from "./foreignReader.js"
import { copyJson } from "./plainJson.js"
import { everyNode } from "./schemaKeywords.js"
import { schemaWork } from "./schemaWork.js"

/** Schema nodes: far more than a model could be shown with profit. */
const maxNodes = 2_000

/** UTF-16 code units of the schema's text: what a model is shown of one tool. */
const maxText = 262_144

/** Members and items of a schema's JSON. */
const maxSchemaValues = 60_000

/** JSON nesting of a schema; a schema inside another takes two levels. */
const maxSchemaDepth = 128

export interface Guarded {
  readonly ok: true
  readonly schema: JsonObject
  /** What is ignored, and where. */
  readonly diagnostics: ReadonlyArray<string>
}

export interface Refused {
  readonly ok: false
  readonly refusal: ToolDefinitionError
}

const guarded = new WeakSet<JsonObject>()

/** True for what this guard has made. */
export const isGuarded = (schema: JsonObject): boolean => guarded.has(schema)

/** `role` is `arguments` by default: the root is an object then. An absent schema takes any object, or any output. */
export const guardSchema = (raw: unknown, role: "arguments" | "output" = "arguments"): Guarded | Refused => {
  try {
    const reader = new ForeignReader(plainRoot(raw))
    const read = reader.read()
    const schema = deepFreeze(role === "arguments" ? withObjectRoot(read, reader.diagnostics) : read)
    checkSize(schema)
    guarded.add(schema)
    return { ok: true, schema, diagnostics: Object.freeze(reader.diagnostics.slice(0, 100)) }
  } catch (cause) {
    // A RangeError is a schema nested deeper than the stack.
    return {
      ok: false,
      refusal: cause instanceof ToolDefinitionError ? cause : tooLarge("a schema that can be read", cause)
    }
  }
}

const plainRoot = (raw: unknown): JsonObject => {
  if (raw === undefined || raw === null || raw === true) return {}
  const copy = copyJson(raw, { hidden: "skip", maxDepth: maxSchemaDepth, maxValues: maxSchemaValues })
  if (!copy.ok) {
    const [issue] = copy.issues
    const { pointer = "", expected = "JSON", received = "something else" } = issue ?? {}
    throw problem({
      reason: expected.startsWith("at most") ? "SchemaTooLarge" : "BadSchema",
      pointer,
      expected,
      received
    })
  }
  const { value } = copy
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw problem({
      reason: "BadSchema",
      pointer: "",
      expected: "a JSON Schema object",
      received: shorten(JSON.stringify(value))
    })
  const size = JSON.stringify(value).length
  if (size > maxText) throw tooLarge(`a schema of at most ${maxText} characters`, `${size} characters`)
  return value
}

const withObjectRoot = (root: JsonObject, diagnostics: Array<string>): JsonObject => {
  const { type } = root
  if (type === "object") return root
  const includes = type === undefined || (Array.isArray(type) && (type as ReadonlyArray<Json>).includes("object"))
  if (!includes)
    throw problem({
      reason: "RootNotObject",
      pointer: "/type",
      expected: "arguments that are an object",
      received: JSON.stringify(type)
    })
  if (Object.keys(root).length > 0) diagnostics.push("the root: type object is added, since arguments are an object")
  return { ...root, type: "object" }
}

const checkSize = (schema: JsonObject): void => {
  const nodes = everyNode(schema).length
  if (nodes > maxNodes) throw tooLarge(`a schema of at most ${maxNodes} parts`, `${nodes} parts`)
  const work = schemaWork(schema)
  if (work === undefined)
    throw problem({
      reason: "BadReference",
      pointer: "",
      expected: "references that lead further into the value",
      received: "a reference that applies itself to the same value again"
    })
  if (work.depth < 3)
    throw tooLarge("a schema that checks a value in bounded work", "alternatives or shared parts that multiply")
}

const tooLarge = (expected: string, received: unknown): ToolDefinitionError =>
  new ToolDefinitionError({
    reason: "SchemaTooLarge",
    pointer: "",
    expected,
    received: typeof received === "string" ? received : "one that is nested too deep",
    ...(typeof received === "string" ? {} : { cause: received })
  })

const problem = (what: ToolDefinitionProblem): ToolDefinitionError => new ToolDefinitionError(what)
