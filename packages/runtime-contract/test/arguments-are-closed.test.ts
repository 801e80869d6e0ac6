/** An argument object takes the fields that its schema declares and no others, and the model sees that. */
import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"
import { type TSchema, Type } from "typebox"
import { describe, expect, it } from "vitest"
import type { Json } from "../src/Json.js"
import { parseToolArgs } from "../src/ToolArgs.js"
import { closeArgs, readOutput, validatorFor } from "../src/ToolSchema.js"

const accepts = (schema: TSchema, raw: unknown): boolean =>
  parseToolArgs({ id: "t", inputSchema: closeArgs(schema).schema }, raw).ok

describe("closing", () => {
  it("[T3] an object is closed, at every depth, unless it says otherwise", () => {
    const inner = Type.Object({ x: Type.String() })
    const schema = Type.Object({
      one: inner,
      list: Type.Array(inner),
      open: Type.Object({ x: Type.String() }, { additionalProperties: true }),
      typed: Type.Object({}, { additionalProperties: Type.Integer() }),
      free: Type.Unsafe<object>({ type: "object" })
    })
    const closedInner = {
      type: "object",
      required: ["x"],
      properties: { x: { type: "string" } },
      additionalProperties: false
    }
    expect(closeArgs(schema)).toEqual({
      schema: {
        type: "object",
        required: ["one", "list", "open", "typed", "free"],
        properties: {
          one: closedInner,
          list: { type: "array", items: closedInner },
          open: { ...closedInner, additionalProperties: true },
          typed: { type: "object", properties: {}, additionalProperties: { type: "integer" } },
          free: { type: "object" }
        },
        additionalProperties: false
      },
      warnings: []
    })
  })

  it("[T3] an intersection of objects becomes one closed object", () => {
    const schema = Type.Intersect(
      [
        Type.Object({ a: Type.String() }),
        Type.Object({ b: Type.Optional(Type.String()) }),
        Type.Intersect([Type.Object({ c: Type.String() })])
      ],
      {
        description: "all three"
      }
    )
    expect(closeArgs(schema)).toEqual({
      schema: {
        type: "object",
        description: "all three",
        required: ["a", "c"],
        properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "string" } },
        additionalProperties: false
      },
      warnings: []
    })
    expect([accepts(schema, { a: "", c: "" }), accepts(schema, { a: "", c: "", d: "" })]).toEqual([true, false])
  })

  it("[T3] a field that two members of an intersection declare fits both, and closes as one", () => {
    const schema = Type.Object({
      both: Type.Intersect([
        Type.Object({ n: Type.Number({ minimum: 1 }), o: Type.Object({ x: Type.String() }) }),
        Type.Object({ n: Type.Number({ maximum: 5 }), o: Type.Object({ y: Type.String() }) })
      ])
    })
    const tried = [
      { n: 3, o: { x: "", y: "" } },
      { n: 0, o: { x: "", y: "" } },
      { n: 6, o: { x: "", y: "" } },
      { n: 3, o: { x: "" } },
      { n: 3, o: { x: "", y: "", z: "" } }
    ]
    expect(tried.map((both) => accepts(schema, { both }))).toEqual([true, false, false, false, false])
  })

  it("[T3] an open or a closed member of an intersection says so for the whole", () => {
    const a = Type.Object({ a: Type.String() })
    const open = Type.Intersect([a, Type.Object({ b: Type.String() }, { additionalProperties: true })])
    const closed = Type.Intersect([a, Type.Object({ b: Type.String() }, { additionalProperties: false })])
    expect([
      accepts(open, { a: "", b: "", c: 1 }),
      accepts(closed, { a: "", b: "" }),
      accepts(closed, { a: "", b: "", c: 1 })
    ]).toEqual([true, true, false])
  })

  it("[T3] an intersection with a union is closed from outside, with a warning", () => {
    const schema = Type.Intersect([
      Type.Object({ a: Type.String() }),
      Type.Union([Type.Object({ b: Type.String() }), Type.Object({ c: Type.Object({ d: Type.String() }) })])
    ])
    const closed = closeArgs(schema)
    expect(closed).toEqual({
      schema: {
        type: "object",
        unevaluatedProperties: false,
        allOf: [
          { type: "object", required: ["a"], properties: { a: { type: "string" } } },
          {
            anyOf: [
              { type: "object", required: ["b"], properties: { b: { type: "string" } } },
              {
                type: "object",
                required: ["c"],
                properties: {
                  c: {
                    type: "object",
                    required: ["d"],
                    properties: { d: { type: "string" } },
                    additionalProperties: false
                  }
                }
              }
            ]
          }
        ]
      },
      warnings: [
        "the root: this object is closed by unevaluatedProperties, which strict provider modes and draft-07 cannot express"
      ]
    })
    const tried = [
      { a: "", b: "" },
      { a: "", c: { d: "" } },
      { a: "", b: "", z: 1 },
      { a: "" },
      { a: "", c: { d: "", z: 1 } }
    ]
    expect(tried.map((raw) => accepts(schema, raw))).toEqual([true, true, false, false, false])
  })

  it("[T3] fields beside alternatives are closed from outside too", () => {
    const schema = Type.Unsafe<object>({
      type: "object",
      properties: { id: { type: "string" }, title: { type: "string" }, body: { type: "string" } },
      required: ["id"],
      anyOf: [{ required: ["title"] }, { required: ["body"] }]
    })
    const tried = [{ id: "1", title: "t" }, { id: "1" }, {}, { id: "1", title: "t", z: 1 }]
    expect(tried.map((raw) => accepts(schema, raw))).toEqual([true, false, false, false])
    expect(closeArgs(schema).warnings).toHaveLength(1)
  })

  it("[T3] each branch of a union closes itself", () => {
    const branch = (name: string) => Type.Object({ [name]: Type.String() })
    const schema = Type.Object({ u: Type.Union([branch("a"), branch("b")]) })
    expect(closeArgs(schema).warnings).toEqual([])
    expect([{ a: "" }, { b: "" }, { a: "", b: "" }].map((u) => accepts(schema, { u }))).toEqual([true, true, false])
  })

  it("[T3] a record of strings takes any key, a record of patterns only those", () => {
    expect(closeArgs(Type.Record(Type.String(), Type.Object({ x: Type.Integer() }))).schema).toEqual({
      type: "object",
      additionalProperties: {
        type: "object",
        required: ["x"],
        properties: { x: { type: "integer" } },
        additionalProperties: false
      }
    })
    const byPattern = Type.Record(Type.String({ pattern: "^x" }), Type.Number())
    expect([accepts(byPattern, { x1: 1 }), accepts(byPattern, { y: 1 })]).toEqual([true, false])
  })

  it("[T3] tuples take exactly their items", () => {
    const schema = Type.Object({ t: Type.Tuple([Type.String(), Type.Number()]), none: Type.Tuple([]) })
    expect(closeArgs(schema).schema["properties"]).toEqual({
      t: {
        type: "array",
        prefixItems: [{ type: "string" }, { type: "number" }],
        items: false,
        minItems: 2,
        maxItems: 2
      },
      none: { type: "array", items: false, minItems: 0, maxItems: 0 }
    })
    const tried = [["a", 1], ["a"], ["a", 1, 2], [1, "a"]]
    expect(tried.map((t) => accepts(schema, { t, none: [] }))).toEqual([true, false, false, false])
  })

  it("[T3] recursive definitions stand at the root, under names of their own, and close", () => {
    const node = Type.Cyclic({ Node: Type.Object({ v: Type.String(), kids: Type.Array(Type.Ref("Node")) }) }, "Node")
    const other = Type.Cyclic({ Node: Type.Object({ next: Type.Optional(Type.Ref("Node")) }) }, "Node")
    const schema = Type.Object({ a: node, again: node, b: other })
    expect(closeArgs(schema).schema).toEqual({
      type: "object",
      required: ["a", "again", "b"],
      properties: { a: { $ref: "#/$defs/Node" }, again: { $ref: "#/$defs/Node" }, b: { $ref: "#/$defs/Node_2" } },
      additionalProperties: false,
      $defs: {
        Node: {
          type: "object",
          required: ["v", "kids"],
          properties: { v: { type: "string" }, kids: { type: "array", items: { $ref: "#/$defs/Node" } } },
          additionalProperties: false
        },
        Node_2: { type: "object", properties: { next: { $ref: "#/$defs/Node_2" } }, additionalProperties: false }
      }
    })
    const tree = (stray: object) => ({
      a: { v: "", kids: [{ v: "", kids: [], ...stray }] },
      again: { v: "", kids: [] },
      b: { next: {} }
    })
    expect([accepts(schema, tree({})), accepts(schema, tree({ z: 1 }))]).toEqual([true, false])
  })

  it("[T3] a recursive root is an object itself", () => {
    const schema = Type.Cyclic(
      { Node: Type.Object({ v: Type.String(), kid: Type.Optional(Type.Ref("Node")) }) },
      "Node"
    )
    expect(closeArgs(schema).schema["type"]).toBe("object")
    expect([accepts(schema, { v: "", kid: { v: "" } }), accepts(schema, { v: "", kid: { v: "", z: 1 } })]).toEqual([
      true,
      false
    ])
    const self = Type.Object({ kids: Type.Optional(Type.Array(Type.This())) })
    expect([accepts(self, { kids: [{ kids: [] }] }), accepts(self, { kids: [{ z: 1 }] })]).toEqual([true, false])
  })

  it("[T3] tests are not closed: what a value must not be stays as wide as written", () => {
    const schema = Type.Unsafe<object>({
      type: "object",
      properties: { a: { type: "object", not: { type: "object", properties: { x: { const: 1 } }, required: ["x"] } } }
    })
    expect([{ x: 2 }, { x: 1 }, { x: 1, y: 1 }].map((a) => accepts(schema, { a }))).toEqual([true, false, false])
  })
})

