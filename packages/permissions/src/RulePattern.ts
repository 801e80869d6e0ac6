/**
 * The pattern of a rule: which tool, and what its arguments must be.
 *
 * `read`, `mcp__files__*`, `write(path ~ "src/**")`, `pay(/amount > 100, currency = "EUR")`, `drop(= {"id":"r1"})`
 *
 * Guarantees: a pattern that could be misread is refused with its column; printing and parsing are inverse; how specific
 * a pattern is depends on its text alone.
 * Does not look at calls: what a condition means for a path, a URL or a command is decided where a tool is known.
 */
import { Json } from "@toolwright/runtime-contract"
import { hasWildcard, literalLength, problemOfGlob } from "./internal/glob.js"
import { PatternScanner } from "./internal/patternScanner.js"

/** `~` takes a glob in double quotes, the four comparisons a number, `=` any JSON value. */
export type Operator = "=" | "!=" | "~" | "!~" | "<" | "<=" | ">" | ">="

export interface Condition {
  /** Where the value lies; empty is the whole arguments object. Written as a dotted path or a JSON Pointer. */
  readonly field: ReadonlyArray<string>
  readonly operator: Operator
  readonly value: Json.Json
}

export interface RulePattern {
  /** A tool id, or a glob over ids. */
  readonly tool: string
  /** All must hold. */
  readonly conditions: ReadonlyArray<Condition>
}

/** A text that is no pattern. `column` counts UTF-16 code units from 1. */
export class PatternError extends Error {
  readonly _tag = "PatternError"
  override readonly name = "PatternError"
  readonly pattern: string
  readonly column: number
  readonly expected: string
  constructor(problem: { readonly pattern: string; readonly column: number; readonly expected: string }) {
    super(`pattern ${JSON.stringify(problem.pattern)}, column ${problem.column}: expected ${problem.expected}`)
    this.pattern = problem.pattern
    this.column = problem.column
    this.expected = problem.expected
  }
}

/** Throws `PatternError`. White space between the parts does not matter. */
export const parse = (pattern: string): RulePattern => {
  const scan = new PatternScanner(pattern, (column, expected) => new PatternError({ pattern, column, expected }))
  const tool = scan.toolGlob()
  const conditions: Array<Condition> = []
  if (scan.take("(")) {
    do conditions.push(condition(scan))
    while (scan.take(","))
    scan.need(")", "a comma or a closing parenthesis")
  }
  scan.end()
  return { tool, conditions }
}

const condition = (scan: PatternScanner): Condition => {
  const field = scan.field()
  const operator = scan.operator()
  const column = scan.column()
  const value = scan.value()
  if (operator === "~" || operator === "!~") {
    if (typeof value !== "string") throw scan.problem(column, `a glob in double quotes after ${operator}`)
    const problem = problemOfGlob(value)
    if (problem !== undefined) throw scan.problem(column, problem)
  }
  if (operator.startsWith("<") || operator.startsWith(">")) {
    if (typeof value !== "number") throw scan.problem(column, `a number after ${operator}`)
  }
  if (field.length === 0 && operator !== "=" && operator !== "!=")
    throw scan.problem(column, "= or != where no field is named")
  return { field, operator, value }
}

/** The text that `parse` reads back as the same pattern. */
export const print = (pattern: RulePattern): string =>
  pattern.conditions.length === 0
    ? pattern.tool
    : `${pattern.tool}(${pattern.conditions.map(printCondition).join(", ")})`

export const printCondition = ({ field, operator, value }: Condition): string =>
  `${field.length === 0 ? "" : `${printField(field)} `}${operator} ${Json.canonicalJson(value)}`

/** Dotted where that can be read back, else a JSON Pointer. */
export const printField = (field: ReadonlyArray<string>): string =>
  field.every((key, index) => (index === 0 ? /^[A-Za-z_$][\w$-]*$/ : /^[\w$-]+$/).test(key))
    ? field.join(".")
    : field.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

/**
 * How specific a pattern is, compared from the front: exact tool before glob, literal characters of the tool, number of
 * conditions, how many of them are equalities, literal characters in them.
 */
export type Specificity = readonly [number, number, number, number, number]

export const specificityOf = ({ tool, conditions }: RulePattern): Specificity => [
  hasWildcard(tool) ? 0 : 1,
  literalLength(tool),
  conditions.length,
  conditions.filter(({ operator }) => operator === "=").length,
  conditions.reduce((sum, next) => sum + literalsOf(next), 0)
]

const literalsOf = ({ operator, value }: Condition): number => {
  if (operator === "=") return Json.canonicalJson(value).length
  // A negated condition says what a call is not, and that narrows little.
  return operator === "~" && typeof value === "string" ? literalLength(value) : 0
}

/** Negative where `left` is the more specific. */
export const bySpecificity = (left: Specificity, right: Specificity): number => {
  for (let index = 0; index < left.length; index++) {
    const difference = (right[index] ?? 0) - (left[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
