/**
 * The JSON Schema that a model is shown, that validates its calls and that a tool's identity covers: one frozen object.
 *
 * Guarantees: own arguments are closed and compiled where they are defined; foreign schemas are rebuilt under limits, and
 * one bad schema harms no other; checking a value takes bounded work.
 * Does not shape schemas for providers: model adapters do.
 */
import { closeSchema } from "./internal/closeSchema.js"
import { compiledFor, compileOwn } from "./internal/compiledSchema.js"
import { guardSchema } from "./internal/foreignSchema.js"
import { readOwnSchema } from "./internal/ownSchema.js"
import { deepFreeze, type Json, type JsonObject } from "./Json.js"
import type { ToolDefinitionError } from "./ToolDefinitionError.js"
import type { ArgumentIssue } from "./ToolError.js"

export { toDraft07 } from "./internal/draft07.js"

/** An own schema, ready, with what strict providers or older dialects cannot say of it. */
export interface OwnSchema {
  readonly schema: JsonObject
  readonly warnings: ReadonlyArray<string>
}

/** A foreign schema, ready, with what of it is ignored and where. */
export interface GuardedSchema {
  readonly ok: true
  readonly schema: JsonObject
  readonly diagnostics: ReadonlyArray<string>
}

export interface RefusedSchema {
  readonly ok: false
  readonly refusal: ToolDefinitionError
}

/**
 * The arguments schema of an own tool: closed unless it says otherwise, plain, frozen, compiled. The author's schema is
 * not touched. Throws `ToolDefinitionError` with pointer and hint: a root that is no object or is a union, a kind that
 * JSON Schema cannot carry, an unknown format, a reference that leads nowhere, a default that does not fit, or whatever
 * Ajv in strict mode (2020-12) refuses.
 */
export const closeArgs = (schema: unknown): OwnSchema => {
  const closed = closeSchema(readOwnSchema(schema))
  return { schema: compiled(closed.schema), warnings: Object.freeze(closed.warnings) }
}

/** The output schema of an own tool: as written, plain, frozen, compiled. Throws like `closeArgs`, but any root will do. */
export const readOutput = (schema: unknown): OwnSchema => ({
  schema: compiled(readOwnSchema(schema)),
  warnings: noWarnings
})

/**
 * The arguments schema of a stranger's tool, draft-07 or 2020-12, as written and under limits; absent means any object.
 * Unknown keywords and formats are ignored, patterns that cannot be matched in bounded time are shown and not checked,
 * each with a diagnostic. References that leave the document, malformed keywords and sizes out of bounds are refused.
 * Never throws. Compiled at first use.
 */
export const guardForeignSchema = (schema: unknown): GuardedSchema | RefusedSchema => guardSchema(schema)

/**
 * The output schema of a stranger's tool. One that cannot be used is left out with a diagnostic: its tool stays
 * callable, and only its output is not checked. Never throws.
 */
export const guardForeignOutput = (
  schema: unknown
): { readonly schema: JsonObject | undefined; readonly diagnostics: ReadonlyArray<string> } => {
  if (schema === undefined) return { schema: undefined, diagnostics: [] }
  const guarded = guardSchema(schema, "output")
  if (guarded.ok) return guarded
  return { schema: undefined, diagnostics: [`the output is not checked: ${guarded.refusal.message}`] }
}

/**
 * What checks values against a schema: the places that do not fit, none when the value is valid. Compiled once for each
 * schema object. The value is not normalised and not changed. Throws `ToolDefinitionError` for a schema that cannot be used.
 */
export const validatorFor = (schema: JsonObject): ((value: Json) => ReadonlyArray<ArgumentIssue>) => {
  const known = compiledFor(schema)
  return (value) => {
    const issue = known.tooMuch(sizeOf(value))
    if (issue !== undefined) return [issue]
    return known.validate(value) ? [] : known.explain(value)
  }
}

const noWarnings: ReadonlyArray<string> = Object.freeze([])

const compiled = (schema: JsonObject): JsonObject => {
  const frozen = deepFreeze(schema)
  compileOwn(frozen)
  return frozen
}

/** Nesting and number of members of a value; levels that no schema allows are not counted on. */
const sizeOf = (value: Json): { readonly depth: number; readonly values: number } => {
  let values = 0
  let deepest = 0
  const visit = (node: Json, depth: number): void => {
    if (typeof node !== "object" || node === null) return
    deepest = Math.max(deepest, depth)
    const inside: ReadonlyArray<Json> = Array.isArray(node) ? node : Object.values(node)
    values += inside.length
    if (depth <= 64) for (const item of inside) visit(item, depth + 1)
  }
  visit(value, 1)
  return { depth: deepest, values }
}
