/**
 * The one place that loads Ajv: at the first schema that is compiled, synchronously, never on import.
 *
 * Guarantees: importing the contract does not load Ajv; a bundled program can hand it in beforehand.
 * Does not decide what a schema may say: own and foreign schemas are prepared before they come here.
 */
import { createRequire } from "node:module"
import type { Ajv2020, Options, ValidateFunction } from "ajv/dist/2020.js"
import { canonicalJson, type Json, type JsonObject } from "../Json.js"
import { type BoundedPattern, boundedPattern } from "./boundedPattern.js"

/** A format's definition, as ajv-formats exports them. */
export type FormatDefinition = boolean | RegExp | ((value: string) => boolean) | FormatObject

interface FormatObject {
  readonly type?: "string" | "number"
  readonly validate: boolean | RegExp | ((value: string) => boolean) | ((value: number) => boolean)
}

/** The two modules, as `import { Ajv2020 } from "ajv/dist/2020.js"` and `import { fullFormats } from "ajv-formats/dist/formats.js"` give them. */
export interface AjvModules {
  readonly Ajv2020: new (options?: Options) => Ajv2020
  readonly fullFormats: { readonly [format: string]: FormatDefinition }
}

export type SchemaOrigin = "own" | "foreign"

let modules: AjvModules | undefined

const instances = new Map<string, { readonly ajv: Ajv2020; left: number }>()

export const provideAjv = (given: AjvModules): void => {
  modules = given
  instances.clear()
}

const load = (): AjvModules => {
  if (modules !== undefined) return modules
  const require = createRequire(import.meta.url)
  const ajv = require("ajv/dist/2020.js") as Pick<AjvModules, "Ajv2020">
  const formats = require("ajv-formats/dist/formats.js") as Pick<AjvModules, "fullFormats">
  modules = { Ajv2020: ajv.Ajv2020, fullFormats: formats.fullFormats }
  return modules
}

/** The expression for `url` takes time that grows with the square of the text, so longer texts are no url. */
const longestUrl = 2_048

/** Whether a value has a known format; `undefined` for a format that is not known. */
export const hasFormat = (format: string, value: string | number): boolean | undefined => {
  const { fullFormats } = load()
  const definition = Object.hasOwn(fullFormats, format) ? fullFormats[format] : undefined
  if (definition === undefined) return undefined
  if (typeof value === "number") return isNumeric(definition) ? definition.validate(value) : true
  if (isNumeric(definition)) return true
  return (format !== "url" || value.length <= longestUrl) && matches(definition, value)
}

export const isKnownFormat = (format: string): boolean => Object.hasOwn(load().fullFormats, format)

type NumericFormat = { readonly type: "number"; readonly validate: (value: number) => boolean }

const isNumeric = (definition: FormatDefinition): definition is NumericFormat =>
  typeof definition === "object" && "type" in definition && definition.type === "number"

const matches = (definition: FormatDefinition, value: string): boolean => {
  if (typeof definition === "boolean") return definition
  if (typeof definition === "function") return definition(value)
  if (definition instanceof RegExp) return definition.test(value)
  return typeof definition.validate === "function"
    ? (definition.validate as (value: string) => boolean)(value)
    : matches(definition.validate, value)
}

/** Compiles a schema. Throws what Ajv throws: the schema is not understood, or a reference leads nowhere. */
export const compile = (
  schema: JsonObject,
  { origin, inherited }: { readonly origin: SchemaOrigin; readonly inherited: boolean }
): ValidateFunction => {
  const ajv = instanceFor(`${origin}/${String(inherited)}`, () => make(origin, inherited))
  try {
    return ajv.compile(schema)
  } finally {
    // Ajv's own cache is strong and would keep every schema for good.
    ajv.removeSchema(schema)
  }
}

/** Schemas that one instance compiles. Its scope of generated names only grows, so it is given up in time. */
const schemasOfOneInstance = 200

const instanceFor = (key: string, create: () => Ajv2020): Ajv2020 => {
  let instance = instances.get(key)
  if (instance === undefined || instance.left === 0) instance = { ajv: create(), left: schemasOfOneInstance }
  instance.left--
  instances.set(key, instance)
  return instance.ajv
}

// Looking up own members only is needed, and costs something, where a schema names what every object inherits.
const make = (origin: SchemaOrigin, inherited: boolean): Ajv2020 => {
  const { Ajv2020, fullFormats } = load()
  // Ajv's own optimiser takes time that grows with the square of the schema and gains nothing measurable. Used schemas
  // stay known to the instance, or `#` could not be resolved; none has an id, so none can meet another.
  const shared: Options = { allErrors: false, ownProperties: inherited, logger: false, messages: false }
  // The guard has checked every keyword of a foreign schema already; inlining could multiply its code.
  const foreign: Options = {
    strict: false,
    strictNumbers: true,
    validateSchema: false,
    inlineRefs: false,
    code: { regExp: patternFor, optimize: false }
  }
  // Alternatives such as "title or body is required" name fields that the outer node declares.
  const own: Options = { strict: true, strictRequired: false, code: { optimize: false } }
  const ajv = new Ajv2020({ ...shared, ...(origin === "own" ? own : foreign) })
  for (const name of Object.keys(fullFormats)) {
    const numeric = isNumeric(fullFormats[name] ?? true)
    if (numeric) ajv.addFormat(name, { type: "number", validate: (value: number) => hasFormat(name, value) !== false })
    else ajv.addFormat(name, (value: string) => hasFormat(name, value) !== false)
  }
  ajv.addKeyword({ keyword: "secret", schemaType: "boolean" })
  // Ajv compares every item with every other one.
  ajv.removeKeyword("uniqueItems")
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    compile: (unique: boolean) => (unique ? areUnique : () => true)
  })
  return ajv
}

const areUnique = (items: ReadonlyArray<Json>): boolean => new Set(items.map(canonicalJson)).size === items.length

/** A pattern that cannot be bounded stays in the schema for the model to read, and refuses nothing. */
export const patternFor = Object.assign(
  (source: string): BoundedPattern => {
    try {
      return boundedPattern(source)
    } catch {
      return { test: () => true, toString: () => `unbounded/${source}/` }
    }
  },
  { code: "boundedPattern" }
)
