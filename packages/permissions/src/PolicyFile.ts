/**
 * Policy files: JSON text in, a policy out, or every problem with its line and column.
 *
 * Guarantees: strict. An unknown key, a key given twice, a value that is not one of those listed or a pattern that cannot
 * be read refuses the whole file; a file that says nothing is refused too. Nothing is repaired and nothing is skipped.
 * The same shape is published as a JSON Schema (`@toolwright/permissions/policy.schema.json`) for editors.
 */
import { type JsonMember, type JsonNode, JsonTextError, plainJson, positionOf, readJson } from "./internal/jsonText.js"
import { lintPattern, problemOfPattern } from "./internal/policyRules.js"
import { shapes } from "./internal/policyShape.js"
import type { Policy } from "./Policy.js"
import { PolicyError, type PolicyProblem } from "./PolicyError.js"
import * as ToolProfile from "./ToolProfile.js"
import * as WorkspacePath from "./WorkspacePath.js"

export interface ParseOptions {
  /** What the text is called in messages, such as a file name. */
  readonly file?: string
}

/** Throws `PolicyError` with every problem found. */
export const parse = (text: string, options: ParseOptions = {}): Policy => {
  const { policy, problems } = read(text)
  if (policy === undefined || problems.length > 0) throw new PolicyError(problems, options)
  return policy
}

export interface Report {
  readonly policy: Policy | undefined
  readonly problems: ReadonlyArray<PolicyProblem>
  /** What is odd without being wrong. */
  readonly warnings: ReadonlyArray<{ readonly line: number; readonly column: number; readonly message: string }>
}

/** The same without throwing, and with warnings. */
export const check = (text: string): Report => {
  const { policy, problems, patterns } = read(text)
  if (policy === undefined || problems.length > 0) return { policy: undefined, problems, warnings: [] }
  const profileOf = ToolProfile.lookup(policy.tools)
  const warnings = policy.rules.flatMap(({ pattern }, index) =>
    lintPattern(pattern, profileOf).map((message) => ({ ...positionOf(text, patterns[index]?.at ?? 0), message }))
  )
  const loud =
    policy.mode === "bypass" ? [{ line: 1, column: 1, message: "mode bypass: everything runs that is not denied" }] : []
  return { policy, problems, warnings: [...loud, ...warnings] }
}

interface Reading {
  readonly policy: Policy | undefined
  readonly problems: ReadonlyArray<PolicyProblem>
  /** Where the pattern of each rule stands. */
  readonly patterns: ReadonlyArray<JsonNode>
}

const read = (text: string): Reading => {
  const problems: Array<PlacedProblem> = []
  const refuse: Refuse = (at, problem) => problems.push({ ...problem, ...positionOf(text, at), at })
  const inOrder = () =>
    problems
      .sort((left, right) => left.at - right.at)
      .map(({ pointer, line, column, expected, received }) => ({ pointer, line, column, expected, received }))
  let root: JsonNode
  try {
    root = readJson(text)
  } catch (cause) {
    if (!(cause instanceof JsonTextError)) throw cause
    refuse(cause.at, { pointer: "", expected: cause.expected, received: cause.received })
    return { policy: undefined, problems: inOrder(), patterns: [] }
  }
  fits(root, { shape: "policy", pointer: "", refuse })
  if (problems.length > 0) return { policy: undefined, problems: inOrder(), patterns: [] }
  const policy = toPolicy(root)
  const patterns = itemsOf(memberOf(root, "rules")).flatMap((rule) => memberOf(rule, "pattern") ?? [])
  checkGlobs(policy, { text, root, patterns, refuse })
  return { policy, problems: inOrder(), patterns }
}

/** A problem in a text, and its offset there. */
interface PlacedProblem extends PolicyProblem {
  readonly line: number
  readonly column: number
  readonly at: number
}

type Refuse = (at: number, problem: Pick<PolicyProblem, "pointer" | "expected" | "received">) => void

interface Spot {
  readonly shape: string
  readonly pointer: string
  readonly refuse: Refuse
}

