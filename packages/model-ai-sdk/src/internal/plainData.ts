/**
 * Values from outside, as plain well-formed JSON.
 *
 * Guarantees: no lone surrogates, no `undefined`, nothing but JSON; what JSON cannot say becomes text or goes.
 * Does not validate a shape.
 */
import type { Json } from "@toolwright/runtime-contract"

/** The key under which our own notes stand in `providerMetadata`. It is never sent to a provider. */
export const ownKey = "toolwright"

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value as JSON, or `undefined` where JSON has nothing for it. */
export const jsonOf = (value: unknown): Json.Json | undefined => {
  try {
    const text = JSON.stringify(value)
    if (text === undefined) return undefined
    // JSON.stringify writes a lone surrogate as an escape, so the text itself is searched for the escape.
    const json = JSON.parse(text) as Json.Json
    return /\\ud[89a-f]/i.test(text) ? wellFormed(json) : json
  } catch {
    return String(value)
  }
}

/** The value as a JSON object, or `undefined` for anything else and for an empty one. */
export const jsonObjectOf = (value: unknown): Json.JsonObject | undefined => {
  if (!isRecord(value)) return undefined
  const json = jsonOf(value)
  return isRecord(json) && Object.keys(json).length > 0 ? (json as Json.JsonObject) : undefined
}

/** The same JSON with every lone surrogate, in keys too, replaced by U+FFFD; the same object where there is none. */
export const wellFormed = (value: Json.Json): Json.Json => {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed()
  if (typeof value !== "object" || value === null) return value
  if (isList(value)) {
    const items = value.map(wellFormed)
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  let changed = false
  const members = Object.entries(value).map(([key, member]): [string, Json.Json] => {
    const name = key.toWellFormed()
    const clean = wellFormed(member)
    if (name !== key || clean !== member) changed = true
    return [name, clean]
  })
  return changed ? Object.fromEntries(members) : value
}

const isList = (value: ReadonlyArray<Json.Json> | Json.JsonObject): value is ReadonlyArray<Json.Json> =>
  Array.isArray(value)

/** Bytes or base64 text as base64 text. */
export const base64Of = (data: string | Uint8Array): string =>
  typeof data === "string" ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64")
