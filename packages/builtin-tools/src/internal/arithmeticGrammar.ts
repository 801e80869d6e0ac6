/**
 * Reads arithmetic as people write it into a small closed tree: `17% of 2380`, `-2^2`, `sqrt(2) / 3`.
 *
 * Guarantees: the grammar is jsep's, with `^` for powers and `%` for percent; whatever else that grammar knows (names of
 * things, properties, texts, comparisons, sequences) is refused with a reason. Nothing is evaluated.
 * Does not calculate: `arithmeticValue` does.
 */
import jsep from "jsep"

/** `value` is the number as it was written. */
export type Arithmetic =
  | { readonly _tag: "Number"; readonly value: string }
  | { readonly _tag: "Constant"; readonly name: string }
  | { readonly _tag: "Call"; readonly name: string; readonly args: ReadonlyArray<Arithmetic> }
  | { readonly _tag: "Negate"; readonly of: Arithmetic }
  | { readonly _tag: "Percent"; readonly of: Arithmetic }
  | {
      readonly _tag: "Binary"
      readonly operator: BinaryOperator
      readonly left: Arithmetic
      readonly right: Arithmetic
    }

export type BinaryOperator = "+" | "-" | "*" | "/" | "^"

/** Why an expression cannot be read or calculated. `fix` says what to send instead. */
export class ArithmeticProblem extends Error {
  override readonly name = "ArithmeticProblem"
  readonly expected: string
  readonly received: string
  readonly fix: string | undefined
  constructor(expected: string, { received, fix }: { readonly received: string; readonly fix?: string }) {
    super(`expected ${expected}, received ${received}`)
    this.expected = expected
    this.received = received
    this.fix = fix
  }
}

const maxCharacters = 1_000
const maxNesting = 64

/** Throws `ArithmeticProblem`. */
export const readArithmetic = (text: string): Arithmetic => {
  const normal = normalise(text)
  checkSize(normal)
  let tree: jsep.Expression
  try {
    tree = new ArithmeticParser(normal).parse()
  } catch (cause) {
    throw unreadable(cause)
  }
  return convert(tree)
}

/** Signs that people copy from prose. One for one, so that positions stay true. */
const normalise = (text: string): string =>
  text
    .replaceAll(/[×·∙⋅]/g, "*")
    .replaceAll("÷", "/")
    .replaceAll(/[−–]/g, "-")
    .replaceAll(/\s/g, " ")

const checkSize = (text: string): void => {
  if (text.trim() === "")
    throw new ArithmeticProblem("an arithmetic expression", {
      received: "an empty text",
      fix: "send something like 17% of 2380"
    })
  if (text.length > maxCharacters)
    throw new ArithmeticProblem(`at most ${maxCharacters} characters`, {
      received: `${text.length} characters`,
      fix: "calculate it in parts"
    })
  let open = 0
  for (const char of text) {
    if (char === "(" && ++open > maxNesting)
      throw new ArithmeticProblem(`at most ${maxNesting} levels of parentheses`, {
        received: "more",
        fix: "calculate the inner parts first"
      })
    if (char === ")") open--
  }
}

/** The parser behind `jsep(text)`, with the methods that jsep's plugins use. Its typings leave the class out. */
interface JsepParser {
  index: number
  readonly char: string
  readonly expr: string
  parse(): jsep.Expression
  gobbleSpaces(): void
  gobbleToken(): jsep.Expression | false
  gobbleGroup(): jsep.Expression | false
  gobbleBinaryOp(): string | false
}

const { Jsep } = jsep as unknown as { readonly Jsep: new (text: string) => JsepParser }

/** Overrides methods of one object: jsep's own operators belong to everybody in the process and stay as they are. */
class ArithmeticParser extends Jsep {
  override gobbleToken(): jsep.Expression | false {
    let node = super.gobbleToken()
    // The argument of a sign came through here itself and has taken its percent sign already.
    if (node === false || node.type === "UnaryExpression") return node
    for (this.gobbleSpaces(); this.char === "%"; this.gobbleSpaces()) {
      this.index++
      node = { type: "Percent", argument: node }
    }
    return node
  }

  /** Kept in the tree, because (-2)^2 and -2^2 differ. */
  override gobbleGroup(): jsep.Expression | false {
    const inner = super.gobbleGroup()
    return inner === false ? false : { type: "Group", argument: inner }
  }

