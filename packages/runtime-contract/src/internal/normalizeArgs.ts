/**
 * The one normalisation of arguments, planned once for a schema: null at an optional member that takes no null is absent,
 * an absent member with a default is filled, and, where asked for, a string becomes the number or boolean it spells.
 *
 * Guarantees: applied twice it changes nothing more; inside a union it touches only the branch whose required constants
 * all match. A schema that leaves nothing to do has no plan and costs nothing.
 * Does not validate, and changes only values that nobody else holds yet.
 */
import { deepFreeze, isJsonObject, type Json, type JsonObject } from "../Json.js"
import {
  applyPlan,
  type Field,
  hasWork,
  isEmpty,
  type Normalize,
  type Others,
  type Plan,
  type Slot
} from "./applyNormalization.js"
import { list, members } from "./schemaKeywords.js"
import { allowedTypes, constantsOf, nodesOf, requiredOf } from "./schemaNodes.js"
import type { Fresh } from "./strictJson.js"

export interface PlanOptions {
  readonly start?: Json
  readonly defaults: boolean
  readonly lossless: boolean
  /** Whether a schema takes `null`. */
  readonly takesNull: (schema: Json) => boolean
  readonly matches: (pattern: string, key: string) => boolean
}

/**
 * The plan for values of `options.start` (default: the whole schema), or `undefined` when there is nothing to do.
 * Throws `RangeError` for a schema whose parts combine in more ways than can be planned.
 */
export const planNormalization = (root: JsonObject, options: PlanOptions): Normalize | undefined =>
  new Planner(root, options).plan([options.start ?? root], new Set())

const maxPlans = 5_000

class Planner {
  readonly #root: JsonObject
  readonly #options: PlanOptions
  readonly #plans = new Map<string, { run: Normalize | undefined; done: boolean }>()
  readonly #numbers = new Map<Json, number>()

  constructor(root: JsonObject, options: PlanOptions) {
    this.#root = root
    this.#options = options
  }

  /** The plan for a value that all of `schemas` hold for; `required` are keys that schemas outside of these ask for. */
  plan(schemas: ReadonlyArray<Json>, required: ReadonlySet<string>): Normalize | undefined {
    const nodes = [...new Set(schemas.flatMap((schema) => nodesOf(schema, this.#root)))]
    const name = `${nodes.map((node) => this.#number(node)).join()}/${JSON.stringify([...required])}`
    const known = this.#plans.get(name)
    // A recursive schema meets itself while it is being planned: by the time the values come, the plan is there.
    if (known !== undefined) return known.done ? known.run : (value, trail) => known.run?.(value, trail) ?? false
    if (this.#plans.size >= maxPlans) throw new RangeError(`more than ${maxPlans} combinations of its parts`)
    const entry: { run: Normalize | undefined; done: boolean } = { run: undefined, done: false }
    this.#plans.set(name, entry)
    const needed = new Set([...required, ...requiredOf(nodes)])
    const plan: Plan = {
      fields: this.#fields(nodes, needed),
      others: this.#others(nodes),
      ...this.#items(nodes),
      unions: this.#unions(nodes, needed)
    }
    entry.run = isEmpty(plan) ? undefined : (value, trail) => applyPlan(plan, { value, trail })
    entry.done = true
    return entry.run
  }

  #number(node: Json): number {
    const number = this.#numbers.get(node) ?? this.#numbers.size
    this.#numbers.set(node, number)
    return number
  }

  #fields(nodes: ReadonlyArray<JsonObject>, required: ReadonlySet<string>): ReadonlyArray<Field> {
    const declared = new Map<string, Array<Json>>()
    for (const node of nodes)
      for (const [key, schema] of members(node["properties"])) declared.set(key, [...(declared.get(key) ?? []), schema])
    const fields: Array<Field> = []
    for (const [key, schemas] of declared) {
      const slot = this.#slot(schemas)
      const dropNull = !required.has(key) && !schemas.every(this.#options.takesNull)
      const fill = this.#fill(schemas, slot.inside)
      if (dropNull || fill !== undefined || hasWork(slot))
        fields.push({ key, inherited: key in Object.prototype, dropNull, fill, ...slot })
    }
    return fields
  }

  #fill(schemas: ReadonlyArray<Json>, inside: Normalize | undefined): (() => Json) | undefined {
    if (!this.#options.defaults) return undefined
    const found = schemas.flatMap((schema) => nodesOf(schema, this.#root)).find((node) => node["default"] !== undefined)
    const given = found?.["default"]
    if (given === undefined) return undefined
    if (typeof given !== "object" || given === null) return () => given
    let ready: Json | undefined
    return () => {
      if (ready !== undefined) return ready
      const copy = JSON.parse(JSON.stringify(given)) as Fresh
      inside?.(copy)
      return (ready = deepFreeze(copy))
    }
  }

  #others(nodes: ReadonlyArray<JsonObject>): ReadonlyArray<Others> {
    const { matches } = this.#options
    return nodes.flatMap((node): ReadonlyArray<Others> => {
      const patterns = members(node["patternProperties"])
      const names = new Set(members(node["properties"]).map(([key]) => key))
      const byPattern = patterns.map(([pattern, schema]) => ({
        ...this.#slot([schema]),
        applies: (key: string) => matches(pattern, key)
      }))
      const isNamed = (key: string): boolean => names.has(key) || patterns.some(([pattern]) => matches(pattern, key))
      const rest = node["additionalProperties"]
      const others = isJsonObject(rest)
        ? [...byPattern, { ...this.#slot([rest]), applies: (key: string) => !isNamed(key) }]
        : byPattern
      return others.filter(hasWork)
    })
  }

  #items(nodes: ReadonlyArray<JsonObject>): Pick<Plan, "prefix" | "rest"> {
    const longest = Math.max(0, ...nodes.map((node) => list(node["prefixItems"]).length))
    const at = (index: number): Slot =>
      this.#slot(
        nodes.map((node) => list(node["prefixItems"])[index] ?? node["items"]).filter((schema) => schema !== undefined)
      )
    const prefix = Array.from({ length: longest }, (_, index) => at(index))
    const rest = at(longest)
    return { prefix: prefix.some(hasWork) ? prefix : [], rest: hasWork(rest) ? rest : undefined }
  }

  #unions(nodes: ReadonlyArray<JsonObject>, required: ReadonlySet<string>): Plan["unions"] {
    return nodes
      .flatMap((node) => [list(node["anyOf"]), list(node["oneOf"])])
      .map((branches) =>
        branches.map((branch) => ({
          types: allowedTypes(branch, this.#root),
          constants: constantsOf(nodesOf(branch, this.#root)),
          inside: this.plan([branch], required)
        }))
      )
      .filter((branches) => branches.some(({ inside }) => inside !== undefined))
  }

  #slot(schemas: ReadonlyArray<Json>): Slot {
    const inside = this.plan(schemas, new Set())
    if (!this.#options.lossless || schemas.length === 0) return { loose: undefined, inside }
    const types = [...allowedTypes({ allOf: schemas }, this.#root)]
    const spelled = types.filter((type) => ["number", "integer", "boolean"].includes(type))
    return { loose: types.includes("string") || spelled.length === 0 ? undefined : spelled, inside }
  }
}
