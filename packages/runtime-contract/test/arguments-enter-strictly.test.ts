/** One boundary, one reading: raw text either is exactly one JSON object, or is refused with the place and the reason. */
import { Type } from "typebox"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { canonicalJson } from "../src/Json.js"
import { digestOf } from "../src/ToolBatch.js"
import { closeArgs, guardForeignSchema } from "../src/ToolSchema.js"
import { capRawArguments, cutOff, parseToolArgs, type ParseOptions } from "../src/ToolArgs.js"
import { scanJson } from "../src/internal/jsonScanner.js"
import { strictJson } from "../src/internal/strictJson.js"

const anything = { id: "any", inputSchema: { type: "object" } } as const

const parse = (raw: unknown, options?: ParseOptions) => parseToolArgs(anything, raw, options)

/** The first issue of a refusal, or the value of an acceptance. */
const outcome = (raw: unknown): unknown => {
  const parsed = parse(raw)
  if (parsed.ok) return { value: parsed.value }
  return parsed.error.reason._tag === "InvalidArguments" ? parsed.error.reason.issues[0] : parsed.error.reason
}

describe("arguments that say nothing", () => {
  const noParameters = { id: "list_boards", inputSchema: closeArgs(Type.Object({})).schema }
  const optional = {
    id: "search",
    inputSchema: closeArgs(Type.Object({ limit: Type.Optional(Type.Integer()) })).schema
  }
  const undeclared = guardForeignSchema(undefined)

  // C001, C002
  it.each([[undefined], [null], [""], [" \n\t"], ["null"], [" null "], ["{}"], [{}]])(
    "[T4] %j becomes {} for every tool that needs nothing",
    (raw) => {
      const specs = [noParameters, optional, { id: "ping", inputSchema: undeclared.ok ? undeclared.schema : {} }]
      expect(specs.map((spec) => parseToolArgs(spec, raw))).toEqual(
        specs.map(() => ({ ok: true, value: {}, notes: [], digest: digestOf({}) }))
      )
    }
  )

  // C002, the control
  it("[T4][T5] absent arguments are refused by a tool that needs a field, and the refusal names it", () => {
    const spec = { id: "search", inputSchema: closeArgs(Type.Object({ query: Type.String() })).schema }
    const parsed = parseToolArgs(spec, undefined)
    expect(parsed.ok ? undefined : parsed.error.message).toBe(
      "Invalid arguments for search; the tool was not run.\n- /query: expected a string, received nothing; add the field `query`"
    )
  })
})

