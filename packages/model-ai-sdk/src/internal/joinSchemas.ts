/**
 * One schema out of several: all of them at once (`allOf`), or any of them (a union at a root that may hold none).
 *
 * Guarantees: what is valid under the parts stays valid under the whole; where the whole cannot be said exactly, it is
 * wider, never narrower, because the original schema validates anyway.
 * Does not resolve references: whoever calls did.
 */
import { Json } from "@toolwright/runtime-contract"
import { isSchema, listOf, mapOf, type Schema, setMember, textsOf, typesOf } from "./jsonSchema.js"

type Draft = Record<string, Json.Json>

/** How two values of one keyword become one where both must hold. Keywords that are not named keep the first. */
const tighter: Readonly<Record<string, (a: Json.Json, b: Json.Json) => Json.Json>> = {
  properties: (a, b) => unionOfMaps(mapOf(a), mapOf(b)),
  patternProperties: (a, b) => unionOfMaps(mapOf(a), mapOf(b)),
  required: (a, b) => [...new Set([...textsOf(a), ...textsOf(b)])],
  minimum: (a, b) => larger(a, b),
  exclusiveMinimum: (a, b) => larger(a, b),
  minLength: (a, b) => larger(a, b),
  minItems: (a, b) => larger(a, b),
  minProperties: (a, b) => larger(a, b),
  maximum: (a, b) => smaller(a, b),
  exclusiveMaximum: (a, b) => smaller(a, b),
  maxLength: (a, b) => smaller(a, b),
  maxItems: (a, b) => smaller(a, b),
  maxProperties: (a, b) => smaller(a, b),
  items: (a, b) => both(a, b),
  additionalProperties: (a, b) => (a === false || b === false ? false : both(a, b)),
  type: (a, b) => commonTypes(a, b),
  enum: (a, b) => commonValues(listOf(a), listOf(b))
}

/** A schema that holds where both hold; the first wins where only one can. */
export const conjoin = (first: Schema, second: Schema): Schema => {
  const joined: Draft = { ...first }
  for (const [key, value] of Object.entries(second)) {
    const known = Object.hasOwn(joined, key) ? joined[key] : undefined
    const join = Object.hasOwn(tighter, key) ? tighter[key] : undefined
    joined[key] = known === undefined ? value : join === undefined ? known : join(known, value)
  }
  return joined
}

const both = (a: Json.Json, b: Json.Json): Json.Json => {
  if (a === true || b === false) return b
  if (b === true || a === false) return a
  return isSchema(a) && isSchema(b) ? conjoin(a, b) : a
}

const unionOfMaps = (a: Schema, b: Schema): Schema => {
  const union: Draft = { ...a }
  for (const [key, value] of Object.entries(b)) {
    const known = Object.hasOwn(a, key) ? a[key] : undefined
    setMember(union, key, known === undefined ? value : both(known, value))
  }
  return union
}

const larger = (a: Json.Json, b: Json.Json): Json.Json =>
  typeof a === "number" && typeof b === "number" ? Math.max(a, b) : a

const smaller = (a: Json.Json, b: Json.Json): Json.Json =>
  typeof a === "number" && typeof b === "number" ? Math.min(a, b) : a

const commonTypes = (a: Json.Json, b: Json.Json): Json.Json => {
  const left = typesOf({ type: a })
  const right = typesOf({ type: b })
  const common = left.flatMap((type) => {
    if (right.includes(type)) return [type]
    if (type === "number" && right.includes("integer")) return ["integer"]
    return type === "integer" && right.includes("number") ? ["integer"] : []
  })
  const [only] = common
  return only === undefined ? a : common.length === 1 ? only : common
}

const commonValues = (a: ReadonlyArray<Json.Json>, b: ReadonlyArray<Json.Json>): Json.Json => {
  const right = new Set(b.map(Json.canonicalJson))
  const common = a.filter((value) => right.has(Json.canonicalJson(value)))
  return common.length === 0 ? a : common
}

/** An object schema that every one of these object schemas fits into: all their properties, and what all of them require. */
export const disjoin = (branches: ReadonlyArray<Schema>): Schema => {
  const properties: Record<string, Json.Json> = {}
  const names = new Set(branches.flatMap((branch) => Object.keys(mapOf(branch["properties"]))))
  for (const name of names) {
    const forms = branches.flatMap((branch) => {
      const all = mapOf(branch["properties"])
      const form = Object.hasOwn(all, name) ? all[name] : undefined
      return form === undefined || form === false ? [] : [form]
    })
    const form = anyForm(forms)
    if (form !== undefined) setMember(properties, name, form)
  }
  const required = [...names].filter((name) => branches.every((branch) => textsOf(branch["required"]).includes(name)))
  const open = branches.map((branch) => branch["additionalProperties"]).filter((value) => value !== false)
  return {
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(open.length === 0 ? { additionalProperties: false } : {})
  }
}

/** One schema for several forms of a property: the form itself, one list of values, or a union. */
const anyForm = (forms: ReadonlyArray<Json.Json>): Json.Json | undefined => {
  const distinct = [...new Map(forms.map((form) => [Json.canonicalJson(form), form])).values()]
  const [only] = distinct
  if (only === undefined || distinct.length === 1) return only
  const values = distinct.map(valuesOf)
  if (values.every((list) => list !== undefined)) {
    const all = [...new Map(values.flat().map((value) => [Json.canonicalJson(value), value])).values()]
    const types = new Set(all.map((value) => typeof value))
    return types.size === 1 && types.has("string") ? { type: "string", enum: all } : { enum: all }
  }
  return { anyOf: distinct }
}

/** The values of a schema that is nothing but a list of values. */
const valuesOf = (schema: Json.Json): ReadonlyArray<Json.Json> | undefined => {
  if (!isSchema(schema)) return undefined
  if (Object.keys(schema).some((key) => !["type", "const", "enum", "title", "description"].includes(key)))
    return undefined
  if (schema["const"] !== undefined) return [schema["const"]]
  return Array.isArray(schema["enum"]) ? listOf(schema["enum"]) : undefined
}
