/**
 * Rewrites a foreign schema keyword by keyword: older forms become today's, references become local pointers.
 *
 * Guarantees: only keywords of the table come out, each with a value of its kind; every reference leads to a schema of
 * the document. Property names are never taken for keywords.
 * Does not judge size or work: `foreignSchema` does.
 */
import { isJsonObject, type Json, type JsonObject } from "../Json.js"
import { ToolDefinitionError, type ToolDefinitionProblem } from "../ToolDefinitionError.js"
import { isKnownFormat } from "./ajv.js"
import { whyUnbounded } from "./boundedPattern.js"
import { describeValue, shorten } from "./describeValue.js"
import { ForeignReferences } from "./foreignReferences.js"
import { pointerTo } from "./jsonPointer.js"
import { setMember } from "./plainJson.js"
import { isOfKind, jsonTypes, keywordKinds, list, members, referenceTo } from "./schemaKeywords.js"

type Draft = { [key: string]: Json }

/** A keyword being read: its pointer in the foreign document, its node there, and the node that is being written. */
interface Step {
  readonly key: string
  readonly value: Json
  readonly from: string
  readonly node: JsonObject
  readonly draft: Draft
  /** Pointer of `draft` in the new document. */
  readonly to: string
}

/** Checks nothing: a value of the wrong kind is left out. */
const annotations: ReadonlySet<string> = new Set(
  "$comment title description default examples deprecated readOnly writeOnly secret contentEncoding contentMediaType".split(
    " "
  )
)

/** Read elsewhere, or without meaning once references are local. */
const silent: ReadonlySet<string> = new Set("$schema $id $anchor $vocabulary contentSchema additionalItems".split(" "))

export class ForeignReader {
  readonly diagnostics: Array<string> = []
  readonly #root: JsonObject
  readonly #references: ForeignReferences
  readonly #isLegacy: boolean
  /** Where each schema of the foreign document stands now. */
  readonly #placed = new Map<string, string>()
  readonly #pending: Array<{ readonly draft: Draft; readonly target: string }> = []

  constructor(root: JsonObject) {
    this.#root = root
    this.#references = new ForeignReferences(root)
    const { $schema } = root
    this.#isLegacy = typeof $schema === "string" && /draft-0[3-7]/.test($schema)
    if (typeof $schema === "string" && !this.#isLegacy && !/2019-09|2020-12/.test($schema))
      this.#ignore("/$schema", `unknown dialect ${shorten($schema)}, read as 2020-12`)
  }

  read(): JsonObject {
    const draft: Draft = {}
    this.#fill(draft, { node: this.#root, from: "", to: "" })
    // References are written last: only then is it known where everything stands.
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift())
      next.draft["$ref"] = referenceTo(this.#placed.get(next.target) ?? this.#hoist(next.target, draft))
    return draft
  }

  #schema(node: Json, { from, to }: { readonly from: string; readonly to: string }): Json {
    if (isJsonObject(node)) {
      const draft: Draft = {}
      this.#fill(draft, { node, from, to })
      return draft
    }
    if (typeof node !== "boolean")
      throw problem({ reason: "BadSchema", pointer: from, expected: "a schema", received: describeValue(node) })
    this.#placed.set(from, to)
    return node
  }

