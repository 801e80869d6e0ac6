/** A refused call is answered so that the model can mend it: where, what was expected, what came, and the fix. */
import { type TSchema, Type } from "typebox"
import { describe, expect, it } from "vitest"
import { answerInvalid, parseToolArgs } from "../src/ToolArgs.js"
import { closeArgs, guardForeignSchema } from "../src/ToolSchema.js"

const refusal = (schema: TSchema, raw: unknown) => {
  const parsed = parseToolArgs({ id: "tool", inputSchema: closeArgs(schema).schema }, raw)
  return parsed.ok ? undefined : parsed.error
}
/** The message's lines without its head. */
const lines = (schema: TSchema, raw: unknown): ReadonlyArray<string> | undefined =>
  refusal(schema, raw)?.message.split("\n").slice(1)

describe("messages", () => {
  it("[T5] name every place at once, with expectation, value and fix, and carry the same as data", () => {
    const schema = Type.Object({
      path: Type.String(),
      max: Type.Optional(Type.Integer()),
      unit: Type.Optional(Type.Union([Type.Literal("celsius"), Type.Literal("fahrenheit")])),
      when: Type.Optional(Type.String({ format: "date-time" }))
    })
    const error = refusal(schema, '{"pth":"x","max":"10","unit":"Celcius","when":"soon"}')
    expect(error?.message).toBe(
      [
        "Invalid arguments for tool; the tool was not run.",
        "- /path: expected a string, received nothing; add the field `path`",
        '- /max: expected an integer, received the string "10"; send 10 without quotes',
        '- /unit: expected one of "celsius", "fahrenheit", received the string "Celcius"; did you mean "celsius"',
        '- /when: expected a string in the form date-time, received the string "soon"; for example 2025-01-31T13:45:00Z',
        '- /pth: expected only the fields path, max, unit, when, received the string "x"; unknown field `pth`; did you mean `path`'
      ].join("\n")
    )
    expect(error?.reason).toMatchObject({
      _tag: "InvalidArguments",
      issues: [
        { pointer: "/path" },
        { pointer: "/max", expected: "an integer", fix: "send 10 without quotes" },
        { pointer: "/unit" },
        { pointer: "/when" },
        { pointer: "/pth" }
      ]
    })
  })

  it("[T5] name at most eight places", () => {
    const raw = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`stray${n}`, n]))
    expect(lines(Type.Object({}), raw)).toHaveLength(8)
    expect(
      lines(Type.Object({ l: Type.Array(Type.String()) }), { l: Array.from({ length: 50 }, (_, n) => n) })
    ).toHaveLength(8)
  })

  it.each<[string, TSchema, unknown, string]>([
    // C004
    [
      "a list in quotes",
      Type.Array(Type.String()),
      '["m1","m2"]',
      'expected an array, each item a string, received the string "[\\"m1\\",\\"m2\\"]"; send the array itself, not a string that contains it'
    ],
    [
      "names with commas",
      Type.Array(Type.String()),
      "m1,m2",
      'expected an array, each item a string, received the string "m1,m2"'
    ],
    [
      "an object in quotes",
      Type.Object({}),
      "{}",
      'expected an object, received the string "{}"; send the object itself, not a string that contains it'
    ],
    [
      "a boolean in quotes",
      Type.Boolean(),
      "true",
      'expected true or false, received the string "true"; send true without quotes'
    ],
    ["a number without quotes", Type.String(), 10, 'expected a string, received 10; send "10" in quotes'],
    ["a boolean for a number", Type.Integer(), true, "expected an integer, received true"],
    ["text for a number", Type.Integer(), "007", 'expected an integer, received the string "007"'],
    ["null where it is needed", Type.String(), null, "expected a string, received null"],
    [
      "a number that is too small",
      Type.Number({ minimum: 1, multipleOf: 2 }),
      -1,
      "expected a number of at least 1, received -1"
    ],
    ["a long text", Type.String({ maxLength: 3 }), "abcd", "expected at most 3 characters, received 4 characters"],
    [
      "a short list",
      Type.Array(Type.Unknown(), { minItems: 2 }),
      [1],
      "expected at least 2 items, received an array of 1 item"
    ],
    [
      "a wrong pattern",
      Type.String({ pattern: "^a+$" }),
      "b",
      'expected a string that matches ^a+$, received the string "b"'
    ],
    ["a constant", Type.Literal(5), "5", 'expected 5, received the string "5"; send 5 without quotes'],
    [
      "the wrong kind for a union",
      Type.Union([Type.Number(), Type.Null()]),
      "7",
      'expected a number or null, received the string "7"; send 7 without quotes'
    ]
  ])("[T5] %s", (_, schema, value, line) => {
    expect(lines(Type.Object({ v: schema }), { v: value })?.[0]).toBe(`- /v: ${line}`)
  })

  it("[T5] an empty text at an optional number is best left out", () => {
    expect(lines(Type.Object({ v: Type.Optional(Type.Integer()) }), { v: "" })).toEqual([
      '- /v: expected an integer, received the string ""; omit the key'
    ])
  })

  it("[T5] a line break in a key or a value makes no second line", () => {
    expect(lines(Type.Object({}), { "a\n- /b": "x\ny" })).toEqual([
      '- /a\\u000a- ~1b: expected no fields, received the string "x\\ny"; unknown field `a\\u000a- /b`; omit the key'
    ])
  })

  it("[T5] a long value is shortened at a whole character", () => {
    const message = lines(Type.Object({ v: Type.Integer() }), { v: "😀".repeat(200) })?.[0] ?? ""
    expect(message).toBe(`- /v: expected an integer, received the string "${"😀".repeat(29)}…`)
  })

  it("[T5][H1] the value of a secret is never shown, nor that of a stray beside one", () => {
    const schema = Type.Object({
      password: Type.Integer({ secret: true }),
      nested: Type.Optional(Type.Object({ key: Type.String() }, { secret: true }))
    })
    expect(lines(schema, { password: "hunter2", pasword: "hunter2", nested: { key: 42 } })).toEqual([
      "- /password: expected an integer, received a value that is not shown",
      "- /nested/key: expected a string, received a value that is not shown",
      "- /pasword: expected only the fields password, nested, received a value that is not shown; unknown field `pasword`; did you mean `password`"
    ])
  })
})