const fits = (node: JsonNode, { shape, pointer, refuse }: Spot): void => {
  const wanted = shapes.get(shape)
  if (wanted === undefined) return
  const wrong = () => refuse(node.at, { pointer, expected: wanted.expected, received: describe(node) })
  if (wanted.kind === "scalar") {
    if (node.kind !== "scalar" || !wanted.accepts(node.value)) wrong()
  } else if (wanted.kind === "list") {
    if (node.kind !== "array") return wrong()
    node.items.forEach((item, index) => fits(item, { shape: wanted.items, pointer: `${pointer}/${index}`, refuse }))
  } else if (node.kind !== "object") wrong()
  else fitsMembers(node, { pointer, refuse, keys: wanted.keys, others: wanted.others, required: wanted.required })
}

interface Members {
  readonly pointer: string
  readonly refuse: Refuse
  readonly keys: ReadonlyMap<string, string>
  readonly others: string | undefined
  readonly required: ReadonlyArray<string>
}

const fitsMembers = (
  node: Extract<JsonNode, { kind: "object" }>,
  { pointer, refuse, keys, others, required }: Members
): void => {
  const seen = new Set<string>()
  for (const { key, at, value } of node.members) {
    const here = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`
    if (seen.has(key))
      refuse(at, { pointer: here, expected: "every key once", received: `${JSON.stringify(key)} a second time` })
    seen.add(key)
    const shape = keys.get(key) ?? others
    if (shape === undefined)
      refuse(at, {
        pointer: here,
        expected: `one of ${[...keys.keys()].join(", ")}`,
        received: `the unknown key ${JSON.stringify(key)}`
      })
    else fits(value, { shape, pointer: here, refuse })
  }
  for (const key of required)
    if (!seen.has(key)) refuse(node.at, { pointer, expected: `the key ${JSON.stringify(key)}`, received: "nothing" })
}

const describe = (node: JsonNode): string =>
  node.kind === "scalar" ? JSON.stringify(node.value).slice(0, 60) : node.kind === "array" ? "an array" : "an object"

const memberOf = (node: JsonNode | undefined, key: string): JsonNode | undefined =>
  node?.kind === "object" ? node.members.find((member: JsonMember) => member.key === key)?.value : undefined

const itemsOf = (node: JsonNode | undefined): ReadonlyArray<JsonNode> => (node?.kind === "array" ? node.items : [])

// What does not fit its shape was refused before, so only the schema's own key has to go.
const toPolicy = (root: JsonNode): Policy => {
  const members = root.kind === "object" ? root.members.filter(({ key }) => key !== "$schema") : []
  const policy: unknown = plainJson({ kind: "object", at: 0, members })
  return policy as Policy
}

interface Globs {
  readonly text: string
  readonly root: JsonNode
  readonly patterns: ReadonlyArray<JsonNode>
  readonly refuse: Refuse
}

const checkGlobs = (policy: Policy, { text, root, patterns, refuse }: Globs): void => {
  const profileOf = ToolProfile.lookup(policy.tools)
  policy.rules.forEach(({ pattern }, index) => {
    const problem = problemOfPattern(pattern, profileOf)
    const at = patterns[index]?.at ?? 0
    if (problem === undefined) return
    const inside = problem.column === undefined ? 0 : offsetInString(text, { at, column: problem.column })
    refuse(at + inside, {
      pointer: `/rules/${index}/pattern`,
      expected: problem.expected,
      received: JSON.stringify(pattern)
    })
  })
  itemsOf(memberOf(root, "protected")).forEach((node, index) => {
    const glob = node.kind === "scalar" && typeof node.value === "string" ? node.value : ""
    const expected = WorkspacePath.problemOfPattern(glob)
    if (expected !== undefined)
      refuse(node.at, { pointer: `/protected/${index}`, expected, received: JSON.stringify(glob) })
  })
}

/** Where the `column`-th character of a string stands in its JSON text, seen from the opening quote. */
const offsetInString = (text: string, { at, column }: { readonly at: number; readonly column: number }): number => {
  let offset = 1
  for (let left = column - 1; left > 0; left--)
    offset += text[at + offset] !== "\\" ? 1 : text[at + offset + 1] === "u" ? 6 : 2
  return offset
}
