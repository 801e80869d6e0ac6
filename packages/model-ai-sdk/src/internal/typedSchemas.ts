/**
 * Types spelled out for dialects that want one on every schema.
 *
 * Guarantees: nothing valid is lost; `null` is added once.
 * Does not walk: these are single steps over one projected schema.
 */
import type { Json } from "@toolwright/runtime-contract"
import { isSchema, listOf, mapOf, type Schema, textsOf, typesOf } from "./jsonSchema.js"

/** Any JSON value, as far as it can be said with types. */
export const anyValue = (description: string | undefined): Schema => ({
  anyOf: ["string", "number", "boolean", "object"].map((type) =>
    description === undefined ? { type } : { type, description }
  )
})

/** The same or `null`. */
export const nullable = (schema: Schema): Schema => {
  if (acceptsNull(schema)) return schema
  const { anyOf, description, ...others } = schema
  const about = description === undefined ? {} : { description }
  return Array.isArray(anyOf) && Object.keys(others).length === 0
    ? { ...about, anyOf: [...listOf(anyOf), { type: "null" }] }
    : { anyOf: [schema, { type: "null" }] }
}

/** Is there never more than one branch that a value may mean, told by its type or by a constant that it must have? */
export const isTold = (branches: ReadonlyArray<Schema>): boolean =>
  branches.every((one, index) => branches.slice(index + 1).every((other) => differ(one, other)))

const differ = (one: Schema, other: Schema): boolean => {
  const types = new Set(typesOf(one).map((type) => (type === "integer" ? "number" : type)))
  const others = typesOf(other).map((type) => (type === "integer" ? "number" : type))
  if (types.size > 0 && others.length > 0 && !others.some((type) => types.has(type))) return true
  const fixed = new Map(constantsOf(one))
  return constantsOf(other).some(([key, value]) => fixed.has(key) && fixed.get(key) !== value)
}

/** The keys that an object must have with one value, and that value's text. */
const constantsOf = (schema: Schema): ReadonlyArray<readonly [string, string]> =>
  textsOf(schema["required"]).flatMap((key) => {
    const properties = mapOf(schema["properties"])
    const member = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (!isSchema(member)) return []
    const values = member["const"] === undefined ? listOf(member["enum"]) : [member["const"]]
    const [only] = values
    return values.length === 1 && only !== undefined ? [[key, JSON.stringify(only)] as const] : []
  })

export const acceptsNull = (schema: Schema): boolean =>
  (typesOf(schema).includes("null") && (schema["enum"] === undefined || listOf(schema["enum"]).includes(null))) ||
  listOf(schema["anyOf"]).some((branch) => isSchema(branch) && acceptsNull(branch))

export const typesOfValues = (values: ReadonlyArray<Json.Json>): ReadonlyArray<string> => [
  ...new Set(values.map(typeOfValue))
]

const typeOfValue = (value: Json.Json): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  return typeof value
}

const shapeOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  object: ["properties", "required"],
  array: ["items"],
  string: ["enum", "format"]
}

const shapes: ReadonlySet<string> = new Set(Object.values(shapeOf).flat())

/** A list of several types as a union of one schema a type; a list of one type and `null` stays. */
export const splitTypes = (schema: Schema): Schema => {
  const types = typesOf(schema)
  if (types.filter((type) => type !== "null").length < 2) return schema
  const { type: _, ...others } = schema
  return {
    anyOf: types.map((type) => {
      const own = Object.hasOwn(shapeOf, type) ? (shapeOf[type] ?? []) : []
      const members = Object.entries(others).filter(([keyword]) => own.includes(keyword) || !shapes.has(keyword))
      return { type, ...(Object.fromEntries(members) as Schema) }
    })
  }
}

const objectWords = ["properties", "required", "additionalProperties", "patternProperties"]
const arrayWords = ["items", "prefixItems"]
const textWords = ["minLength", "maxLength", "pattern", "format"]
const numberWords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]

/** The type that a schema without one is about. */
export const impliedTypes = (given: Schema): ReadonlyArray<string> => {
  const about = (keywords: ReadonlyArray<string>): boolean => keywords.some((keyword) => given[keyword] !== undefined)
  if (about(objectWords)) return ["object"]
  if (about(arrayWords)) return ["array"]
  if (about(textWords)) return ["string"]
  return about(numberWords) ? ["number"] : []
}