describe("one object", () => {
  it("[T3] the author's schema is untouched; the tool's is plain and frozen", () => {
    const schema = Type.Object({ a: Type.Optional(Type.Tuple([Type.String()])) })
    const before = JSON.stringify(schema)
    const closed = closeArgs(schema).schema
    expect(JSON.stringify(schema)).toBe(before)
    expect(Object.isFrozen(schema)).toBe(false)
    const plain = (node: unknown): boolean =>
      typeof node !== "object" ||
      node === null ||
      (Object.isFrozen(node) && Reflect.ownKeys(node).every((key) => key === "length" || plain(Reflect.get(node, key))))
    expect(plain(closed)).toBe(true)
    expect(JSON.stringify(closed)).not.toContain("~")
  })

  it("[T3] output schemas stay as written, but for the form of tuples", () => {
    expect(readOutput(Type.Object({ a: Type.Tuple([Type.String()]) })).schema).toEqual({
      type: "object",
      required: ["a"],
      properties: { a: { type: "array", prefixItems: [{ type: "string" }], items: false, minItems: 1, maxItems: 1 } }
    })
    const check = validatorFor(readOutput(Type.Object({ a: Type.String() })).schema)
    expect([check({ a: "x", more: 1 }), check({ a: 1 })]).toEqual([
      [],
      [{ pointer: "/a", expected: "a string", received: "1", fix: 'send "1" in quotes' }]
    ])
  })
})

