/** A schema that cannot work fails where the tool is defined, naming the place, what was expected and what to write. */
import { type TSchema, Type } from "typebox"
import { describe, expect, it } from "vitest"
import { ToolDefinitionError } from "../src/ToolDefinitionError.js"
import { closeArgs, readOutput } from "../src/ToolSchema.js"

const failure = (attempt: () => unknown): ToolDefinitionError => {
  try {
    attempt()
  } catch (error) {
    if (error instanceof ToolDefinitionError) return error
    throw error
  }
  throw new Error("nothing failed")
}

const inArgs = (schema: TSchema): ToolDefinitionError =>
  failure(() => closeArgs(Type.Object({ deep: Type.Array(schema) })))

describe("roots of arguments", () => {
  it.each<[string, unknown, Partial<ToolDefinitionError>]>([
    ["a string", Type.String(), { reason: "RootNotObject", received: '"string"' }],
    ["anything", Type.Unknown(), { reason: "RootNotObject" }],
    ["an array", Type.Array(Type.String()), { reason: "RootNotObject", received: '"array"' }],
    ["a record's reference", { $ref: "#/$defs/X", $defs: { X: { type: "string" } } }, { reason: "RootNotObject" }],
    // C019
    [
      "a union",
      Type.Union([Type.Object({ path: Type.String() }), Type.Object({ paths: Type.Array(Type.String()) })]),
      { reason: "RootUnion" }
    ],
    // C020: never shown as an empty object
    [
      "alternatives",
      {
        oneOf: [
          { type: "object", properties: {} },
          { type: "object", properties: {} }
        ]
      },
      { reason: "RootUnion" }
    ],
    ["no schema", undefined, { reason: "BadSchema", received: "undefined" }],
    ["a boolean", true, { reason: "BadSchema" }]
  ])("[T7] %s is refused", (_, schema, expected) => {
    expect(failure(() => closeArgs(schema))).toMatchObject({ pointer: "", ...expected })
  })

  it("[T7] a union at the root is refused with a hint to nest it", () => {
    const error = failure(() => closeArgs(Type.Union([Type.Object({}), Type.Object({})])))
    expect(error.message).toBe(
      "tool definition at the root: expected an object or an intersection of objects, received a union (put the union under a property, for example { action: Union([...]) })"
    )
    expect(error.forTool("move").message).toMatch(/^tool "move" at the root: /)
  })
})

describe("what JSON Schema cannot carry", () => {
  const refusedAt = (pointer: string, reason: ToolDefinitionError["reason"]) => ({ pointer, reason })
  it.each<[string, TSchema, string]>([
    ["a refinement", Type.Refine(Type.String(), (text) => text.length > 1), ""],
    [
      "a codec",
      Type.Codec(Type.String())
        .Decode((text) => text.length)
        .Encode(String),
      ""
    ],
    ["undefined", Type.Undefined(), "/type"],
    ["a bigint", Type.BigInt(), "/type"],
    ["a symbol", Type.Symbol(), "/type"],
    ["a function", Type.Function([], Type.String()), "/type"],
    ["void", Type.Void(), "/type"]
  ])("[T3][T7] %s is refused at its pointer, in arguments and in outputs", (_, schema, at) => {
    expect(inArgs(schema)).toMatchObject(refusedAt(`/properties/deep/items${at}`, "UnsupportedType"))
    expect(failure(() => readOutput(Type.Object({ out: schema })))).toMatchObject(
      refusedAt(`/properties/out${at}`, "UnsupportedType")
    )
  })

  it("[T3] an optional refinement is found too", () => {
    expect(
      failure(() => closeArgs(Type.Object({ o: Type.Optional(Type.Refine(Type.String(), () => true)) })))
    ).toMatchObject({
      pointer: "/properties/o",
      reason: "UnsupportedType"
    })
  })

  it.each<[string, TSchema, ToolDefinitionError["reason"], string]>([
    ["an unknown format", Type.String({ format: "shelf-mark" }), "UnknownFormat", "/format"],
    ["an unknown keyword", Type.String({ colour: "red" }), "BadSchema", "/colour"],
    ["an openapi nullable", Type.String({ nullable: true }), "BadSchema", "/nullable"],
    ["a broken pattern", Type.String({ pattern: "(" }), "BadSchema", "/pattern"],
    ["a reference to nothing", Type.Ref("Nobody"), "BadReference", "/$ref"],
    ["a reference out of the document", Type.Unsafe({ $ref: "https://example.org/schema" }), "BadReference", "/$ref"],
    ["a default that does not fit", Type.Integer({ default: "x" }), "BadDefault", "/default"],
    [
      "a property named __proto__",
      Type.Unsafe(JSON.parse('{"type":"object","properties":{"__proto__":{}}}') as object),
      "BadSchema",
      "/properties/__proto__"
    ],
    ["a function among the keywords", Type.Unsafe({ type: "string", title: () => "t" }), "BadSchema", "/title"],
    [
      "a required field that does not exist",
      Type.Unsafe({ type: "object", properties: { a: {} }, required: ["b"] }),
      "BadSchema",
      "/required"
    ],
    ["a list where a schema belongs", Type.Unsafe({ type: "object", properties: [] }), "BadSchema", "/properties"]
  ])("[T7] %s is refused at its pointer", (_, schema, reason, at) => {
    expect(inArgs(schema)).toMatchObject(refusedAt(`/properties/deep/items${at}`, reason))
  })

  it("[T3] a reference inside an intersection is refused", () => {
    const node = Type.Cyclic({ Node: Type.Object({ kids: Type.Array(Type.Ref("Node")) }) }, "Node")
    expect(inArgs(Type.Intersect([node, Type.Object({ extra: Type.String() })]))).toMatchObject(
      refusedAt("/properties/deep/items/allOf/0", "BadReference")
    )
  })

  it("[T7] what only the validator refuses keeps the validator's word as cause", () => {
    const error = inArgs(Type.Unsafe({ type: "string", minLength: -1 }))
    expect(error).toMatchObject({ reason: "BadSchema" })
    expect(error.cause).toBeInstanceOf(Error)
    expect(inArgs(Type.Unsafe({ type: "integer", minLength: 3 })).message).toContain("strict mode")
  })

  it("[T7] recursion that never goes into the value is refused, as is a schema that multiplies", () => {
    const loop = Type.Cyclic({ A: Type.Union([Type.Ref("A"), Type.String()]) }, "A")
    expect(inArgs(loop)).toMatchObject({ reason: "BadReference" })
    const defs = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [
        `D${n}`,
        n === 19 ? { type: "string" } : { anyOf: [{ $ref: `#/$defs/D${n + 1}` }, { $ref: `#/$defs/D${n + 1}` }] }
      ])
    )
    expect(
      failure(() => closeArgs({ type: "object", properties: { d: { $ref: "#/$defs/D0" } }, $defs: defs }))
    ).toMatchObject({ reason: "SchemaTooLarge" })
  })

  it("[T7] an output of undefined is refused with what to do instead", () => {
    expect(failure(() => readOutput(Type.Void())).message).toBe(
      'tool definition at /type: expected one of the types null, boolean, integer, number, string, array, object, received "void" (leave the output schema away)'
    )
  })

  it("[H1] a member may be marked secret, and the mark is kept", () => {
    expect(closeArgs(Type.Object({ password: Type.String({ secret: true }) })).schema["properties"]).toEqual({
      password: { type: "string", secret: true }
    })
  })
})
