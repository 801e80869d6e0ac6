/** Arguments are normalised once, in one way, before validation: what is gated, digested, shown and run is the same value. */
import { Type } from "typebox"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { digestOf } from "../src/ToolBatch.js"
import type { Json, JsonObject } from "../src/Json.js"
import { parseToolArgs, type ParseOptions } from "../src/ToolArgs.js"
import { closeArgs, guardForeignSchema } from "../src/ToolSchema.js"

const own = (schema: unknown) => ({ id: "t", inputSchema: closeArgs(schema).schema })

const foreign = (schema: JsonObject) => {
  const guarded = guardForeignSchema(schema)
  if (!guarded.ok) throw guarded.refusal
  return { id: "t", inputSchema: guarded.schema }
}

/** The normalised value, or the pointers that were refused. */
const read = (spec: ReturnType<typeof own>, ...[raw, options]: [raw: unknown, options?: ParseOptions]): unknown => {
  const parsed = parseToolArgs(spec, raw, options)
  if (parsed.ok) return parsed.value
  return parsed.error.reason._tag === "InvalidArguments"
    ? parsed.error.reason.issues.map(({ pointer }) => pointer)
    : parsed.error
}

describe("null where a member may be left out", () => {
  const history = Type.Object({
    since: Type.Optional(Type.String()),
    until: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    anything: Type.Optional(Type.Unknown()),
    who: Type.String()
  })

  // C005, C022
  it("[T4] is absence, unless the schema takes null", () => {
    expect(read(own(history), '{"who":"u1","since":null,"until":null,"anything":null}')).toStrictEqual({
      who: "u1",
      until: null,
      anything: null
    })
  })

  it("[T4] is an error at a required member", () => {
    expect(read(own(history), '{"who":null}')).toEqual(["/who"])
  })

  it("[T4] is an error at a required member even if that has a default", () => {
    expect(read(own(Type.Object({ n: Type.Number({ default: 3 }) })), '{"n":null}')).toEqual(["/n"])
  })

  it("[T4] is treated the same for own and for foreign schemas, and from text and from values", () => {
    const spec = foreign({
      type: "object",
      properties: { q: { type: "string" }, lang: { type: "string" } },
      required: ["q"],
      additionalProperties: false
    })
    for (const raw of ['{"q":"x","lang":null}', { q: "x", lang: null }])
      expect(read(spec, raw)).toStrictEqual({ q: "x" })
  })

  it.each([
    ["a reference", { $ref: "#/$defs/Name" }, ["/w"]],
    ["a nullable enumeration", { enum: ["a", null] }, []],
    ["an intersection of both", { allOf: [{ type: ["string", "null"] }, { type: "string" }] }, ["/w"]],
    ["a negation", { not: { type: "null" } }, ["/w"]],
    ["alternatives", { oneOf: [{ type: "null" }, { type: "integer" }] }, []]
  ])("[T4] a schema takes null or not through %s", (_, member, dropped) => {
    const spec = foreign({ type: "object", properties: { w: member }, $defs: { Name: { type: "string" } } })
    expect(read(spec, '{"w":null}')).toStrictEqual(dropped.length > 0 ? {} : { w: null })
  })

  it("[T4] is dropped at every depth: in items, in maps, under references, in tuples", () => {
    const item = Type.Object({ n: Type.Optional(Type.Number()) })
    const schema = Type.Object({
      items: Type.Array(item),
      map: Type.Record(Type.String(), item),
      tuple: Type.Tuple([item, item]),
      tree: Type.Cyclic(
        { Node: Type.Object({ n: Type.Optional(Type.Number()), kids: Type.Optional(Type.Array(Type.Ref("Node"))) }) },
        "Node"
      )
    })
    expect(
      read(own(schema), {
        items: [{ n: null }],
        map: { a: { n: null } },
        tuple: [{ n: null }, {}],
        tree: { kids: [{ n: null, kids: [{ n: null }] }] }
      })
    ).toStrictEqual({ items: [{}], map: { a: {} }, tuple: [{}, {}], tree: { kids: [{ kids: [{}] }] } })
  })

  it("[T4] of an undeclared member stays null", () => {
    expect(read(foreign({ type: "object", properties: {} }), '{"x":null}')).toStrictEqual({ x: null })
  })
})

