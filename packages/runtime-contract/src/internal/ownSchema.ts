/**
 * Reads an author's TypeBox schema into plain JSON Schema 2020-12: tuples in today's form, definitions at the root,
 * references as local pointers.
 *
 * Guarantees: the author's schema is not touched; what JSON Schema cannot carry, and what would be lost silently, is
 * refused with a pointer.
 * Does not close objects: output schemas stay as written, `closeSchema` closes arguments.
 */
import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../Json.js"
import { ToolDefinitionError, type ToolDefinitionProblem } from "../ToolDefinitionError.js"
import { isKnownFormat } from "./ajv.js"
import { describeValue, nearestName, shorten } from "./describeValue.js"
import { pointerTo } from "./jsonPointer.js"
import { copyJson, setMember } from "./plainJson.js"
import { everySchema, jsonTypes, keywordKinds, referenceTo, resolveLocal } from "./schemaKeywords.js"

/** The schema as plain JSON that shares nothing with the author's. Throws `ToolDefinitionError`. */
export const readOwnSchema = (schema: unknown): JsonObject => {
  const reader = new Reader()
  const root = reader.schema(schema, { pointer: "", scope: new Map() })
  if (!isJsonObject(root))
    throw problem({ reason: "BadSchema", pointer: "", expected: "a schema", received: describeValue(root) })
  const whole = reader.withDefinitions(inlineRoot(root, reader))
  for (const [pointer, node] of everySchema(whole)) {
    const { $ref } = node
    if (typeof $ref === "string" && resolveLocal(whole, $ref) === undefined) throw dangling(pointer, $ref)
  }
  return whole
}

/** Where the reader stands: the pointer, and what bare references mean there. */
interface At {
  readonly pointer: string
  readonly scope: ReadonlyMap<string, string>
}

type Draft = { [key: string]: Json }

/** Kinds of schemas that TypeBox has and JSON has not, with what to write instead. */
const hints: { readonly [type: string]: string } = {
  undefined: "make the property optional",
  void: "leave the output schema away",
  bigint: "take a string of digits",
  rest: "use an array"
}

/** Who writes fields where the schema belongs has not met one yet. */
const hintFor = (key: string, pointer: string): string => {
  const meant = nearestName(key, [...keywordKinds.keys()])
  if (meant !== undefined) return `did you mean ${meant}`
  return pointer.lastIndexOf("/") === 0
    ? "a schema is built with Type of @toolwright/runtime-contract/typebox: Type.Object({ name: Type.String() })"
    : "a field goes into Type.Object({ ... })"
}

const dropped: ReadonlySet<string> = new Set(["$id", "$schema"])

class Reader {
  readonly definitions: Draft = {}
  readonly #texts = new Map<string, string>()

  schema(raw: unknown, at: At): Json {
    if (typeof raw === "boolean") return raw
    if (!isRecord(raw))
      throw problem({ reason: "BadSchema", pointer: at.pointer, expected: "a schema", received: typeof raw })
    refuseHidden(raw, at.pointer)
    const scope = this.#hoist(raw["$defs"], at)
    const copy: Draft = {}
    for (const key of Object.keys(raw)) {
      const value = raw[key]
      if (value === undefined || key === "$defs" || dropped.has(key)) continue
      const here: At = { pointer: pointerTo(at.pointer, key), scope }
      if (key === "items" && Array.isArray(value))
        this.#tuple(copy, { items: value, rest: raw["additionalItems"], here })
      else if (key === "additionalItems" && Array.isArray(raw["items"])) continue
      else setMember(copy, [key, this.#keyword(key, { value, here })])
    }
    return copy
  }

  withDefinitions(root: JsonObject): JsonObject {
    return Object.keys(this.definitions).length === 0 ? root : { ...root, $defs: this.definitions }
  }

  #keyword(key: string, { value, here }: { readonly value: unknown; readonly here: At }): Json {
    const kind = keywordKinds.get(key)
    const { pointer } = here
    if (kind === undefined)
      throw problem({
        reason: "BadSchema",
        pointer,
        expected: "a keyword of JSON Schema 2020-12",
        received: shorten(key),
        hint: hintFor(key, pointer)
      })
    if (kind === "schema") return this.schema(value, here)
    if (kind === "schemas") {
      if (!Array.isArray(value))
        throw problem({ reason: "BadSchema", pointer, expected: "a list of schemas", received: typeof value })
      return value.map((one: unknown, index) => this.schema(one, { ...here, pointer: pointerTo(pointer, index) }))
    }
    if (kind === "schemaMap") return this.#map(value, here)
    const copy = copyJson(value, { hidden: "skip" })
    if (!copy.ok) {
      const [issue] = copy.issues
      throw problem({
        reason: "BadSchema",
        pointer: pointer + (issue?.pointer ?? ""),
        expected: issue?.expected ?? "JSON",
        received: issue?.received ?? "something else"
      })
    }
    if (key === "$ref") return this.#reference(copy.value, here)
    checkValue(key, { value: copy.value, pointer })
    return copy.value
  }

  #map(value: unknown, here: At): Json {
    if (!isRecord(value))
      throw problem({
        reason: "BadSchema",
        pointer: here.pointer,
        expected: "an object of schemas",
        received: typeof value
      })
    const copy: Draft = {}
    for (const name of Object.keys(value)) {
      const pointer = pointerTo(here.pointer, name)
      // The validator skips a property of this name, so nothing about it would hold.
      if (name === "__proto__") throw problem({ reason: "BadSchema", pointer, expected: "another name than __proto__" })
      if (here.pointer.endsWith("/patternProperties")) checkPattern(name, pointer)
      copy[name] = this.schema(value[name], { ...here, pointer })
    }
    return copy
  }

