/** A definition stands for its arguments in any library that takes a Standard Schema, in both dialects of JSON Schema. */
import { Ajv } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"
import { type TSchema, Type } from "typebox"
import { describe, expect, it } from "vitest"
import { standardSchema } from "../src/internal/standardSchema.js"
import type { Json, JsonObject } from "../src/Json.js"
import { closeArgs, toDraft07 } from "../src/ToolSchema.js"

const standard = (schema: TSchema) =>
  standardSchema<{ readonly city: string }>({ inputSchema: closeArgs(schema).schema })["~standard"]

const weather = Type.Object({
  city: Type.String(),
  days: Type.Integer({ default: 3 }),
  tags: Type.Optional(Type.Array(Type.String()))
})

describe("Standard Schema", () => {
  it("[T8] validates synchronously and gives the normalised, frozen arguments", () => {
    const { version, vendor, validate } = standard(weather)
    const result = validate({ city: "Lisbon", tags: null })
    expect({ version, vendor, result }).toEqual({
      version: 1,
      vendor: "toolwright",
      result: { value: { city: "Lisbon", days: 3 } }
    })
    expect(Object.isFrozen("value" in result && result.value)).toBe(true)
  })

  it("[T8] gives issues with message and path, indices as numbers", () => {
    expect(standard(weather).validate({ tags: ["a", 1], "0": 1 })).toEqual({
      issues: [
        { message: "expected a string, received nothing; add the field `city`", path: ["city"] },
        { message: 'expected a string, received 1; send "1" in quotes', path: ["tags", 1] },
        {
          message: "expected only the fields city, days, tags, received 1; unknown field `0`; omit the key",
          path: ["0"]
        }
      ]
    })
  })

  it("[T8] takes a parsed value, never text", () => {
    expect(standard(weather).validate('{"city":"Lisbon"}')).toEqual({
      issues: [{ message: 'expected a JSON object, received the string "{\\"city\\":\\"Lisbon\\"}"' }]
    })
  })
})

describe("Standard JSON Schema", () => {
  it("[T8] is the schema itself in 2020-12, for input and output", () => {
    const { jsonSchema } = standard(weather)
    const { schema } = closeArgs(weather)
    expect([jsonSchema.input({ target: "draft-2020-12" }), jsonSchema.output({ target: "draft-2020-12" })]).toEqual([
      schema,
      schema
    ])
  })

  it("[T8] is translated for draft-07, and other targets are refused", () => {
    const { jsonSchema } = standard(Type.Object({ t: Type.Tuple([Type.String()]) }))
    expect(jsonSchema.input({ target: "draft-07" })).toEqual({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      required: ["t"],
      properties: {
        t: { type: "array", items: [{ type: "string" }], additionalItems: false, minItems: 1, maxItems: 1 }
      },
      additionalProperties: false
    })
    expect(() => jsonSchema.output({ target: "openapi-3.0" })).toThrow("unknown JSON Schema target openapi-3.0")
  })
})

describe("draft-07", () => {
  it("[T8] says definitions, references and dependencies in its own words", () => {
    expect(
      toDraft07({
        type: "object",
        properties: {
          a: { $ref: "#/$defs/A/prefixItems/0", description: "words" },
          $defs: { $ref: "#/properties/$defs/$defs/X" },
          prefixItems: { type: "string" }
        },
        dependentRequired: { a: ["b"], c: ["d"] },
        dependentSchemas: { a: { required: ["e"] } },
        $defs: { A: { prefixItems: [{ $ref: "#/$defs/A" }], items: { type: "string" } } }
      })
    ).toEqual({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: {
        a: { description: "words", allOf: [{ $ref: "#/definitions/A/items/0" }] },
        $defs: { $ref: "#/properties/$defs/definitions/X" },
        prefixItems: { type: "string" }
      },
      dependencies: { a: { allOf: [{ required: ["b"] }, { required: ["e"] }] }, c: ["d"] },
      definitions: { A: { items: [{ $ref: "#/definitions/A" }], additionalItems: { type: "string" } } }
    })
  })

  it.each(["unevaluatedProperties", "unevaluatedItems", "minContains", "maxContains"])(
    "[T8] cannot say %s, and the translation names the place",
    (keyword) => {
      expect(() => toDraft07({ type: "object", properties: { a: { [keyword]: 0 } } })).toThrow(
        `draft-07 cannot express ${keyword} (at /properties/a/${keyword})`
      )
    }
  )

  it("[T8] accepts exactly what the 2020-12 form accepts", () => {
    const modernAjv = new Ajv2020({ strict: false })
    const olderAjv = new Ajv({ strict: false })
    const part = fc.letrec<{ schema: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom<JsonObject>(
          { type: "string" },
          { const: 1 },
          { $ref: "#/$defs/D" },
          { $ref: "#/$defs/D", minLength: 2 },
          {}
        ),
        fc
          .tuple(fc.array(tie("schema"), { minLength: 1, maxLength: 2 }), tie("schema"))
          .map(([prefixItems, items]) => ({ prefixItems, items })),
        tie("schema").map((items) => ({ items })),
        fc
          .dictionary(fc.constantFrom("a", "$defs", "items"), tie("schema"), { maxKeys: 2, noNullPrototype: true })
          .map((properties) => ({ properties, additionalProperties: false })),
        tie("schema").map((a) => ({
          dependentSchemas: { a: { properties: { items: a } } },
          dependentRequired: { items: ["a"] }
        })),
        fc.array(tie("schema"), { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf }))
      )
    })).schema
    const value = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom<Json>("s", "text", 1, null),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("a", "$defs", "items"), tie("value"), { maxKeys: 2, noNullPrototype: true })
      )
    })).value
    fc.assert(
      fc.property(part, fc.array(value, { minLength: 4, maxLength: 8 }), (schema, values) => {
        const modern: JsonObject = { ...schema, $defs: { D: { type: ["string", "array"], maxLength: 3 } } }
        const [now, before] = [modernAjv.compile(modern), olderAjv.compile(toDraft07(modern))]
        expect(values.map((one) => before(one))).toEqual(values.map((one) => now(one)))
      }),
      { numRuns: 150 }
    )
  })
})
