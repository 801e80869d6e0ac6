/**
 * Fields that are missing and fields that nothing declares, with the names that were probably meant.
 *
 * Guarantees: total over any schema node; the value of a stray beside a secret field is not shown.
 * Does not check the fields that are there.
 */
import { isJsonObject, type Json, type JsonObject } from "../Json.js"
import { describeSchema, nearestName, shorten } from "./describeValue.js"
import { placeIn, pointerOf } from "./jsonPointer.js"
import type { Issue, Saying, Spot } from "./nearestBranch.js"
import { isSecret } from "./scalarIssues.js"
import { list, members, resolveLocal } from "./schemaKeywords.js"

export const missingIssues = (
  schema: JsonObject,
  { spot, root }: { readonly spot: Spot & { readonly value: JsonObject }; readonly root: JsonObject }
): ReadonlyArray<Issue> => {
  const needed = [...list(schema["required"])]
  for (const [key, names] of members(schema["dependentRequired"]))
    if (Object.hasOwn(spot.value, key)) needed.push(...list(names))
  const absent = new Set(
    needed.filter((key) => typeof key === "string").filter((key) => !Object.hasOwn(spot.value, key))
  )
  return [...absent].map((key) => () => {
    const properties = schema["properties"]
    const declared = isJsonObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined
    const expected = declared === undefined ? "a value" : describeSchema(declared, root)
    return {
      pointer: pointerOf(placeIn(spot.place, key)),
      expected,
      received: "nothing",
      fix: `add the field \`${key}\``
    }
  })
}

export const sayUnknown = (
  schema: JsonObject,
  { key, root }: { readonly key: string; readonly root: JsonObject }
): Saying => {
  const known = [...declaredNames(schema, root)]
  const meant = nearestName(key, known)
  const hint = meant === undefined ? "omit the key" : `did you mean \`${meant}\``
  const listed = `only the fields ${known.slice(0, 20).join(", ")}${known.length > 20 ? " and others" : ""}`
  // A misspelt name may stand for a secret one, so its value is hidden beside one.
  const hidden = members(schema["properties"]).some(([, one]) => isSecret(one))
  return {
    expected: known.length === 0 ? "no fields" : listed,
    received: hidden ? "a value that is not shown" : undefined,
    fix: `unknown field \`${shorten(key)}\`; ${hint}`
  }
}

/** The property names that a schema declares for the object itself, through compositions and references. */
const declaredNames = (schema: Json, root: JsonObject): ReadonlySet<string> => {
  const names = new Set<string>()
  const visited = new Set<Json>()
  const pending = [schema]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (!isJsonObject(node) || visited.has(node) || visited.size > 100) continue
    visited.add(node)
    for (const [name] of members(node["properties"])) names.add(name)
    for (const keyword of ["oneOf", "anyOf", "allOf"]) pending.push(...[...list(node[keyword])].reverse())
    if (typeof node["$ref"] === "string") pending.push(resolveLocal(root, node["$ref"]) ?? true)
  }
  return names
}
