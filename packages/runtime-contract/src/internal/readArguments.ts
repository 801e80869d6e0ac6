/**
 * Reads what came with a call, text or value, as arguments of one schema: strict parse, the one normalisation, validation,
 * freezing, in this order.
 *
 * Guarantees: never throws; the same value from text and from its parsed form; what comes out is frozen all the way.
 * Does not word the refusal: `ToolArgs` does.
 */
import type { JsonObject } from "../Json.js"
import type { CompiledSchema } from "./compiledSchema.js"
import { describeValue } from "./describeValue.js"
import type { ArgumentNote } from "./applyNormalization.js"
import { copyJson } from "./plainJson.js"
import { type Fresh, isFresh, type ParsedJson, type RefusedJson, strictJson } from "./strictJson.js"

export interface ReadArguments {
  readonly ok: true
  readonly value: JsonObject
  readonly notes: ReadonlyArray<ArgumentNote>
  /** The canonical text of `value`, where it is what came. */
  readonly canonical: string | undefined
}

export const readArguments = (
  compiled: CompiledSchema,
  { raw, lossless }: { readonly raw: unknown; readonly lossless: boolean }
): ReadArguments | RefusedJson => {
  const read = typeof raw === "string" ? readText(raw) : readValue(raw)
  if (!read.ok) return read
  const { value } = read
  const issue = compiled.tooMuch(read)
  if (issue !== undefined) return { ok: false, issues: [issue] }
  let notes = noNotes
  let hasChanged: boolean | undefined
  if (lossless) {
    const taken: Array<ArgumentNote> = []
    hasChanged = compiled.lossless()?.(value, { place: undefined, notes: taken })
    if (taken.length > 0) notes = Object.freeze(taken)
  } else hasChanged = compiled.normalize?.(value)
  if (!compiled.validate(value)) return { ok: false, issues: compiled.explain(value) }
  freeze(value)
  return { ok: true, value, notes, canonical: hasChanged === true ? undefined : read.canonical }
}

const noNotes: ReadonlyArray<ArgumentNote> = Object.freeze([])

const nothing = (): ParsedJson => ({ ok: true, value: {}, depth: 1, values: 0, canonical: "{}" })

const readText = (text: string): ParsedJson | RefusedJson => {
  if (text.charCodeAt(0) === 0x7b) return strictJson(text)
  const bare = text.trim()
  return bare === "" || bare === "null" ? nothing() : strictJson(text)
}

const readValue = (raw: unknown): ParsedJson | RefusedJson => {
  if (raw === undefined || raw === null) return nothing()
  const copy = copyJson(raw)
  if (!copy.ok) return copy
  const { value, depth, values } = copy
  if (isFresh(value)) return { ok: true, value, depth, values, canonical: undefined }
  return { ok: false, issues: [{ pointer: "", expected: "a JSON object at the root", received: describeValue(value) }] }
}

/** Members inherited from a prototype are never there: the value was made by this package. */
const freeze = (node: Array<Fresh> | { [key: string]: Fresh }): void => {
  if (Array.isArray(node)) {
    for (const item of node) if (typeof item === "object" && item !== null) freeze(item)
  } else
    for (const key in node) {
      const item = node[key]
      if (typeof item === "object" && item !== null) freeze(item)
    }
  Object.freeze(node)
}
