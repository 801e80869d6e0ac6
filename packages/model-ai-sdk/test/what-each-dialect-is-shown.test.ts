import type { Json } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import * as SchemaDialect from "../src/SchemaDialect.js"
import { projectSchema } from "../src/SchemaProjection.js"

type Schema = Json.JsonObject

const shown = (schema: Schema, dialect: SchemaDialect.SchemaDialect): Schema => {
  const projected = projectSchema(schema, dialect)
  if (!projected.ok) throw new Error(`${projected.pointer}: ${projected.reason}`)
  return projected.schema
}

const refusal = (schema: Schema, dialect: SchemaDialect.SchemaDialect): unknown => {
  const projected = projectSchema(schema, dialect)
  return projected.ok ? "shown" : { pointer: projected.pointer, reason: projected.reason }
}

const object = (properties: Schema, more: Schema = {}): Schema => ({ type: "object", properties, ...more })

describe("references", () => {
  // C016
  const person = object(
    {
      who: { $ref: "#/$defs/Person", description: "target" },
      also: { type: "array", items: { $ref: "#/properties/who" } }
    },
    { $defs: { Person: object({ n: { type: "string" } }, { required: ["n"] }) } }
  )
  const written = { ...object({ n: { type: "string" } }, { required: ["n"] }), description: "target" }

  it("[T7] are written out where a provider has none, and no definitions remain", () => {
    for (const dialect of [SchemaDialect.google, SchemaDialect.common])
      expect(shown(person, dialect)).toEqual(object({ who: written, also: { type: "array", items: written } }))
  })

  it("[T7] are kept where a provider has them, with nothing beside them and every target among the definitions", () => {
    expect(shown(person, SchemaDialect.anthropic)).toEqual({
      ...object({
        who: { description: "target", anyOf: [{ $ref: "#/$defs/Person" }] },
        also: { type: "array", items: { $ref: "#/$defs/who" } }
      }),
      $defs: {
        Person: object({ n: { type: "string" } }, { required: ["n"] }),
        who: { description: "target", anyOf: [{ $ref: "#/$defs/Person" }] }
      }
    })
  })

  it("[T7] that recur are cut after a fixed number of levels with an open object, the same each time (C017)", () => {
    const tree = object(
      { root: { $ref: "#/$defs/Nd" } },
      {
        $defs: {
          Nd: object(
            { k: { type: "string" }, kids: { type: "array", items: { $ref: "#/$defs/Nd" } } },
            { required: ["k"] }
          )
        }
      }
    )
    const cut = { type: "object", description: "the same again, nested deeper" }
    const level = (items: Schema): Schema =>
      object({ k: { type: "string" }, kids: { type: "array", items } }, { required: ["k"] })
    expect(shown(tree, SchemaDialect.google)).toEqual(object({ root: level(level(level(level(cut)))) }))
    expect(shown(tree, SchemaDialect.openAiStrict)).toEqual({
      type: "object",
      properties: { root: { anyOf: [{ $ref: "#/$defs/Nd" }, { type: "null" }] } },
      required: ["root"],
      additionalProperties: false,
      $defs: {
        Nd: {
          type: "object",
          properties: {
            k: { type: "string" },
            kids: { anyOf: [{ type: "array", items: { $ref: "#/$defs/Nd" } }, { type: "null" }] }
          },
          required: ["k", "kids"],
          additionalProperties: false
        }
      }
    })
    const json = object(
      { v: { $ref: "#/$defs/J" } },
      {
        $defs: {
          J: { anyOf: [{ type: "string" }, { type: "number" }, { type: "array", items: { $ref: "#/$defs/J" } }] }
        }
      }
    )
    expect(JSON.stringify(shown(json, SchemaDialect.common)).match(/nested deeper/g)).toHaveLength(1)
  })

  it("[T7] that lead nowhere, to themselves or to too much refuse the schema with their place", () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 14 }, (_, n) => [
        `d${n}`,
        object({ a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } })
      ])
    )
    expect([
      refusal(object({ a: { $ref: "#/$defs/Gone" } }), SchemaDialect.common),
      refusal(object({ a: { $ref: "https://elsewhere.example/s.json" } }), SchemaDialect.openAi),
      refusal({ $ref: "#" }, SchemaDialect.openAi),
      refusal(
        object({ a: { $ref: "#/$defs/d0" } }, { $defs: { ...doubling, d14: { type: "string" } } }),
        SchemaDialect.google
      )
    ]).toEqual([
      { pointer: "/properties/a/$ref", reason: "a reference that leads nowhere in this schema" },
      { pointer: "/properties/a/$ref", reason: "a reference that leads nowhere in this schema" },
      { pointer: "/$ref", reason: "a reference to itself" },
      {
        pointer: expect.stringMatching(/^\/\$defs\/d\d+/) as unknown,
        reason: "more than 5000 schemas when references are written out"
      }
    ])
  })
})