describe("text that is not one JSON object", () => {
  it.each([
    // C008
    ['{"a":1}{"a":2}', { pointer: "", received: 'extra text "{\\"a\\":2}" at character 7' }],
    ['{"a":1} trailing words', { pointer: "", received: 'extra text "trailing words" at character 8' }],
    // C007: nothing is repaired
    ['{"cmds":["one","two"', { pointer: "/cmds", received: "the end of the text at character 20" }],
    ['{"cmds":["one', { pointer: "/cmds/0", received: "the end of the text at character 13" }],
    ["{", { pointer: "", received: "the end of the text at character 1" }],
    // C014
    ['{"k":NaN}', { pointer: "/k", expected: "a JSON number", received: "NaN" }],
    ['{"k":-Infinity}', { pointer: "/k", expected: "a JSON number", received: "-Infinity" }],
    ['{"k":0x10}', { pointer: "/k", expected: "a JSON number", received: "0x10" }],
    ['{"k":1,}', { pointer: "", expected: "a key in double quotes" }],
    ['{"k":01}', { pointer: "/k", expected: "a JSON number", received: "01" }],
    ['{"k":.5}', { pointer: "/k", expected: "a JSON number", received: ".5" }],
    ['{"k":1.}', { pointer: "/k", expected: "a JSON number", received: "1." }],
    ['{"k":+1}', { pointer: "/k", expected: "a JSON number", received: "+1" }],
    ['{"k":1_000}', { pointer: "/k", expected: "a JSON number", received: "1_000" }],
    ['{"k":True}', { pointer: "/k", expected: "true, false or null", received: "True" }],
    ['{"k":None}', { pointer: "/k", expected: "true, false or null", received: "None" }],
    ['{"k":undefined}', { pointer: "/k", expected: "true, false or null", received: "undefined" }],
    ["{'k':1}", { pointer: "", expected: "a key in double quotes" }],
    ["{k:1}", { pointer: "", expected: "a key in double quotes" }],
    ['{"k":1 /* one */}', { pointer: "", expected: "a comma or a closing brace" }],
    ['{"k":"a\tb"}', { pointer: "/k", expected: "control characters in strings written as escapes" }],
    ['{"k":"\\x41"}', { pointer: "/k", expected: "a JSON escape" }],
    ['\ufeff{"k":1}', { pointer: "", expected: "a JSON value" }],
    ["```json\n{}\n```", { pointer: "", fix: "send the bare JSON object, without a code fence" }],
    // Roots
    ["[1]", { pointer: "", expected: "a JSON object at the root", received: "an array" }],
    ["3", { pointer: "", expected: "a JSON object at the root", received: "3" }],
    ["true", { pointer: "", expected: "a JSON object at the root", received: "true" }],
    [
      '"{\\"k\\":1}"',
      { pointer: "", received: "a string", fix: "send the object itself, not a string that contains it" }
    ],
    // C010, at any depth
    ['{"path":"ok","path":"../../out"}', { pointer: "/path", expected: "every key once" }],
    ['{"a":[{"b":1,"\\u0062":2}]}', { pointer: "/a/0/b", expected: "every key once" }],
    ['{"__proto__":1,"__proto__":2}', { pointer: "/__proto__", expected: "every key once" }],
    // Numbers that change on the way
    [
      '{"id":12345678901234567890}',
      { pointer: "/id", received: "12345678901234567890", fix: "send it in quotes if the field takes a string" }
    ],
    ['{"id":9007199254740993}', { pointer: "/id", expected: "an integer from -9007199254740991 to 9007199254740991" }],
    ['{"a/b":{"~":1e400}}', { pointer: "/a~1b/~0", expected: "a finite number", received: "1e400" }],
    ['{"n":-1e999}', { pointer: "/n", expected: "a finite number", received: "-1e999" }],
    // C013
    ['{"text":"row \\ud83d end"}', { pointer: "/text", expected: "well-formed Unicode text" }],
    ['{"text":"row \ud83d end"}', { pointer: "/text", expected: "well-formed Unicode text" }],
    ['{"\\udc00":1}', { pointer: "", expected: "well-formed Unicode text" }]
  ])("[T4] %s is refused at its place", (raw, issue) => {
    expect(outcome(raw)).toMatchObject(issue)
  })

  it("[T4] nesting of 64 is read, 65 is refused, and 100,000 is refused without harm", () => {
    const nested = (levels: number): string => '{"a":'.repeat(levels) + "1" + "}".repeat(levels)
    const refused = { expected: "at most 64 levels of nesting", received: "one level more" }
    expect(parse(nested(64)).ok).toBe(true)
    expect(outcome(nested(65))).toEqual({ pointer: "/a".repeat(64), ...refused })
    expect(outcome(nested(100_000))).toMatchObject(refused)
    expect(outcome(`{"a":${"[".repeat(200_000)}`)).toMatchObject(refused)
  })
})

describe("text that is one JSON object", () => {
  it.each([
    // C008, the innocent one
    ['{"from":"a","to":"}{"}', { from: "a", to: "}{" }],
    ['{"n":-0,"list":[-0,0.0,-0e5]}', { n: 0, list: [0, 0, 0] }],
    ['{"n":9007199254740991,"m":-9007199254740991}', { n: 9007199254740991, m: -9007199254740991 }],
    ['{"n":1e20,"m":100000000000000000000.5,"t":1e-400}', { n: 1e20, m: 1e20, t: 0 }],
    ['{"x":0.1234567890123456789}', { x: 0.12345678901234568 }],
    ['{"s":"\\ud83d\\ude00 😀 \\" : \\\\"}', { s: '😀 😀 " : \\' }],
    ['{"s":"a:b","t":["c:d",{"e:f":null}]}', { s: "a:b", t: ["c:d", { "e:f": null }] }],
    [' \r\n{ "a" : [ ] , "b" : { } } \t', { a: [], b: {} }]
  ])("[T4] %s is read as it stands", (raw, value) => {
    const parsed = parse(raw)
    expect(parsed).toEqual({ ok: true, value, notes: [], digest: digestOf(value) })
    expect(JSON.stringify(parsed.ok ? parsed.value : undefined)).toBe(JSON.stringify(value))
  })

  // C011
  it("[T4] __proto__ and constructor are data: own members at most, never a prototype", () => {
    const closed = { id: "closed", inputSchema: closeArgs(Type.Object({ p: Type.Optional(Type.String()) })).schema }
    const raws = ['{"__proto__":{"admin":true},"p":"a"}', '{"p":"a","constructor":{"prototype":{"admin":true}}}']
    for (const raw of raws) {
      const open = parse(raw)
      const value: object = open.ok ? open.value : {}
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
      expect(Object.hasOwn(value, raw.includes("__proto__") ? "__proto__" : "constructor")).toBe(true)
      expect("admin" in value).toBe(false)
      expect(parseToolArgs(closed, raw).ok).toBe(false)
    }
    expect("admin" in {}).toBe(false)
  })

  it("[T4] a member that every object inherits is not there until it is sent", () => {
    const spec = {
      id: "odd",
      inputSchema: closeArgs(Type.Object({ constructor: Type.String(), toString: Type.Optional(Type.String()) })).schema
    }
    expect(parseToolArgs(spec, "{}").ok).toBe(false)
    expect(parseToolArgs(spec, '{"constructor":"c"}')).toMatchObject({ ok: true, value: { constructor: "c" } })
  })

  it("[T4] what comes out is frozen all the way down", () => {
    const parsed = parse('{"a":{"b":[{"c":1}]}}')
    const frozen = (value: unknown): boolean =>
      typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen))
    expect(frozen(parsed.ok ? parsed.value : [{}])).toBe(true)
  })
})

