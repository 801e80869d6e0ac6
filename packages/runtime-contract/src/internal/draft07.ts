/**
 * Says a 2020-12 schema in the words of draft-07, for libraries that understand no newer form.
 *
 * Guarantees: the result accepts exactly the same values, or the translation throws and names the place.
 * Does not translate back.
 */
import { deepFreeze, isJsonObject, type Json, type JsonObject } from "../Json.js"
import { keysOf, pointerTo } from "./jsonPointer.js"
import { setMember } from "./plainJson.js"
import { keywordKinds, list, members, referenceTo } from "./schemaKeywords.js"

type Draft = { [key: string]: Json }

const dialect = "http://json-schema.org/draft-07/schema#"

/** Throws `TypeError` for what draft-07 cannot say: `unevaluatedProperties`, `unevaluatedItems`, `minContains`, `maxContains`. */
export const toDraft07 = (schema: JsonObject): JsonObject => {
  const translated = translate(schema, "")
  return deepFreeze({ $schema: dialect, ...(isJsonObject(translated) ? translated : {}) })
}

const unsayable: ReadonlySet<string> = new Set([
  "unevaluatedProperties",
  "unevaluatedItems",
  "minContains",
  "maxContains"
])

const translate = (node: Json, at: string): Json => {
  if (!isJsonObject(node)) return node
  const copy: Draft = {}
  for (const key of Object.keys(node)) {
    const value = node[key]
    if (value === undefined) continue
    const pointer = pointerTo(at, key)
    if (unsayable.has(key)) throw new TypeError(`draft-07 cannot express ${key} (at ${pointer})`)
    if (key === "$ref") copy[key] = reference(value)
    else if (key === "$defs") copy["definitions"] = map(value, pointer)
    else if (key === "prefixItems")
      copy["items"] = list(value).map((one, index) => translate(one, pointerTo(pointer, index)))
    else if (key === "items")
      copy[node["prefixItems"] === undefined ? "items" : "additionalItems"] = translate(value, pointer)
    else if (key === "dependentRequired" || key === "dependentSchemas") copy["dependencies"] = dependencies(node, at)
    else copy[key] = keyword(key, { value, pointer })
  }
  return copy["$ref"] === undefined ? copy : standingAlone(copy)
}

const keyword = (key: string, { value, pointer }: { readonly value: Json; readonly pointer: string }): Json => {
  const kind = keywordKinds.get(key)
  if (kind === "schema") return translate(value, pointer)
  if (kind === "schemas") return list(value).map((one, index) => translate(one, pointerTo(pointer, index)))
  return kind === "schemaMap" ? map(value, pointer) : value
}

const map = (value: Json, pointer: string): Json => {
  const copy: Draft = {}
  for (const [name, one] of members(value)) setMember(copy, [name, translate(one, pointerTo(pointer, name))])
  return copy
}

/** Both new keywords share one old one, so a name that has both gets a schema that says both. */
const dependencies = (node: JsonObject, at: string): Json => {
  const copy: Draft = {}
  for (const [name, keys] of members(node["dependentRequired"])) setMember(copy, [name, keys])
  for (const [name, one] of members(node["dependentSchemas"])) {
    const schema = translate(one, pointerTo(pointerTo(at, "dependentSchemas"), name))
    const keys = Object.hasOwn(copy, name) ? copy[name] : undefined
    setMember(copy, [name, keys === undefined ? schema : { allOf: [{ required: keys }, schema] }])
  }
  return copy
}

/** Draft-07 overlooks what stands beside a reference, words excepted. */
const standingAlone = ({ $ref, definitions, ...others }: Draft): Json => {
  const root = definitions === undefined ? {} : { definitions }
  const alone = $ref === undefined ? {} : { $ref }
  if (Object.keys(others).length === 0 && definitions === undefined) return alone
  return { ...root, ...others, allOf: [alone, ...list(others["allOf"])] }
}

/** A pointer through keywords that have other names now. */
const reference = (value: Json): Json => {
  if (typeof value !== "string" || !value.startsWith("#/")) return value
  let kind: string | undefined = "schema"
  let pointer = ""
  for (const key of keysOf(decodeURIComponent(value.slice(1))) ?? []) {
    const isKeyword: boolean = kind === "schema"
    pointer = pointerTo(pointer, isKeyword ? (renamed.get(key) ?? key) : key)
    kind = isKeyword ? keywordKinds.get(key) : "schema"
  }
  return referenceTo(pointer)
}

const renamed: ReadonlyMap<string, string> = new Map([
  ["$defs", "definitions"],
  ["prefixItems", "items"],
  ["dependentSchemas", "dependencies"]
])
