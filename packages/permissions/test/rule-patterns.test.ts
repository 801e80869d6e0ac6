import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { plainJson, readJson } from "../src/internal/jsonText.js"
import { PatternError, RulePattern } from "../src/index.js"
import { compile } from "./support.js"

const problem = (pattern: string): string => {
  try {
    RulePattern.parse(pattern)
    return "none"
  } catch (cause) {
    if (!(cause instanceof PatternError)) throw cause
    return `${cause.column}: ${cause.expected}`
  }
}

const decide = (rule: string, args: unknown) =>
  compile({ rules: [rule] }).decide({ toolId: "t", arguments: args as never }).behavior

describe("a rule's pattern", () => {
  it("[P4] names a tool and conditions on its arguments", () => {
    expect(RulePattern.parse(' pay ( /to/account != "x" , amount>=1.5,note ~ "a\\"b*",a.b.0 !~ "?" ) ')).toEqual({
      tool: "pay",
      conditions: [
        { field: ["to", "account"], operator: "!=", value: "x" },
        { field: ["amount"], operator: ">=", value: 1.5 },
        { field: ["note"], operator: "~", value: 'a"b*' },
        { field: ["a", "b", "0"], operator: "!~", value: "?" }
      ]
    })
    expect(RulePattern.parse('drop(= {"id":"r1"})').conditions).toEqual([
      { field: [], operator: "=", value: { id: "r1" } }
    ])
    expect(RulePattern.parse('t(/a~1b~0c ~ "x")').conditions[0]?.field).toEqual(["a/b~c"])
  })

  it("[P4] that cannot be read is refused with its column", () => {
    const rows: ReadonlyArray<readonly [string, string]> = [
      ["", "1: a tool id, or a glob over ids with * and ?"],
      ["(a = 1)", "1: a tool id, or a glob over ids with * and ?"],
      ["/read/", "1: a tool id, or a glob over ids with * and ?"],
      ["read x", "6: the end of the pattern"],
      ["read(", "6: a field, as a dotted path or a JSON Pointer"],
      ["read(path", "10: one of != !~ <= >= = ~ < >"],
      [
        "read(path ~",
        "12: a JSON value: text in double quotes, a number, true, false, null, an array, or an object with every key once"
      ],
      ['read(path ~ "a"', "16: a comma or a closing parenthesis"],
      ["read(path ~ 5)", "13: a glob in double quotes after ~"],
      ['read(n > "5")', "10: a number after >"],
      [
        'read(path ~ "[ab]")',
        "13: no brackets or braces, which globs here do not know: write several rules, or \\[ for the character"
      ],
      ['read(path ~ "a\\\\")', "13: a character after the last backslash"],
      ['read(path ~ "")', "13: a glob that is not empty"],
      [
        'read(= {"a":1,"a":2})',
        "8: a JSON value: text in double quotes, a number, true, false, null, an array, or an object with every key once"
      ],
      ['read(~ "x")', "8: = or != where no field is named"],
      [
        "read(path ~ 'x')",
        "13: a JSON value: text in double quotes, a number, true, false, null, an array, or an object with every key once"
      ]
    ]
    expect(rows.map(([pattern]) => [pattern, problem(pattern)])).toEqual(rows)
  })

  it("[P4] is printed as it is read", () => {
    const json = fc.json({ maxDepth: 2 }).map((text) => plainJson(readJson(text.replaceAll(/-0(?![.\d])/g, "0"))))
    const field = fc.array(
      fc.oneof(fc.constantFrom("a", "b-c", "0", "x/y", "~", "__proto__", "a b"), fc.string({ minLength: 1 })),
      { minLength: 1, maxLength: 3 }
    )
    const condition = fc.oneof(
      fc.record({ field, operator: fc.constantFrom("=" as const, "!=" as const), value: json }),
      fc.record({
        field,
        operator: fc.constantFrom("~" as const, "!~" as const),
        value: fc.constantFrom("a*", "**/x", "\\[a\\]", "é?")
      }),
      fc.record({ field, operator: fc.constantFrom("<" as const, ">=" as const), value: fc.integer() }),
      fc.record({ field: fc.constant([]), operator: fc.constant("=" as const), value: json })
    )
    fc.assert(
      fc.property(
        fc.constantFrom("read", "mcp__a__*", "*"),
        fc.array(condition, { maxLength: 3 }),
        (tool, conditions) => {
          const readable = conditions.every((each) =>
            each.field.every((key) => !/[\s=!<>,()"]/.test(key) && key !== "")
          )
          fc.pre(readable)
          const pattern = { tool, conditions }
          expect(RulePattern.parse(RulePattern.print(pattern))).toEqual(pattern)
        }
      ),
      { numRuns: 1_000 }
    )
  })
})

describe("a condition", () => {
  const rows = (rule: string, expected: string, args: ReadonlyArray<unknown>) =>
    args.flatMap((each) => (decide(rule, each) === expected ? [] : [[rule, each, decide(rule, each)]]))

  it("[P4] that is negated matches where the field is absent", () => {
    expect(rows('deny t(a != "x")', "deny", [{}, { a: "y" }, { a: null }, { a: [] }, { b: "x" }])).toEqual([])
    expect(rows('deny t(a != "x")', "ask", [{ a: "x" }, { a: ["x"] }, { a: ["x", "x"] }])).toEqual([])
    expect(rows('allow t(a !~ "x*")', "allow", [{}, { a: "y" }, { a: ["y", "z"] }, { a: [] }])).toEqual([])
    expect(rows('allow t(a !~ "x*")', "ask", [{ a: "x" }, { a: ["y", "xy"] }])).toEqual([])
  })

  it("[P4] allows only where it holds of every value, and denies where it holds of any", () => {
    expect(rows('allow t(a.b = "x")', "allow", [{ a: { b: "x" } }, { a: [{ b: "x" }, { b: "x" }] }])).toEqual([])
    expect(
      rows('allow t(a.b = "x")', "ask", [
        {},
        { a: [] },
        { a: [{ b: "x" }, {}] },
        { a: [{ b: "x" }, { b: "y" }] },
        { a: "x" }
      ])
    ).toEqual([])
    expect(rows('deny t(a.b = "x")', "deny", [{ a: [{ b: "y" }, { b: "x" }] }, { a: [{}, [{ b: "x" }]] }])).toEqual([])
    expect(rows('allow t(/a/1 = "x")', "allow", [{ a: ["y", "x"] }])).toEqual([])
  })

  it("[P4] compares values with their types where it allows, and by their spelling where it denies", () => {
    expect(rows("allow t(a = 5)", "allow", [{ a: 5 }])).toEqual([])
    expect(rows("allow t(a = 5)", "ask", [{ a: "5" }, { a: true }, { a: null }, { a: [[6]] }])).toEqual([])
    expect(rows("deny t(a = 5)", "deny", [{ a: 5 }, { a: "5" }])).toEqual([])
    expect(rows("allow t(a = true)", "ask", [{ a: 1 }, { a: "true" }])).toEqual([])
    expect(rows('allow t(a = "caf\u00e9")', "ask", [{ a: "cafe\u0301" }])).toEqual([])
    expect(rows('deny t(a = "caf\u00e9")', "deny", [{ a: "cafe\u0301" }])).toEqual([])
    expect(rows('allow t(= {"a":1,"b":{"c":2}})', "allow", [{ b: { c: 2 }, a: 1 }])).toEqual([])
    expect(rows('allow t(= {"a":1})', "ask", [{ a: 1, b: 2 }, {}, { a: "1" }])).toEqual([])
    expect(rows("allow t(a = [1,2])", "allow", [{ a: [1, 2] }])).toEqual([])
    expect(rows("allow t(a = [1,2])", "ask", [{ a: [2, 1] }, { a: 1 }, {}])).toEqual([])
  })

  it("[P4] on numbers is sure of numbers only", () => {
    expect(rows("allow t(a <= 10)", "allow", [{ a: 10 }, { a: -3 }])).toEqual([])
    expect(rows("allow t(a <= 10)", "ask", [{ a: 11 }, { a: "9" }, {}, { a: null }])).toEqual([])
    expect(rows("deny t(a > 10)", "deny", [{ a: 11 }, { a: "11" }, { a: "1e3" }, { a: "many" }])).toEqual([])
    expect(rows("deny t(a > 10)", "ask", [{ a: 10 }, { a: "9" }, {}])).toEqual([])
  })

  it("[P4] on inherited names finds nothing", () => {
    expect(rows('allow t(constructor ~ "*")', "ask", [{}, { a: 1 }])).toEqual([])
    expect(rows("allow t(a.length > 0)", "ask", [{ a: "xx" }, { a: [1] }])).toEqual([])
    expect(rows('allow t(__proto__ = "x")', "allow", [JSON.parse('{"__proto__":"x"}')])).toEqual([])
  })

  it("[P4] is decided in time that does not explode", () => {
    const hostile = `${"a".repeat(20_000)}b`
    expect(rows('deny t(a ~ "*a*a*a*a*a*a*a*a*c")', "ask", [{ a: hostile }])).toEqual([])
  })
})
