/** What explains a refusal, and validates schemas that are too large to compile, says yes and no exactly where Ajv does. */
import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"
import * as Schema from "typebox/schema"
import { describe, expect, it } from "vitest"
import { inWords, SchemaInterpreter } from "../src/internal/schemaInterpreter.js"
import { schemaWork } from "../src/internal/schemaWork.js"
import type { Json, JsonObject } from "../src/Json.js"
import { parseToolArgs } from "../src/ToolArgs.js"
import { guardForeignSchema } from "../src/ToolSchema.js"

const checks = {
  matches: (pattern: string, text: string) => new RegExp(pattern, "u").test(text),
  hasFormat: () => true
}

const names = fc.constantFrom("a", "b", "c", "ab")
const one =
  (keyword: string) =>
  (schema: JsonObject): JsonObject => ({ [keyword]: schema })
const several =
  (keyword: string) =>
  (schemas: ReadonlyArray<JsonObject>): JsonObject => ({ [keyword]: schemas })

const conditional = ([condition, yes, no]: readonly [JsonObject, JsonObject, JsonObject]): JsonObject =>
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema; nobody awaits a schema
  ({ if: condition, then: yes, else: no })

const schemas = fc.letrec<{
  schema: JsonObject
  keyword: JsonObject
  list: ReadonlyArray<JsonObject>
  map: JsonObject
}>((tie) => ({
  list: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
  map: fc.dictionary(names, tie("schema"), { maxKeys: 2, noNullPrototype: true }),
  keyword: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<JsonObject>(
      { type: "string" },
      { type: "integer" },
      { type: "number" },
      { type: ["null", "boolean"] },
      { type: "object" },
      { type: "array" },
      { const: "a" },
      { const: { a: 1 } },
      { enum: [1, "b", null, [1]] },
      { minLength: 2, maxLength: 3 },
      { pattern: "^a" },
      { minimum: 1, exclusiveMaximum: 3 },
      { maximum: 2, exclusiveMinimum: 0 },
      { multipleOf: 0.5 },
      { minItems: 1, maxItems: 2 },
      { uniqueItems: true },
      { minProperties: 1, maxProperties: 2 },
      { required: ["a"] },
      { dependentRequired: { a: ["b"] } },
      { additionalProperties: false },
      { unevaluatedProperties: false },
      { items: false },
      { unevaluatedItems: false },
      { $ref: "#/$defs/D" },
      { $ref: "#/$defs/L" }
    ),
    tie("map").map(one("properties")),
    tie("map").map((map) => ({ properties: map, additionalProperties: false })),
    fc.tuple(names, tie("schema")).map(([name, schema]) => ({ patternProperties: { [`^${name}`]: schema } })),
    tie("map").map(one("dependentSchemas")),
    tie("list").map(several("allOf")),
    tie("list").map(several("anyOf")),
    tie("list").map(several("oneOf")),
    tie("list").map(several("prefixItems")),
    fc
      .tuple(
        fc.constantFrom(
          "items",
          "contains",
          "additionalProperties",
          "propertyNames",
          "not",
          "unevaluatedItems",
          "unevaluatedProperties"
        ),
        tie("schema")
      )
      .map(([keyword, schema]) => ({
        [keyword]: schema
      })),
    fc.tuple(tie("schema"), tie("schema"), tie("schema")).map(conditional),
    fc
      .tuple(tie("schema"), fc.nat(2), fc.nat(2))
      .map(([contains, minContains, more]) => ({ contains, minContains, maxContains: minContains + more }))
  ),
  schema: fc
    .array(tie("keyword"), { maxLength: 3 })
    .map((keywords) => Object.assign({}, ...keywords) as JsonObject)
    // Ajv overlooks `contains` for arrays that are shorter than a `prefixItems` beside it.
    .filter((schema) => schema["contains"] === undefined || schema["prefixItems"] === undefined)
})).schema

const values = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Json>("a", "ab", "", "😀a", 0, 1, 1.5, 2, null, true, false),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(names, tie("value"), { maxKeys: 3, noNullPrototype: true })
  )
})).value