describe("a union at the root", () => {
  const text = { type: "string" }
  const texts = { type: "array", items: text }
  // C019
  const forms = {
    anyOf: [
      object({ path: text }, { required: ["path"], additionalProperties: false }),
      object({ paths: texts }, { required: ["paths"], additionalProperties: false })
    ]
  }

  it("[T7] becomes one object with the properties of every form, and says which forms there are", () => {
    for (const dialect of [SchemaDialect.openAi, SchemaDialect.anthropic, SchemaDialect.common])
      expect(shown(forms, dialect)).toEqual({
        type: "object",
        properties: { path: text, paths: texts },
        additionalProperties: false,
        description: "one of these forms: (path) or (paths)"
      })
  })

  it("[T7] of sets of required keys becomes the object without it", () => {
    const either = object(
      { id: text, title: text, body: text },
      { required: ["id"], anyOf: [{ required: ["title"] }, { required: ["body"] }] }
    )
    expect(shown(either, SchemaDialect.anthropic)).toEqual({
      ...object({ id: text, title: text, body: text }, { required: ["id"] }),
      description: "one of these forms: (title) or (body)"
    })
  })

  it("[T7] told apart by a constant shows the values of the constant and every field", () => {
    const operations = {
      oneOf: [
        object({ op: { const: "get" }, id: text }, { required: ["op", "id"], additionalProperties: false }),
        object({ op: { const: "find" }, q: text }, { required: ["op", "q"], additionalProperties: false })
      ]
    }
    expect(shown(operations, SchemaDialect.openAi)).toEqual({
      type: "object",
      properties: { op: { type: "string", enum: ["get", "find"] }, id: text, q: text },
      required: ["op"],
      additionalProperties: false,
      description: 'one of these forms: (op="get", id) or (op="find", q)'
    })
  })

  it("[T7] that takes no object refuses the schema", () => {
    expect(refusal({ anyOf: [{ type: "string" }, { type: "array" }] }, SchemaDialect.common)).toEqual({
      pointer: "",
      reason: "the arguments of a tool are an object, and this schema takes none"
    })
  })
})

describe("the strict dialect", () => {
  it("[T4] requires every property and lets an optional one be null, nothing wider (C022)", () => {
    const search = object(
      { q: { type: "string" }, lang: { type: "string" } },
      { required: ["q"], additionalProperties: false }
    )
    expect(shown(search, SchemaDialect.openAiStrict)).toEqual({
      type: "object",
      properties: { q: { type: "string" }, lang: { anyOf: [{ type: "string" }, { type: "null" }] } },
      required: ["q", "lang"],
      additionalProperties: false
    })
  })

  it("[T7] refuses what it has no words for, with its place", () => {
    const member = (schema: Json.Json): Schema => object({ m: schema as Schema })
    const forms = [
      object({ a: { type: "string" }, b: { type: "string" } }, { required: ["a"] }),
      object({ c: { type: "string" } }, { required: ["c"] })
    ]
    expect(
      [
        member({ type: "object", additionalProperties: { type: "number" } }),
        member({ type: "object", patternProperties: { "^x": { type: "number" } } }),
        member({ type: "object" }),
        member({}),
        member({ type: "array" }),
        member({ anyOf: forms }),
        { anyOf: forms }
      ].map((schema) => refusal(schema, SchemaDialect.openAiStrict))
    ).toEqual([
      { pointer: "/properties/m/additionalProperties", reason: "keys that are not named" },
      { pointer: "/properties/m/patternProperties", reason: "keys that are not named" },
      { pointer: "/properties/m", reason: "an object whose keys are not named" },
      { pointer: "/properties/m", reason: "a value of any type" },
      { pointer: "/properties/m/items", reason: "a value of any type" },
      { pointer: "/properties/m/anyOf", reason: "optional keys in forms that no constant tells apart" },
      { pointer: "/anyOf", reason: "keys that only some forms of the arguments have" }
    ])
  })

  it("[T7] moves what stands beside a union into its branches", () => {
    const shape = object(
      {
        m: {
          ...object({ name: { type: "string" } }, { required: ["name"] }),
          anyOf: [
            { properties: { kind: { const: "a" }, x: { type: "number" } }, required: ["kind"] },
            { properties: { kind: { const: "b" } }, required: ["kind"] }
          ],
          unevaluatedProperties: false
        }
      },
      { required: ["m"] }
    )
    const branch = (kind: string, more: Schema = {}): Schema => ({
      type: "object",
      properties: { kind: { type: "string", const: kind }, ...more, name: { type: "string" } },
      required: ["kind", ...Object.keys(more), "name"],
      additionalProperties: false
    })
    expect(shown(shape, SchemaDialect.openAiStrict)["properties"]).toEqual({
      m: { anyOf: [branch("a", { x: { anyOf: [{ type: "number" }, { type: "null" }] } }), branch("b")] }
    })
  })
})

