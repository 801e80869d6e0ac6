/**
 * A union that no branch of it fits, told as the trouble with one branch: the one that the value was probably meant for.
 *
 * Guarantees: one branch's issues, never a cross product; a wrong discriminator is one issue that lists the right ones.
 * Does not decide validity.
 */
import { isJsonObject, type Json, type JsonObject } from "../Json.js"
import type { ArgumentIssue } from "../ToolError.js"
import { describeSchema, oneOfValues } from "./describeValue.js"
import { type Place, placeIn, pointerOf } from "./jsonPointer.js"
import { hasType, typeFix, typesOf, valueFix } from "./scalarIssues.js"
import { constantsOf, nodesOf } from "./schemaNodes.js"

/** What is said of one place. What came is the value itself if it is not said. */
export interface Saying {
  readonly expected: string
  readonly received?: string | undefined
  readonly fix?: string | undefined
}

/** An issue that is put into words only when it is shown. */
export type Issue = () => ArgumentIssue

/** A value in question, its place, and what is known of it there. */
export interface Spot {
  readonly value: Json
  readonly place: Place | undefined
  /** Whether the value may as well be left out. */
  readonly optional: boolean
  readonly secret: boolean
  /** The keys and indices that some schema has looked at, for the `unevaluated` keywords. */
  readonly seen: Set<string | number>
}

/** What checks the branches. */
export interface Checker {
  readonly root: JsonObject
  /** True once its limit is met: then it finds nothing any more, whatever is wrong. */
  readonly exhausted: boolean
  check(schema: Json, spot: Spot): ReadonlyArray<Issue>
  /** One issue at a spot; what came and the fix are left out for a secret. */
  issue(spot: Spot, say: () => Saying): Issue
}

interface Union {
  readonly branches: ReadonlyArray<Json>
  readonly spot: Spot
  readonly exactlyOne: boolean
}

interface Tried {
  readonly branch: Json
  readonly issues: ReadonlyArray<Issue>
}

export const nearestBranch = (checker: Checker, { branches, spot, exactlyOne }: Union): ReadonlyArray<Issue> => {
  const tried = branches.map((branch): Tried => ({ branch, issues: checker.check(branch, spot) }))
  const failed = tried.filter(({ issues }) => issues.length > 0)
  if (checker.exhausted)
    return [...failed].sort((one, other) => one.issues.length - other.issues.length)[0]?.issues ?? []
  const fitting = tried.length - failed.length
  if (fitting === 1 || (fitting > 1 && !exactlyOne)) return []
  if (fitting > 1) {
    const received = `one that fits ${fitting}`
    return [checker.issue(spot, () => ({ expected: "a value that fits exactly one of the alternatives", received }))]
  }
  const { root } = checker
  const rightType = tried.filter(({ branch }) => admitsType(branch, { value: spot.value, root }))
  if (rightType.length === 0) return [checker.issue(spot, () => sayWrongType(branches, { spot, root }))]
  const candidates = rightType.map(({ branch }) => branch)
  const wrong = isJsonObject(spot.value)
    ? wrongDiscriminator(checker, { candidates, value: spot.value, spot })
    : wrongConstant(checker, { candidates, spot })
  if (wrong !== undefined) return [wrong]
  const matching = rightType.filter(({ branch }) => matchesConstants(branch, { value: spot.value, root }))
  const nearest = (matching.length > 0 ? matching : rightType).reduce((best, one) =>
    one.issues.length < best.issues.length ? one : best
  )
  return nearest.issues
}

const sayWrongType = (
  branches: ReadonlyArray<Json>,
  { spot, root }: { readonly spot: Spot; readonly root: JsonObject }
): Saying => {
  const types = branches.flatMap((branch) => nodesOf(branch, root).flatMap(typesOf))
  return {
    expected: describeSchema({ anyOf: branches }, root),
    fix: typeFix(spot.value, { types, optional: spot.optional }) ?? valueFix(spot.value, constants(branches))
  }
}

const constants = (branches: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  branches.flatMap((branch) => (isJsonObject(branch) && branch["const"] !== undefined ? [branch["const"]] : []))

interface Question {
  readonly value: Json
  readonly root: JsonObject
}

const admitsType = (branch: Json, { value, root }: Question): boolean =>
  nodesOf(branch, root).every((node) => {
    const types = typesOf(node)
    return types.length === 0 || types.some((type) => hasType(value, type))
  }) && branch !== false

const matchesConstants = (branch: Json, { value, root }: Question): boolean => {
  const constants = constantsOf(nodesOf(branch, root))
  return (
    constants.length > 0 &&
    isJsonObject(value) &&
    constants.every(([key, one]) => Object.hasOwn(value, key) && value[key] === one)
  )
}

/** Branches told apart by a required constant under one key, none of which is the value's: one issue at that key. */
const wrongDiscriminator = (
  checker: Checker,
  {
    candidates,
    value,
    spot
  }: { readonly candidates: ReadonlyArray<Json>; readonly value: JsonObject; readonly spot: Spot }
): Issue | undefined => {
  const perBranch = candidates.map((branch) => new Map(constantsOf(nodesOf(branch, checker.root))))
  for (const key of perBranch[0]?.keys() ?? []) {
    const wanted = perBranch.map((constants) => constants.get(key))
    const values = wanted.filter((one) => one !== undefined)
    if (values.length < candidates.length) continue
    const given = Object.hasOwn(value, key) ? value[key] : undefined
    if (given !== undefined && values.includes(given)) continue
    const place = placeIn(spot.place, key)
    const expected = (): string => oneOfValues([...new Set(values)])
    if (given !== undefined)
      return checker.issue({ ...spot, value: given, place }, () => ({
        expected: expected(),
        fix: valueFix(given, values)
      }))
    return () => ({
      pointer: pointerOf(place),
      expected: expected(),
      received: "nothing",
      fix: `add the field \`${key}\``
    })
  }
  return undefined
}

/** A union of plain constants is an enumeration in another form. */
const wrongConstant = (
  checker: Checker,
  { candidates, spot }: { readonly candidates: ReadonlyArray<Json>; readonly spot: Spot }
): Issue | undefined => {
  const values = constants(candidates)
  if (values.length === 0 || values.length < candidates.length) return undefined
  return checker.issue(spot, () => ({ expected: oneOfValues(values), fix: valueFix(spot.value, values) }))
}
