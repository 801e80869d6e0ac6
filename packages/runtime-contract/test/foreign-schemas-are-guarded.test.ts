/** A stranger's schema works as written, or is refused by name; it can neither block the process nor harm its neighbours. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../src/Json.js"
import { parseToolArgs } from "../src/ToolArgs.js"
import { guardForeignOutput, guardForeignSchema, validatorFor } from "../src/ToolSchema.js"

const guard = (schema: unknown) => {
  const guarded = guardForeignSchema(schema)
  if (!guarded.ok) throw guarded.refusal
  return guarded
}
const pointers = (schema: JsonObject, raw: unknown): unknown => {
  const parsed = parseToolArgs({ id: "t", inputSchema: schema }, raw)
  if (parsed.ok) return "valid"
  return parsed.error.reason._tag === "InvalidArguments"
    ? parsed.error.reason.issues.map(({ pointer }) => pointer)
    : parsed.error.message
}
const refusal = (schema: unknown): unknown => {
  const guarded = guardForeignSchema(schema)
  return guarded.ok ? guarded.schema : { reason: guarded.refusal.reason, pointer: guarded.refusal.pointer }
}

describe("references", () => {
  // C016
  it("[T7] lead to definitions and to any other part of the document", () => {
    const { schema } = guard({
      type: "object",
      properties: {
        who: { $ref: "#/$defs/Person", description: "target" },
        also: { type: "array", items: { $ref: "#/properties/who" } }
      },
      $defs: { Person: { type: "object", properties: { n: { type: "string" } }, required: ["n"] } }
    })
    expect([{ who: { n: "a" } }, { who: {} }, { also: [{ n: "a" }, {}] }].map((raw) => pointers(schema, raw))).toEqual([
      "valid",
      ["/who/n"],
      ["/also/1/n"]
    ])
  })

  // C017
  it("[T7] may be recursive: three levels validate, a wrong leaf is found, and the schema is plain JSON", () => {
    const tree = guard({
      type: "object",
      properties: { root: { $ref: "#/$defs/Nd" } },
      $defs: {
        Nd: {
          type: "object",
          properties: { k: { type: "string" }, kids: { type: "array", items: { $ref: "#/$defs/Nd" } } },
          required: ["k"]
        }
      }
    }).schema
    const json = guard({
      type: "object",
      properties: { v: { $ref: "#/$defs/J" } },
      $defs: { J: { anyOf: [{ type: "string" }, { type: "number" }, { type: "array", items: { $ref: "#/$defs/J" } }] } }
    }).schema
    const deep = (leaf: Json): JsonObject => ({ root: { k: "1", kids: [{ k: "2", kids: [{ k: leaf }] }] } })
    expect([pointers(tree, deep("3")), pointers(tree, deep(3))]).toEqual(["valid", ["/root/kids/0/kids/0/k"]])
    expect([pointers(json, { v: [["a", [1]]] }), pointers(json, { v: [["a", [true]]] })]).toEqual([
      "valid",
      ["/v/0/1/0"]
    ])
    expect(JSON.parse(JSON.stringify(tree))).toEqual(tree)
    const whole = guard({
      type: "object",
      properties: { kids: { type: "array", items: { $ref: "#" } } },
      additionalProperties: false
    }).schema
    expect([{ kids: [{ kids: [] }] }, { kids: [{ x: 1 }] }].map((raw) => pointers(whole, raw))).toEqual([
      "valid",
      ["/kids/0/x"]
    ])
  })

  it("[T7] by id and by anchor stay inside the document", () => {
    const { schema } = guard({
      $id: "https://example.org/root.json",
      type: "object",
      properties: {
        a: { $ref: "https://example.org/root.json#/$defs/B" },
        b: { $ref: "root.json#mark" },
        c: { $ref: "inner.json" },
        d: { $ref: "T0" }
      },
      $defs: {
        B: { type: "string" },
        C: { $anchor: "mark", type: "number" },
        D: { $id: "inner.json", $ref: "#/$defs/E", $defs: { E: { type: "boolean" } } },
        F: { $id: "T0", type: "array" }
      }
    })
    expect(pointers(schema, { a: 1, b: "", c: 1, d: {} })).toEqual(["/a", "/b", "/c", "/d"])
    expect(pointers(schema, { a: "", b: 1, c: true, d: [] })).toBe("valid")
    expect(JSON.stringify(schema)).not.toContain("example.org")
  })

  it("[T7] to schemas under other keywords are kept as definitions", () => {
    const { schema, diagnostics } = guard({
      type: "object",
      properties: { a: { $ref: "#/components/schemas/A" } },
      components: {
        schemas: {
          A: { type: "object", properties: { next: { $ref: "#/components/schemas/A" }, n: { type: "integer" } } }
        }
      }
    })
    expect(schema["$defs"]).toEqual({
      A: { type: "object", properties: { next: { $ref: "#/$defs/A" }, n: { type: "integer" } } }
    })
    expect(pointers(schema, { a: { next: { n: "x" } } })).toEqual(["/a/next/n"])
    expect(diagnostics).toEqual(["/components: unknown keyword"])
  })

  it.each<[string, JsonObject, string]>([
    ["to nothing", { properties: { x: { $ref: "#/$defs/Gone" } } }, "/properties/x/$ref"],
    ["out of the document", { properties: { x: { $ref: "https://example.org/x.json" } } }, "/properties/x/$ref"],
    ["to a file", { $ref: "file:///etc/passwd" }, "/$ref"],
    ["that are no text", { properties: { x: { $ref: 3 } } }, "/properties/x/$ref"],
    ["to a value that is no schema", { required: ["a"], properties: { x: { $ref: "#/required/0" } } }, "/required/0"]
  ])("[T7] %s are refused by name", (_, schema, pointer) => {
    expect(refusal({ type: "object", ...schema })).toMatchObject({ pointer })
  })
})

describe("dialects, keywords and formats", () => {
  // C029
  it.each<[JsonObject]>([
    [{ $schema: "http://json-schema.org/draft-07/schema#", type: "object" }],
    [{ $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" }],
    [{ $schema: "https://json-schema.org/draft-07/schema", type: "object" }],
    [{ $schema: "https://example.org/house-style", type: "object" }],
    [{ type: "object", "x-ui-order": 1, properties: { p: { type: "string", format: "shelf-mark" } } }]
  ])("[T7] %j registers and takes {}", (schema) => {
    expect(pointers(guard(schema).schema, {})).toBe("valid")
  })

  it("[T7] unknown keywords and formats are ignored with a diagnostic, known formats are enforced", () => {
    const { schema, diagnostics } = guard({
      type: "object",
      "x-ui-order": 1,
      properties: {
        mark: { type: "string", format: "shelf-mark", example: "A1" },
        at: { type: "string", format: "date-time" },
        link: { type: "string", format: "uri" },
        mail: { type: "string", format: "email" },
        n: { type: "integer", format: "int32", nullable: true }
      }
    })
    expect(diagnostics).toEqual([
      "/x-ui-order: unknown keyword",
      "/properties/mark/format: unknown format shelf-mark, not checked",
      "/properties/mark/example: unknown keyword",
      "/properties/n/nullable: unknown keyword"
    ])
    expect(
      pointers(schema, {
        mark: "?",
        at: "2025-01-31T10:00:00Z",
        link: "https://example.org",
        mail: "a@example.org",
        n: 1
      })
    ).toBe("valid")
    expect(pointers(schema, { at: "soon", link: "no link", mail: "nobody", n: 2 ** 40 })).toEqual([
      "/at",
      "/link",
      "/mail",
      "/n"
    ])
  })

  // C023, the half without a provider
  it("[T7] properties named like keywords are properties", () => {
    const properties = {
      pattern: { type: "string" },
      default: { type: "boolean" },
      additionalProperties: { type: "number" },
      $ref: { type: "string" },
      "x-odd": {}
    }
    const { schema, diagnostics } = guard({
      type: "object",
      properties,
      required: ["pattern"],
      additionalProperties: false
    })
    expect({ schema, diagnostics }).toEqual({
      schema: { type: "object", properties, required: ["pattern"], additionalProperties: false },
      diagnostics: []
    })
  })

  it("[T7] older forms mean what they meant", () => {
    const { schema } = guard({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      definitions: {
        pair: { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: { type: "boolean" } }
      },
      properties: {
        p: { $ref: "#/definitions/pair", maxItems: 1 },
        first: { $ref: "#/definitions/pair/items/0" },
        closed: { items: [{}], additionalItems: false }
      },
      dependencies: { p: ["first"], closed: { required: ["p"] } }
    })
    expect(schema).toEqual({
      type: "object",
      $defs: {
        pair: { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: { type: "boolean" } }
      },
      properties: {
        p: { $ref: "#/$defs/pair" },
        first: { $ref: "#/$defs/pair/prefixItems/0" },
        closed: { prefixItems: [{}], items: false }
      },
      dependentRequired: { p: ["first"] },
      dependentSchemas: { closed: { required: ["p"] } }
    })
    expect(pointers(schema, { p: ["a", 1, true], first: "f" })).toBe("valid")
    expect(pointers(schema, { p: ["a", 1, 2], first: 3 })).toEqual(["/p/2", "/first"])
    expect(pointers(schema, { closed: [1, 2] })).toEqual(["/p", "/closed/1"])
  })

  it("[T7] flags and types of forgotten drafts are ignored with a diagnostic", () => {
    const { schema, diagnostics } = guard({
      properties: {
        a: { type: "string", required: true },
        b: { type: "any" },
        c: { minimum: 1, exclusiveMinimum: true }
      }
    })
    expect(schema).toEqual({ properties: { a: { type: "string" }, b: {}, c: { minimum: 1 } }, type: "object" })
    expect(diagnostics).toHaveLength(4)
  })

  it.each<[JsonObject, string]>([
    [{ properties: { s: { type: "string", pattern: { $data: "1/re" } } } }, "/properties/s/pattern"],
    [{ properties: { s: { minLength: { $data: "1/n" } } } }, "/properties/s/minLength"],
    [{ properties: { s: { enum: { $data: "1/e" } } } }, "/properties/s/enum"],
    [{ properties: { s: { maximum: "9" } } }, "/properties/s/maximum"],
    [{ properties: { s: 3 } }, "/properties/s"],
    [{ properties: [] as unknown as JsonObject }, "/properties"],
    [{ anyOf: [] }, "/anyOf"],
    [{ properties: { s: { format: 1 } } }, "/properties/s/format"],
    [{ required: [1] }, "/required"],
    [{ patternProperties: { "(?<=a)b": {} } }, "/patternProperties/(?<=a)b"],
    [JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as JsonObject, "/properties/__proto__"]
  ])("[T7] %j is malformed and refused at its place", (schema, pointer) => {
    expect(refusal({ type: "object", ...schema })).toEqual({ reason: "BadSchema", pointer })
  })

  it("[T7] arguments are an object: a root without a type gets one, a root of another type is refused", () => {
    expect([guard(undefined).schema, guard({}).schema, guard({ type: ["object", "null"] }).schema]).toEqual([
      { type: "object" },
      { type: "object" },
      { type: "object" }
    ])
    expect(refusal({ type: "array" })).toEqual({ reason: "RootNotObject", pointer: "/type" })
    expect([refusal("text"), refusal([]), refusal(false)]).toEqual(
      ["", "", ""].map((pointer) => ({ reason: "BadSchema", pointer }))
    )
  })

  // C019, C020: the original union is what validates
  it("[T7] a union at the root keeps its meaning, and a wrong branch is one clear refusal", () => {
    const { schema } = guard({
      oneOf: [
        {
          type: "object",
          properties: { op: { const: "get" }, id: { type: "string" } },
          required: ["op", "id"],
          additionalProperties: false
        },
        {
          type: "object",
          properties: { op: { const: "find" }, q: { type: "string" } },
          required: ["op", "q"],
          additionalProperties: false
        }
      ]
    })
    expect(schema["type"]).toBe("object")
    expect(
      [{ op: "get", id: "1" }, { op: "get", q: "x" }, { op: "drop" }, {}].map((raw) => pointers(schema, raw))
    ).toEqual(["valid", ["/id", "/q"], ["/op"], ["/op"]])
  })

  // C011
  it("[T3] an open foreign schema stays open", () => {
    const parsed = parseToolArgs(
      { id: "t", inputSchema: guard({ type: "object", properties: { p: { type: "string" } } }).schema },
      '{"p":"a","more":1}'
    )
    expect(parsed.ok && parsed.value).toEqual({ p: "a", more: 1 })
  })
})

describe("neighbours", () => {
  // C028
  it("[T7] one tool that cannot be used leaves the others as they are", () => {
    const raw: ReadonlyArray<readonly [string, unknown]> = [
      ["good", { type: "object", properties: {}, additionalProperties: false }],
      ["dangling", { type: "object", properties: { x: { $ref: "#/$defs/Gone" } } }],
      [
        "hostile",
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error("trap")
            }
          }
        )
      ],
      ["also good", { type: "object" }]
    ]
    expect(raw.map(([name, schema]) => [name, guardForeignSchema(schema).ok])).toEqual([
      ["good", true],
      ["dangling", false],
      ["hostile", false],
      ["also good", true]
    ])
  })

  it("[T7][T9] an output schema that cannot be used leaves its tool callable, unchecked and with a diagnostic", () => {
    expect(guardForeignOutput({ type: "object", properties: { x: { $ref: "#/$defs/Gone" } } })).toEqual({
      schema: undefined,
      diagnostics: [
        'the output is not checked: tool definition at /properties/x/$ref: expected a reference to a part of this schema, received the string "#/$defs/Gone"'
      ]
    })
    const { schema } = guardForeignOutput({ type: "array", items: { type: "integer" } })
    expect(schema === undefined ? [] : validatorFor(schema)([1, "2"]).map(({ pointer }) => pointer)).toEqual(["/1"])
    expect(guardForeignOutput(undefined)).toEqual({ schema: undefined, diagnostics: [] })
  })

  it("[T7] a schema that nobody guarded is guarded at its first use, and one that cannot be used is a tool error", () => {
    expect(
      pointers(
        {
          $schema: "http://json-schema.org/draft-07/schema#",
          definitions: { s: { type: "string" } },
          properties: { a: { $ref: "#/definitions/s" } }
        },
        { a: 1 }
      )
    ).toEqual(["/a"])
    const broken = { id: "broken", inputSchema: { type: "object", properties: { a: { $ref: "#/nowhere" } } } } as const
    const parsed = parseToolArgs(broken, "{}")
    expect(parsed.ok ? undefined : [parsed.error.reason._tag, parsed.error.message]).toEqual([
      "Execution",
      'broken cannot be called: tool definition at /properties/a/$ref: expected a reference to a part of this schema, received the string "#/nowhere"'
    ])
  })
})

describe("work", () => {
  const nested = (width: number, depth: number): JsonObject =>
    depth === 0 ? { type: "string" } : { anyOf: Array.from({ length: width }, () => nested(width, depth - 1)) }
  const doubling = (levels: number, last: JsonObject): JsonObject => ({
    type: "object",
    properties: { d: { $ref: "#/$defs/D0" } },
    $defs: Object.fromEntries(
      Array.from({ length: levels }, (_, n) => [
        `D${n}`,
        n === levels - 1 ? last : { allOf: [{ $ref: `#/$defs/D${n + 1}` }, { $ref: `#/$defs/D${n + 1}` }] }
      ])
    )
  })

  // C026: exponential in each case, so a regression does not come back within the time given.
  it(
    "[T7] a pattern that backtracks for ever elsewhere is matched, and refuses what does not match",
    { timeout: 2_000 },
    () => {
      const { schema } = guard({ type: "object", properties: { s: { type: "string", pattern: "^(b|b?)+$" } } })
      expect([pointers(schema, { s: `${"b".repeat(26)}!` }), pointers(schema, { s: "b".repeat(2_000) })]).toEqual([
        ["/s"],
        "valid"
      ])
    }
  )

  it("[T7] a text that costs more than it may is refused, not checked for ever", { timeout: 2_000 }, () => {
    const { schema } = guard({
      type: "object",
      properties: { s: { type: "string", pattern: "(?=(.*)*z)y" }, t: { not: { pattern: "(?=(.*)*z)y" } } }
    })
    expect([pointers(schema, { s: "a".repeat(100_000) }), pointers(schema, { t: "a".repeat(100_000) })]).toEqual([
      ["/s"],
      [""]
    ])
  })

  it("[T7] a pattern that cannot be bounded is shown and not enforced, with a diagnostic", () => {
    const pattern = "^(?<!x)(a)\\1$"
    const { schema, diagnostics } = guard({ type: "object", properties: { s: { type: "string", pattern } } })
    expect({ shown: schema["properties"], diagnostics, checked: pointers(schema, { s: "anything" }) }).toEqual({
      shown: { s: { type: "string", pattern } },
      diagnostics: ["/properties/s/pattern: not checked: look-behind or inline flags"],
      checked: "valid"
    })
  })

  it.each<[string, () => unknown]>([
    ["alternatives of alternatives", () => ({ type: "object", properties: { s: nested(4, 9) } })],
    ["many alternatives", () => ({ type: "object", properties: { s: nested(14, 3) } })],
    ["shared parts that double at one place", () => doubling(30, { type: "string" })],
    [
      "shared parts behind a property",
      () => ({ ...doubling(30, { type: "string" }), properties: { a: { properties: { d: { $ref: "#/$defs/D0" } } } } })
    ],
    [
      "a huge enumeration",
      () => ({ type: "object", properties: { s: { enum: Array.from({ length: 55_000 }, (_, n) => n) } } })
    ],
    ["a huge text", () => ({ type: "object", description: "x".repeat(300_000) })],
    [
      "many properties",
      () => ({ type: "object", properties: Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`p${n}`, {}])) })
    ],
    [
      "deep nesting",
      () =>
        Array.from({ length: 500 }).reduce<JsonObject>((inner) => ({ type: "object", properties: { a: inner } }), {})
    ]
  ])("[T7] %s: a schema that multiplies is refused", { timeout: 20_000 }, (_, schema) => {
    expect(refusal(schema())).toMatchObject({ reason: "SchemaTooLarge" })
  })

  it("[T7] a reference that applies itself to the same value again is refused", () => {
    expect(
      refusal({
        type: "object",
        properties: { a: { $ref: "#/$defs/A" } },
        $defs: { A: { anyOf: [{ $ref: "#/$defs/A" }, { type: "string" }] } }
      })
    ).toEqual({
      reason: "BadReference",
      pointer: ""
    })
  })

  it(
    "[T7] recursion through several branches limits how deep a call may nest, and says so",
    { timeout: 20_000 },
    () => {
      const branch = (last: string): JsonObject => ({
        type: "object",
        properties: { l: { $ref: "#/$defs/E" }, r: { $ref: "#/$defs/E" }, [last]: { type: "string" } },
        required: [last]
      })
      const { schema } = guard({
        type: "object",
        properties: { e: { $ref: "#/$defs/E" } },
        $defs: { E: { anyOf: ["a", "b", "c", "d"].map(branch) } }
      })
      const deep = (levels: number): JsonObject => (levels === 0 ? { d: "" } : { l: deep(levels - 1), d: "" })
      const parsed = parseToolArgs({ id: "t", inputSchema: schema }, { e: deep(40) })
      expect(pointers(schema, { e: deep(3) })).toBe("valid")
      expect(parsed.ok ? undefined : parsed.error.message).toMatch(
        /the arguments: expected at most \d levels of nesting, received 42 levels/
      )
    }
  )

  it("[T7] branches that a first field tells apart may nest as deep as any value", { timeout: 20_000 }, () => {
    const branch = (op: string): JsonObject => ({
      type: "object",
      properties: { op: { const: op }, l: { $ref: "#/$defs/E" }, r: { $ref: "#/$defs/E" } },
      required: ["op"]
    })
    const { schema } = guard({
      type: "object",
      properties: { e: { $ref: "#/$defs/E" } },
      $defs: { E: { anyOf: ["a", "b", "c", "d"].map(branch) } }
    })
    const deep = (levels: number): JsonObject =>
      levels === 0 ? { op: "d" } : { op: "d", l: deep(levels - 1), r: { op: "c" } }
    expect([pointers(schema, { e: deep(60) }), pointers(schema, { e: { op: "d", l: { op: "e" } } })]).toEqual([
      "valid",
      ["/e/l/op"]
    ])
  })

  it("[T7] unique items are found unique in time that grows with their number", { timeout: 20_000 }, () => {
    const { schema } = guard({ type: "object", properties: { l: { type: "array", uniqueItems: true } } })
    const items = Array.from({ length: 20_000 }, (_, n) => ({ n, a: [n] }))
    expect([pointers(schema, { l: items }), pointers(schema, { l: [...items, { a: [7], n: 7 }] })]).toEqual([
      "valid",
      ["/l"]
    ])
  })
})

describe("laws", () => {
  it("[T7] guarding never throws, whatever comes", () => {
    fc.assert(
      fc.property(
        fc.anything({ withNullPrototype: true, withDate: true, withBigInt: true, withSparseArray: true }),
        (schema) => {
          expect(["boolean"]).toContain(typeof guardForeignSchema(schema).ok)
        }
      )
    )
  })

  it("[T7] guarding what was guarded changes nothing more", () => {
    const part = fc.letrec<{ schema: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom<JsonObject>(
          {},
          { type: "string", "x-a": 1 },
          { $ref: "#/definitions/D" },
          { items: [{ type: "integer" }] },
          { type: "any" },
          { format: "odd" }
        ),
        fc
          .dictionary(fc.constantFrom("a", "items", "$ref"), tie("schema"), { maxKeys: 2 })
          .map((properties) => ({ type: "object", properties })),
        fc.array(tie("schema"), { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf }))
      )
    })).schema
    fc.assert(
      fc.property(part, (schema) => {
        const once = guardForeignSchema({
          type: "object",
          properties: { p: schema },
          definitions: { D: { type: "string" } }
        })
        fc.pre(once.ok)
        const twice = guardForeignSchema(once.ok ? once.schema : {})
        expect(twice.ok && twice.schema).toEqual(once.ok && once.schema)
      })
    )
  })
})