  /** Definitions go to the root, under a free name; the same ones twice are kept once. */
  #hoist(defs: unknown, at: At): ReadonlyMap<string, string> {
    if (defs === undefined) return at.scope
    const pointer = pointerTo(at.pointer, "$defs")
    if (!isRecord(defs))
      throw problem({ reason: "BadSchema", pointer, expected: "an object of schemas", received: typeof defs })
    const scope = new Map(at.scope)
    const fresh: Array<readonly [string, string]> = []
    const text = JSON.stringify(defs)
    for (const name of Object.keys(defs)) {
      const identity = `${name}\u0000${text}`
      const known = this.#texts.get(identity)
      const free = known ?? this.#freeName(name)
      scope.set(name, free)
      if (known !== undefined) continue
      this.#texts.set(identity, free)
      // Holds the name while the definitions, which may be recursive, are read.
      setMember(this.definitions, [free, true])
      fresh.push([name, free])
    }
    for (const [name, free] of fresh)
      setMember(this.definitions, [free, this.schema(defs[name], { pointer: pointerTo(pointer, name), scope })])
    return scope
  }

  #freeName(name: string): string {
    let free = name
    for (let count = 2; Object.hasOwn(this.definitions, free); count++) free = `${name}_${count}`
    return free
  }

  #reference(value: Json, { pointer, scope }: At): Json {
    if (typeof value !== "string") throw dangling(pointer, JSON.stringify(value))
    const name = scope.get(value.startsWith("#/$defs/") ? value.slice("#/$defs/".length) : value)
    if (name !== undefined) return referenceTo(pointerTo("/$defs", name))
    if (value === "#" || value.startsWith("#/")) return value
    throw dangling(pointer, value)
  }

  /** TypeBox writes tuples in the form of draft-07, which 2020-12 does not understand. */
  #tuple(
    copy: Draft,
    { items, rest, here }: { readonly items: ReadonlyArray<unknown>; readonly rest: unknown; readonly here: At }
  ): void {
    const prefix = items.map((item, index) => this.schema(item, { ...here, pointer: pointerTo(here.pointer, index) }))
    if (prefix.length > 0) copy["prefixItems"] = prefix
    copy["items"] =
      rest === undefined
        ? true
        : this.schema(rest, { ...here, pointer: here.pointer.replace(/items$/, "additionalItems") })
    if (copy["items"] === false) copy["maxItems"] = prefix.length
  }
}

/** A root that is only a reference to a definition becomes a copy of it, so that it is an object for everyone. */
const inlineRoot = (root: JsonObject, reader: Reader): JsonObject => {
  const { $ref, ...others } = root
  if (typeof $ref !== "string") return root
  const target = resolveLocal({ $defs: reader.definitions }, $ref)
  return isJsonObject(target) ? { ...target, ...others } : root
}

const refuseHidden = (raw: object, pointer: string): void => {
  for (const [mark, word] of [
    ["~refine", "a refinement"],
    ["~codec", "a codec"]
  ] as const)
    if (mark in raw)
      throw problem({
        reason: "UnsupportedType",
        pointer,
        expected: "a schema that JSON Schema can carry",
        received: word,
        hint: "its check would be lost; check in `call` instead"
      })
}

const checkValue = (key: string, { value, pointer }: { readonly value: Json; readonly pointer: string }): void => {
  if (key === "type") {
    const types = Array.isArray(value) ? (value as ReadonlyArray<Json>) : [value]
    const other = types.find((type) => typeof type !== "string" || !jsonTypes.includes(type))
    if (other === undefined) return
    const hint = typeof other === "string" && Object.hasOwn(hints, other) ? hints[other] : undefined
    const expected = `one of the types ${jsonTypes.join(", ")}`
    throw problem({
      reason: "UnsupportedType",
      pointer,
      expected,
      received: canonicalJson(other),
      ...(hint === undefined ? {} : { hint })
    })
  }
  if (key === "pattern") checkPattern(value, pointer)
  if (key === "format" && !(typeof value === "string" && isKnownFormat(value)))
    throw problem({
      reason: "UnknownFormat",
      pointer,
      expected: "a format that ajv-formats knows",
      received: canonicalJson(value)
    })
}

/** The validator would say so too, but not where. */
const checkPattern = (pattern: Json, pointer: string): void => {
  try {
    if (typeof pattern !== "string") throw new TypeError("no text")
    new RegExp(pattern, "u")
  } catch (cause) {
    const received = cause instanceof Error ? cause.message : canonicalJson(pattern)
    throw new ToolDefinitionError({
      reason: "BadSchema",
      pointer,
      expected: "a regular expression (with the u flag)",
      received,
      cause
    })
  }
}

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const problem = (what: ToolDefinitionProblem): ToolDefinitionError => new ToolDefinitionError(what)

const dangling = (pointer: string, reference: string): ToolDefinitionError =>
  problem({
    reason: "BadReference",
    pointer,
    expected: "a reference to a definition of this schema",
    received: shorten(reference)
  })
