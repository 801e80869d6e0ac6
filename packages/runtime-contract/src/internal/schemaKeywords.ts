/**
 * The keywords of JSON Schema 2020-12 and where schemas lie under them: the one table that every walk over a schema uses,
 * so that a property that happens to be named like a keyword is never taken for one.
 *
 * Guarantees: only places that hold schemas are visited.
 * Does not interpret a keyword.
 */
import { isJsonObject, type Json, type JsonObject } from "../Json.js"
import { pointerTo } from "./jsonPointer.js"

/** What the value of a keyword is. `data` is any JSON, never walked. */
export type KeywordKind =
  | "schema"
  | "schemas"
  | "schemaMap"
  | "number"
  | "positive"
  | "count"
  | "text"
  | "flag"
  | "keys"
  | "keysMap"
  | "types"
  | "list"
  | "data"

export const keywordKinds: ReadonlyMap<string, KeywordKind> = new Map<string, KeywordKind>([
  ["$ref", "text"],
  ["$defs", "schemaMap"],
  ["$comment", "text"],
  ["type", "types"],
  ["const", "data"],
  ["enum", "list"],
  ["title", "text"],
  ["description", "text"],
  ["default", "data"],
  ["examples", "list"],
  ["deprecated", "flag"],
  ["readOnly", "flag"],
  ["writeOnly", "flag"],
  // Marks a member whose value is hidden wherever it would be shown to people or logged.
  ["secret", "flag"],
  ["multipleOf", "positive"],
  ["maximum", "number"],
  ["exclusiveMaximum", "number"],
  ["minimum", "number"],
  ["exclusiveMinimum", "number"],
  ["maxLength", "count"],
  ["minLength", "count"],
  ["pattern", "text"],
  ["format", "text"],
  ["contentEncoding", "text"],
  ["contentMediaType", "text"],
  ["maxItems", "count"],
  ["minItems", "count"],
  ["uniqueItems", "flag"],
  ["maxContains", "count"],
  ["minContains", "count"],
  ["maxProperties", "count"],
  ["minProperties", "count"],
  ["required", "keys"],
  ["dependentRequired", "keysMap"],
  ["properties", "schemaMap"],
  ["patternProperties", "schemaMap"],
  ["dependentSchemas", "schemaMap"],
  ["allOf", "schemas"],
  ["anyOf", "schemas"],
  ["oneOf", "schemas"],
  ["prefixItems", "schemas"],
  ["items", "schema"],
  ["contains", "schema"],
  ["additionalProperties", "schema"],
  ["propertyNames", "schema"],
  ["not", "schema"],
  ["if", "schema"],
  ["then", "schema"],
  ["else", "schema"],
  ["unevaluatedItems", "schema"],
  ["unevaluatedProperties", "schema"],
  ["contentSchema", "schema"]
])

export const jsonTypes: ReadonlyArray<string> = ["null", "boolean", "integer", "number", "string", "array", "object"]

/** Whether a value has the form that a keyword's kind asks for. */
export const isOfKind = (kind: KeywordKind, value: Json): boolean => {
  switch (kind) {
    case "schema":
      return typeof value === "boolean" || isJsonObject(value)
    case "schemas":
    case "list":
      return Array.isArray(value) && value.length > 0
    case "schemaMap":
      return isJsonObject(value)
    case "number":
      return typeof value === "number"
    case "positive":
      return typeof value === "number" && value > 0
    case "count":
      return typeof value === "number" && Number.isInteger(value) && value >= 0
    case "text":
      return typeof value === "string"
    case "flag":
      return typeof value === "boolean"
    case "keys":
      return Array.isArray(value) && value.every((key) => typeof key === "string")
    case "keysMap":
      return isJsonObject(value) && Object.values(value).every((keys) => isOfKind("keys", keys))
    case "types":
      return (Array.isArray(value) ? list(value) : [value]).every(
        (name) => typeof name === "string" && jsonTypes.includes(name)
      )
    case "data":
      return true
  }
}

/** The schemas directly under a node, booleans included, each with its pointer relative to the node. */
const schemasUnder = (node: JsonObject): ReadonlyArray<readonly [string, Json]> => {
  const found: Array<readonly [string, Json]> = []
  for (const key of Object.keys(node)) {
    const kind = keywordKinds.get(key)
    const value = node[key]
    if (value === undefined) continue
    const at = pointerTo("", key)
    if (kind === "schema") found.push([at, value])
    else if (kind === "schemas") list(value).forEach((child, index) => found.push([pointerTo(at, index), child]))
    else if (kind === "schemaMap") for (const [name, child] of members(value)) found.push([pointerTo(at, name), child])
  }
  return found
}

/** Every node of a schema, the root first. */
export const everyNode = (root: JsonObject): ReadonlyArray<JsonObject> => {
  const found: Array<JsonObject> = []
  const pending: Array<Json> = [root]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (!isJsonObject(node)) continue
    found.push(node)
    for (const key of Object.keys(node)) {
      const kind = keywordKinds.get(key)
      const value = node[key]
      if (value === undefined || kind === undefined || !kind.startsWith("schema")) continue
      if (kind === "schema") pending.push(value)
      else pending.push(...(kind === "schemas" ? list(value) : Object.values(isJsonObject(value) ? value : {})))
    }
  }
  return found
}

/** Every node of a schema with its pointer, the root first. */
export const everySchema = (root: JsonObject): ReadonlyArray<readonly [string, JsonObject]> => {
  const found: Array<readonly [string, JsonObject]> = []
  const pending: Array<readonly [string, Json]> = [["", root]]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [pointer, node] = next
    if (!isJsonObject(node)) continue
    found.push([pointer, node])
    for (const [step, child] of [...schemasUnder(node)].reverse()) pending.push([pointer + step, child])
  }
  return found
}

/** The members of a map of schemas, or of any other JSON object; none for anything else. */
export const members = (value: Json | undefined): ReadonlyArray<readonly [string, Json]> =>
  isJsonObject(value) ? Object.entries(value) : []

export const list = (value: Json | undefined): ReadonlyArray<Json> => (isList(value) ? value : [])

const isList = (value: Json | undefined): value is ReadonlyArray<Json> => Array.isArray(value)

/** The node that a local reference (`#`, `#/…`) leads to, or `undefined`. */
export const resolveLocal = (root: JsonObject, reference: string): Json | undefined => {
  if (reference === "#") return root
  if (!reference.startsWith("#/")) return undefined
  let node: Json | undefined = root
  for (const raw of reference.slice(2).split("/")) {
    const key = unescapeKey(raw)
    if (Array.isArray(node)) node = /^(?:0|[1-9][0-9]*)$/.test(key) ? list(node)[Number(key)] : undefined
    else node = isJsonObject(node) && Object.hasOwn(node, key) ? node[key] : undefined
  }
  return node
}

/** The text of a local reference to a pointer. */
export const referenceTo = (pointer: string): string => `#${encodeURI(pointer).replaceAll("#", "%23")}`

const unescapeKey = (raw: string): string => {
  let key = raw
  try {
    key = decodeURIComponent(raw)
  } catch {
    // Not percent-encoded: taken as it stands.
  }
  return key.replaceAll("~1", "/").replaceAll("~0", "~")
}
