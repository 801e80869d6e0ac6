/**
 * One schema being written in one dialect: the walk behind `projectSchema`.
 *
 * Guarantees: every schema position is visited once, under limits; what the dialect lacks is dropped, told in words, or
 * thrown as `Unsayable` with its place.
 * Does not validate and is used once.
 */
import type { Json } from "@toolwright/runtime-contract"
import type { SchemaDialect } from "../SchemaDialect.js"
import type { Dropped } from "../SchemaProjection.js"
import { flatten } from "./flattenRoot.js"
import { conjoin } from "./joinSchemas.js"
import {
  isSchema,
  listOf,
  mapOf,
  pointerOfReference,
  resolve,
  type Schema,
  schemaKeywords,
  schemaMapKeywords,
  setMember,
  textsOf,
  typesOf,
  under
} from "./jsonSchema.js"
import { described, wordsFor, wordsForOrder, wordsForValues } from "./schemaWords.js"
import { acceptsNull, anyValue, impliedTypes, isTold, nullable, splitTypes, typesOfValues } from "./typedSchemas.js"
import { Unsayable } from "./unsayable.js"

type Draft = Record<string, Json.Json>

interface Place {
  readonly pointer: string
  readonly depth: number
}

/** A schema that is being written, and what its description will have to say. */
interface Writing {
  readonly given: Schema
  readonly place: Place
  readonly draft: Draft
  readonly words: Array<string>
}

/** A place under keywords of the same value. */
const beside = (place: Place, keys: ReadonlyArray<string | number>): Place => ({
  pointer: keys.reduce<string>(under, place.pointer),
  depth: place.depth
})

/** A place inside the value: one level deeper. */
const inside = (place: Place, keys: ReadonlyArray<string | number>): Place => ({
  pointer: keys.reduce<string>(under, place.pointer),
  depth: place.depth + 1
})

/** Keywords that bound no value: they go without being reported. */
const annotations: ReadonlySet<string> = new Set(
  "$schema $id $anchor $comment $vocabulary $defs definitions title description default examples example deprecated readOnly writeOnly secret contentEncoding contentMediaType contentSchema".split(
    " "
  )
)

/** Keywords that are written by hand below. */
const byHand: ReadonlySet<string> = new Set(
  "$ref $defs definitions type enum const format description properties required additionalProperties patternProperties items prefixItems anyOf oneOf allOf".split(
    " "
  )
)

export class SchemaWriter {
  readonly dropped: Array<Dropped> = []
  readonly #root: Schema
  readonly #dialect: SchemaDialect
  readonly #definitions = new Map<string, Definition>()
  readonly #active = new Map<string, number>()
  #schemas = 0
  #properties = 0
  #values = 0
  /** Optional members that were given `null`, to be read as absent. */
  #voids = 0

  constructor(root: Schema, dialect: SchemaDialect) {
    this.#root = root
    this.#dialect = dialect
  }