  override gobbleBinaryOp(): string | false {
    this.gobbleSpaces()
    if (this.char === "^") {
      this.index++
      return "**"
    }
    const word = /^of(?![\p{L}\p{N}_$])/iu.exec(this.expr.slice(this.index, this.index + 3))
    if (word === null) return super.gobbleBinaryOp()
    this.index += 2
    return "*"
  }
}

const unreadable = (cause: unknown): ArithmeticProblem => {
  const { description, index } = isParseError(cause) ? cause : { description: "an unreadable expression", index: 0 }
  return new ArithmeticProblem("an arithmetic expression", { received: `${description} at character ${index}` })
}

const isParseError = (cause: unknown): cause is { readonly description: string; readonly index: number } =>
  cause instanceof Error && "description" in cause && typeof cause.description === "string" && "index" in cause

/** The typings give every member of a node any type. */
const textOf = (member: unknown): string => (typeof member === "string" ? member.slice(0, 60) : "something else")

const isNode = (value: unknown): value is jsep.Expression =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"

const convert = (node: unknown): Arithmetic => {
  if (!isNode(node)) throw new ArithmeticProblem("a number or an expression", { received: "nothing" })
  switch (node.type) {
    case "Literal":
      return number(node)
    case "Identifier":
      return { _tag: "Constant", name: textOf(node["name"]) }
    case "Group":
      return convert(node["argument"])
    case "Percent":
      return { _tag: "Percent", of: convert(node["argument"]) }
    case "UnaryExpression":
      return signed(node, convert(node["argument"]))
    case "BinaryExpression":
      return binary(node)
    case "CallExpression":
      return call(node)
    default:
      throw refusal(node)
  }
}

const number = (node: jsep.Expression): Arithmetic => {
  const { value, raw } = node
  if (typeof value !== "number" || typeof raw !== "string")
    throw new ArithmeticProblem("numbers only", { received: textOf(raw) })
  // The parser takes a point without digits, as in `.e3`, for a number.
  if (!/^\.?\d/.test(raw)) throw new ArithmeticProblem("a number with digits", { received: textOf(raw) })
  return { _tag: "Number", value: raw }
}

const signed = (sign: jsep.Expression, of: Arithmetic): Arithmetic => {
  if (sign["operator"] === "-") return { _tag: "Negate", of }
  if (sign["operator"] === "+") return of
  throw unknownOperator(sign)
}

const unknownOperator = (node: jsep.Expression): ArithmeticProblem =>
  new ArithmeticProblem("the operators + - * / ^ and % for percent", { received: textOf(node["operator"]) })

const operators: ReadonlyMap<unknown, BinaryOperator> = new Map<string, BinaryOperator>([
  ["+", "+"],
  ["-", "-"],
  ["*", "*"],
  ["/", "/"],
  ["**", "^"]
])

const binary = (node: jsep.Expression): Arithmetic => {
  const operator = operators.get(node["operator"])
  if (operator === undefined) throw unknownOperator(node)
  const right = convert(node["right"])
  return operator === "^"
    ? power(node["left"], right)
    : { _tag: "Binary", operator, left: convert(node["left"]), right }
}

/** jsep binds a sign tighter than a power; in arithmetic -2^2 is -(2^2). */
const power = (base: unknown, exponent: Arithmetic): Arithmetic =>
  isNode(base) && base.type === "UnaryExpression"
    ? signed(base, power(base["argument"], exponent))
    : { _tag: "Binary", operator: "^", left: convert(base), right: exponent }

const call = (node: jsep.Expression): Arithmetic => {
  const callee = node["callee"]
  const args = node["arguments"]
  if (!isNode(callee) || callee.type !== "Identifier" || !Array.isArray(args))
    throw new ArithmeticProblem("an operator before (", {
      received: "a value followed by parentheses",
      fix: "write 2 * (3 + 4), not 2(3 + 4)"
    })
  return { _tag: "Call", name: textOf(callee["name"]), args: args.map(convert) }
}

const refusal = (node: jsep.Expression): ArithmeticProblem => {
  switch (node.type) {
    case "Compound":
    case "SequenceExpression":
      return new ArithmeticProblem("one expression with an operator between any two values", {
        received: "values side by side",
        fix: "write numbers without thousands separators, products with *, and remainders as mod(10, 3): % means percent"
      })
    case "MemberExpression":
      return new ArithmeticProblem("arithmetic only", { received: "access to a property or an index" })
    default:
      return new ArithmeticProblem("arithmetic only", { received: `a ${node.type}` })
  }
}
