/**
 * Calculates an arithmetic tree with decimal numbers.
 *
 * Guarantees: 50 significant digits and exponents to 6144 (the range of IEEE 754 decimal128); bounded work; no infinity, no
 * NaN and no silent zero comes out; only the functions and constants in the tables below can be reached.
 * Does not read text: `arithmeticGrammar` does.
 */
import { ToolArgs } from "@toolwright/runtime-contract"
import { Decimal } from "decimal.js"
import { type Arithmetic, ArithmeticProblem } from "./arithmeticGrammar.js"

/** A constructor of our own: decimal.js keeps its settings on it, and others may use the library too. */
const Number50 = Decimal.clone({
  defaults: true,
  precision: 50,
  rounding: Decimal.ROUND_HALF_UP,
  maxE: 6144,
  minE: -6143,
  toExpPos: 41,
  toExpNeg: -10
})

export interface Calculated {
  readonly text: string
  /** True when the text is not the very number that was calculated. */
  readonly rounded: boolean
}

/** Whole numbers are written out to this length, everything else is rounded to `shownDigits`. */
const longestWhole = 40
const shownDigits = 20

/** Powers and function calls of one expression: some milliseconds each at the worst. */
const maxCalls = 64

/** Throws `ArithmeticProblem`. */
export const calculateArithmetic = (tree: Arithmetic): Calculated => {
  if (countCalls(tree) > maxCalls)
    throw new ArithmeticProblem(`at most ${maxCalls} powers and function calls`, {
      received: "more",
      fix: "calculate it in parts"
    })
  const value = valueOf(tree)
  const isWhole = value.isInteger() && value.e < longestWhole
  const shown = isWhole ? value : value.toSignificantDigits(shownDigits)
  return { text: shown.isZero() ? "0" : shown.toString(), rounded: !shown.equals(value) }
}

const countCalls = (tree: Arithmetic): number => {
  switch (tree._tag) {
    case "Number":
    case "Constant":
      return 0
    case "Negate":
    case "Percent":
      return countCalls(tree.of)
    case "Call":
      return tree.args.reduce((count, argument) => count + countCalls(argument), 1)
    case "Binary":
      return (tree.operator === "^" ? 1 : 0) + countCalls(tree.left) + countCalls(tree.right)
  }
}

const valueOf = (tree: Arithmetic): Decimal => {
  switch (tree._tag) {
    case "Number":
      return finite(new Number50(tree.value), tree.value)
    case "Constant":
      return constant(tree.name)
    case "Negate":
      return valueOf(tree.of).negated()
    case "Percent":
      return valueOf(tree.of).dividedBy(100)
    case "Call":
      return call(tree.name, tree.args)
    case "Binary":
      return binary(tree)
  }
}

const binary = (tree: Arithmetic & { readonly _tag: "Binary" }): Decimal => {
  const { operator } = tree
  const left = valueOf(tree.left)
  const right = valueOf(tree.right)
  if ((operator === "+" || operator === "-") && isAmbiguous(tree, left))
    throw new ArithmeticProblem("a percentage of something", {
      received: `a bare percentage after ${operator}`,
      fix: `write x * (1 ${operator} 10%) to change x by 10 percent, or x ${operator} 0.1 for the plain number`
    })
  switch (operator) {
    case "+":
      return finite(left.plus(right), operator)
    case "-":
      return finite(left.minus(right), operator)
    case "*":
      return right.isZero() ? zero : sized(left.times(right), { operator, from: left })
    case "/":
      if (right.isZero()) throw new ArithmeticProblem("a divisor other than 0", { received: "a division by zero" })
      return sized(left.dividedBy(right), { operator, from: left })
    case "^":
      if (left.isZero() && right.isNegative() && !right.isZero())
        throw new ArithmeticProblem("a divisor other than 0", {
          received: "a negative power of zero, which divides by it"
        })
      return sized(left.pow(right), { operator, from: left })
  }
}

/** 200 + 10% is 220 to some people and 200.1 to others. Of 1, and of another percentage, both mean the same. */
const isAmbiguous = (tree: Arithmetic & { readonly _tag: "Binary" }, left: Decimal): boolean =>
  tree.right._tag === "Percent" && tree.left._tag !== "Percent" && !left.equals(1)

/** A finite value that did not silently become zero. */
const sized = (value: Decimal, { operator, from }: { readonly operator: string; readonly from: Decimal }): Decimal => {
  if (value.isZero() && !from.isZero())
    throw new ArithmeticProblem("numbers above 10^-6143", { received: `a smaller result of ${operator}` })
  return finite(value, operator)
}

const finite = (value: Decimal, place: string): Decimal => {
  if (value.isNaN())
    throw new ArithmeticProblem("a result that is a real number", { received: `${place} of values that have none` })
  if (!value.isFinite())
    throw new ArithmeticProblem("numbers below 10^6144", { received: `a larger result of ${place.slice(0, 20)}` })
  return value
}

const constants: ReadonlyMap<string, () => Decimal> = new Map([
  ["pi", () => Number50.acos(-1)],
  ["tau", () => Number50.acos(-1).times(2)],
  ["e", () => Number50.exp(1)]
])

const constant = (name: string): Decimal => {
  const make = constants.get(name.toLowerCase())
  if (make !== undefined) return make()
  const isFunction = functions.has(name)
  throw new ArithmeticProblem(`numbers, functions, or one of ${[...constants.keys()].join(", ")}`, {
    received: isFunction ? `the function ${name} without arguments` : `the name ${name.slice(0, 60)}`,
    fix: isFunction ? `write ${name}(x)` : (suggestion(name) ?? "put the number in its place: there are no variables")
  })
}

