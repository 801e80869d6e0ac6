/**
 * Closes an arguments schema: objects refuse unknown fields unless the schema says otherwise, and the model sees it.
 *
 * Guarantees: what the schema declares is accepted as before; intersections of objects become one object; where only
 * `unevaluatedProperties` can close, a warning says so.
 * Does not read TypeBox: `ownSchema` makes the plain schema that comes here.
 */
import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../Json.js"
import { ToolDefinitionError, type ToolDefinitionProblem } from "../ToolDefinitionError.js"
import { pointerTo } from "./jsonPointer.js"
import { setMember } from "./plainJson.js"
import { keywordKinds, list, members } from "./schemaKeywords.js"

export interface ClosedSchema {
  readonly schema: JsonObject
  readonly warnings: ReadonlyArray<string>
}

/** Throws `ToolDefinitionError` for a root that is no object, and for references that cannot be closed. */
export const closeSchema = (root: JsonObject): ClosedSchema => {
  const closer = new Closer()
  const isUnion = root["anyOf"] !== undefined || root["oneOf"] !== undefined
  if (isUnion && root["properties"] === undefined && root["allOf"] === undefined)
    throw problem({
      reason: "RootUnion",
      pointer: "",
      expected: "an object or an intersection of objects",
      received: "a union",
      hint: "put the union under a property, for example { action: Union([...]) }"
    })
  const schema = closer.close(root, { pointer: "", open: false })
  if (!isJsonObject(schema) || schema["type"] !== "object")
    throw problem({
      reason: "RootNotObject",
      pointer: "",
      expected: "an object at the root of the arguments",
      received: isJsonObject(schema) && schema["type"] !== undefined ? canonicalJson(schema["type"]) : "no object",
      hint: "wrap it: Type.Object({ value: ... })"
    })
  return { schema, warnings: closer.warnings }
}

/** `open`: a member of a composition that the outer node closes. */
interface At {
  readonly pointer: string
  readonly open: boolean
}

/** A schema and where it stood. */
interface Part {
  readonly node: Json
  readonly pointer: string
}

type Draft = { [key: string]: Json }

/** TypeBox's key pattern for `Record(String, V)`. */
const anyKey = "^.*$"

const annotations = [
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "secret",
  "$comment",
  "$defs"
]

/** All that a member of an intersection may say and still be merged into one object. */
const mergeable: ReadonlySet<string> = new Set([
  ...annotations,
  "type",
  "properties",
  "required",
  "additionalProperties",
  "allOf"
])

const compositions = ["allOf", "anyOf", "oneOf", "if", "dependentSchemas"]

class Closer {
  readonly warnings: Array<string> = []

  close(node: Json, at: At): Json {
    if (!isJsonObject(node)) return node
    if (node["$ref"] !== undefined) return this.#reference(node, at)
    const parts = intersectionOf({ node, pointer: at.pointer })
    if (parts !== undefined && parts.length > 1 && !at.open) return this.#merge(node, parts)
    const used = compositions.filter((keyword) => node[keyword] !== undefined)
    // Branches of one union close themselves; any other composition is closed from outside.
    const isUnion = used.length === 1 && (used[0] === "anyOf" || used[0] === "oneOf") && !hasFields(node)
    if (used.length === 0 || isUnion) {
      const copy = this.#children(node, { ...at, open: at.open && isUnion })
      return at.open || isUnion ? copy : seal(copy, at.pointer)
    }
    if (!isObjectLike(node)) return this.#children(node, at)
    const inner = this.#children(node, { ...at, open: true })
    if (at.open || node["additionalProperties"] !== undefined) return inner
    const where = at.pointer === "" ? "the root" : at.pointer
    this.warnings.push(
      `${where}: this object is closed by unevaluatedProperties, which strict provider modes and draft-07 cannot express`
    )
    return { type: "object", unevaluatedProperties: false, ...inner }
  }

