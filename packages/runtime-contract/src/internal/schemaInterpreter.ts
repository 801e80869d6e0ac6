/**
 * Checks values by reading the schema node by node: to explain what the validator refused, to ask small questions while a
 * schema is prepared, and to validate against foreign schemas that are too large to compile without a pause.
 *
 * Guarantees: agrees with the compiled validator on every keyword of the table; its work is counted and ends at a limit;
 * finding an issue costs little, only the issues that are shown are put into words.
 * Does not change or normalise values.
 */
import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../Json.js"
import type { ArgumentIssue } from "../ToolError.js"
import { countOf, describeSchema, describeValue, oneOfValues } from "./describeValue.js"
import { placeIn, pointerOf } from "./jsonPointer.js"
import { type Checker, type Issue, nearestBranch, type Saying, type Spot } from "./nearestBranch.js"
import { missingIssues, sayUnknown } from "./objectIssues.js"
import * as Scalar from "./scalarIssues.js"
import { everyNode, list, members, resolveLocal } from "./schemaKeywords.js"

/** Issues that are looked for, and shown, at most. */
export const maxIssues = 8

export interface Question {
  /** A part of the root; default the whole. */
  readonly schema?: Json
  readonly value: Json
  readonly maxSteps: number
}

export interface Findings {
  readonly issues: ReadonlyArray<Issue>
  /** True when the limit was met, so that nothing found does not mean that nothing is wrong. */
  readonly exhausted: boolean
}

type ArraySpot = Spot & { readonly value: ReadonlyArray<Json> }
type ObjectSpot = Spot & { readonly value: JsonObject }

export class SchemaInterpreter implements Checker {
  readonly root: JsonObject
  readonly #checks: Scalar.TextChecks
  /** Whether some node asks what others have not looked at. */
  readonly tracks: boolean
  #steps = 0
  #maxSteps = 0

  constructor(root: JsonObject, checks: Scalar.TextChecks) {
    this.root = root
    this.#checks = checks
    this.tracks = everyNode(root).some(
      (node) => node["unevaluatedProperties"] !== undefined || node["unevaluatedItems"] !== undefined
    )
  }

  get exhausted(): boolean {
    return this.#steps > this.#maxSteps
  }

  run({ schema = this.root, value, maxSteps }: Question): Findings {
    this.#steps = 0
    this.#maxSteps = maxSteps
    const issues = this.check(schema, { value, place: undefined, optional: false, secret: false, seen: new Set() })
    return { issues, exhausted: this.exhausted }
  }

