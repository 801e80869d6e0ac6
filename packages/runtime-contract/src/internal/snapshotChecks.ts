/**
 * Reads what the builder of a snapshot was given, for callers whom no compiler has checked.
 *
 * Guarantees: throws `SnapshotError` with the place and what was expected; what is read is plain JSON of the kind that a
 * record has, so a store can give it back.
 * Does not know what a snapshot is made of: the builder does.
 */
import { SnapshotError, type SnapshotErrorReason } from "../SnapshotError.js"
import { nearestName } from "./describeValue.js"
import { copyJson } from "./plainJson.js"

/** A copy of plain JSON; whatever JSON would change or lose is refused with its place. */
export const copied = <A extends object>(place: string, value: A): A => {
  // A TypeBox schema marks itself with members that are not enumerable, and they are no part of it.
  const copy = copyJson(value, { hidden: "skip", maxDepth: 256 })
  // The copy has the members of the original, each checked to be JSON.
  if (copy.ok) return copy.value as A
  const [issue] = copy.issues
  throw refuse("NotJson", {
    place: place + (issue?.pointer ?? ""),
    expected: issue?.expected ?? "JSON",
    received: issue?.received ?? "something else"
  })
}

export const textOf = (place: string, value: unknown): string => {
  if (typeof value === "string") return value
  throw refuse("BadOption", { place, expected: "a text", received: show(value) })
}

export const objectOf = <A extends object>(place: string, value: A): A => {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
  // What is no JSON at all is said as such.
  if (isObject || typeof value === "function") return copied(place, value)
  throw refuse("BadOption", { place, expected: "an object", received: show(value) })
}

/** A setting that is passed over is one that its author believes to be there. */
export const onlyOf = (
  place: string,
  { known, value }: { readonly value: object; readonly known: ReadonlyArray<string> }
): void => {
  for (const name of Object.keys(value))
    if (!known.includes(name)) {
      const expected = nearestName(name, known) ?? `one of ${known.join(", ")}`
      throw refuse("BadOption", { place: `${place}/${name}`, expected, received: "an unknown option" })
    }
}

export const checkList = (place: string, list: unknown): void => {
  if (!Array.isArray(list)) throw refuse("BadOption", { place, expected: "a list", received: show(list) })
}

/** By what is read of it; what it says is checked behind this. */
export const isDescriptor = (tool: unknown): boolean =>
  typeof tool === "object" &&
  tool !== null &&
  "id" in tool &&
  "identity" in tool &&
  "policy" in tool &&
  typeof tool.policy === "object" &&
  tool.policy !== null

export const oneOf = <const A extends string | boolean>(
  place: string,
  { choices, value }: { readonly value: A; readonly choices: ReadonlyArray<A> }
): A => {
  if (choices.includes(value)) return value
  throw refuse("BadOption", { place, expected: `one of ${choices.join(", ")}`, received: show(value) })
}

export const show = (value: unknown): string =>
  value === undefined ? "nothing" : (JSON.stringify(value) ?? typeof value)

export const refuse = (
  reason: SnapshotErrorReason,
  failure: { readonly place: string; readonly expected: string; readonly received: string }
): SnapshotError => new SnapshotError({ reason, ...failure })
