/** Patterns of strangers mean what JavaScript says they mean, without its endless backtracking. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { boundedPattern, isOutOfFuel, refuel, whyUnbounded } from "../src/internal/boundedPattern.js"

const native = (source: string): RegExp => {
  try {
    return new RegExp(source, "u")
  } catch {
    return new RegExp(source)
  }
}

describe("bounded patterns", () => {
  it("[T7] match exactly what JavaScript matches", () => {
    const zeroWidth = fc.constantFrom("\\b", "\\B", "^", "$", "(?=a)", "(?!b)", "(?=.*1)", "(?!^a|b$)")
    const piece = fc.constantFrom(
      "a",
      "b",
      ".",
      "[ab]",
      "[^a]",
      "[^]",
      "[]",
      "\\d",
      "\\W",
      "\\s",
      "(?:a|b)",
      "(a|)",
      "(?<n>x)",
      "\\.",
      "1",
      "é",
      "\\u0041",
      "\\x41",
      "\\p{L}",
      "[\\]a-]",
      "-",
      "(?:(a*)*)",
      "\\n",
      "(?:\\0)"
    )
    const quantifier = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "{0}", "*?", "+?")
    const term = fc.oneof(
      zeroWidth,
      fc.tuple(piece, quantifier).map((pair) => pair.join(""))
    )
    const sequence = fc.array(term, { maxLength: 5 }).map((terms) => terms.join(""))
    const source = fc
      .array(sequence, { minLength: 1, maxLength: 3 })
      .map((alternatives) => alternatives.join("|"))
      .chain((inner) =>
        fc.constantFrom(inner, `^(?:${inner})$`, `x(${inner.replaceAll("?<n>", "")})+y`, `(?:${inner}){2}`)
      )
    const text = fc
      .array(fc.constantFrom("a", "b", "A", "1", ".", "-", " ", "é", "x", "y", "\n", "]", "\0"), { maxLength: 8 })
      .map((chars) => chars.join(""))
    fc.assert(
      fc.property(source, text, (pattern, tried) => {
        // Two groups of one name are no pattern in older engines.
        fc.pre(pattern.split("?<n>").length < 3)
        refuel()
        expect({ pattern, tried, matches: boundedPattern(pattern).test(tried) }).toEqual({
          pattern,
          tried,
          matches: native(pattern).test(tried)
        })
      }),
      { numRuns: 5_000 }
    )
  })

  it.each([
    ["^\\p{Lu}\\p{L}*$", "Élan", true],
    ["^.$", "😀", true],
    ["^\\ud83d\\ude00$", "😀", true],
    ["^\\u{1f600}$", "😀", true],
    ["^[😀-😎]$", "😃", true],
    ["[\\w-.]+@", "a.b-c@", true],
    ["^a{,3}$", "a{,3}", true]
  ])("[T7] %s on %s is %s", (source, text, expected) => {
    refuel()
    expect([boundedPattern(source).test(text), native(source).test(text)]).toEqual([expected, expected])
  })

  it.each([
    ["(a)\\1", "a back-reference"],
    ["(?<n>a)\\k<n>", "a back-reference"],
    ["(?<=a)b", "look-behind or inline flags"],
    ["(?<!a)b", "look-behind or inline flags"],
    ["(?=a)*b", "a quantified look-ahead"],
    ["(", "no regular expression"],
    ["(a{1000}){1000}", "more than 1000 steps"],
    ["((){1000}){1000}", "more than 1000 steps"],
    ["a".repeat(1_001), "more than 1000 characters"],
    ["(".repeat(60) + ")".repeat(60), "more than 50 groups inside one another"]
  ])("[T7] %s is not matched: %s", (source, why) => {
    expect(whyUnbounded(source)).toBe(why)
    expect(() => boundedPattern(source)).toThrow(why)
  })

  it("[T7] stop when their work is used up, and say so", () => {
    refuel()
    expect([boundedPattern("(?=(.*)*z)y").test("a".repeat(50_000)), isOutOfFuel()]).toEqual([false, true])
    refuel()
    expect([boundedPattern("(a+)+$").test(`${"a".repeat(50_000)}!`), isOutOfFuel()]).toEqual([false, false])
  })
})
