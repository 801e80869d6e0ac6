/**
 * Arithmetic: one expression in, one decimal number out.
 *
 * Guarantees: decimal arithmetic with 50 digits, so 0.1 + 0.2 is 0.3; bounded size and work; no variables, assignments,
 * properties or code. What cannot be calculated is `InvalidArguments` with a fix.
 * Does not convert units and knows no dates.
 */
import { Tool, ToolArgs } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"
import { ArithmeticProblem, readArithmetic } from "./internal/arithmeticGrammar.js"
import { calculateArithmetic, functionNames } from "./internal/arithmeticValue.js"

/** Needs nothing to be described; `calculate()` makes it executable. */
export const Calculate = Tool.define({
  id: "calculate",
  description: [
    "Calculate one arithmetic expression with decimal numbers.",
    "Operators: + - * / ^ and parentheses. A % after a value means percent: `17% of 2380`, `2380 * (1 + 17%)`.",
    `Functions: ${functionNames.join(", ")}; angles are in radians, log takes its base second, mod takes the sign of the divisor.`,
    "Constants: pi, tau, e. No variables, no thousands separators, no units."
  ].join(" "),
  args: Type.Object({
    expression: Type.String({ minLength: 1, maxLength: 1000, description: "For example: (2 + 3) * 4^2 / 7" })
  }),
  output: Type.Object({
    result: Type.String({ description: "Decimal digits, with an exponent where the number is very large or small" }),
    rounded: Type.Boolean({ description: "True when digits were cut off to show it" })
  }),
  recovery: "ReplaySafe",
  attribution: { provenance: "Native" }
})

/** The tool. It holds no state and needs no services. */
export const calculate = (): Tool.Tool<"calculate", typeof Calculate.args, typeof Calculate.output> =>
  Tool.implement(Calculate, ({ expression }) => {
    try {
      const { text, rounded } = calculateArithmetic(readArithmetic(expression))
      return { result: text, rounded }
    } catch (cause) {
      if (!(cause instanceof ArithmeticProblem)) throw cause
      const { expected, received, fix } = cause
      throw ToolArgs.invalidArguments(Calculate.id, [
        { pointer: "/expression", expected, received, ...(fix === undefined ? {} : { fix }) }
      ])
    }
  })
