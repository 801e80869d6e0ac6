/**
 * What holds for one value: the nodes that a schema applies to it without a choice, and what these say together.
 *
 * Guarantees: follows `allOf` and references only, each node once, so cyclic references end.
 * Does not look at unions; those are the choices.
 */
import { isJsonObject, type Json, type JsonObject } from "../Json.js"
import { list, members, resolveLocal } from "./schemaKeywords.js"

/** The node itself, the members of its `allOf` and the targets of its references, in that order, all the way. */
export const nodesOf = (schema: Json, root: JsonObject): ReadonlyArray<JsonObject> => {
  const found = new Set<JsonObject>()
  const visit = (node: Json): void => {
    if (!isJsonObject(node) || found.has(node)) return
    found.add(node)
    for (const member of list(node["allOf"])) visit(member)
    const { $ref } = node
    if (typeof $ref === "string") visit(resolveLocal(root, $ref) ?? true)
  }
  visit(schema)
  return [...found]
}

/** The keys that must be there. */
export const requiredOf = (nodes: ReadonlyArray<JsonObject>): ReadonlySet<string> =>
  new Set(nodes.flatMap((node) => list(node["required"]).filter((key) => typeof key === "string")))

/** The scalar constants of required members: what tells the branches of a union apart. */
export const constantsOf = (nodes: ReadonlyArray<JsonObject>): ReadonlyArray<readonly [string, Json]> => {
  const required = requiredOf(nodes)
  return nodes.flatMap((node) =>
    members(node["properties"]).flatMap(([key, member]): Array<readonly [string, Json]> => {
      if (!required.has(key) || !isJsonObject(member)) return []
      const values = member["const"] === undefined ? list(member["enum"]) : [member["const"]]
      const [only] = values
      return values.length === 1 && only !== undefined && typeof only !== "object" ? [[key, only]] : []
    })
  )
}

/** The JSON types that a schema leaves open, by `type`, constants, references, `allOf` and unions; `integer` lies in `number`. */
export const allowedTypes = (schema: Json, root: JsonObject): ReadonlySet<string> => {
  if (schema === false) return new Set()
  let open: ReadonlySet<string> = new Set(everyType)
  for (const node of nodesOf(schema, root)) {
    open = narrow(open, named(node))
    for (const keyword of ["anyOf", "oneOf"]) {
      const branches = list(node[keyword])
      // A branch that leads back here allows no type that the others do not.
      const inside = branches.filter((branch) => !nodesOf(branch, root).includes(node))
      if (branches.length > 0) open = narrow(open, new Set(inside.flatMap((branch) => [...allowedTypes(branch, root)])))
    }
  }
  return open
}

const everyType = ["null", "boolean", "integer", "number", "string", "array", "object"]

const named = (node: JsonObject): ReadonlySet<string> => {
  const values = node["const"] === undefined ? node["enum"] : [node["const"]]
  if (values !== undefined) return new Set(list(values).flatMap(typeNames))
  const { type } = node
  const types = typeof type === "string" ? [type] : list(type).filter((one) => typeof one === "string")
  return types.length === 0
    ? new Set(everyType)
    : new Set(types.flatMap((one) => (one === "number" ? ["number", "integer"] : [one])))
}

const typeNames = (value: Json): ReadonlyArray<string> => {
  if (value === null) return ["null"]
  if (Array.isArray(value)) return ["array"]
  return typeof value === "number" ? (Number.isInteger(value) ? ["integer"] : ["number"]) : [typeof value]
}

const narrow = (left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...left].filter((type) => right.has(type)))
