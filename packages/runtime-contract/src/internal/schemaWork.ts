/**
 * How much work a schema can make of one value, found before any value is checked.
 *
 * Guarantees: an upper bound on the schema nodes that one member of a value is checked against, for each depth; nested
 * choices, shared references and recursion are all counted, so nothing explodes later.
 * Does not count text: patterns and formats have bounds of their own.
 */
import { isJsonObject, type Json, type JsonObject } from "../Json.js"
import { maxDepth } from "./jsonScanner.js"
import { list, members, resolveLocal } from "./schemaKeywords.js"
import { constantsOf, nodesOf } from "./schemaNodes.js"

/** Nodes that one member may be checked against. */
const maxNodesPerMember = 10_000

/** Node checks that one call may cost in all; a node costs about ten nanoseconds. */
export const maxNodeChecks = 20_000_000

export interface SchemaWork {
  /** The most nodes that one member is checked against, down to `depth`. */
  readonly perMember: number
  /** How many objects and arrays may lie inside one another before a member costs too much; `maxDepth` when it never does. */
  readonly depth: number
}

/** `undefined` when a reference leads back to itself without descending into the value: checking would never end. */
export const schemaWork = (root: JsonObject): SchemaWork | undefined => {
  const meter = new Meter(root)
  const nodes = meter.reach(root)
  if (nodes === undefined) return undefined
  // Whatever lies deep inside counts too: it is planned and compiled however deep values may be.
  if (nodes.some((node) => meter.at(node, 0) > maxNodesPerMember)) return { perMember: 1, depth: -1 }
  let perMember = 0
  for (let depth = 0; depth <= maxDepth; depth++) {
    const checks = meter.at(root, depth)
    // A scalar at this level lies in as many containers, so one container less is the limit.
    if (checks > maxNodesPerMember) return { perMember: Math.max(perMember, 1), depth: depth - 1 }
    perMember = Math.max(perMember, checks)
    // Nothing is checked at this depth, so nothing is below it either.
    if (checks === 0) break
  }
  return { perMember, depth: maxDepth }
}

/** What a node asks for: of the same value, and of the values in it. Alternatives of a group exclude one another. */
interface Demand {
  readonly same: ReadonlyArray<Json>
  /** Members that are different places of the value: the dearest counts. */
  readonly members: ReadonlyArray<Json>
  /** Looked at beside all others: each counts. */
  readonly beside: ReadonlyArray<Json>
  /** Branches told apart by their first field: the dearest counts, the others cost that field only. */
  readonly exclusive: ReadonlyArray<Json>
}

class Meter {
  readonly #root: JsonObject
  readonly #demands = new Map<JsonObject, Demand>()
  readonly #depths: Array<Map<JsonObject, number>> = []

  constructor(root: JsonObject) {
    this.#root = root
  }

  /** All nodes that are ever applied; `undefined` when one of them applies itself to the same value again. */
  reach(start: JsonObject): ReadonlyArray<JsonObject> | undefined {
    const state = new Map<JsonObject, "open" | "done">()
    const visit = (node: Json): boolean => {
      if (!isJsonObject(node) || state.get(node) === "done") return true
      if (state.get(node) === "open") return false
      state.set(node, "open")
      const { same, exclusive } = this.#demand(node)
      const fine = [...same, ...exclusive].every(visit)
      state.set(node, "done")
      return fine
    }
    const pending: Array<Json> = [start]
    const reached = new Set<JsonObject>()
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (!isJsonObject(node) || reached.has(node)) continue
      reached.add(node)
      if (!visit(node)) return undefined
      const demand = this.#demand(node)
      pending.push(...demand.same, ...demand.exclusive, ...demand.members, ...demand.beside)
    }
    return [...reached]
  }

  /** The most node checks of one place `depth` levels inside the value that `node` is applied to. */
  at(node: Json, depth: number): number {
    if (!isJsonObject(node)) return depth === 0 ? 1 : 0
    const known = (this.#depths[depth] ??= new Map())
    const before = known.get(node)
    if (before !== undefined) return before
    const { same, members: places, beside, exclusive } = this.#demand(node)
    let checks = this.#sum(same, depth)
    checks += depth < 2 ? this.#sum(exclusive, depth) : this.#most(exclusive, depth)
    checks += depth === 0 ? ownWeight(node) : this.#most(places, depth - 1) + this.#sum(beside, depth - 1)
    const bounded = Math.min(checks, 1e12)
    known.set(node, bounded)
    return bounded
  }

  #sum(nodes: ReadonlyArray<Json>, depth: number): number {
    let total = 0
    for (const node of nodes) total += this.at(node, depth)
    return total
  }

  #most(nodes: ReadonlyArray<Json>, depth: number): number {
    let top = 0
    for (const node of nodes) top = Math.max(top, this.at(node, depth))
    return top
  }

  #demand(node: JsonObject): Demand {
    const known = this.#demands.get(node)
    if (known !== undefined) return known
    const demand = this.#read(node)
    this.#demands.set(node, demand)
    return demand
  }

  #read(node: JsonObject): Demand {
    const same: Array<Json> = [...list(node["allOf"]), ...members(node["dependentSchemas"]).map(([, one]) => one)]
    const exclusive: Array<Json> = []
    for (const keyword of ["anyOf", "oneOf"]) {
      const branches = list(node[keyword])
      if (this.#areToldApart(branches)) exclusive.push(...branches)
      else same.push(...branches)
    }
    const { $ref } = node
    for (const keyword of ["not", "if", "then", "else"]) same.push(...present(node[keyword]))
    if (typeof $ref === "string") same.push(...present(resolveLocal(this.#root, $ref)))
    const places = [...members(node["properties"]).map(([, one]) => one), ...list(node["prefixItems"])]
    for (const keyword of ["items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"])
      places.push(...present(node[keyword]))
    const beside = members(node["patternProperties"]).map(([, one]) => one)
    for (const keyword of ["contains", "propertyNames"]) beside.push(...present(node[keyword]))
    return { same, members: places, beside, exclusive }
  }

  /**
   * Branches whose first property is a required constant, each with another value: the validator, which stops at the
   * first error and checks properties in their order, goes into one of them only.
   */
  #areToldApart(branches: ReadonlyArray<Json>): boolean {
    if (branches.length < 2) return false
    const keys = new Set<string>()
    const values = new Set<Json>()
    for (const branch of branches) {
      const nodes = nodesOf(branch, this.#root)
      const [node] = nodes.filter((one) => one["properties"] !== undefined)
      if (node === undefined || nodes.some((one) => one !== node && Object.keys(one).some((key) => key !== "$ref")))
        return false
      if (typeof node["additionalProperties"] === "object" || Object.keys(node).some((key) => early.has(key)))
        return false
      const key = Object.keys(node["properties"] ?? {})[0] ?? ""
      const constant = constantsOf([node]).find(([name]) => name === key)
      if (constant === undefined) return false
      keys.add(key)
      values.add(constant[1])
    }
    return keys.size === 1 && values.size === branches.length
  }
}

/** A node by itself, and what it compares one by one: some of these make a node check. */
const ownWeight = (node: JsonObject): number => {
  const compared = list(node["enum"]).length + list(node["required"]).length
  return 1 + Math.floor((compared + members(node["properties"]).length) / 5)
}

/** What the validator checks before `properties`. */
const early: ReadonlySet<string> = new Set([
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "propertyNames",
  "dependentSchemas"
])

const present = (value: Json | undefined): ReadonlyArray<Json> => (value === undefined ? [] : [value])