const definitions: JsonObject = {
  D: { anyOf: [{ type: "string" }, { type: "array", items: { $ref: "#/$defs/D" } }] },
  L: { type: "object", properties: { a: { $ref: "#/$defs/L" }, b: { type: "integer" } } }
}

/**
 * Some of Ajv's code for conditions and unions throws a TypeError of its own, and for `unevaluated` keywords it counts
 * what failed branches have looked at, so there a second library has to be of the same opinion.
 */
const verdict = (validate: () => boolean): boolean | "broken" => {
  try {
    return validate()
  } catch {
    return "broken"
  }
}

describe("reading and compiling", () => {
  it("[T5][T7] agree on every keyword", () => {
    const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false, strictNumbers: true })
    fc.assert(
      fc.property(schemas, fc.array(values, { minLength: 6, maxLength: 12 }), (schema, tried) => {
        const whole: JsonObject = { ...schema, $defs: definitions }
        fc.pre(schemaWork(whole) !== undefined)
        const isValid = ajv.compile(whole)
        const text = JSON.stringify(whole)
        const tracks = text.includes("unevaluated")
        // Both libraries count here what failed.
        fc.pre(!(tracks && /"if"|"contains"/.test(text)))
        // Ajv mixes up the counts of `contains` inside `contains`.
        fc.pre(text.split('"contains"').length < 3)
        const interpreter = new SchemaInterpreter(whole, checks)
        for (const value of tried) {
          const compiled = verdict(() => isValid(value))
          if (compiled === "broken" || (tracks && compiled !== Schema.Check(whole, value))) continue
          const read = interpreter.run({ value, maxSteps: 100_000 }).issues.length === 0
          expect({ whole, value, valid: read }).toEqual({ whole, value, valid: compiled })
        }
      }),
      // A fixed seed: what is compared with has faults of its own, and a rare one must not fail an honest change.
      { numRuns: 600, seed: 20_250_131 }
    )
  })

  it.each<[JsonObject, Json, boolean]>([
    [{ properties: { a: {} }, unevaluatedProperties: false }, { a: 1, b: 2 }, false],
    [{ allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { a: 1 }, true],
    [
      { anyOf: [{ required: ["a"], properties: { a: {} } }, { properties: { b: {} } }], unevaluatedProperties: false },
      { a: 1, b: 2 },
      true
    ],
    [
      {
        anyOf: [{ required: ["a"], properties: { a: { type: "string" } } }, { properties: { b: {} } }],
        unevaluatedProperties: false
      },
      { a: 1, b: 2 },
      false
    ],
    [
      {
        ...conditional([{ properties: { a: { const: 1 } }, required: ["a"] }, { properties: { b: {} } }, {}]),
        unevaluatedProperties: false
      },
      { a: 1, b: 2 },
      true
    ],
    [{ if: { properties: { a: { const: 1 } }, required: ["a"] }, unevaluatedProperties: false }, { a: 2 }, false],
    [{ not: { not: { properties: { a: {} } } }, unevaluatedProperties: false }, { a: 1 }, false],
    [{ allOf: [{ properties: { a: {} } }, { unevaluatedProperties: false }] }, { a: 1 }, false],
    [{ dependentSchemas: { a: { properties: { a: {}, b: {} } } }, unevaluatedProperties: false }, { a: 1, b: 2 }, true],
    [{ additionalProperties: { type: "number" }, unevaluatedProperties: false }, { a: 1 }, true],
    [{ prefixItems: [{}], unevaluatedItems: false }, [1, 2], false],
    [{ prefixItems: [{}], contains: { type: "string" }, unevaluatedItems: false }, [1, "a"], true],
    [{ contains: { type: "string" }, minContains: 0, unevaluatedItems: false }, ["a", 1], false],
    [{ allOf: [{ items: {} }], unevaluatedItems: false }, [1, 2], true]
  ])("[T3] %j sees in %j what was looked at: %s", (schema, value, expected) => {
    expect(new SchemaInterpreter(schema, checks).run({ value, maxSteps: 1_000 }).issues.length === 0).toBe(expected)
  })

  it("[T5] every issue found can be put into words that name its place", () => {
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        const whole: JsonObject = { ...schema, $defs: definitions }
        fc.pre(schemaWork(whole) !== undefined)
        const { issues } = new SchemaInterpreter(whole, checks).run({ value, maxSteps: 100_000 })
        for (const { pointer, expected, received } of inWords(issues))
          expect([/^(?:\/|$)/.test(pointer), expected !== "", received !== ""]).toEqual([true, true, true])
      }),
      { numRuns: 300 }
    )
  })
})

