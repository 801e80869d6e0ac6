/**
 * Why a policy was refused. It is always refused whole.
 */

export interface PolicyProblem {
  /** JSON Pointer into the policy. */
  readonly pointer: string
  /** From 1; absent where the policy did not come from a text. */
  readonly line?: number
  /** From 1, in UTF-16 code units. */
  readonly column?: number
  readonly expected: string
  readonly received: string
}

export class PolicyError extends Error {
  readonly _tag = "PolicyError"
  override readonly name = "PolicyError"
  /** At least one, in the order of the text. */
  readonly problems: ReadonlyArray<PolicyProblem>
  /** Where the text came from, as the caller named it. */
  readonly file: string | undefined
  constructor(
    problems: ReadonlyArray<PolicyProblem>,
    options: { readonly file?: string; readonly cause?: unknown } = {}
  ) {
    super(problems.map((problem) => describe(problem, options.file)).join("\n"), { cause: options.cause })
    this.problems = problems
    this.file = options.file
  }
}

const describe = ({ pointer, line, column, expected, received }: PolicyProblem, file: string | undefined): string => {
  const place = line === undefined ? "" : `:${line}:${column ?? 1}`
  return `${file ?? "policy"}${place}: ${pointer === "" ? "the policy" : pointer}: expected ${expected}, got ${received}`
}
