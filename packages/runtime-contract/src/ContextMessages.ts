/**
 * Context that goes along with requests and never enters the transcript: the state key that hooks stage it under.
 *
 * Guarantees: one entry for each source, so that sources do not overwrite one another; an empty entry takes itself back.
 * Lasts for the run, until it is taken back.
 * Does not send anything: the runtime puts the entries into the notes of each request.
 */
import { type Json, isJsonObject } from "./Json.js"
import * as StateKey from "./StateKey.js"

/** JSON Schema: by source, the texts to be sent. */
const schema: StateKey.StateKey["schema"] = Object.freeze({
  type: "object",
  additionalProperties: { type: "array", items: { type: "string" } }
})

const merge = (current: unknown, next: unknown): Readonly<Record<string, ReadonlyArray<string>>> => {
  const entries = [...entriesOf(current), ...entriesOf(next)].map(([source, texts]) => [source, texts] as const)
  return Object.fromEntries([...new Map(entries)].filter(([, texts]) => texts.length > 0))
}

const entriesOf = (value: unknown): ReadonlyArray<readonly [string, ReadonlyArray<string>]> =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([source, texts]) =>
        Array.isArray(texts) ? [[source, texts.filter((text) => typeof text === "string")] as const] : []
      )
    : []

export const key: StateKey.StateKey = StateKey.make({
  name: "ContextMessages",
  scope: "Run",
  merge: "Commutative",
  schema,
  initial: {},
  combine: merge
})

/** Stages the texts of one source; none takes its entry back. */
export const set = (source: string, ...texts: ReadonlyArray<string>): StateKey.StateCommand =>
  StateKey.set(key, { [source]: texts })

/** The entries of a value of the key, in the order in which they were first set. */
export const read = (
  value: Json | undefined
): ReadonlyArray<{ readonly source: string; readonly texts: ReadonlyArray<string> }> =>
  isJsonObject(value) ? entriesOf(value).map(([source, texts]) => ({ source, texts })) : []
