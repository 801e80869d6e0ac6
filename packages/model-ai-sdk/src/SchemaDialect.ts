/**
 * What each kind of provider understands of JSON Schema, as tables.
 *
 * Guarantees: data only; a dialect says what is kept, and what is not kept is dropped by position and told in words.
 * Does not project: see `SchemaProjection`.
 */

export interface SchemaDialect {
  readonly name: string
  /** Keywords that are kept. The others go; those that bound a value are told in the description instead. */
  readonly keywords: ReadonlySet<string>
  /** Formats that are kept, all where absent. */
  readonly formats?: ReadonlySet<string>
  /** `inline`: no `$ref` and no `$defs` remain, and a recursion is cut after `recursion` levels with an open object. */
  readonly references: "keep" | "inline"
  readonly recursion: number
  /** `strict`: closed objects that require every property, an optional one being nullable; nothing of any type. */
  readonly strict: boolean
  /** Whether a list of types stays a list or becomes a union of one schema a type. */
  readonly typeLists: "keep" | "split"
  /** `bare`: a union has no neighbours; they move into its branches. */
  readonly unions: "beside" | "bare"
  /** Which values a list of values may have. */
  readonly enums: "any" | "strings"
  /** `typed`: every schema names a type, also one that would take any value. */
  readonly untyped: "allowed" | "spelledOut"
  /** What the names of properties must look like. */
  readonly propertyNames?: RegExp
  readonly limits: {
    /** Schemas in one projected tool. */
    readonly schemas: number
    /** Levels of objects and arrays. */
    readonly depth: number
    readonly properties?: number
    readonly enumValues?: number
  }
}

const core = ["type", "enum", "description", "properties", "required", "items", "anyOf"]
const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
const strings = ["minLength", "maxLength", "pattern", "format"]
const arrays = ["minItems", "maxItems"]
const objects = ["additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties"]
const rest = [
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  "dependentRequired",
  "dependentSchemas",
  "contains",
  "minContains",
  "maxContains"
]
const annotations = ["title", "default", "examples", "deprecated"]

const roomy = { schemas: 20_000, depth: 128 }

/**
 * OpenAI's strict mode. Keywords, formats and limits as its guide to structured outputs lists them.
 */
export const openAiStrict: SchemaDialect = {
  name: "openai-strict",
  keywords: new Set([
    ...core,
    "title",
    "const",
    "$ref",
    "$defs",
    "additionalProperties",
    ...numbers,
    "pattern",
    "format",
    ...arrays
  ]),
  formats: new Set(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
  references: "keep",
  recursion: 0,
  strict: true,
  typeLists: "keep",
  unions: "beside",
  enums: "any",
  untyped: "spelledOut",
  limits: { schemas: 20_000, depth: 10, properties: 5_000, enumValues: 1_000 }
}

/** OpenAI without strict mode: nearly all of JSON Schema below an object root; arrays must say what they hold. */
export const openAi: SchemaDialect = {
  name: "openai",
  keywords: new Set([
    ...core,
    "const",
    "$ref",
    "$defs",
    ...numbers,
    ...strings,
    ...arrays,
    "uniqueItems",
    ...objects,
    ...rest,
    ...annotations
  ]),
  references: "keep",
  recursion: 0,
  strict: false,
  typeLists: "keep",
  unions: "beside",
  enums: "any",
  untyped: "allowed",
  limits: roomy
}

/** Anthropic: draft 2020-12 below an object root without compositions; names of properties are limited. */
export const anthropic: SchemaDialect = {
  ...openAi,
  name: "anthropic",
  keywords: new Set([...openAi.keywords, "prefixItems", "unevaluatedItems", "unevaluatedProperties"]),
  propertyNames: /^[a-zA-Z0-9_.-]{1,64}$/
}

/**
 * Google's subset: an OpenAPI schema without references, closed objects or bounds; values of a list are strings, and
 * nothing stands beside a union. What its converters drop is left out here and told in words.
 */
export const google: SchemaDialect = {
  name: "google",
  keywords: new Set([...core, "format"]),
  formats: new Set(["date-time"]),
  references: "inline",
  recursion: 3,
  strict: false,
  typeLists: "split",
  unions: "bare",
  enums: "strings",
  untyped: "spelledOut",
  limits: { schemas: 5_000, depth: 64 }
}

/** Any other provider, local servers that compile schemas to grammars among them: the common part, without references. */
export const common: SchemaDialect = {
  name: "common",
  keywords: new Set([
    ...core,
    "const",
    "title",
    "default",
    ...numbers,
    ...strings,
    ...arrays,
    "uniqueItems",
    "additionalProperties"
  ]),
  references: "inline",
  recursion: 3,
  strict: false,
  typeLists: "keep",
  unions: "beside",
  enums: "any",
  untyped: "allowed",
  limits: { schemas: 5_000, depth: 64 }
}
