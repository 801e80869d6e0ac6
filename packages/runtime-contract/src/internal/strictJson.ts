/**
 * Strict parsing of provider text: `JSON.parse` decides the grammar, and a count decides what it lets through silently.
 *
 * Guarantees: duplicate keys, unsafe integers, infinities, lone surrogates, depth over 64 and roots that are no object
 * are refused with a place; -0 is 0; `__proto__` is an own property. Never throws.
 * Does not repair anything and does not know the tool's schema.
 */
/// <reference lib="es2024.string" />
import type { ArgumentIssue } from "../ToolError.js"
import { maxDepth, scanJson } from "./jsonScanner.js"

/** A JSON value that nobody else holds yet: arguments may be changed here and nowhere later. */
export type Fresh = null | boolean | number | string | Array<Fresh> | FreshObject
export type FreshObject = { [key: string]: Fresh }

/** `depth` counts objects and arrays inside one another, `values` all members and items. */
export interface ParsedJson {
  readonly ok: true
  readonly value: FreshObject
  readonly depth: number
  readonly values: number
  /** The text, where it is known to be the canonical one of `value`. */
  readonly canonical: string | undefined
}

export interface RefusedJson {
  readonly ok: false
  readonly issues: ReadonlyArray<ArgumentIssue>
}

export const strictJson = (text: string): ParsedJson | RefusedJson => {
  let value: Fresh
  try {
    value = JSON.parse(text) as Fresh
  } catch {
    return refused(scanJson(text) ?? { pointer: "", expected: "one JSON object", received: "text that is no JSON" })
  }
  if (!isFresh(value)) return refused(scanJson(text) ?? rootIssue)
  keys = items = deepest = 0
  isOrdered = isBare = true
  const plain = measure(value, 1)
  if (!plain || colonsOf(text) !== keys) {
    const problem = scanJson(text)
    if (problem !== undefined) return refused(problem)
    isBare = false
  }
  return { ok: true, value, depth: deepest, values: keys + items, canonical: isOrdered && isBare ? text : undefined }
}

export const isFresh = (value: Fresh): value is FreshObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const rootIssue: ArgumentIssue = { pointer: "", expected: "a JSON object at the root", received: "another JSON value" }

const refused = (issue: ArgumentIssue): RefusedJson => ({ ok: false, issues: [issue] })

// The tallies of the walk in progress. Parsing is synchronous and never re-entered, and a closure would cost more.
let keys = 0
let items = 0
let deepest = 0
/** The keys of each object stand in canonical order, in the value and so in the text. */
let isOrdered = true
/** The text has no white space, no escape and no number that may be written otherwise. */
let isBare = true

/** Tallies keys, values and depth and turns -0 into 0. False when the exact scanner has to look. */
const measure = (node: FreshObject | Array<Fresh>, depth: number): boolean => {
  if (depth > maxDepth) return false
  if (depth > deepest) deepest = depth
  if (Array.isArray(node)) {
    items += node.length
    for (let index = 0; index < node.length; index++) {
      const item = node[index]
      if (typeof item === "object") {
        if (item !== null && !measure(item, depth + 1)) return false
      } else if (item === 0) node[index] = 0
      else if (item === Infinity || item === -Infinity) return false
    }
    return true
  }
  let last = ""
  for (const key in node) {
    keys++
    // Keys that look like an index come first in the value, wherever they stand in the text.
    if (key < last || key.charCodeAt(0) <= 0x39) isOrdered = false
    last = key
    const item = node[key]
    if (typeof item === "object") {
      if (item !== null && !measure(item, depth + 1)) return false
    } else if (item === 0) node[key] = 0
    else if (item === Infinity || item === -Infinity) return false
  }
  return true
}

const escapedSurrogate = /\\u[dD][89a-fA-F]/

/**
 * The colons outside strings of a text that is known to be JSON: one for each key, so a difference to the keys of the
 * parsed value means a key that came twice. -1 in doubt: a digit run that may be no safe integer, or a surrogate.
 */
const colonsOf = (text: string): number => {
  if (!text.isWellFormed()) return -1
  const escapes = text.includes("\\")
  if (escapes && escapedSurrogate.test(text)) return -1
  if (escapes) isBare = false
  let colons = 0
  let digits = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      at = text.indexOf('"', at + 1)
      if (escapes) while (isEscaped(text, at)) at = text.indexOf('"', at + 1)
      digits = 0
    } else if (code >= 0x30 && code <= 0x39) {
      if (++digits > 15) return -1
    } else {
      // A fraction, an exponent, a minus that may stand before 0; and what is not in a canonical text at all.
      if (code < 0x2c || code === 0x2d || code === 0x2e || code === 0x45 || (code === 0x65 && digits > 0))
        isBare = false
      digits = 0
      if (code === 0x3a) colons++
    }
  }
  return colons
}

const isEscaped = (text: string, quote: number): boolean => {
  let at = quote
  while (text.charCodeAt(at - 1) === 0x5c) at--
  return (quote - at) % 2 === 1
}
