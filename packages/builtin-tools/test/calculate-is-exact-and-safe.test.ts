import { ToolError } from "@toolwright/runtime-contract"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { calculate, Calculate } from "../src/Calculate.js"
import { erase } from "../src/index.js"
import { callOf, invocation } from "./world.js"

const tool = erase(calculate())

const data = (expression: string): unknown => {
  const output = tool.invoke(callOf(tool, { expression }), invocation().context)
  return "data" in output ? output.data : output
}

const resultOf = (expression: string): unknown => {
  const given = data(expression)
  return typeof given === "object" && given !== null && "result" in given ? given.result : given
}

const refusalOf = (expression: string): unknown => {
  try {
    return data(expression)
  } catch (error) {
    if (error instanceof ToolError && error.reason._tag === "InvalidArguments") return error.reason.issues[0]
    throw error
  }
}

describe("calculate", () => {
  it.each([
    ["1", "1"],
    ["0.1 + 0.2", "0.3"],
    ["17% of 2380", "404.6"],
    ["17% OF 2380", "404.6"],
    ["2380 * 17%", "404.6"],
    ["2380 * (1 + 17%)", "2784.6"],
    ["50% of 50%", "0.25"],
    ["5% + 5%", "0.1"],
    ["100 / 50%", "200"],
    ["2^10", "1024"],
    ["2**10", "1024"],
    ["2^3^2", "512"],
    ["-2^2", "-4"],
    ["(-2)^2", "4"],
    ["2^-1", "0.5"],
    ["2 - -3", "5"],
    ["--2", "2"],
    ["2 + 3 * 4", "14"],
    ["(2 + 3) * 4", "20"],
    ["10 - 4 - 3", "3"],
    ["100 / 10 / 5", "2"],
    ["3 × 4 ÷ 6 − 1", "1"],
    ["2^100", "1267650600228229401496703205376"],
    ["1e3 + .5", "1000.5"],
    ["0 - 0", "0"],
    ["-0", "0"],
    ["sqrt(2)^2", "2"],
    ["cbrt(-27)", "-3"],
    ["round(2.5)", "3"],
    ["round(-2.5)", "-3"],
    ["round(2.345, 2)", "2.35"],
    ["floor(-1.5) + ceil(1.2) + trunc(-1.9) + sign(-3)", "-2"],
    ["abs(-7) + max(1, 2, 3) + min(4, 5) + sum(1, 2) + mean(2, 4)", "20"],
    ["mod(10, 3)", "1"],
    ["mod(-7, 3)", "2"],
    ["log10(1000) + ln(e) + log2(8) + log(9, 3)", "9"],
    ["factorial(20)", "2432902008176640000"],
    ["cos(0) + sin(pi / 2)", "2"],
    ["1e-12", "1e-12"]
  ])("[T1] %s is %s", (expression, result) => {
    expect(resultOf(expression)).toBe(result)
  })

  it("[T9] says when digits were cut off", () => {
    expect(data("1 / 3")).toEqual({ result: "0.33333333333333333333", rounded: true })
    expect(data("1 / 4")).toEqual({ result: "0.25", rounded: false })
    expect(data("pi")).toEqual({ result: "3.1415926535897932385", rounded: true })
  })

  it("[T9] adds and multiplies integers without loss", () => {
    const integer = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n })
    fc.assert(
      fc.property(integer, integer, (a, b) => {
        expect(resultOf(`(${a}) + (${b})`)).toBe(String(a + b))
        expect(resultOf(`(${a}) * (${b})`)).toBe(String(a * b))
      })
    )
  })
})

