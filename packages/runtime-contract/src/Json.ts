/**
 * JSON values, their one canonical text, and the digests made from it.
 *
 * Guarantees: equal values have equal canonical text whatever the order of their keys (RFC 8785), different values
 * have different text, and a digest made under one label never equals one made under another.
 * Does not parse: untrusted text enters through `parseToolArgs`.
 */
import * as crypto from "node:crypto"
import { isPlainText } from "./internal/plainText.js"

/** Any JSON value. Numbers are finite. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

/** A JSON object. Every own key is data, `__proto__` included. */
export interface JsonObject {
  readonly [key: string]: Json
}

/**
 * The canonical text of a JSON value (RFC 8785): keys ordered by UTF-16 code units, no white space, numbers and strings
 * as `JSON.stringify` writes them. A lone surrogate is written as its escape, where the RFC would stop, so that two
 * different strings never share a text. Throws `TypeError` for what is no JSON (NaN, `undefined`, a function, a bigint).
 */
export const canonicalJson = (value: Json): string => {
  if (typeof value === "string") return quote(value)
  // -0 is written as 0, as the RFC asks.
  if (typeof value === "number" && Number.isFinite(value)) return String(value)
  if (typeof value === "boolean") return value ? "true" : "false"
  if (value === null) return "null"
  if (typeof value === "object") return isArray(value) ? canonicalArray(value) : canonicalObject(value)
  throw new TypeError(`no JSON value: ${String(value)}`)
}

/** SHA-256 of the text's UTF-8 form, as 64 hexadecimal digits. */
export const sha256Hex: (text: string) => string =
  typeof crypto.hash === "function"
    ? (text) => crypto.hash("sha256", text, "hex")
    : (text) => crypto.createHash("sha256").update(text).digest("hex")

/**
 * The full SHA-256 (64 hexadecimal digits) of a value's canonical text, under a label that says what is digested.
 * The NUL between label and text cannot occur in canonical JSON, so no two labels can meet.
 */
export const digest = (label: string, value: Json): string => sha256Hex(label + "\u0000" + canonicalJson(value))

/** Freezes a JSON value and all that it holds, in place, and returns it. Other kinds of objects are not followed. */
export const deepFreeze = <A>(value: A): A => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) for (const item of value) deepFreeze(item)
  else for (const item of Object.values(value)) deepFreeze(item)
  return Object.freeze(value)
}

/** As `deepFreeze`, for values that are handed out often: what is frozen already is taken to be so within. */
export const freezeOpen = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  for (const key in value) freezeOpen(value[key])
  return Object.freeze(value)
}

/** True for a JSON object, false for arrays, `null` and scalars. Says nothing about what the object holds. */
export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isArray = (value: ReadonlyArray<Json> | JsonObject): value is ReadonlyArray<Json> => Array.isArray(value)

const quote = (text: string): string => (isPlainText(text) ? `"${text}"` : JSON.stringify(text))

const canonicalArray = (items: ReadonlyArray<Json>): string => {
  let text = "["
  for (let index = 0; index < items.length; index++) {
    const item = items[index]
    if (item === undefined) throw new TypeError(`no JSON value: undefined at index ${index}`)
    text += (index === 0 ? "" : ",") + canonicalJson(item)
  }
  return text + "]"
}

const canonicalObject = (object: JsonObject): string => {
  let text = "{"
  for (const key of ordered(Object.keys(object))) {
    const item = object[key]
    if (item === undefined) throw new TypeError(`no JSON value: undefined at key ${key}`)
    text += (text.length === 1 ? "" : ",") + quote(key) + ":" + canonicalJson(item)
  }
  return text + "}"
}

/** Most objects come in order, and a sort costs more than the rest of a small one. */
const ordered = (keys: Array<string>): Array<string> => {
  let last = ""
  for (const key of keys) {
    if (key < last) return keys.sort()
    last = key
  }
  return keys
}
