/**
 * Lets a tool definition stand for its arguments wherever a Standard Schema or a Standard JSON Schema is taken.
 *
 * Guarantees: synchronous; the same normalisation and validation as a call; both dialects of the JSON Schema.
 * Does not parse text: a string is a value like any other, and no object.
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "effect/StandardSchema"
import type { JsonObject } from "../Json.js"
import { compiledFor } from "./compiledSchema.js"
import { describeValue } from "./describeValue.js"
import { toDraft07 } from "./draft07.js"
import { keysOf } from "./jsonPointer.js"
import { readArguments } from "./readArguments.js"

/** Standard Schema v1 and Standard JSON Schema v1 for arguments of type `A`. */
export interface StandardTool<A> {
  readonly "~standard": StandardSchemaV1.Props<A> & StandardJSONSchemaV1.Props<A>
}

export const standardSchema = <A>(spec: { readonly inputSchema: JsonObject }): StandardTool<A> => {
  const { inputSchema } = spec
  const convert = ({ target }: StandardJSONSchemaV1.Options): Record<string, unknown> => {
    if (target === "draft-2020-12") return { ...inputSchema }
    if (target === "draft-07") return { ...toDraft07(inputSchema) }
    throw new TypeError(`unknown JSON Schema target ${target}; draft-2020-12 and draft-07 are known`)
  }
  return {
    "~standard": Object.freeze({
      version: 1 as const,
      vendor: "toolwright",
      // The value has been validated against the schema that `A` is the type of.
      validate: (value: unknown) => validate(inputSchema, value) as StandardSchemaV1.Result<A>,
      jsonSchema: Object.freeze({ input: convert, output: convert })
    })
  }
}

const validate = (schema: JsonObject, value: unknown): StandardSchemaV1.Result<JsonObject> => {
  if (typeof value === "string")
    return { issues: [{ message: `expected a JSON object, received ${describeValue(value)}` }] }
  const read = readArguments(compiledFor(schema), { raw: value, lossless: false })
  if (read.ok) return { value: read.value }
  return {
    issues: read.issues.map(({ pointer, expected, received, fix }) => ({
      message: `expected ${expected}, received ${received}${fix === undefined ? "" : `; ${fix}`}`,
      path: pathOf(pointer, value)
    }))
  }
}

/** Indices are numbers where the value has an array. */
const pathOf = (pointer: string, value: unknown): ReadonlyArray<string | number> => {
  let at = value
  return (keysOf(pointer) ?? []).map((key) => {
    const isIndex = Array.isArray(at)
    at = typeof at === "object" && at !== null ? Object.getOwnPropertyDescriptor(at, key)?.value : undefined
    return isIndex ? Number(key) : key
  })
}