  check(schema: Json, spot: Spot): Array<Issue> {
    this.#steps++
    if (this.exhausted || schema === true) return []
    if (!isJsonObject(schema)) return [this.issue(spot, () => ({ expected: "nothing here", fix: "omit the key" }))]
    const secret = spot.secret || Scalar.isSecret(schema)
    // What a node has looked at counts for others only if the node was content.
    const here: Spot = this.tracks
      ? { ...spot, secret, seen: new Set() }
      : secret === spot.secret
        ? spot
        : { ...spot, secret }
    const wrongKind = this.#kind(schema, here)
    if (wrongKind !== undefined) return [wrongKind]
    const found = this.#sameValue(schema, here)
    const { value } = here
    if (typeof value === "string") found.push(...this.#say(here, Scalar.stringFindings(schema, [value, this.#checks])))
    else if (typeof value === "number")
      found.push(...this.#say(here, Scalar.numberFindings(schema, [value, this.#checks])))
    else if (Array.isArray(value)) this.#array(schema, { spot: { ...here, value }, found })
    else if (isJsonObject(value)) this.#object(schema, { spot: { ...here, value }, found })
    if (this.tracks && found.length === 0) for (const key of here.seen) spot.seen.add(key)
    return found
  }

  issue(spot: Spot, say: () => Saying): Issue {
    return () => {
      const { expected, received, fix } = say()
      const shown = spot.secret ? "a value that is not shown" : (received ?? describeValue(spot.value))
      return {
        pointer: pointerOf(spot.place),
        expected,
        received: shown,
        ...(spot.secret || fix === undefined ? {} : { fix })
      }
    }
  }

  /** Type, constant and enumeration: when these are wrong nothing else is worth saying. */
  #kind(schema: JsonObject, spot: Spot): Issue | undefined {
    const types = Scalar.typesOf(schema)
    const values = Scalar.valuesOf(schema)
    const rightType = types.length === 0 || types.some((type) => Scalar.hasType(spot.value, type))
    if (values !== undefined) {
      this.#steps += Math.floor(values.length / 10)
      if (rightType && values.some((one) => isSame(one, spot.value))) return undefined
      return this.issue(spot, () => ({ expected: oneOfValues(values), fix: Scalar.valueFix(spot.value, values) }))
    }
    if (rightType) return undefined
    const fix = (): string | undefined => Scalar.typeFix(spot.value, { types, optional: spot.optional })
    return this.issue(spot, () => ({ expected: describeSchema(schema, this.root), fix: fix() }))
  }

  /** The keywords that apply other schemas to the same value. */
  #sameValue(schema: JsonObject, spot: Spot): Array<Issue> {
    const found: Array<Issue> = []
    const { $ref, not, if: condition } = schema
    if (typeof $ref === "string") found.push(...this.check(resolveLocal(this.root, $ref) ?? true, spot))
    for (const member of list(schema["allOf"])) found.push(...this.check(member, spot))
    for (const keyword of ["anyOf", "oneOf"]) {
      const branches = list(schema[keyword])
      if (branches.length > 0) found.push(...nearestBranch(this, { branches, spot, exactlyOne: keyword === "oneOf" }))
    }
    if (not !== undefined && this.check(not, { ...spot, seen: new Set() }).length === 0)
      found.push(this.issue(spot, () => ({ expected: "something else than this value" })))
    if (condition !== undefined) {
      const holds = this.check(condition, spot).length === 0
      found.push(...this.check(schema[holds ? "then" : "else"] ?? true, spot))
    }
    if (isJsonObject(spot.value))
      for (const [key, dependent] of members(schema["dependentSchemas"]))
        if (Object.hasOwn(spot.value, key)) found.push(...this.check(dependent, spot))
    return found
  }