  root(): Schema {
    const flat = flatten(this.#root)
    if (this.#dialect.strict && flat.mixed !== undefined)
      throw new Unsayable(under("", flat.mixed), "keys that only some forms of the arguments have")
    for (const keyword of flat.dropped) this.#drop({ pointer: "", depth: 0 }, keyword)
    const projected = this.#node(flat.schema, { pointer: "", depth: 0 }) ?? {}
    if (this.#definitions.size === 0) return projected
    const definitions = [...this.#definitions.values()].map(({ name, schema }) => [name, schema])
    return { ...projected, $defs: Object.fromEntries(definitions) as Schema }
  }

  /** The schema in the dialect; `undefined` for one that takes nothing. */
  #node(value: Json.Json, place: Place): Schema | undefined {
    const { limits } = this.#dialect
    if (++this.#schemas > limits.schemas)
      throw new Unsayable(place.pointer, `more than ${limits.schemas} schemas when references are written out`)
    if (place.depth > limits.depth) throw new Unsayable(place.pointer, `nested deeper than ${limits.depth} levels`)
    if (value === false) return undefined
    if (!isSchema(value)) return this.#plain({}, place)
    if (typeof value["$ref"] === "string") return this.#reference(value, place)
    const given = this.#normal(value, place)
    const apart = this.#dialect.strict || this.#dialect.unions === "bare"
    return apart && Array.isArray(given["anyOf"]) ? this.#union(given, place) : this.#plain(given, place)
  }

  /** Forms that the dialect does not have, in those that it has. */
  #normal(value: Schema, place: Place): Schema {
    const { keywords } = this.#dialect
    let given: Draft = { ...value }
    if (Array.isArray(given["items"])) {
      const { additionalItems, items, ...others } = given
      given = {
        ...others,
        prefixItems: items ?? [],
        ...(additionalItems === undefined ? {} : { items: additionalItems })
      }
    }
    if (given["const"] !== undefined && !keywords.has("const")) {
      const { const: only, ...others } = given
      given = { ...others, enum: [only ?? null] }
    }
    if (Array.isArray(given["oneOf"]) && !keywords.has("oneOf")) {
      const { oneOf, ...others } = given
      given = others["anyOf"] === undefined ? { ...others, anyOf: oneOf ?? [] } : { ...others }
    }
    if (!Array.isArray(given["allOf"]) || keywords.has("allOf")) return given
    const { allOf, ...others } = given
    let joined: Schema = others
    for (const [index, part] of listOf(allOf).entries()) {
      const at = beside(place, ["allOf", index])
      joined = conjoin(joined, this.#normal(this.#dereferenced(part, at), at))
    }
    return joined
  }

  /** What stands behind references, joined with what stands beside them. */
  #dereferenced(value: Json.Json, place: Place): Schema {
    const seen = new Set<string>()
    let at: Json.Json | undefined = value
    while (isSchema(at) && typeof at["$ref"] === "string") {
      const reference: string = at["$ref"]
      const target: Target = this.#target(reference, place)
      if (seen.has(target.pointer)) throw new Unsayable(place.pointer, "a reference to itself")
      seen.add(target.pointer)
      const { $ref: _, ...siblings }: Schema = at
      at = isSchema(target.schema) ? conjoin(siblings, target.schema) : siblings
    }
    return isSchema(at) ? at : {}
  }

  #target(reference: string, place: Place): Target {
    const pointer = pointerOfReference(reference)
    const schema = pointer === undefined ? undefined : resolve(this.#root, pointer)
    if (pointer === undefined || schema === undefined)
      throw new Unsayable(under(place.pointer, "$ref"), "a reference that leads nowhere in this schema")
    return { pointer, schema }
  }

  #reference(value: Schema, place: Place): Schema | undefined {
    const { $ref: reference, ...siblings } = value
    const { pointer, schema } = this.#target(typeof reference === "string" ? reference : "", place)
    if (!isSchema(schema)) return this.#node(schema, { ...place, pointer })
    const bound = Object.keys(siblings).some((keyword) => !annotations.has(keyword))
    if (this.#dialect.references === "keep" && !bound) {
      const kept: Schema = { $ref: `#/$defs/${this.#definition(pointer, schema)}` }
      const said = described(siblings["description"], [])
      // Nothing stands beside a reference: older drafts would ignore it.
      return said === undefined ? kept : { description: said, anyOf: [kept] }
    }
    const active = this.#active.get(pointer) ?? 0
    if (active > this.#dialect.recursion) {
      this.#drop(place, "$ref")
      return { type: "object", description: "the same again, nested deeper" }
    }
    this.#active.set(pointer, active + 1)
    const projected = this.#node(conjoin(siblings, schema), { ...place, pointer })
    this.#active.set(pointer, active)
    return projected
  }

  /** The name under which a definition stands in `$defs`. */
  #definition(pointer: string, schema: Schema): string {
    const known = this.#definitions.get(pointer)
    if (known?.voids === true) this.#voids++
    if (known !== undefined) return known.name
    const wanted = pointer.slice(pointer.lastIndexOf("/") + 1).replaceAll(/[^A-Za-z0-9_-]/g, "_") || "root"
    const taken = new Set([...this.#definitions.values()].map(({ name }) => name))
    let name = wanted
    for (let number = 2; taken.has(name); number++) name = `${wanted}_${number}`
    const definition: Definition = { name, schema: {}, voids: true }
    // Known before it is projected, so that a recursion finds it.
    this.#definitions.set(pointer, definition)
    const before = this.#voids
    definition.schema = this.#node(pointer === "" ? flatten(schema).schema : schema, { pointer, depth: 1 }) ?? {}
    definition.voids = this.#voids > before
    return name
  }

  /** A union with nothing beside it: what stood there moves into its branches. */
  #union(given: Schema, place: Place): Schema | undefined {
    const { anyOf, description, ...others } = given
    const shape: Draft = Object.fromEntries(Object.entries(others).filter(([keyword]) => !annotations.has(keyword)))
    if (shape["unevaluatedProperties"] === false) shape["additionalProperties"] = false
    const bare = Object.keys(shape).length === 0
    const before = this.#voids
    const branches = listOf(anyOf)
      .map((member, index) => {
        const at = beside(place, ["anyOf", index])
        return this.#node(bare || member === false ? member : conjoin(this.#dereferenced(member, at), shape), at)
      })
      .filter((branch) => branch !== undefined)
    // Which branch a null belongs to must be clear, or it could not be read as absent.
    if (
      this.#voids > before &&
      !isTold(listOf(anyOf).map((member) => conjoin(this.#dereferenced(member, place), shape)))
    )
      throw new Unsayable(under(place.pointer, "anyOf"), "optional keys in forms that no constant tells apart")
    const said = described(description, [])
    const [only] = branches
    if (only === undefined || said === undefined)
      return only === undefined ? undefined : branches.length === 1 ? only : { anyOf: branches }
    if (branches.length === 1 && only["$ref"] === undefined) return { ...only, description: said }
    if (!this.#dialect.strict) return { anyOf: branches.map((branch) => ({ description: said, ...branch })) }
    return { description: said, anyOf: branches }
  }

  #plain(given: Schema, place: Place): Schema {
    const writing: Writing = { given, place, draft: {}, words: [] }
    const { draft, words } = writing
    this.#types(writing)
    for (const [keyword, value] of Object.entries(given))
      if (!byHand.has(keyword)) this.#keyword(keyword, { value, writing })
    this.#format(writing)
    const types = draft["type"] === undefined ? impliedTypes(given) : typesOf(draft)
    if (types.includes("object")) this.#object(writing)
    if (types.includes("array")) this.#array(writing)
    for (const keyword of ["allOf", "anyOf", "oneOf"])
      if (Array.isArray(given[keyword]))
        draft[keyword] = listOf(given[keyword])
          .map((part, index) => this.#node(part, beside(place, [keyword, index])))
          .filter((part) => part !== undefined)
    const said = described(given["description"], words)
    if (said !== undefined) draft["description"] = said
    if (draft["type"] === undefined && this.#dialect.untyped === "spelledOut") {
      if (this.#dialect.strict) throw new Unsayable(place.pointer, "a value of any type")
      return anyValue(said)
    }
    return this.#dialect.typeLists === "split" ? splitTypes(draft) : draft
  }

  #keyword(keyword: string, { value, writing }: { readonly value: Json.Json; readonly writing: Writing }): void {
    const { draft, place, words } = writing
    if (this.#dialect.keywords.has(keyword)) {
      const kept = this.#kept(keyword, { value, place })
      if (kept !== undefined) draft[keyword] = kept
      return
    }
    const said = wordsFor(keyword, value)
    if (said !== undefined) words.push(said)
    if (!annotations.has(keyword)) this.#drop(place, keyword)
  }

  /** The value of a keyword that the dialect has, with the schemas in it projected. */
  #kept(
    keyword: string,
    { value, place }: { readonly value: Json.Json; readonly place: Place }
  ): Json.Json | undefined {
    if (schemaKeywords.has(keyword)) return this.#node(value, inside(place, [keyword])) ?? false
    if (!schemaMapKeywords.has(keyword)) return value
    const map: Draft = {}
    for (const [name, schema] of Object.entries(mapOf(value)))
      setMember(map, name, this.#node(schema, inside(place, [keyword, name])) ?? false)
    return map
  }

  /** `type` and the list of values. */
  #types({ draft, given, place, words }: Writing): void {
    const { enums, untyped } = this.#dialect
    let types = typesOf(given)
    const values = Array.isArray(given["enum"])
      ? listOf(given["enum"])
      : given["const"] === undefined
        ? undefined
        : [given["const"]]
    if (values !== undefined) {
      this.#values += values.length
      this.#bound(place, {
        count: this.#values,
        limit: this.#dialect.limits.enumValues,
        what: "values in lists of values"
      })
      const sayable =
        enums === "any" ||
        (values.some((value) => value !== null) && values.every((value) => value === null || typeof value === "string"))
      if (sayable && given["const"] !== undefined) draft["const"] = given["const"]
      else if (sayable) draft["enum"] = values
      else words.push(wordsForValues(values))
      if (!sayable) this.#drop(place, given["const"] === undefined ? "enum" : "const")
      if (types.length === 0 && untyped === "spelledOut") types = typesOfValues(values)
    }
    if (types.length === 0 && untyped === "spelledOut") types = impliedTypes(given)
    const [only] = types
    if (only !== undefined) draft["type"] = types.length === 1 ? only : types
  }

  #format({ draft, given, place, words }: Writing): void {
    const { format } = given
    if (typeof format !== "string") return
    if (this.#dialect.keywords.has("format") && this.#dialect.formats?.has(format) !== false) draft["format"] = format
    else {
      words.push(wordsFor("format", format) ?? "")
      this.#drop(place, "format")
    }
  }

  #object(writing: Writing): void {
    const { draft, given, place, words } = writing
    const { keywords, strict } = this.#dialect
    const properties: Draft = {}
    const needed = new Set(textsOf(given["required"]))
    for (const [name, schema] of Object.entries(mapOf(given["properties"]))) {
      const at = inside(place, ["properties", name])
      this.#bound(at, { count: ++this.#properties, limit: this.#dialect.limits.properties, what: "properties" })
      if (this.#dialect.propertyNames?.test(name) === false)
        throw new Unsayable(at.pointer, `a property name that does not match ${this.#dialect.propertyNames.source}`)
      const projected = this.#node(schema, at)
      if (projected !== undefined)
        setMember(properties, name, strict && !needed.has(name) ? this.#optional(projected) : projected)
    }
    const names = Object.keys(properties)
    const required = strict ? names : names.filter((name) => needed.has(name))
    if (strict || given["properties"] !== undefined) draft["properties"] = properties
    if (strict || required.length > 0) draft["required"] = required
    if (strict) this.#closed(writing)
    else if (keywords.has("additionalProperties")) this.#open(writing)
    else if (isSchema(given["additionalProperties"]) || given["patternProperties"] !== undefined) {
      words.push("other keys are allowed")
      this.#drop(place, isSchema(given["additionalProperties"]) ? "additionalProperties" : "patternProperties")
    }
  }

  #optional(projected: Schema): Schema {
    if (acceptsNull(projected)) return projected
    this.#voids++
    return nullable(projected)
  }

  /** Strict providers know only closed objects, so an object with keys that are not named cannot be said. */
  #closed({ draft, given, place }: Writing): void {
    const open = given["additionalProperties"]
    const named = Object.keys(mapOf(given["properties"])).length > 0
    if (Object.keys(mapOf(given["patternProperties"])).length > 0)
      throw new Unsayable(under(place.pointer, "patternProperties"), "keys that are not named")
    if (open === true || isSchema(open))
      throw new Unsayable(under(place.pointer, "additionalProperties"), "keys that are not named")
    if (!named && open !== false && place.pointer !== "")
      throw new Unsayable(place.pointer, "an object whose keys are not named")
    draft["additionalProperties"] = false
  }

  #open({ draft, given, place }: Writing): void {
    const patterns = Object.entries(mapOf(given["patternProperties"]))
    if (patterns.length > 0 && this.#dialect.keywords.has("patternProperties")) {
      const kept = this.#kept("patternProperties", { value: given["patternProperties"] ?? {}, place })
      if (kept !== undefined) draft["patternProperties"] = kept
    } else if (patterns.length > 0) {
      // Without the patterns a closed object would refuse what they allow.
      this.#drop(place, "patternProperties")
      const forms = patterns.map(
        ([name, schema]) => this.#node(schema, inside(place, ["patternProperties", name])) ?? {}
      )
      const [only = {}] = forms
      draft["additionalProperties"] = forms.length === 1 ? only : { anyOf: forms }
      return
    }
    const open = given["additionalProperties"]
    if (open === undefined) return
    draft["additionalProperties"] =
      typeof open === "boolean" ? open : (this.#node(open, inside(place, ["additionalProperties"])) ?? false)
  }

  #array({ draft, given, place, words }: Writing): void {
    const { keywords, strict } = this.#dialect
    const items = given["items"]
    const at = inside(place, ["items"])
    if (!Array.isArray(given["prefixItems"])) {
      const projected = items === undefined && !strict ? this.#plain({}, at) : this.#node(items ?? true, at)
      draft["items"] = projected ?? this.#plain({}, at)
      return
    }
    const members = listOf(given["prefixItems"]).map(
      (member, index) => this.#node(member, inside(place, ["prefixItems", index])) ?? {}
    )
    if (keywords.has("prefixItems")) {
      draft["prefixItems"] = members
      if (items !== undefined) draft["items"] = this.#node(items, at) ?? false
      return
    }
    this.#drop(place, "prefixItems")
    words.push(wordsForOrder(members))
    const others = items === undefined || items === false ? [] : [this.#node(items, at) ?? {}]
    const forms = [...new Map([...members, ...others].map((form) => [JSON.stringify(form), form])).values()]
    const [only] = forms
    draft["items"] = only === undefined ? this.#plain({}, at) : forms.length === 1 ? only : { anyOf: forms }
    if (items === false && keywords.has("maxItems")) draft["maxItems"] = members.length
  }

  #bound(
    place: Place,
    { count, limit, what }: { readonly count: number; readonly limit: number | undefined; readonly what: string }
  ): void {
    if (limit !== undefined && count > limit) throw new Unsayable(place.pointer, `more than ${limit} ${what}`)
  }

  #drop(place: Place, keyword: string): void {
    this.dropped.push({ pointer: under(place.pointer, keyword), keyword })
  }
}

interface Definition {
  readonly name: string
  schema: Schema
  /** Whether `null` stands for an absent member somewhere in it. */
  voids: boolean
}

interface Target {
  readonly pointer: string
  readonly schema: Json.Json
}