interface ArithmeticFunction {
  readonly least: number
  readonly most: number
  readonly apply: (...args: ReadonlyArray<Decimal>) => Decimal
}

const zero = new Number50(0)
const one = new Number50(1)

const unary = (apply: (x: Decimal) => Decimal): ArithmeticFunction => ({
  least: 1,
  most: 1,
  apply: (x = zero) => apply(x)
})

const paired = (apply: (x: Decimal, y: Decimal) => Decimal): ArithmeticFunction => ({
  least: 2,
  most: 2,
  apply: (x = zero, y = zero) => apply(x, y)
})

const several = (apply: (args: ReadonlyArray<Decimal>) => Decimal): ArithmeticFunction => ({
  least: 1,
  most: 100,
  apply: (...args) => apply(args)
})

/** decimal.js looks for the period of pi for a long time when the number is far out. */
const angle = (apply: (x: Decimal) => Decimal): ArithmeticFunction =>
  unary((x) => {
    if (x.abs().gt("1e100"))
      throw new ArithmeticProblem("an argument below 10^100", { received: x.toSignificantDigits(5).toString() })
    return apply(x)
  })

/** Takes the sign of the divisor. Exact only while the quotient has all its digits. */
const mod = (x: Decimal, y: Decimal): Decimal => {
  if (y.isZero())
    throw new ArithmeticProblem("a divisor other than 0", { received: "a remainder of a division by zero" })
  const quotient = x.dividedBy(y).floor()
  if (quotient.e >= 49) throw new ArithmeticProblem("a quotient below 10^49 in mod", { received: "a larger one" })
  return x.minus(y.times(quotient))
}

const sum = (args: ReadonlyArray<Decimal>): Decimal => args.reduce((total, next) => total.plus(next), zero)

const functions: ReadonlyMap<string, ArithmeticFunction> = new Map([
  ["abs", unary((x) => x.abs())],
  ["sign", unary((x) => new Number50(x.isZero() ? 0 : x.isNegative() ? -1 : 1))],
  ["floor", unary((x) => x.floor())],
  ["ceil", unary((x) => x.ceil())],
  ["trunc", unary((x) => x.trunc())],
  ["round", { least: 1, most: 2, apply: (x = zero, digits = zero) => x.toDecimalPlaces(places(digits)) }],
  ["sqrt", unary((x) => x.sqrt())],
  ["cbrt", unary((x) => x.cbrt())],
  ["exp", unary((x) => sized(x.exp(), { operator: "exp", from: one }))],
  ["ln", unary((x) => x.ln())],
  ["log2", unary((x) => Number50.log2(x))],
  ["log10", unary((x) => Number50.log10(x))],
  ["log", paired((x, base) => x.log(base))],
  ["sin", angle((x) => x.sin())],
  ["cos", angle((x) => x.cos())],
  ["tan", angle((x) => x.tan())],
  ["asin", angle((x) => x.asin())],
  ["acos", angle((x) => x.acos())],
  ["atan", angle((x) => x.atan())],
  ["mod", paired(mod)],
  ["factorial", unary((x) => factorial(x))],
  ["min", several((args) => Number50.min(...args))],
  ["max", several((args) => Number50.max(...args))],
  ["sum", several(sum)],
  ["mean", several((args) => sum(args).dividedBy(args.length))]
])

/** The names that an expression may call. */
export const functionNames: ReadonlyArray<string> = [...functions.keys()]

const call = (name: string, args: ReadonlyArray<Arithmetic>): Decimal => {
  const found = functions.get(name)
  if (found === undefined)
    throw new ArithmeticProblem(`a function out of ${functionNames.join(", ")}`, {
      received: name.slice(0, 60),
      ...(suggestion(name) === undefined ? {} : { fix: String(suggestion(name)) })
    })
  if (args.length < found.least || args.length > found.most) throw wrongCount(name, { found, count: args.length })
  const values = args.map(valueOf)
  try {
    return finite(found.apply(...values), name)
  } catch (cause) {
    if (cause instanceof ArithmeticProblem) throw cause
    // decimal.js gives up where it would need more digits of pi or ln 10 than it has.
    throw new ArithmeticProblem("arguments of a size that can be calculated", { received: `another one in ${name}` })
  }
}

const wrongCount = (
  name: string,
  { found, count }: { readonly found: ArithmeticFunction; readonly count: number }
): ArithmeticProblem => {
  const expected = found.least === found.most ? String(found.least) : `${found.least} to ${found.most}`
  return new ArithmeticProblem(`${expected} argument${expected === "1" ? "" : "s"} of ${name}`, {
    received: String(count),
    ...(name === "log" ? { fix: "write log10(x), ln(x), or log(x, base)" } : {})
  })
}

const suggestion = (name: string): string | undefined => {
  const nearest = ToolArgs.nearestName(name, [...functionNames, ...constants.keys()])
  return nearest === undefined || name.length < 2 ? undefined : `did you mean ${nearest}`
}

const places = (digits: Decimal): number => {
  if (digits.isInteger() && digits.gte(0) && digits.lte(30)) return digits.toNumber()
  throw new ArithmeticProblem("a whole number of digits from 0 to 30 in round", {
    received: digits.toString().slice(0, 40)
  })
}

const largestFactorial = 1_000

const factorial = (x: Decimal): Decimal => {
  if (!x.isInteger() || x.isNegative() || x.gt(largestFactorial))
    throw new ArithmeticProblem(`a whole number from 0 to ${largestFactorial} in factorial`, {
      received: x.toString().slice(0, 40)
    })
  let product = one
  for (let factor = 2; factor <= x.toNumber(); factor++) product = product.times(factor)
  return product
}
