/**
 * An arguments schema with its references and compositions at the root written out as one object.
 *
 * Guarantees: `type: "object"` and no composition at the root; every property of every branch can be found there.
 * Does not touch anything below the root's own properties. The result may be wider than the original.
 */
import type { Json } from "@toolwright/runtime-contract"
import { conjoin, disjoin } from "./joinSchemas.js"
import { isSchema, listOf, mapOf, pointerOfReference, resolve, type Schema, typesOf, under } from "./jsonSchema.js"
import { described, wordsForBranches } from "./schemaWords.js"
import { Unsayable } from "./unsayable.js"

/** Keywords that providers refuse at the root. */
const refused = [
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "enum",
  "const",
  "dependentSchemas",
  "unevaluatedProperties"
]

export interface Flat {
  readonly schema: Schema
  /** The root's keywords that are gone. */
  readonly dropped: ReadonlyArray<string>
  /** A union of the root that named properties of its own, which now stand beside those of its other branches. */
  readonly mixed: string | undefined
}

/** Throws `Unsayable` where no object can be made of the root. */
export const flatten = (root: Schema): Flat => {
  const schema = objectOf(root, { root, pointer: "", references: [] })
  if (schema === undefined) throw new Unsayable("", "the arguments of a tool are an object, and this schema takes none")
  return {
    schema,
    dropped: refused.filter((keyword) => keyword !== "allOf" && Object.hasOwn(root, keyword)),
    mixed: ["anyOf", "oneOf"].find(
      (keyword) => listOf(root[keyword]).length > 1 && ownKeys(root, listOf(root[keyword]))
    )
  }
}

/** Does a branch name a property that the root does not? A reference may. */
const ownKeys = (root: Schema, branches: ReadonlyArray<Json.Json>): boolean => {
  const known = mapOf(root["properties"])
  return branches.some(
    (branch) =>
      isSchema(branch) &&
      (["$ref", "allOf", "anyOf", "oneOf"].some((keyword) => branch[keyword] !== undefined) ||
        Object.keys(mapOf(branch["properties"])).some((name) => !Object.hasOwn(known, name)))
  )
}

interface Walk {
  readonly root: Schema
  readonly pointer: string
  readonly references: ReadonlyArray<string>
}

/** The schema as one object, or `undefined` where it takes no object. */
const objectOf = (value: Json.Json, walk: Walk): Schema | undefined => {
  if (value === true) return { type: "object" }
  if (!isSchema(value)) return undefined
  if (typeof value["$ref"] === "string") return behind(value, value["$ref"], walk)
  const types = typesOf(value)
  if (types.length > 0 && !types.includes("object")) return undefined
  let whole: Schema = { ...omit(value, refused), type: "object" }
  for (const [index, part] of listOf(value["allOf"]).entries()) {
    const object = objectOf(part, { ...walk, pointer: under(under(walk.pointer, "allOf"), index) })
    if (object === undefined) return undefined
    whole = conjoin(whole, object)
  }
  for (const keyword of ["anyOf", "oneOf"]) {
    if (!Array.isArray(value[keyword])) continue
    const branches = listOf(value[keyword])
      .map((part, index) => objectOf(part, { ...walk, pointer: under(under(walk.pointer, keyword), index) }))
      .filter((branch) => branch !== undefined)
    if (branches.length === 0) return undefined
    const words = branches.length > 1 ? wordsForBranches(branches) : undefined
    const description = described(whole["description"], words === undefined ? [] : [words])
    whole = { ...conjoin(whole, disjoin(branches)), ...(description === undefined ? {} : { description }) }
  }
  return value["unevaluatedProperties"] === false ? { additionalProperties: false, ...whole } : whole
}

const behind = (value: Schema, reference: string, walk: Walk): Schema | undefined => {
  const pointer = pointerOfReference(reference)
  const target = pointer === undefined ? undefined : resolve(walk.root, pointer)
  if (pointer === undefined || target === undefined)
    throw new Unsayable(under(walk.pointer, "$ref"), "a reference that leads nowhere in this schema")
  if (walk.references.includes(pointer)) throw new Unsayable(under(walk.pointer, "$ref"), "a reference to itself")
  const object = objectOf(target, { ...walk, pointer, references: [...walk.references, pointer] })
  return object === undefined ? undefined : conjoin(omit(value, ["$ref"]), object)
}

const omit = (schema: Schema, keywords: ReadonlyArray<string>): Schema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)))