  #array(schema: JsonObject, { spot, found }: { readonly spot: ArraySpot; readonly found: Array<Issue> }): void {
    const { value } = spot
    const { minItems, maxItems, uniqueItems, items, contains, unevaluatedItems } = schema
    const expect = (expected: string): unknown => found.push(this.issue(spot, () => ({ expected })))
    if (typeof minItems === "number" && value.length < minItems) expect(`at least ${countOf(minItems, "item")}`)
    if (typeof maxItems === "number" && value.length > maxItems) expect(`at most ${countOf(maxItems, "item")}`)
    if (uniqueItems === true && new Set(value.map(canonicalJson)).size < value.length)
      expect("items that differ from one another")
    const prefix = list(schema["prefixItems"])
    for (const [index, item] of value.entries()) {
      const itemSchema = prefix[index] ?? items
      if (itemSchema === undefined || found.length >= maxIssues) break
      spot.seen.add(index)
      found.push(...this.check(itemSchema, inside(spot, [index, item])))
    }
    if (contains !== undefined) this.#contains(schema, { spot, found })
    if (unevaluatedItems === undefined) return
    for (const [index, item] of value.entries())
      if (!spot.seen.has(index) && found.length < maxIssues)
        found.push(...this.check(unevaluatedItems, inside(spot, [index, item])))
    value.forEach((_, index) => spot.seen.add(index))
  }

  #contains(schema: JsonObject, { spot, found }: { readonly spot: ArraySpot; readonly found: Array<Issue> }): void {
    const { contains = true, minContains, maxContains } = schema
    const fitting = [...spot.value.entries()].filter((entry) => this.check(contains, inside(spot, entry)).length === 0)
    for (const [index] of fitting) spot.seen.add(index)
    const tooFew = fitting.length < (typeof minContains === "number" ? minContains : 1)
    if (tooFew || (typeof maxContains === "number" && fitting.length > maxContains))
      found.push(
        this.issue(spot, () => ({ expected: `an array that contains ${describeSchema(contains, this.root)}` }))
      )
  }

  #object(schema: JsonObject, { spot, found }: { readonly spot: ObjectSpot; readonly found: Array<Issue> }): void {
    const keys = Object.keys(spot.value)
    found.push(...missingIssues(schema, { spot, root: this.root }))
    const { minProperties, maxProperties, propertyNames, additionalProperties, unevaluatedProperties } = schema
    const expect = (expected: string): unknown => found.push(this.issue(spot, () => ({ expected })))
    if (typeof minProperties === "number" && keys.length < minProperties)
      expect(`at least ${countOf(minProperties, "field")}`)
    if (typeof maxProperties === "number" && keys.length > maxProperties)
      expect(`at most ${countOf(maxProperties, "field")}`)
    const left = this.#declared(schema, { spot, found })
    if (additionalProperties !== undefined) this.#rest(schema, { spot, found, keys: left, rest: additionalProperties })
    else if (unevaluatedProperties !== undefined) {
      const unseen = left.filter((key) => !spot.seen.has(key))
      this.#rest(schema, { spot, found, keys: unseen, rest: unevaluatedProperties })
    }
    if (propertyNames === undefined) return
    for (const key of keys)
      for (const issue of this.check(propertyNames, { ...inside(spot, [key, key]), secret: false }))
        found.push(() => ({ ...issue(), expected: `a field whose name is ${issue().expected}` }))
  }

  /** Checks the members that `properties` and `patternProperties` name, and returns the keys that they do not. */
  #declared(
    schema: JsonObject,
    { spot, found }: { readonly spot: ObjectSpot; readonly found: Array<Issue> }
  ): ReadonlyArray<string> {
    const properties = schema["properties"]
    const required = list(schema["required"])
    const patterns = members(schema["patternProperties"])
    return Object.keys(spot.value).filter((key) => {
      this.#steps += patterns.length
      if (this.exhausted) return false
      const schemas = patterns.filter(([pattern]) => this.#checks.matches(pattern, key)).map(([, one]) => one)
      if (isJsonObject(properties) && Object.hasOwn(properties, key)) schemas.push(properties[key] ?? true)
      if (schemas.length === 0) return true
      spot.seen.add(key)
      const member = { ...inside(spot, [key, spot.value[key] ?? null]), optional: !required.includes(key) }
      for (const one of schemas) if (found.length < maxIssues) found.push(...this.check(one, member))
      return false
    })
  }

  #rest(
    schema: JsonObject,
    {
      spot,
      found,
      keys,
      rest
    }: {
      readonly spot: ObjectSpot
      readonly found: Array<Issue>
      readonly keys: ReadonlyArray<string>
      readonly rest: Json
    }
  ): void {
    for (const key of keys) {
      if (found.length >= maxIssues) return
      spot.seen.add(key)
      const member = inside(spot, [key, spot.value[key] ?? null])
      if (rest === false) found.push(this.issue(member, () => sayUnknown(schema, { key, root: this.root })))
      else found.push(...this.check(rest, member))
    }
  }

  #say(spot: Spot, findings: ReadonlyArray<Scalar.Finding>): ReadonlyArray<Issue> {
    return findings.map((finding) => this.issue(spot, () => finding))
  }
}

/** The issues in words, as many as are shown. */
export const inWords = (issues: ReadonlyArray<Issue>): ReadonlyArray<ArgumentIssue> =>
  issues.slice(0, maxIssues).map((issue) => issue())

const inside = (spot: Spot, [key, value]: readonly [string | number, Json]): Spot => ({
  value,
  place: placeIn(spot.place, key),
  optional: false,
  secret: spot.secret,
  seen: new Set()
})

const isSame = (one: Json, other: Json): boolean =>
  one === other || (typeof one === "object" && typeof other === "object" && canonicalJson(one) === canonicalJson(other))
