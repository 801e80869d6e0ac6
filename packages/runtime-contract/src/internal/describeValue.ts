/**
 * The words of error messages: what a schema expects, what a value is, and which name was probably meant.
 *
 * Guarantees: short, one line, well-formed Unicode. Expects values that are JSON already.
 * Does not decide whether a value fits.
 */
/// <reference lib="es2024.string" />
import { isJsonObject, type Json, type JsonObject } from "../Json.js"
import { list, members, resolveLocal } from "./schemaKeywords.js"

/** UTF-16 code units of a value that are shown. */
const longest = 60

export type JsonType = "null" | "boolean" | "number" | "string" | "array" | "object" | "undefined" | "other"

export const typeOf = (value: unknown): JsonType => {
  if (value === null) return "null"
  if (typeof value === "object") return Array.isArray(value) ? "array" : "object"
  if (typeof value === "string") return "string"
  if (typeof value === "number") return "number"
  if (typeof value === "boolean") return "boolean"
  return value === undefined ? "undefined" : "other"
}

/** Cuts at a code point's end and says that something was cut. */
export const shorten = (text: string, most: number = longest): string => {
  const whole = text.toWellFormed()
  if (whole.length <= most) return whole
  const splitsPair = /[\uD800-\uDBFF]/.test(whole.charAt(most - 1))
  return `${whole.slice(0, splitsPair ? most - 1 : most)}…`
}

/** What came, as the model should recognise it. */
export const describeValue = (value: unknown): string => {
  if (value === undefined) return "nothing"
  if (typeof value === "string") return `the string ${shorten(JSON.stringify(value))}`
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value)
  if (Array.isArray(value)) return countOf(value.length, "item", "an array of")
  if (typeof value !== "object") return "a value that is no JSON"
  const keys = Object.keys(value)
  if (keys.length === 0) return "an empty object"
  return `an object with ${keys.length === 1 ? "key" : "keys"} ${shorten(keys.join(", "))}`
}

export const countOf = (count: number, unit: string, before = ""): string =>
  `${before === "" ? "" : `${before} `}${count} ${unit}${count === 1 ? "" : "s"}`

/** What a schema takes, in a few words; `root` resolves its references. */
export const describeSchema = (schema: Json, root: JsonObject): string => describe(schema, { root, depth: 0 })

interface Scope {
  readonly root: JsonObject
  readonly depth: number
}

const describe = (schema: Json, scope: Scope): string => {
  if (!isJsonObject(schema) || scope.depth > 4) return schema === false ? "nothing" : "any value"
  const inner: Scope = { root: scope.root, depth: scope.depth + 1 }
  const { $ref, anyOf, oneOf, allOf } = schema
  if (schema["const"] !== undefined) return shorten(JSON.stringify(schema["const"]))
  if (schema["enum"] !== undefined) return oneOfValues(list(schema["enum"]))
  const branches = [...list(anyOf), ...list(oneOf)]
  if (branches.length > 0) return describeBranches(branches, inner)
  if (schema["type"] !== undefined) return describeType(schema, inner)
  if (typeof $ref === "string") return describe(resolveLocal(scope.root, $ref) ?? true, inner)
  const first = list(allOf)[0]
  if (first !== undefined) return describe(first, inner)
  return members(schema["properties"]).length > 0 ? "an object" : "any value"
}

const describeBranches = (branches: ReadonlyArray<Json>, scope: Scope): string => {
  const values = branches.flatMap((branch) =>
    isJsonObject(branch) && branch["const"] !== undefined ? [branch["const"]] : []
  )
  if (values.length === branches.length) return oneOfValues(values)
  return joined([...new Set(branches.map((branch) => describe(branch, scope)))])
}

const articles: { readonly [type: string]: string } = {
  null: "null",
  boolean: "true or false",
  integer: "an integer",
  number: "a number",
  string: "a string",
  array: "an array",
  object: "an object"
}

const describeType = (schema: JsonObject, scope: Scope): string => {
  const { type, format, items } = schema
  if (Array.isArray(type)) return joined(list(type).map((one) => describeType({ ...schema, type: one }, scope)))
  const words = typeof type === "string" && Object.hasOwn(articles, type) ? articles[type] : undefined
  if (type === "string" && typeof format === "string") return `a string in the form ${shorten(format, 30)}`
  if (type === "array" && isJsonObject(items) && scope.depth < 3) return `an array, each item ${describe(items, scope)}`
  return words ?? "any value"
}

/** `"a"`, or `one of "a", "b"`; at most ten are listed. */
export const oneOfValues = (values: ReadonlyArray<Json>): string => {
  const shown = values.slice(0, 10).map((value) => shorten(JSON.stringify(value)))
  if (shown.length === 1) return shown.join("")
  const rest = values.length - shown.length
  return `one of ${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`
}

const joined = (words: ReadonlyArray<string>): string => {
  const unique = [...new Set(words)]
  const shown = unique.slice(0, 4)
  return shown.join(" or ") + (unique.length > 4 ? " or another form" : "")
}

/**
 * The candidate that was probably meant: the nearest within a third of the name's length, case and separators aside. Only
 * the first 100 candidates of at most 40 characters are looked at. For the "did you mean" of a tool's own checks.
 */
export const nearestName = (name: string, candidates: ReadonlyArray<string>): string | undefined => {
  if (name.length > 40) return undefined
  const wanted = fold(name)
  let best: { readonly candidate: string; readonly distance: number } | undefined
  for (const candidate of candidates.slice(0, 100)) {
    const limit = Math.max(1, Math.floor(Math.max(name.length, candidate.length) / 3))
    if (candidate.length > 40 || Math.abs(candidate.length - name.length) > limit + 2) continue
    const distance = editDistance(wanted, fold(candidate))
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { candidate, distance }
  }
  return best?.candidate
}

// Names that differ only in case or in their separators are the commonest slip.
const fold = (name: string): string => name.toLowerCase().replaceAll(/[-_ ]/g, "")

/** Edits (insert, delete, replace, swap of neighbours) between two short texts. */
const editDistance = (a: string, b: string): number => {
  let before: Array<number> = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const least = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + (same ? 0 : 1))
      row.push(swapped ? Math.min(least, (before[j - 2] ?? 0) + 1) : least)
    }
    before = previous
    previous = row
  }
  return previous[b.length] ?? 0
}
