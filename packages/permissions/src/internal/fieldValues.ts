/**
 * The values that a condition is about: own members only, arrays standing for their elements.
 *
 * Guarantees: `__proto__` and `constructor` are ordinary keys; nothing inherited is ever found.
 */
import { Json } from "@toolwright/runtime-contract"

/** `undefined` among the values is an element in which the field is absent. Never empty. */
export const valuesAt = (root: Json.JsonObject, field: ReadonlyArray<string>): ReadonlyArray<Json.Json | undefined> => {
  if (field.length === 0) return [root]
  const found = walk(root, field)
  return found.length === 0 ? [undefined] : found
}

/** The value itself, where a condition compares a whole array. */
export const wholeAt = (root: Json.JsonObject, field: ReadonlyArray<string>): Json.Json | undefined => {
  let at: Json.Json | undefined = root
  for (const key of field)
    at = isList(at)
      ? at[/^(?:0|[1-9]\d*)$/.test(key) ? Number(key) : -1]
      : Json.isJsonObject(at)
        ? member(at, key)
        : undefined
  return at
}

const elements = (value: ReadonlyArray<Json.Json>): ReadonlyArray<Json.Json | undefined> => {
  const found = value.flatMap((item) => (isList(item) ? elements(item) : [item]))
  return found.length === 0 ? [undefined] : found
}

const isList = (value: Json.Json | undefined): value is ReadonlyArray<Json.Json> => Array.isArray(value)

const walk = (value: Json.Json | undefined, field: ReadonlyArray<string>): ReadonlyArray<Json.Json | undefined> => {
  const [key, ...rest] = field
  if (key === undefined) return isList(value) ? elements(value) : [value]
  if (isList(value)) {
    if (/^(?:0|[1-9]\d*)$/.test(key)) return walk(value[Number(key)], rest)
    return value.flatMap((item) => walk(item, field))
  }
  return Json.isJsonObject(value) ? walk(member(value, key), rest) : [undefined]
}

const member = (object: Json.JsonObject, key: string): Json.Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined
