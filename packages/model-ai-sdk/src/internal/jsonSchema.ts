/**
 * Where schemas lie inside a JSON Schema, and how its places are named and found.
 *
 * Guarantees: a property that is named like a keyword is never taken for one, because only schema positions are walked.
 * Does not validate a schema: the contract did, before it came here.
 */
import type { Json } from "@toolwright/runtime-contract"
import { isRecord } from "./plainData.js"

export type Schema = Json.JsonObject

export const isSchema = (value: unknown): value is Schema => isRecord(value)

/** Keywords whose value is one schema. */
export const schemaKeywords: ReadonlySet<string> = new Set([
  "items",
  "additionalItems",
  "additionalProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else"
])

/** Keywords whose value is a map from names, which are data, to schemas. */
export const schemaMapKeywords: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas"])

export const listOf = (value: Json.Json | undefined): ReadonlyArray<Json.Json> =>
  Array.isArray(value) ? (value as ReadonlyArray<Json.Json>) : []

export const mapOf = (value: Json.Json | undefined): Json.JsonObject => (isSchema(value) ? value : {})

export const textsOf = (value: Json.Json | undefined): ReadonlyArray<string> =>
  listOf(value).filter((item) => typeof item === "string")

/** The types that a schema names, none where it names none. */
export const typesOf = (schema: Schema): ReadonlyArray<string> =>
  typeof schema["type"] === "string" ? [schema["type"]] : textsOf(schema["type"])

/** The pointer to `key` under `pointer` (RFC 6901). */
export const under = (pointer: string, key: string | number): string =>
  `${pointer}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`

/** The JSON Pointer of a local reference (`#`, `#/…`), or `undefined` for any other. */
export const pointerOfReference = (reference: string): string | undefined => {
  if (reference === "#") return ""
  if (!reference.startsWith("#/")) return undefined
  try {
    return decodeURIComponent(reference.slice(1))
  } catch {
    return reference.slice(1)
  }
}

/** What lies at a pointer, or `undefined`. */
export const resolve = (root: Json.Json, pointer: string): Json.Json | undefined => {
  let node: Json.Json | undefined = root
  for (const raw of pointer === "" ? [] : pointer.slice(1).split("/")) {
    const key = raw.replaceAll("~1", "/").replaceAll("~0", "~")
    if (Array.isArray(node))
      node = /^(?:0|[1-9]\d*)$/.test(key) ? (node as ReadonlyArray<Json.Json>)[Number(key)] : undefined
    else node = isSchema(node) && Object.hasOwn(node, key) ? node[key] : undefined
  }
  return node
}

/** Sets a member that may have any name, `__proto__` included. */
export const setMember = (target: Record<string, Json.Json>, key: string, value: Json.Json): void => {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else target[key] = value
}
