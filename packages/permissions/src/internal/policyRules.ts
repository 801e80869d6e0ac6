/**
 * Checks the rules of a policy for what no parser of a single pattern can see: globs of the wrong kind for their argument.
 *
 * Guarantees: every problem is found, not only the first, each with its place in the policy.
 */
import { hasWildcard } from "./glob.js"
import * as HostRule from "../HostRule.js"
import type { Policy } from "../Policy.js"
import { PolicyError, type PolicyProblem } from "../PolicyError.js"
import * as RulePattern from "../RulePattern.js"
import * as ToolProfile from "../ToolProfile.js"
import * as WorkspacePath from "../WorkspacePath.js"

/** Throws `PolicyError` with every problem. */
export const checkPolicy = (policy: Policy, profileOf: ToolProfile.ProfileOf): void => {
  const problems = policy.rules.flatMap(({ pattern }, index) => {
    const problem = problemOfPattern(pattern, profileOf)
    return problem === undefined
      ? []
      : [{ pointer: `/rules/${index}/pattern`, expected: problem.expected, received: JSON.stringify(pattern) }]
  })
  const guards = (policy.protected ?? []).flatMap((glob, index): ReadonlyArray<PolicyProblem> => {
    const expected = WorkspacePath.problemOfPattern(glob)
    return expected === undefined ? [] : [{ pointer: `/protected/${index}`, expected, received: JSON.stringify(glob) }]
  })
  const all = [...problems, ...guards]
  if (all.length > 0) throw new PolicyError(all)
}

export interface PatternProblem {
  readonly expected: string
  /** In the text of the pattern, from 1; absent where the pattern reads well but its parts do not fit. */
  readonly column?: number
}

export const problemOfPattern = (pattern: string, profileOf: ToolProfile.ProfileOf): PatternProblem | undefined => {
  let parsed: RulePattern.RulePattern
  try {
    parsed = RulePattern.parse(pattern)
  } catch (cause) {
    if (!(cause instanceof RulePattern.PatternError)) throw cause
    return { expected: `${cause.expected} at column ${cause.column}`, column: cause.column }
  }
  // A glob over tools may mean several profiles; what their names have in common is then what is checked.
  const profile = profileOf(parsed.tool)
  for (const condition of parsed.conditions) {
    const expected = problemOfCondition(condition, profile)
    if (expected !== undefined) return { expected }
  }
  return undefined
}

const problemOfCondition = (
  { field, operator, value }: RulePattern.Condition,
  profile: ToolProfile.ToolProfile
): string | undefined => {
  const { kind, part } = ToolProfile.kindOf(profile, field)
  const isGlob = operator.endsWith("~")
  if (kind === "path" && isGlob && typeof value === "string") return WorkspacePath.problemOfPattern(value)
  if (kind === "command" && !/^!?[=~]$/.test(operator)) return "= != ~ or !~ for a command"
  if (kind === "command" && typeof value !== "string") return "a command in double quotes"
  if (kind !== "url") return undefined
  if (part === "host") return typeof value === "string" ? HostRule.problemOfHost(value) : "a host in double quotes"
  return part === undefined && isGlob && typeof value === "string" ? HostRule.problemOfUrl(value) : undefined
}

/** What is odd without being wrong. */
export const lintPattern = (pattern: string, profileOf: ToolProfile.ProfileOf): ReadonlyArray<string> => {
  const parsed = RulePattern.parse(pattern)
  const profile = profileOf(parsed.tool)
  return parsed.conditions.flatMap(({ field, operator, value }) => {
    if (typeof value !== "string" || !operator.endsWith("~")) return []
    const { kind } = ToolProfile.kindOf(profile, field)
    const name = RulePattern.printField(field)
    if (kind === "command" && /[A-Za-z0-9]\*$/.test(value))
      return [
        `${JSON.stringify(value)} also matches every longer name, ${value.slice(0, -1)}x among them; ${JSON.stringify(`${value.slice(0, -1)} *`)} ends at the word`
      ]
    if (kind === "text" && /\*\*|\//.test(value) && hasWildcard(value))
      return [`${name} is not known to be a path, so * also matches /; name it under "tools" if it is one`]
    return []
  })
}