describe("strict reading beside JSON.parse", () => {
  const jsonText = fc.json({ maxDepth: 4 })
  const spoiled = fc
    .tuple(
      jsonText,
      fc.nat(),
      fc.constantFrom("", ",", '"', "0", "-", "}", "]", ":", "\\", " ", "e9", "\ud800", "{", "1234567890123456")
    )
    .map(
      ([text, at, piece]) =>
        text.slice(0, at % (text.length + 1)) + piece + text.slice((at % (text.length + 1)) + (at % 2))
    )
  const repeated = fc
    .array(fc.tuple(fc.constantFrom("a", "b", "\\u0061"), fc.constantFrom("1", '"x:y"', "[]", "{}", '{"a":1,"a":2}')), {
      maxLength: 4
    })
    .map((pairs) => `{${pairs.map(([key, value]) => `"${key}":${value}`).join()}}`)
  const wrapped = fc
    .oneof(jsonText, spoiled, repeated)
    .chain((text) => fc.constantFrom(text, `{"v":${text}}`, `{"v":[${text},{}]}`))

  /** Objects as models lay them out: any order of keys, any spelling of numbers and strings, space here and there. */
  const spelled = fc.constantFrom(
    '"Lisbon"',
    '"a\\u0062"',
    '"\\/"',
    '"\\n"',
    '"e9"',
    '"\u007f"',
    '"\u2028"',
    "0",
    "-0",
    "-1",
    "1.0",
    "1.5",
    "1e3",
    "1E3",
    "12e-1",
    "123456789012345",
    "true",
    "false",
    "null",
    "[ ]",
    "[1,-0]",
    '{"b":1,"a":2}',
    '{"a":1,"b":2}',
    "{ }",
    '{"9":1,"a":0}',
    '{"a":0,"9":1}',
    '{"10":1,"9":2}',
    '{"__proto__":1}',
    '{"a\\u0062":1}',
    "[]",
    "{}",
    '[{"z":1},{"a":2}]'
  )
  const keyed = fc.constantFrom(
    "",
    "a",
    "b",
    "ab",
    "B",
    "1",
    "10",
    "9",
    "-1",
    " ",
    "$",
    "__proto__",
    "\u00e9",
    "\ufb33"
  )
  const spaced = fc.constantFrom(":", ":", ":", ": ", " :", ":\n")
  const laidOut = fc
    .array(fc.tuple(keyed, spaced, spelled), { maxLength: 5 })
    .map((members) => `{${members.map(([key, colon, value]) => `"${key}"${colon}${value}`).join()}}`)

  const parsedOrNothing = (text: string): { readonly value: unknown } | undefined => {
    try {
      return { value: JSON.parse(text) as unknown }
    } catch {
      return undefined
    }
  }
  const withoutNegativeZero = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

  it("[T4] whatever is accepted is what JSON.parse reads", () => {
    fc.assert(
      fc.property(wrapped, (text) => {
        const strict = strictJson(text)
        const plain = parsedOrNothing(text)
        expect(strict.ok ? strict.value : "refused").toStrictEqual(
          strict.ok ? withoutNegativeZero(plain?.value) : "refused"
        )
      }),
      { numRuns: 3_000 }
    )
  })

  it("[T4] whatever only strict reading refuses has one of its reasons", () => {
    const reasons =
      /^(?:every key once|an integer from|a finite number|well-formed Unicode text|at most 64 levels|a JSON object at the root)/
    fc.assert(
      fc.property(wrapped, (text) => {
        const strict = strictJson(text)
        const onlyHere = !strict.ok && parsedOrNothing(text) !== undefined
        expect(onlyHere ? strict.issues[0]?.expected : "every key once").toMatch(reasons)
      }),
      { numRuns: 3_000 }
    )
  })

  it("[T14] a text that is taken for canonical is the canonical one", () => {
    fc.assert(
      fc.property(fc.oneof(wrapped, laidOut), (text) => {
        const strict = strictJson(text)
        const canonical = strict.ok ? strict.canonical : undefined
        expect(canonical).toBe(strict.ok && canonical !== undefined ? canonicalJson(strict.value) : undefined)
      }),
      { numRuns: 20_000 }
    )
  })

  it("[T14] the digest is that of the arguments, whatever was filled in, left out or spelled out on the way", () => {
    const inputSchema = closeArgs(
      Type.Object({
        a: Type.Optional(Type.Integer({ default: 7 })),
        b: Type.Optional(Type.Boolean()),
        c: Type.Optional(Type.Object({ d: Type.Optional(Type.String({ default: "x" })) }))
      })
    ).schema
    const member = fc.constantFrom('"a":1', '"a":"1"', '"b":null', '"b":"true"', '"b":true', '"c":{}', '"c":{"d":"y"}')
    const given = fc
      .uniqueArray(member, { selector: (text) => text.slice(0, 3) })
      .map((members) => `{${members.join()}}`)
    fc.assert(
      fc.property(given, fc.constantFrom("strict" as const, "lossless" as const), (text, mode) => {
        const parsed = parseToolArgs({ id: "any", inputSchema }, text, { arguments: mode })
        expect(parsed.ok ? parsed.digest : "refused").toBe(parsed.ok ? digestOf(parsed.value) : "refused")
      }),
      { numRuns: 2_000 }
    )
  })

  it.each<[string]>([
    ["{}"],
    ['{"city":"Lisbon","days":3}'],
    ['{"":0,"a":[1,{"b":null,"c":[true,false]}],"b":"x: [y]","\u00e9":"\u007f\u2028\u20ac"}'],
    ['{"a":123456789012345}']
  ])("[T14] %s is known to be canonical without being written anew", (text) => {
    const strict = strictJson(text)
    expect(strict.ok && strict.canonical).toBe(text)
  })

  it("[T4] the counting reader and the exact scanner agree on every text", () => {
    fc.assert(
      fc.property(wrapped, (text) => {
        expect(strictJson(text).ok).toBe(scanJson(text) === undefined)
      }),
      { numRuns: 3_000 }
    )
  })
})