describe("what cannot be calculated", () => {
  it.each([
    ["1 / 0", "a divisor other than 0", "a division by zero"],
    ["1 / (2 - 2)", "a divisor other than 0", "a division by zero"],
    ["0 ^ -1", "a divisor other than 0", "a negative power of zero, which divides by it"],
    ["mod(1, 0)", "a divisor other than 0", "a remainder of a division by zero"],
    ["10 ^ 7000", "numbers below 10^6144", "a larger result of ^"],
    ["1e9999", "numbers below 10^6144", "a larger result of 1e9999"],
    ["10 ^ -7000", "numbers above 10^-6143", "a smaller result of ^"],
    ["sqrt(-1)", "a result that is a real number", "sqrt of values that have none"],
    ["(-8) ^ (1/3)", "a result that is a real number", "^ of values that have none"],
    ["atan(10 ^ 6000)", "an argument below 10^100", "1e+6000"],
    ["factorial(1001)", "a whole number from 0 to 1000 in factorial", "1001"],
    ["factorial(0.5)", "a whole number from 0 to 1000 in factorial", "0.5"],
    ["round(1, 0.5)", "a whole number of digits from 0 to 30 in round", "0.5"]
  ])("[T5] %s names what was expected", (expression, expected, received) => {
    expect(refusalOf(expression)).toEqual({ pointer: "/expression", expected, received })
  })

  it.each([
    [
      "10 % 3",
      "write numbers without thousands separators, products with *, and remainders as mod(10, 3): % means percent"
    ],
    [
      "2,380 * 2",
      "write numbers without thousands separators, products with *, and remainders as mod(10, 3): % means percent"
    ],
    [
      "2(3 + 4)",
      "write numbers without thousands separators, products with *, and remainders as mod(10, 3): % means percent"
    ],
    ["200 + 10%", "write x * (1 + 10%) to change x by 10 percent, or x + 0.1 for the plain number"],
    ["sqr(4)", "did you mean sqrt"],
    ["sqrt", "write sqrt(x)"],
    ["log(100)", "write log10(x), ln(x), or log(x, base)"],
    ["x + 1", "put the number in its place: there are no variables"],
    ["   ", "send something like 17% of 2380"]
  ])("[T5] %s says how to mend it", (expression, fix) => {
    expect(refusalOf(expression)).toMatchObject({ pointer: "/expression", fix })
  })

  it.each([
    "x = 1",
    "f(x) = x",
    "a.b",
    "a['b']",
    "(1).constructor",
    "this",
    "true",
    "'text'",
    "[1, 2]",
    "1 == 1",
    "!1",
    "~1",
    "1 | 2",
    "1; 2",
    "1 ? 2 : 3",
    "() => 1",
    "constructor(1)",
    "toString()",
    "__proto__",
    "hasOwnProperty(1)",
    "sqrt(1)(2)",
    "((1",
    "1)",
    "1 +",
    "* 1",
    "0x10",
    "1_000",
    "sum(1, 2,)",
    "sum()",
    "sqrt(1, 2)",
    "٣ + 1"
  ])("[T5] %s is refused as no arithmetic", (expression) => {
    expect(refusalOf(expression)).toMatchObject({ pointer: "/expression" })
  })

  it("[T5] size is bounded before anything is calculated", () => {
    expect(refusalOf(`${"(".repeat(65)}1${")".repeat(65)}`)).toMatchObject({
      expected: "at most 64 levels of parentheses"
    })
    expect(refusalOf(Array.from({ length: 65 }, () => "sin(1)").join("+"))).toMatchObject({
      expected: "at most 64 powers and function calls"
    })
    expect(resultOf(`${"-".repeat(900)}1`)).toBe("1")
    expect(() => callOf(tool, { expression: "1".repeat(1001) })).toThrow("at most 1000 characters")
  })

  it("[E1] a point and an exponent without digits are no number", () => {
    expect([".e31", ".", "1 + .e3"].map((text) => refusalOf(text) !== undefined)).toEqual([true, true, true])
  })

  it("[E1] any text at all gives a result or an invalid-argument error", () => {
    const pieces = fc.constantFrom(
      "1",
      "2.5",
      "+",
      "-",
      "*",
      "/",
      "^",
      "%",
      "(",
      ")",
      " ",
      ",",
      "of",
      "pi",
      "sqrt",
      "x",
      ".",
      "e3",
      "'",
      "=",
      "[",
      "\u{1F600}"
    )
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 20 }), (parts) => {
        const result = refusalOf(parts.join(""))
        expect(result).toBeTypeOf("object")
      })
    )
  })
})

describe("its descriptor", () => {
  it("[T1] needs no implementation, and its output is described", () => {
    expect(Calculate.spec.inputSchema["required"]).toEqual(["expression"])
    expect(Calculate.spec.outputSchema?.["required"]).toEqual(["result", "rounded"])
    expect(Calculate.recovery).toBe("ReplaySafe")
  })
})