describe("Google's dialect", () => {
  it("[T7] loses keywords by position, and keeps properties that are named like them (C023)", () => {
    const schema = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      additionalProperties: false,
      properties: {
        pattern: { type: "string" },
        default: { type: "boolean" },
        additionalProperties: { type: "number" },
        tags: { type: "array", items: { type: "string" }, uniqueItems: true },
        map: { type: "object", propertyNames: { pattern: "^k" } }
      },
      required: ["pattern"]
    }
    expect(projectSchema(schema, SchemaDialect.google)).toEqual({
      ok: true,
      schema: {
        type: "object",
        properties: {
          pattern: { type: "string" },
          default: { type: "boolean" },
          additionalProperties: { type: "number" },
          tags: { type: "array", items: { type: "string" }, description: "no item twice" },
          map: { type: "object" }
        },
        required: ["pattern"]
      },
      dropped: [
        { pointer: "/properties/tags/uniqueItems", keyword: "uniqueItems" },
        { pointer: "/properties/map/propertyNames", keyword: "propertyNames" }
      ]
    })
  })

  it("[T7] has lists of texts only, one type a schema, no neighbours of a union, and tells the rest in words", () => {
    const schema = object({
      level: { type: "integer", enum: [1, 2, 3], description: "how much" },
      when: { type: "string", format: "uri", minLength: 3, default: "x" },
      either: { type: ["string", "array"], items: { type: "number" }, maxLength: 4 },
      pair: { type: "array", prefixItems: [{ type: "number" }, { type: "string" }], items: false },
      only: { const: "this" },
      choice: { description: "pick", oneOf: [{ type: "string" }, { type: "null" }] }
    })
    expect(shown(schema, SchemaDialect.google)["properties"]).toEqual({
      level: { type: "integer", description: "how much (one of 1, 2, 3)" },
      when: { type: "string", description: "at least 3 characters; default x; format uri" },
      either: {
        anyOf: [
          { type: "string", description: "at most 4 characters" },
          { type: "array", items: { type: "number" }, description: "at most 4 characters" }
        ]
      },
      pair: {
        type: "array",
        items: { anyOf: [{ type: "number" }, { type: "string" }] },
        description: "items in this order: number, string"
      },
      only: { type: "string", enum: ["this"] },
      choice: {
        anyOf: [
          { type: "string", description: "pick" },
          { type: "null", description: "pick" }
        ]
      }
    })
  })
})

describe("other dialects", () => {
  it("[T7] say what an array holds, open an object whose patterns they lack, and refuse names they do not take", () => {
    const patterned = object({
      m: { type: "object", patternProperties: { "^x-": { type: "number" } }, additionalProperties: false }
    })
    expect([
      shown(object({ list: { type: "array" } }), SchemaDialect.openAi)["properties"],
      shown(patterned, SchemaDialect.common)["properties"],
      shown(patterned, SchemaDialect.openAi)["properties"],
      refusal(object({ "naïve key": { type: "string" } }), SchemaDialect.anthropic)
    ]).toEqual([
      { list: { type: "array", items: {} } },
      { m: { type: "object", additionalProperties: { type: "number" } } },
      { m: { type: "object", patternProperties: { "^x-": { type: "number" } }, additionalProperties: false } },
      { pointer: "/properties/naïve key", reason: "a property name that does not match ^[a-zA-Z0-9_.-]{1,64}$" }
    ])
  })

  it("[T7] keep a property that is called __proto__ as a property", () => {
    const schema = object(JSON.parse('{"__proto__":{"type":"string"}}') as Schema)
    expect(JSON.stringify(shown(schema, SchemaDialect.common))).toBe(
      '{"type":"object","properties":{"__proto__":{"type":"string"}}}'
    )
  })
})