  /** Copies a node; members of a composition are left open if `at.open`, everything inside the value is closed. */
  #children(node: JsonObject, at: At): Draft {
    const copy: Draft = {}
    for (const key of Object.keys(node)) {
      const value = node[key]
      if (value === undefined) continue
      const kind = keywordKinds.get(key)
      const inside: At = { pointer: pointerTo(at.pointer, key), open: at.open && sameValue.has(key) }
      const child = (one: Json, step: string | number): Json =>
        this.close(one, { ...inside, pointer: pointerTo(inside.pointer, step) })
      if (kind === "schema") copy[key] = testsOnly.has(key) ? value : this.close(value, inside)
      else if (kind === "schemas") copy[key] = list(value).map(child)
      else if (kind === "schemaMap")
        copy[key] = fromEntries(members(value).map(([name, one]) => [name, child(one, name)]))
      else copy[key] = value
    }
    return copy
  }

  /** The target closes itself, so nothing may stand beside a reference but words about it. */
  #reference(node: JsonObject, at: At): Json {
    const beside = Object.keys(node).find((key) => key !== "$ref" && !annotations.includes(key))
    if (!at.open && beside === undefined) return this.#children(node, at)
    throw problem({
      reason: "BadReference",
      pointer: at.pointer,
      expected: beside === undefined ? "no reference inside an intersection" : "a reference that stands alone",
      received: beside === undefined ? "$ref" : `$ref beside ${beside}`,
      hint: "write the object out, or put the reference under a property"
    })
  }

  #merge(node: JsonObject, parts: ReadonlyArray<Part>): Json {
    const fields = new Map<string, Array<Part>>()
    const required = new Set<Json>()
    let isOpen = node["unevaluatedProperties"] === true
    let isSecret = false
    for (const part of parts) {
      if (!isJsonObject(part.node)) continue
      isSecret ||= part.node["secret"] === true
      isOpen ||= part.node["additionalProperties"] === true
      for (const key of list(part.node["required"])) required.add(key)
      for (const [name, field] of members(part.node["properties"]))
        fields.set(name, [
          ...(fields.get(name) ?? []),
          { node: field, pointer: pointerTo(pointerTo(part.pointer, "properties"), name) }
        ])
    }
    const words = annotations.flatMap((key) =>
      node[key] === undefined || key === "$defs" ? [] : [[key, node[key]] as const]
    )
    const defs =
      node["$defs"] === undefined ? {} : this.#children({ $defs: node["$defs"] }, { pointer: "", open: false })
    return {
      type: "object",
      ...Object.fromEntries(words),
      ...(isSecret ? { secret: true } : {}),
      ...(required.size === 0 ? {} : { required: [...required] }),
      properties: fromEntries([...fields].map(([name, sides]) => [name, this.#field(sides)])),
      additionalProperties: isOpen,
      ...defs
    }
  }

  /** A field that several members of an intersection declare must fit all of them. */
  #field(sides: ReadonlyArray<Part>): Json {
    const different = new Map(sides.map((side) => [canonicalJson(side.node), side]))
    const [first] = different.values()
    const pointer = first?.pointer ?? ""
    if (different.size === 1) return this.close(first?.node ?? true, { pointer, open: false })
    return this.close({ allOf: [...different.values()].map(({ node }) => node) }, { pointer, open: false })
  }
}

/** What applies to the value itself rather than to something inside it. */
const sameValue: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas"])

/** What only tests a value: closing it would turn the test around. */
const testsOnly: ReadonlySet<string> = new Set(["not", "if", "contains", "propertyNames"])

/** The plain objects that an intersection consists of, itself included; `undefined` when one of them is more than that. */
const intersectionOf = ({ node, pointer }: Part): ReadonlyArray<Part> | undefined => {
  if (!isJsonObject(node)) return undefined
  const isPlain = Object.keys(node).every(
    (key) => mergeable.has(key) || (key === "unevaluatedProperties" && typeof node[key] === "boolean")
  )
  const declares = node["properties"] !== undefined || node["allOf"] !== undefined
  const additional = node["additionalProperties"]
  if (
    !isPlain ||
    !declares ||
    (node["type"] ?? "object") !== "object" ||
    (additional !== undefined && typeof additional !== "boolean")
  )
    return undefined
  const parts: Array<Part> = [{ node, pointer }]
  for (const [index, member] of list(node["allOf"]).entries()) {
    const inner = intersectionOf({ node: member, pointer: pointerTo(pointerTo(pointer, "allOf"), index) })
    if (inner === undefined) return undefined
    parts.push(...inner)
  }
  return parts
}

/** Closes an object without a composition. */
const seal = (node: Draft, pointer: string): Json => {
  if (node["additionalProperties"] !== undefined || node["unevaluatedProperties"] !== undefined) return node
  const [first, ...morePatterns] = members(node["patternProperties"])
  if (node["properties"] === undefined && morePatterns.length === 0 && first?.[0] === anyKey) {
    const { patternProperties: _, ...others } = node
    return { ...others, additionalProperties: first[1] }
  }
  if (!hasFields(node)) return node
  const properties = node["properties"]
  const absent = list(node["required"]).find(
    (key) => !(typeof key === "string" && isJsonObject(properties) && Object.hasOwn(properties, key))
  )
  if (absent !== undefined && first === undefined)
    throw problem({
      reason: "BadSchema",
      pointer: pointerTo(pointer, "required"),
      expected: "required fields that the object declares",
      received: canonicalJson(absent)
    })
  return { ...node, additionalProperties: false }
}

const hasFields = (node: JsonObject): boolean =>
  node["properties"] !== undefined || node["patternProperties"] !== undefined

/** Whether a node, or a part of its composition, speaks of objects. */
const isObjectLike = (node: Json): boolean =>
  isJsonObject(node) &&
  (node["type"] === "object" ||
    hasFields(node) ||
    node["$ref"] !== undefined ||
    [...sameValue].some((key) =>
      [...list(node[key]), ...(isJsonObject(node[key]) ? [node[key]] : [])].some(isObjectLike)
    ))

const fromEntries = (entries: ReadonlyArray<readonly [string, Json]>): JsonObject => {
  const object: Draft = {}
  for (const entry of entries) setMember(object, entry)
  return object
}

const problem = (what: ToolDefinitionProblem): ToolDefinitionError => new ToolDefinitionError(what)