describe("unions", () => {
  const action = Type.Object({
    action: Type.Union([
      Type.Object({ op: Type.Literal("get"), id: Type.String() }),
      Type.Object({ op: Type.Literal("find"), q: Type.String(), limit: Type.Optional(Type.Integer()) }),
      Type.Null()
    ])
  })

  it.each<[string, unknown, ReadonlyArray<string>]>([
    // C020
    [
      "the branch its constant names",
      { op: "get", q: "x" },
      [
        "- /action/id: expected a string, received nothing; add the field `id`",
        '- /action/q: expected only the fields op, id, received the string "x"; unknown field `q`; omit the key'
      ]
    ],
    [
      "the constants, when none is right",
      { op: "fnd", q: "x" },
      ['- /action/op: expected one of "get", "find", received the string "fnd"; did you mean "find"']
    ],
    [
      "the constants, when none is there",
      { q: "x" },
      ['- /action/op: expected one of "get", "find", received nothing; add the field `op`']
    ],
    ["all kinds, when the kind is wrong", [1], ["- /action: expected an object or null, received an array of 1 item"]]
  ])("[T5] are told by %s", (_, value, expected) => {
    expect(lines(action, { action: value })).toEqual(expected)
  })

  it("[T5] without constants are told by the branch with the least to mend", () => {
    const schema = Type.Object({
      u: Type.Union([
        Type.Object({ a: Type.String(), b: Type.String(), c: Type.String() }),
        Type.Object({ a: Type.String(), d: Type.Integer() })
      ])
    })
    expect(lines(schema, { u: { a: "", d: "1" } })).toEqual([
      '- /u/d: expected an integer, received the string "1"; send 1 without quotes'
    ])
  })

  it("[T5] that fit twice where one is asked for say so", () => {
    const guarded = guardForeignSchema({
      type: "object",
      properties: { u: { oneOf: [{ type: "number" }, { type: "integer" }] } }
    })
    const parsed = parseToolArgs({ id: "t", inputSchema: guarded.ok ? guarded.schema : {} }, { u: 1 })
    expect(parsed.ok ? undefined : parsed.error.message.split("\n")[1]).toBe(
      "- /u: expected a value that fits exactly one of the alternatives, received one that fits 2"
    )
  })

  it("[T5] of sixty branches are told by one", () => {
    const branches = Array.from({ length: 60 }, (_, n) =>
      Type.Object({ kind: Type.Literal(`k${n}`), value: Type.Integer() })
    )
    expect(lines(Type.Object({ u: Type.Union(branches) }), { u: { kind: "k41", value: "x" } })).toEqual([
      '- /u/value: expected an integer, received the string "x"'
    ])
  })
})

describe("repeated calls", () => {
  const spec = { id: "tool", inputSchema: closeArgs(Type.Object({ a: Type.String() })).schema }

  it("[T5] the third identical invalid call is answered with the whole schema, the fifth ends the run", () => {
    const message = "Invalid arguments for tool; the tool was not run."
    const answers = [1, 2, 3, 4, 5].map((count) => answerInvalid(spec, { count, message }))
    expect(answers.map(({ endsRun }) => endsRun)).toEqual([false, false, false, false, true])
    expect(answers.slice(0, 2).map(({ text }) => text)).toEqual([message, message])
    expect(answers[2]?.text).toBe(
      `${message}\nThe same call was sent 3 times. The arguments must fit this JSON Schema:\n{"type":"object","required":["a"],"properties":{"a":{"type":"string"}},"additionalProperties":false}`
    )
  })
})
