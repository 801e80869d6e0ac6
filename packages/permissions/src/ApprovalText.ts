/**
 * Text made safe to look at before somebody approves it: what is seen is what runs.
 *
 * Guarantees: control, bidirectional, invisible and unassigned characters are written out as `⟨U+202E⟩`; so are letters
 * of another script inside of a word, unusual spaces, and marks piled on a letter; secret members are hidden.
 * Does not translate, and leaves words that are whole in one script as they are.
 */
import { Json } from "@toolwright/runtime-contract"

const open = "⟨"
const close = "⟩"

const written = (character: string): string =>
  open + `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}` + close

// Control, format (bidi and zero-width among them), surrogate, private use, unassigned; spaces but for U+0020;
// letters that show nothing; variation selectors.
const unseen =
  /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{115f}\u{1160}\u{3164}\u{ffa0}\u{2800}]|(?! )\p{Zs}/gu

const piledMarks = /\p{M}{2,}/gu

const scripts: ReadonlyArray<RegExp> = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u
]

/** Full-width and mathematical letters and digits, and slashes and dots that are none. */
const lookalike =
  /[\u{ff01}-\u{ff5e}\u{1d400}-\u{1d7ff}\u{2024}\u{2044}\u{2215}\u{29f8}\u{2010}-\u{2015}\u{2212}\u{2018}\u{2019}\u{201c}\u{201d}\u{02cb}\u{37e}\u{a789}\u{2236}]/gu

/** One text, on as many lines as it has. A line feed and a tab stay; `⟨` itself is written out. */
export const show = (text: string): string =>
  text
    .replaceAll(/[\u27e8\u27e9]/g, written)
    .replaceAll(unseen, (character) => (character === "\n" || character === "\t" ? character : written(character)))
    .replaceAll(piledMarks, (marks) =>
      marks.replace(/(?<=^\p{M})\p{M}+$/u, (rest) => Array.from(rest, written).join(""))
    )
    .replaceAll(lookalike, written)
    .replaceAll(/[\p{L}\p{M}\p{N}_-]+/gu, showWord)

// In a word that mixes scripts the letters of all but the first are written out: `pаypal` has one that is not Latin.
const showWord = (word: string): string => {
  const found = scripts.filter((script) => script.test(word))
  const kept = found.length > 1 ? found[0] : undefined
  if (kept === undefined) return word
  return Array.from(word, (letter) => (/\p{L}/u.test(letter) && !kept.test(letter) ? written(letter) : letter)).join("")
}

/** The same on one line: line feeds and tabs are written out too. */
export const showLine = (text: string): string => show(text).replaceAll(/[\n\t]/g, written)

/** What stands for a secret. */
export const hidden = "•••"

/** A copy of the arguments with every member that the schema marks `secret` hidden. Without a schema nothing is known to be secret. */
export const hideSecrets = (args: Json.JsonObject, schema: Json.JsonObject | undefined): Json.JsonObject => {
  if (schema === undefined) return args
  const shown = hide(args, { schema, root: schema, depth: 0 })
  return Json.isJsonObject(shown) ? shown : args
}

interface Spot {
  readonly schema: Json.Json | undefined
  readonly root: Json.JsonObject
  readonly depth: number
}

const deepest = 64

const hide = (value: Json.Json, { schema, root, depth }: Spot): Json.Json => {
  const schemas = depth > deepest ? [] : applicable(schema, { root, depth: 0 })
  if (depth > deepest || schemas.some((each) => each["secret"] === true)) return hidden
  const inner = (part: Json.Json, pick: (each: Json.JsonObject) => Json.Json | undefined): Json.Json =>
    hideBy(part, { schemas: schemas.flatMap((each) => pick(each) ?? []), root, depth: depth + 1 })
  if (isList(value)) return value.map((item, index) => inner(item, (each) => itemSchema(each, index)))
  if (!Json.isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, inner(item, (each) => memberSchema(each, key))])
  )
}

// A value may be described in several places (allOf, branches of a union); marked in one of them, it is secret.
const hideBy = (
  value: Json.Json,
  {
    schemas,
    root,
    depth
  }: { readonly schemas: ReadonlyArray<Json.Json>; readonly root: Json.JsonObject; readonly depth: number }
): Json.Json => hide(value, { schema: schemas.length === 1 ? schemas[0] : { allOf: schemas }, root, depth })

const isList = (value: Json.Json): value is ReadonlyArray<Json.Json> => Array.isArray(value)

const own = (object: Json.JsonObject, key: string): Json.Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined

const itemSchema = (schema: Json.JsonObject, index: number): Json.Json | undefined => {
  const prefix = own(schema, "prefixItems")
  return (prefix !== undefined && isList(prefix) ? prefix[index] : undefined) ?? own(schema, "items")
}

const memberSchema = (schema: Json.JsonObject, key: string): Json.Json | undefined => {
  const properties = own(schema, "properties")
  const named = Json.isJsonObject(properties) ? own(properties, key) : undefined
  return named ?? own(schema, "additionalProperties")
}

/** The schema and every schema that applies to the same value. */
const applicable = (
  schema: Json.Json | undefined,
  { root, depth }: { readonly root: Json.JsonObject; readonly depth: number }
): ReadonlyArray<Json.JsonObject> => {
  if (!Json.isJsonObject(schema) || depth > 16) return []
  const branches = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => {
    const list = own(schema, keyword)
    return list !== undefined && isList(list) ? list : []
  })
  const reference = own(schema, "$ref")
  const target = typeof reference === "string" ? resolvePointer(root, reference) : undefined
  return [
    schema,
    ...[...branches, ...(target === undefined ? [] : [target])].flatMap((each) =>
      applicable(each, { root, depth: depth + 1 })
    )
  ]
}

const resolvePointer = (root: Json.JsonObject, reference: string): Json.Json | undefined => {
  if (reference === "#") return root
  if (!reference.startsWith("#/")) return undefined
  let at: Json.Json | undefined = root
  for (const key of reference
    .slice(2)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")))
    at = at === undefined ? undefined : isList(at) ? at[Number(key)] : Json.isJsonObject(at) ? own(at, key) : undefined
  return at
}

/** Arguments for an approver: indented JSON, secrets hidden, every character visible. */
export const showArguments = (args: Json.JsonObject, schema?: Json.JsonObject): string =>
  show(JSON.stringify(hideSecrets(args, schema), null, 2))
