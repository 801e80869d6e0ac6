/**
 * Checks for values that are no arguments: state, final answers, results from outside. Any root will do.
 *
 * Guarantees: made once per schema object; a schema that nobody prepared is read as an own one and, where that cannot be,
 * as a stranger's.
 * Does not normalise.
 */
import { type Json, type ToolError, ToolSchema } from "@toolwright/runtime-contract"

type Issue = Parameters<typeof ToolError.invalidArguments>[1] extends ReadonlyArray<infer A> | undefined ? A : never

export type ValueCheck = (value: Json.Json) => ReadonlyArray<Issue>

const checks = new WeakMap<object, ValueCheck>()

/** Throws `ToolDefinitionError` for a schema that cannot be used at all. */
export const checkFor = (schema: object): ValueCheck => {
  const known = checks.get(schema)
  if (known !== undefined) return known
  const check = ToolSchema.validatorFor(readable(schema))
  checks.set(schema, check)
  return check
}

const readable = (schema: object): Json.JsonObject => {
  try {
    return ToolSchema.readOutput(schema).schema
  } catch (cause) {
    const foreign = ToolSchema.guardForeignOutput(schema).schema
    if (foreign === undefined) throw cause
    return foreign
  }
}
