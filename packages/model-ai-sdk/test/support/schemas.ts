import type { Json } from "@toolwright/runtime-contract"
import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"

type Schema = Json.JsonObject

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })

export const accepts = (schema: Schema, value: unknown): boolean => ajv.compile(schema)(value)

const names = ["a", "b", "pattern", "type", "default", "items"]

const scalars: fc.Arbitrary<Schema> = fc.oneof(
  fc.constant({ type: "string" }),
  fc.constant({ type: "string", minLength: 1, maxLength: 9, description: "a word" }),
  fc.constant({ type: "integer", minimum: 0, maximum: 9 }),
  fc.constant({ type: "number" }),
  fc.constant({ type: "boolean" }),
  fc.constant({ type: ["string", "number"] }),
  fc.constant({ type: ["string", "null"] }),
  fc.constant({ enum: ["x", "y"] }),
  fc.constant({ enum: [1, 2, "z", null] }),
  fc.constant({ const: "k" }),
  fc.constant({ type: "string", default: "d", title: "t" })
)

const { schema } = fc.letrec<{ schema: Schema; object: Schema }>((tie) => ({
  object: fc
    .tuple(
      fc.dictionary(fc.constantFrom(...names), tie("schema"), { maxKeys: 3 }),
      fc.array(fc.constantFrom(...names), { maxLength: 3 })
    )
    .map(([properties, required]) => ({
      type: "object",
      properties,
      required: [...new Set(required.filter((name) => Object.hasOwn(properties, name)))],
      additionalProperties: false
    })),
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalars,
    tie("object"),
    tie("schema").map((items) => ({ type: "array", items, maxItems: 3 })),
    fc.array(tie("schema"), { minLength: 1, maxLength: 2 }).map((prefixItems) => ({
      type: "array",
      prefixItems,
      items: false,
      minItems: prefixItems.length
    })),
    fc
      .array(tie("schema"), { minLength: 1, maxLength: 3 })
      .map((anyOf) => ({ anyOf, description: "one or the other" })),
    fc.tuple(tie("object"), tie("object")).map(([one, other]) => ({
      anyOf: [tagged(one, "one"), tagged(other, "other")]
    }))
  )
}))

const tagged = (object: Schema, tag: string): Schema => ({
  ...object,
  properties: { ...(object["properties"] as Schema), kind: { const: tag } },
  required: [...(object["required"] as Array<string>), "kind"]
})

/** Argument schemas: an object of whatever, sometimes a union of two. */
export const argumentSchemas: fc.Arbitrary<Schema> = fc.oneof(
  fc
    .dictionary(fc.constantFrom(...names), schema, { minKeys: 1, maxKeys: 4 })
    .chain((properties) =>
      fc
        .subarray(Object.keys(properties))
        .map((required) => ({ type: "object", properties, required, additionalProperties: false }))
    ),
  fc.tuple(schema, schema).map(([a, b]) => ({
    anyOf: [
      { type: "object", properties: { a }, required: ["a"] },
      { type: "object", properties: { b }, required: ["b"] }
    ]
  }))
)

/** Values that fit a schema of the kinds above. */
export const valuesOf = (of: Schema): fc.Arbitrary<Json.Json> => {
  if (of["const"] !== undefined) return fc.constant(of["const"])
  if (Array.isArray(of["enum"])) return fc.constantFrom(...(of["enum"] as Array<Json.Json>))
  if (Array.isArray(of["anyOf"])) return fc.oneof(...(of["anyOf"] as Array<Schema>).map(valuesOf))
  const types = Array.isArray(of["type"])
    ? (of["type"] as Array<string>)
    : [typeof of["type"] === "string" ? of["type"] : "null"]
  return fc.oneof(...types.map((type) => valuesOfType(type, of)))
}

const valuesOfType = (type: string, of: Schema): fc.Arbitrary<Json.Json> => {
  switch (type) {
    case "string":
      return fc.constantFrom("x", "word", "é😀")
    case "integer":
      return fc.integer({ min: 0, max: 9 })
    case "number":
      return fc.constantFrom(0.5, 3)
    case "boolean":
      return fc.boolean()
    case "array": {
      if (Array.isArray(of["prefixItems"])) return fc.tuple(...(of["prefixItems"] as Array<Schema>).map(valuesOf))
      return fc.array(valuesOf(of["items"] as Schema), { maxLength: 3 })
    }
    case "object": {
      const properties = of["properties"] as Record<string, Schema>
      const members = Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, valuesOf(member)]))
      return fc.record(members, { requiredKeys: of["required"] as Array<string> }) as fc.Arbitrary<Json.Json>
    }
    default:
      return fc.constant(null)
  }
}

/** The value as a strict provider sends it: `null` where an optional member is absent. */
export const strictForm = (of: Schema, value: Json.Json): Json.Json => {
  if (Array.isArray(of["anyOf"])) {
    const branch = (of["anyOf"] as Array<Schema>).find((one) => accepts(one, value))
    return branch === undefined ? value : strictForm(branch, value)
  }
  if (Array.isArray(value))
    return value.map((item: Json.Json, index) =>
      strictForm(
        Array.isArray(of["prefixItems"]) ? (of["prefixItems"][index] as Schema) : (of["items"] as Schema),
        item
      )
    )
  if (typeof value !== "object" || value === null) return value
  const given = value as Schema
  const properties = of["properties"] as Record<string, Schema>
  return Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [
      name,
      Object.hasOwn(given, name) ? strictForm(member, given[name] ?? null) : null
    ])
  )
}

/** The value without members that are `null`, at any depth. */
export const withoutNulls = (value: Json.Json): Json.Json => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name, withoutNulls(member)])
  )
}
