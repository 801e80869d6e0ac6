/**
 * JSON Pointers (RFC 6901), built one step at a time while a value is walked.
 *
 * Guarantees: the text of a pointer is well-formed Unicode.
 * Does not resolve pointers: `resolveLocal` does, inside one schema.
 */
/// <reference lib="es2024.string" />

/** A place in a document as a linked list from the inside out, so that walking costs one small object a level. */
export interface Place {
  readonly parent: Place | undefined
  readonly key: string | number
}

/** The place of a member or item of whatever lies at `parent`. */
export const placeIn = (parent: Place | undefined, key: string | number): Place => ({ parent, key })

/** The longest key that is shown in full, in UTF-16 code units. */
const longestKey = 200

/** The pointer to a place, for people and models: long keys are shortened. */
export const pointerOf = (place: Place | undefined): string => {
  let pointer = ""
  for (let at = place; at !== undefined; at = at.parent) pointer = segment(shown(at.key)) + pointer
  return pointer
}

/** The pointer to `key` under the pointer `parent`, exactly. */
export const pointerTo = (parent: string, key: string | number): string => parent + segment(key)

/** The keys of a pointer, unescaped; `undefined` for a text that is no pointer. */
export const keysOf = (pointer: string): ReadonlyArray<string> | undefined => {
  if (pointer === "") return []
  if (!pointer.startsWith("/")) return undefined
  return pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
}

const segment = (key: string | number): string =>
  typeof key === "number" ? `/${key}` : `/${key.toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1")}`

const shown = (key: string | number): string | number =>
  typeof key === "string" && key.length > longestKey ? `${key.slice(0, longestKey)}…` : key