describe("defaults", () => {
  it("[T4] fill absent members of own schemas, required ones too, and after null was dropped", () => {
    const schema = Type.Object({
      n: Type.Number({ default: 3 }),
      o: Type.Optional(Type.Object({ deep: Type.String({ default: "d" }) }, { default: {} })),
      z: Type.Optional(Type.String({ default: "z" }))
    })
    expect(read(own(schema), '{"z":null}')).toStrictEqual({ n: 3, o: { deep: "d" }, z: "z" })
  })

  it("[T4] of foreign schemas are left to their server", () => {
    expect(read(foreign({ type: "object", properties: { n: { type: "number", default: 3 } } }), "{}")).toStrictEqual({})
  })

  it("[T4] that were filled are frozen and shared by no change", () => {
    const spec = own(Type.Object({ list: Type.Array(Type.Number(), { default: [1, 2] }) }))
    const values = [read(spec, "{}"), read(spec, "{}")] as Array<{ list: Array<number> }>
    expect(() => values[0]?.list.push(9)).toThrow(TypeError)
    expect(values).toEqual([{ list: [1, 2] }, { list: [1, 2] }])
  })
})

describe("unions", () => {
  // C025
  const schema = Type.Object({
    u: Type.Union([Type.Object({ k: Type.Literal("a"), n: Type.Number({ default: 3 }) }), Type.Null()]),
    v: Type.Union([Type.String(), Type.Number()])
  })

  it("[T4] are filled only in the branch whose constants match, and no value changes its type", () => {
    const rows = [
      { u: { k: "a" }, v: 42 },
      { u: { k: "a" }, v: "42" },
      { u: null, v: 0 }
    ]
    expect(rows.map((row) => read(own(schema), row))).toStrictEqual([
      { u: { k: "a", n: 3 }, v: 42 },
      { u: { k: "a", n: 3 }, v: "42" },
      { u: null, v: 0 }
    ])
  })

  it("[T3] refuse strays like every other object", () => {
    expect(read(own(schema), { u: { k: "a", stray: 1 }, v: "42" })).toEqual(["/u/stray"])
  })

  const shapes = Type.Object({
    shape: Type.Union([
      Type.Object({
        kind: Type.Literal("circle"),
        r: Type.Number({ default: 1 }),
        label: Type.Optional(Type.String())
      }),
      Type.Object({
        kind: Type.Literal("square"),
        side: Type.Number({ default: 2 }),
        label: Type.Optional(Type.Union([Type.String(), Type.Null()]))
      })
    ])
  })

  it.each([
    [
      { kind: "circle", label: null },
      { kind: "circle", r: 1 }
    ],
    [
      { kind: "square", label: null },
      { kind: "square", side: 2, label: null }
    ]
  ])("[T4] drop null and fill by the branch that is meant: %j", (shape, expected) => {
    expect(read(own(shapes), { shape })).toStrictEqual({ shape: expected })
  })

  it("[T4] that leave open which branch is meant are not touched", () => {
    const open = Type.Object({
      u: Type.Union([
        Type.Object({ a: Type.Optional(Type.String()) }),
        Type.Object({ b: Type.Optional(Type.Number({ default: 1 })) })
      ])
    })
    expect(read(own(open), { u: {} })).toStrictEqual({ u: {} })
    expect(read(own(open), { u: { a: null } })).toEqual(["/u/a"])
  })

  it("[T4] that two branches match by their constants are not touched", () => {
    const branch = (n: number) => Type.Object({ k: Type.Literal("a"), n: Type.Optional(Type.Number({ default: n })) })
    expect(read(own(Type.Object({ u: Type.Union([branch(1), branch(2)]) })), { u: { k: "a" } })).toStrictEqual({
      u: { k: "a" }
    })
  })

  it("[T4] of arrays and null are followed into the items", () => {
    const list = Type.Object({
      l: Type.Union([Type.Array(Type.Object({ o: Type.Optional(Type.String()) })), Type.Null()])
    })
    expect(read(own(list), { l: [{ o: null }] })).toStrictEqual({ l: [{}] })
  })
})