describe("laws", () => {
  /** A schema together with values that fit it and have declared fields only. */
  interface Sample {
    readonly schema: TSchema
    readonly fits: fc.Arbitrary<Json>
  }
  const sample = (schema: TSchema, ...fitting: ReadonlyArray<Json>): Sample => ({
    schema,
    fits: fc.constantFrom(...fitting)
  })
  const scalar = fc.constantFrom(
    sample(Type.String(), "", "s"),
    sample(Type.Integer(), 0, 7),
    sample(Type.Null(), null),
    sample(Type.Unknown(), null, { z: 1 })
  )
  const objectOf = (fields: ReadonlyArray<readonly [name: string, field: Sample, optional: boolean]>): Sample => ({
    schema: Type.Object(
      Object.fromEntries(
        fields.map(([name, { schema }, optional]) => [name, optional ? Type.Optional(schema) : schema])
      )
    ),
    fits: fc.record(Object.fromEntries(fields.map(([name, { fits }]) => [name, fits])), {
      requiredKeys: fields.filter(([, , optional]) => !optional).map(([name]) => name),
      noNullPrototype: true
    })
  })
  const merged = (...parts: ReadonlyArray<fc.Arbitrary<Json>>): fc.Arbitrary<Json> =>
    fc
      .tuple(...parts)
      .map((values) => Object.assign({}, ...values.filter((value) => typeof value === "object")) as Json)

  const tree = fc.letrec<{ any: Sample; object: Sample; objectAt: Record<"x" | "y" | "z", Sample> }>((tie) => {
    // Members of an intersection declare fields of different names, as a sensible author would.
    const objectWith = (names: ReadonlyArray<string>): fc.Arbitrary<Sample> =>
      fc
        .uniqueArray(fc.tuple(fc.constantFrom(...names), tie("any"), fc.boolean()), {
          selector: ([name]) => name,
          maxLength: 2
        })
        .map(objectOf)
    return {
      object: objectWith(["a", "b", "constructor"]),
      objectAt: fc.record({ x: objectWith(["x1", "x2"]), y: objectWith(["y1", "y2"]), z: objectWith(["z1", "z2"]) }),
      any: fc.oneof(
        { depthSize: "small" },
        scalar,
        tie("object"),
        tie("any").map(({ schema, fits }) => ({ schema: Type.Array(schema), fits: fc.array(fits, { maxLength: 2 }) })),
        tie("any").map(({ schema, fits }) => ({
          schema: Type.Record(Type.String(), schema),
          fits: fc.dictionary(fc.string(), fits, { maxKeys: 2, noNullPrototype: true })
        })),
        fc
          .tuple(tie("any"), tie("any"))
          .map(([one, two]) => ({ schema: Type.Tuple([one.schema, two.schema]), fits: fc.tuple(one.fits, two.fits) })),
        fc
          .tuple(tie("any"), tie("any"))
          .map(([one, two]) => ({ schema: Type.Union([one.schema, two.schema]), fits: fc.oneof(one.fits, two.fits) })),
        tie("objectAt").map(({ x, y }) => ({
          schema: Type.Intersect([x.schema, y.schema]),
          fits: merged(x.fits, y.fits)
        })),
        tie("objectAt").map(({ x, y, z }) => ({
          schema: Type.Intersect([x.schema, Type.Union([y.schema, z.schema])]),
          fits: fc.oneof(merged(x.fits, y.fits), merged(x.fits, z.fits))
        }))
      )
    }
  }).any

  const wrapped = tree.map(({ schema, fits }) => ({
    schema: Type.Object({ m: schema }),
    fits: fits.map((m) => ({ m }))
  }))

  it("[T3] what fits and has declared fields only is accepted as before", () => {
    const plain = new Ajv2020({ strict: false, ownProperties: true })
    fc.assert(
      fc.property(
        wrapped.chain(({ schema, fits }) => fits.map((value) => ({ schema, value }))),
        ({ schema, value }) => {
          const closed = closeArgs(schema).schema
          expect({ closed: plain.compile(closed)(value), value }).toEqual({ closed: true, value })
        }
      ),
      { numRuns: 150 }
    )
  })

  it("[T3] a field that nothing declares is refused, and closing accepts nothing new", () => {
    const plain = new Ajv2020({ strict: false, ownProperties: true })
    const strays = fc.dictionary(fc.constantFrom("a", "x1", "stray"), fc.constantFrom<Json>(1, "s", null, {}), {
      maxKeys: 2,
      noNullPrototype: true
    })
    fc.assert(
      fc.property(wrapped, strays, ({ schema }, m) => {
        const closed = closeArgs(schema).schema
        const taken = plain.compile(closed)({ m })
        expect(taken ? validatorFor(readOutput(schema).schema)({ m }) : []).toEqual([])
        expect(plain.compile(closed)({ m, stray: 1 })).toBe(false)
      }),
      { numRuns: 100 }
    )
  })
})
