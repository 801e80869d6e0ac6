/**
 * What a dialect cannot say of a value, in words for its description.
 *
 * Guarantees: short, well-formed text; the same constraint always reads the same.
 * Does not decide what is dropped.
 */
import type { Json } from "@toolwright/runtime-contract"
import { listOf, type Schema, typesOf } from "./jsonSchema.js"

const words: Readonly<Record<string, (value: string) => string>> = {
  minimum: (value) => `at least ${value}`,
  maximum: (value) => `at most ${value}`,
  exclusiveMinimum: (value) => `more than ${value}`,
  exclusiveMaximum: (value) => `less than ${value}`,
  multipleOf: (value) => `a multiple of ${value}`,
  minLength: (value) => `at least ${value} characters`,
  maxLength: (value) => `at most ${value} characters`,
  pattern: (value) => `matching ${value}`,
  format: (value) => `format ${value}`,
  minItems: (value) => `at least ${value} items`,
  maxItems: (value) => `at most ${value} items`,
  uniqueItems: () => "no item twice",
  minProperties: (value) => `at least ${value} keys`,
  maxProperties: (value) => `at most ${value} keys`,
  default: (value) => `default ${value}`
}

/** The words for a keyword that was dropped, or `undefined` where there are none. */
export const wordsFor = (keyword: string, value: Json.Json): string | undefined => {
  const say = Object.hasOwn(words, keyword) ? words[keyword] : undefined
  return say === undefined || value === false ? undefined : say(short(value))
}

export const wordsForValues = (values: ReadonlyArray<Json.Json>): string =>
  `one of ${values
    .map((value) => JSON.stringify(value))
    .join(", ")
    .slice(0, longest)}`

export const wordsForOrder = (members: ReadonlyArray<Schema>): string =>
  `items in this order: ${members.map((member) => typesOf(member).join(" or ") || "any value").join(", ")}`.slice(
    0,
    longest
  )

const longest = 300

const short = (value: Json.Json): string =>
  (typeof value === "string" ? value : JSON.stringify(value)).slice(0, longest).toWellFormed()

/** A description with words behind it. */
export const described = (description: Json.Json | undefined, more: ReadonlyArray<string>): string | undefined => {
  const said = typeof description === "string" ? description.toWellFormed() : ""
  if (more.length === 0) return said === "" ? undefined : said
  return said === "" ? more.join("; ") : `${said} (${more.join("; ")})`
}

/** What tells the branches of a union apart: the keys each requires, with the values that are fixed. */
export const wordsForBranches = (branches: ReadonlyArray<Schema>): string | undefined => {
  const forms = branches.map((branch) => {
    const properties = branch["properties"]
    return listOf(branch["required"])
      .filter((key) => typeof key === "string")
      .map((key) => {
        const fixed =
          typeof properties === "object" &&
          properties !== null &&
          !Array.isArray(properties) &&
          Object.hasOwn(properties, key)
            ? constantOf((properties as Schema)[key])
            : undefined
        return fixed === undefined ? key : `${key}=${JSON.stringify(fixed)}`
      })
      .join(", ")
  })
  return forms.some((form) => form !== "")
    ? `one of these forms: ${forms.map((form) => `(${form || "nothing required"})`).join(" or ")}`.slice(0, 1_000)
    : undefined
}

const constantOf = (schema: Json.Json | undefined): Json.Json | undefined =>
  typeof schema === "object" && schema !== null && !Array.isArray(schema) ? (schema as Schema)["const"] : undefined