  #fill(
    draft: Draft,
    { node, from, to }: { readonly node: JsonObject; readonly from: string; readonly to: string }
  ): void {
    this.#placed.set(from, to)
    // In draft-07 a reference hides what stands beside it.
    const hides = this.#isLegacy && node["$ref"] !== undefined
    for (const key of Object.keys(node)) {
      const value = node[key]
      if (value === undefined || silent.has(key)) continue
      const step: Step = { key, value, from: pointerTo(from, key), node, draft, to }
      if (hides && !annotations.has(key) && !["$ref", "$defs", "definitions"].includes(key))
        this.#ignore(step.from, "hidden by $ref")
      else this.#step(step)
    }
  }

  #step(step: Step): void {
    const { key, value, draft, from } = step
    if (key === "$ref") return this.#reference(step)
    if (key === "definitions" || key === "$defs") return this.#definitions(step)
    if (key === "items" && Array.isArray(value)) return this.#tuple(step)
    if (key === "dependencies") return this.#dependencies(step)
    const kind = keywordKinds.get(key)
    if (kind === undefined) return this.#ignore(from, "unknown keyword")
    const to = pointerTo(step.to, key)
    if (kind === "schema") draft[key] = this.#schema(value, { from, to })
    else if (kind === "schemas") draft[key] = this.#list(step)
    else if (kind === "schemaMap") draft[key] = this.#map(step)
    else if (key === "type") this.#type(step)
    else if (isOfKind(kind, value)) this.#value(step)
    // Draft-03 and 04 wrote these as flags.
    else if (annotations.has(key) || (typeof value === "boolean" && /^(?:required|exclusive)/.test(key)))
      this.#ignore(from, "not in the form of 2020-12")
    else
      throw problem({
        reason: "BadSchema",
        pointer: from,
        expected: `the form of ${key} in JSON Schema`,
        received: describeValue(value)
      })
  }

  #value({ key, value, draft, from }: Step): void {
    if (key === "format" && typeof value === "string" && !isKnownFormat(value))
      this.#ignore(from, `unknown format ${shorten(value)}, not checked`)
    const why = key === "pattern" ? whyUnbounded(value) : undefined
    if (why !== undefined) this.#ignore(from, `not checked: ${why}`)
    draft[key] = value
  }

  #type({ value, draft, from }: Step): void {
    const names = Array.isArray(value) ? list(value) : [value]
    if (names.length === 0 || names.some((name) => typeof name !== "string"))
      throw problem({
        reason: "BadSchema",
        pointer: from,
        expected: "the name of a type",
        received: describeValue(value)
      })
    const known = [...new Set(names)].filter((name) => typeof name === "string" && jsonTypes.includes(name))
    if (known.length < names.length) this.#ignore(from, `unknown or repeated type in ${shorten(JSON.stringify(value))}`)
    // With a type that is not known, nothing is known of what else the value may be.
    if (known.length === new Set(names).size) draft["type"] = Array.isArray(value) ? known : (known[0] ?? null)
  }

  #list({ key, value, from, to }: Step): Json {
    if (list(value).length === 0)
      throw problem({
        reason: "BadSchema",
        pointer: from,
        expected: "a list of schemas",
        received: describeValue(value)
      })
    const target = pointerTo(to, key)
    return list(value).map((one, index) =>
      this.#schema(one, { from: pointerTo(from, index), to: pointerTo(target, index) })
    )
  }

  #map({ key, value, from, to }: Step): Json {
    if (!isJsonObject(value))
      throw problem({
        reason: "BadSchema",
        pointer: from,
        expected: "an object of schemas",
        received: describeValue(value)
      })
    const copy: Draft = {}
    const target = pointerTo(to, key)
    for (const [name, one] of members(value)) {
      const pointer = pointerTo(from, name)
      // The validator skips a property of this name, so nothing about it would hold.
      if (name === "__proto__") throw problem({ reason: "BadSchema", pointer, expected: "another name than __proto__" })
      const why = key === "patternProperties" ? whyUnbounded(name) : undefined
      if (why !== undefined)
        throw problem({
          reason: "BadSchema",
          pointer,
          expected: "a pattern that can be matched in bounded time",
          received: why
        })
      copy[name] = this.#schema(one, { from: pointer, to: pointerTo(target, name) })
    }
    return copy
  }

  #definitions({ value, from, draft, to }: Step): void {
    if (!isJsonObject(value))
      throw problem({
        reason: "BadSchema",
        pointer: from,
        expected: "an object of schemas",
        received: describeValue(value)
      })
    const kept = definitionsOf(draft)
    for (const [name, one] of members(value)) {
      const free = freeName(kept, name)
      setMember(kept, [free, true])
      setMember(kept, [
        free,
        this.#schema(one, { from: pointerTo(from, name), to: pointerTo(pointerTo(to, "$defs"), free) })
      ])
    }
  }

  #tuple({ value, from, node, draft, to }: Step): void {
    const items = list(value)
    const target = pointerTo(to, "prefixItems")
    if (items.length > 0)
      draft["prefixItems"] = items.map((one, index) =>
        this.#schema(one, { from: pointerTo(from, index), to: pointerTo(target, index) })
      )
    const rest = node["additionalItems"]
    if (rest !== undefined)
      draft["items"] = this.#schema(rest, {
        from: from.replace(/items$/, "additionalItems"),
        to: pointerTo(to, "items")
      })
  }

  #dependencies({ value, from, draft, to }: Step): void {
    const keys: Draft = {}
    const schemas: Draft = {}
    for (const [name, one] of members(value)) {
      const at = { from: pointerTo(from, name), to: pointerTo(pointerTo(to, "dependentSchemas"), name) }
      if (!Array.isArray(one)) setMember(schemas, [name, this.#schema(one, at)])
      else if (isOfKind("keys", one)) setMember(keys, [name, one])
      else
        throw problem({
          reason: "BadSchema",
          pointer: at.from,
          expected: "a list of names",
          received: describeValue(one)
        })
    }
    if (Object.keys(keys).length > 0) draft["dependentRequired"] = keys
    if (Object.keys(schemas).length > 0) draft["dependentSchemas"] = schemas
  }

  #reference({ value, from, draft }: Step): void {
    const parent = from.slice(0, from.lastIndexOf("/"))
    const target = typeof value === "string" ? this.#references.resolve(value, parent) : undefined
    if (target === undefined)
      throw problem({
        reason: "BadReference",
        pointer: from,
        expected: "a reference to a part of this schema",
        received: describeValue(value)
      })
    // Holds the keyword's place among its siblings.
    draft["$ref"] = ""
    this.#pending.push({ draft, target })
  }

  /** A referenced schema that lies where no schema is expected becomes a definition. */
  #hoist(target: string, root: Draft): string {
    const kept = definitionsOf(root)
    const name = freeName(kept, target.slice(target.lastIndexOf("/") + 1))
    setMember(kept, [name, true])
    const to = pointerTo("/$defs", name)
    setMember(kept, [name, this.#schema(this.#references.valueAt(target) ?? null, { from: target, to })])
    return to
  }

  #ignore(pointer: string, what: string): void {
    if (this.diagnostics.length < 100) this.diagnostics.push(`${pointer}: ${what}`)
  }
}

const definitionsOf = (draft: Draft): Draft => {
  const known = draft["$defs"]
  if (known !== undefined && isDraft(known)) return known
  const fresh: Draft = {}
  draft["$defs"] = fresh
  return fresh
}

// What this module has written is its own to change.
const isDraft = (value: Json): value is Draft => isJsonObject(value)

const freeName = (taken: Draft, name: string): string => {
  let free = name
  for (let count = 2; Object.hasOwn(taken, free); count++) free = `${name}_${count}`
  return free
}

const problem = (what: ToolDefinitionProblem): ToolDefinitionError => new ToolDefinitionError(what)