describe("lossless arguments", () => {
  const spec = own(
    Type.Object({
      max: Type.Optional(Type.Integer()),
      ratio: Type.Optional(Type.Number()),
      on: Type.Optional(Type.Boolean()),
      either: Type.Optional(Type.Union([Type.String(), Type.Number()])),
      maybe: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
      list: Type.Optional(Type.Array(Type.Integer())),
      ids: Type.Optional(Type.Array(Type.String())),
      code: Type.Optional(Type.String())
    })
  )

  it("[T4] coerce nothing unless the snapshot asks for it", () => {
    expect(read(spec, '{"max":"10"}')).toEqual(["/max"])
  })

  it("[T4] read a string as what it spells where no string is allowed, and note each place", () => {
    const raw = { max: "10", ratio: "-1.5", on: "true", either: "7", maybe: "3", list: ["1", 2], code: "007" }
    const value = { max: 10, ratio: -1.5, on: true, either: "7", maybe: 3, list: [1, 2], code: "007" }
    expect(parseToolArgs(spec, raw, { arguments: "lossless" })).toEqual({
      ok: true,
      value,
      digest: digestOf(value),
      notes: [
        { pointer: "/max", from: "10", to: 10 },
        { pointer: "/ratio", from: "-1.5", to: -1.5 },
        { pointer: "/on", from: "true", to: true },
        { pointer: "/maybe", from: "3", to: 3 },
        { pointer: "/list/0", from: "1", to: 1 }
      ]
    })
  })

  // C004
  it.each([
    ["007"],
    ["1e3"],
    ["1.50"],
    [" 10"],
    ["10 "],
    ["+1"],
    ["-0"],
    ["0x10"],
    [""],
    ["Infinity"],
    ["NaN"],
    ["9007199254740993"],
    ["ten"]
  ])("[T4] leave %j alone: the text does not round-trip", (text) => {
    expect(read(spec, { ratio: text }, { arguments: "lossless" })).toEqual(["/ratio"])
  })

  it.each([
    [{ max: "1.5" }, "/max"],
    [{ max: true }, "/max"],
    [{ max: "" }, "/max"],
    [{ on: "yes" }, "/on"],
    [{ on: 1 }, "/on"],
    [{ ids: '["m1","m2"]' }, "/ids"],
    [{ ids: "m1,m2" }, "/ids"],
    [{ code: 7 }, "/code"]
  ])("[T4] never turn %j into something else", (raw, pointer) => {
    expect(read(spec, raw, { arguments: "lossless" })).toEqual([pointer])
  })
})

describe("laws", () => {
  const leaf = fc.constantFrom<JsonObject>(
    { type: "string" },
    { type: "integer" },
    { type: "number", default: 1.5 },
    { type: "boolean", default: false },
    { type: ["string", "null"] },
    { enum: ["x", "y", null] },
    { const: "fixed" },
    {}
  )
  const names = ["a", "b", "kind", "__x", "toString"]
  const { schema } = fc.letrec<{ schema: JsonObject; object: JsonObject }>((tie) => ({
    object: fc
      .tuple(fc.dictionary(fc.constantFrom(...names), tie("schema"), { maxKeys: 3 }), fc.subarray(names), fc.boolean())
      .map(([properties, required, open]) => ({
        type: "object",
        properties,
        required: required.filter((name) => Object.hasOwn(properties, name)),
        ...(open ? { additionalProperties: true } : {})
      })),
    schema: fc.oneof(
      { depthSize: "small", maxDepth: 3 },
      leaf,
      tie("object"),
      tie("schema").map((items) => ({ type: "array", items })),
      fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      fc.array(tie("object"), { minLength: 2, maxLength: 3 }).map((branches) => ({
        anyOf: branches.map((branch, index) => ({
          ...branch,
          properties: { ...(branch["properties"] as JsonObject), kind: { const: `k${index}` } },
          required: ["kind"]
        }))
      }))
    )
  }))
  const values = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<Json>(null, "x", "fixed", "k0", "k1", 0, -0, 1.5, 7, true, "10"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names, "stray"), tie("value"), { maxKeys: 4, noNullPrototype: true })
    )
  })).value

  const specs = schema.map((member) => own({ type: "object", properties: { m: member, n: member }, required: ["m"] }))

  it("[T4] normalising twice changes nothing more", () => {
    fc.assert(
      fc.property(specs, fc.array(values, { minLength: 12, maxLength: 12 }), (spec, tried) => {
        for (const m of tried) {
          const raw = { m, n: m }
          const once = parseToolArgs(spec, raw)
          // What is refused has no value; it is refused in the same words again.
          expect(parseToolArgs(spec, once.ok ? once.value : raw)).toEqual(once)
        }
      }),
      { numRuns: 60 }
    )
  })

  it("[T4] the caller's value stays as it was", () => {
    fc.assert(
      fc.property(specs, values, (spec, value) => {
        const raw = { m: value, n: null }
        const before = structuredClone(raw)
        parseToolArgs(spec, raw, { arguments: "lossless" })
        expect(raw).toStrictEqual(before)
      }),
      { numRuns: 50 }
    )
  })
})