describe("calls that are refused whole", () => {
  // C007, second variant
  it("[T4] a call of a turn that was cut off is refused although its text parses", () => {
    const refused = cutOff("run_many")
    expect({ tag: refused.error.reason._tag, ok: refused.ok, says: refused.error.message }).toEqual({
      tag: "InvalidArguments",
      ok: false,
      says: "The answer was cut off, so the call of run_many may be incomplete and was not run. Send the call again."
    })
  })

  // C013
  it("[T4] refused arguments are kept as capped text without lone surrogates", () => {
    expect(capRawArguments('{"t":"\ud83d"}')).toBe('{"t":"\ufffd"}')
    expect(capRawArguments("😀😀", 3)).toBe("😀… (1 more characters)")
    expect(capRawArguments("x".repeat(10_000))).toBe(`${"x".repeat(8_192)}… (1808 more characters)`)
    expect(capRawArguments({ a: [1] })).toBe('{"a":[1]}')
    expect(capRawArguments({ a: Number.NaN })).toBe("(no JSON: NaN at /a)")
    expect(capRawArguments(undefined)).toBe("")
  })

  it("[T4] no refusal carries a lone surrogate, whatever was sent", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 40 }),
        fc.constantFrom('{"a":"', "{'", '{"', "", '{"k":'),
        (text, start) => {
          const parsed = parse(start + text)
          const said = parsed.ok ? "" : JSON.stringify(parsed.error.reason) + parsed.error.message
          expect(said).not.toMatch(/\\ud[89a-f]/i)
        }
      )
    )
  })
})
