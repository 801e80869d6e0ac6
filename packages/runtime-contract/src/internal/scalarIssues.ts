/**
 * What is wrong with one string or number, and how to mend a value that is of the wrong type.
 *
 * Guarantees: total over any schema node; says nothing where the validator would be content.
 * Does not look inside objects and arrays.
 */
import { isJsonObject, type Json, type JsonObject } from "../Json.js"
import type { ArgumentIssue } from "../ToolError.js"
import { countOf, describeValue, nearestName, shorten, typeOf } from "./describeValue.js"
import { list } from "./schemaKeywords.js"

export type Finding = Omit<ArgumentIssue, "pointer">

/** What a schema's `pattern` and `format` mean; own and foreign schemas differ here. */
export interface TextChecks {
  readonly matches: (pattern: string, text: string) => boolean
  /** True for formats that are not known. */
  readonly hasFormat: (format: string, value: string | number) => boolean
}

const formatExamples: { readonly [format: string]: string } = {
  date: "2025-01-31",
  time: "13:45:00Z",
  "date-time": "2025-01-31T13:45:00Z",
  duration: "PT1H30M",
  email: "name@example.org",
  uri: "https://example.org/path",
  uuid: "123e4567-e89b-42d3-a456-426614174000",
  ipv4: "192.0.2.1"
}

export const stringFindings = (schema: JsonObject, [value, checks]: readonly [string, TextChecks]): Array<Finding> => {
  const found: Array<Finding> = []
  const received = describeValue(value)
  const { minLength, maxLength, pattern, format } = schema
  const length = typeof minLength === "number" || typeof maxLength === "number" ? characters(value) : 0
  if (typeof minLength === "number" && length < minLength)
    found.push({ expected: `at least ${countOf(minLength, "character")}`, received })
  if (typeof maxLength === "number" && length > maxLength)
    found.push({ expected: `at most ${countOf(maxLength, "character")}`, received: countOf(length, "character") })
  if (typeof pattern === "string" && !checks.matches(pattern, value))
    found.push({ expected: `a string that matches ${shorten(pattern, 100)}`, received })
  if (typeof format === "string" && !checks.hasFormat(format, value)) {
    const example = Object.hasOwn(formatExamples, format) ? { fix: `for example ${formatExamples[format] ?? ""}` } : {}
    found.push({ expected: `a string in the form ${shorten(format)}`, received, ...example })
  }
  return found
}

export const numberFindings = (schema: JsonObject, [value, checks]: readonly [number, TextChecks]): Array<Finding> => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, format } = schema
  const expected: Array<string> = []
  if (typeof minimum === "number" && value < minimum) expected.push(`a number of at least ${minimum}`)
  if (typeof maximum === "number" && value > maximum) expected.push(`a number of at most ${maximum}`)
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum)
    expected.push(`a number above ${exclusiveMinimum}`)
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum)
    expected.push(`a number below ${exclusiveMaximum}`)
  if (typeof multipleOf === "number" && !Number.isInteger(value / multipleOf))
    expected.push(`a multiple of ${multipleOf}`)
  if (typeof format === "string" && !checks.hasFormat(format, value))
    expected.push(`a number in the form ${shorten(format)}`)
  return expected.map((text) => ({ expected: text, received: String(value) }))
}

/** Code points, as JSON Schema counts. */
const characters = (text: string): number => Array.from(text).length

/** JSON Schema types that a node names itself; none when it does not say. */
export const typesOf = (schema: JsonObject): ReadonlyArray<string> => {
  const type = schema["type"]
  return typeof type === "string" ? [type] : list(type).filter((one) => typeof one === "string")
}

export const hasType = (value: unknown, type: string): boolean =>
  type === "integer" ? Number.isInteger(value) : typeOf(value) === type

/** The values that a node names itself, by `const` or `enum`. */
export const valuesOf = (schema: JsonObject): ReadonlyArray<Json> | undefined =>
  schema["const"] !== undefined ? [schema["const"]] : schema["enum"] === undefined ? undefined : list(schema["enum"])

/** How to mend a value that has the wrong type, where there is a sure way. */
export const typeFix = (
  value: unknown,
  wanted: { readonly types: ReadonlyArray<string>; readonly optional: boolean }
): string | undefined => {
  const { types, optional } = wanted
  if (value === null) return optional ? "omit the key" : undefined
  if (typeof value === "string") {
    const bare = looseScalar(value, types)
    if (bare !== undefined) return `send ${value} without quotes`
    const container = ["array", "object"].find((type) => types.includes(type) && parsesAs(value, type))
    if (container !== undefined) return `send the ${container} itself, not a string that contains it`
    return value.trim() === "" && optional ? "omit the key" : undefined
  }
  if (types.includes("string") && (typeof value === "number" || typeof value === "boolean"))
    return `send "${value}" in quotes`
  return undefined
}

/** The number or boolean that a string spells exactly, where the types allow one; `undefined` otherwise. */
export const looseScalar = (text: string, types: ReadonlyArray<string>): number | boolean | undefined => {
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true"
  const value = Number(text)
  const isNumber = types.includes("number") || (types.includes("integer") && Number.isInteger(value))
  return isNumber && Number.isFinite(value) && String(value) === text ? value : undefined
}

/** The value of an enumeration that was probably meant. */
export const valueFix = (value: unknown, values: ReadonlyArray<Json>): string | undefined => {
  if (typeof value === "number" || typeof value === "boolean")
    return values.includes(String(value)) ? `send "${value}" in quotes` : undefined
  if (typeof value !== "string") return undefined
  const meant = nearestName(
    value,
    values.filter((one) => typeof one === "string")
  )
  if (meant !== undefined) return `did you mean ${JSON.stringify(meant)}`
  const scalars = values.filter((one) => typeof one === "number" || typeof one === "boolean")
  return scalars.some((one) => String(one) === value) ? `send ${value} without quotes` : undefined
}

const parsesAs = (text: string, type: string): boolean => {
  if (text.length > 100_000) return false
  try {
    return typeOf(JSON.parse(text)) === type
  } catch {
    return false
  }
}

/** True for a node that marks its value as not to be shown. */
export const isSecret = (schema: Json): boolean => isJsonObject(schema) && schema["secret"] === true