describe("schemas on which compiled code breaks", () => {
  it("[T4][T7] are read instead, and nothing is thrown", () => {
    const guarded = guardForeignSchema({
      type: "object",
      ...conditional([{ required: ["b"] }, { properties: {}, additionalProperties: false }, {}]),
      patternProperties: { "^a": { type: "string" } }
    })
    const spec = { id: "t", inputSchema: guarded.ok ? guarded.schema : {} }
    expect([{ a: "x" }, { a: 1 }, { b: 1 }].map((raw) => parseToolArgs(spec, raw).ok)).toEqual([true, false, false])
  })
})

describe("schemas on which compiled code is wrong", () => {
  it("[T7] are read instead: what a failed condition has looked at does not count", () => {
    const guarded = guardForeignSchema({
      type: "object",
      ...conditional([{ additionalProperties: false }, {}, { oneOf: [{}] }]),
      unevaluatedProperties: false
    })
    const spec = { id: "t", inputSchema: guarded.ok ? guarded.schema : {} }
    expect([{ a: 1 }, {}].map((raw) => parseToolArgs(spec, raw).ok)).toEqual([false, true])
  })
})

describe("large foreign schemas", () => {
  const wide = (count: number): JsonObject => ({
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: count }, (_, n) => [
        `p${n}`,
        {
          type: "object",
          properties: { x: { type: "string", minLength: 1 }, y: { type: "array", items: { type: "integer" } } },
          required: ["x"],
          additionalProperties: false
        }
      ])
    ),
    additionalProperties: false
  })

  it("[T7] validate as small ones do", { timeout: 20_000 }, () => {
    const outcome = (count: number): unknown => {
      const guarded = guardForeignSchema(wide(count))
      const spec = { id: "t", inputSchema: guarded.ok ? guarded.schema : {} }
      return [
        { p1: { x: "a", y: [1], z: null } },
        { p1: { x: "a", y: null } },
        { p1: { x: "" } },
        { p1: { x: "a", y: ["1"] } },
        { p: 1 },
        {}
      ].map((raw) => {
        const parsed = parseToolArgs(spec, raw)
        return parsed.ok ? parsed.value : parsed.error.message.split(", received")[0]
      })
    }
    const withoutNames = (lines: unknown): unknown =>
      JSON.parse(JSON.stringify(lines).replaceAll(/p0, p1[^"]*/g, "every p"))
    expect(withoutNames(outcome(450))).toEqual(withoutNames(outcome(5)))
    expect(outcome(5)).toEqual([
      "Invalid arguments for t; the tool was not run.\n- /p1/z: expected only the fields x, y",
      { p1: { x: "a" } },
      "Invalid arguments for t; the tool was not run.\n- /p1/x: expected at least 1 character",
      "Invalid arguments for t; the tool was not run.\n- /p1/y/0: expected an integer",
      "Invalid arguments for t; the tool was not run.\n- /p: expected only the fields p0, p1, p2, p3, p4",
      {}
    ])
  })

  it("[T7] refuse a value that would take too long, instead of stopping everything", { timeout: 20_000 }, () => {
    const guarded = guardForeignSchema({
      ...wide(450),
      additionalProperties: { anyOf: Array.from({ length: 100 }, (_, n) => ({ const: n })) }
    })
    const raw = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`q${n}`, 99]))
    const parsed = parseToolArgs({ id: "t", inputSchema: guarded.ok ? guarded.schema : {} }, raw)
    expect(parsed.ok ? undefined : parsed.error.message).toMatch(
      /the arguments: expected (?:a value that can be checked in bounded work|at most \d+ values in all)/
    )
  })
})
