/**
 * Under which keys a condition can match: where paths begin, where hosts end, the first word of a command, a value.
 *
 * Guarantees: a call that may match in any other way (a value of another type, several values, a path or a part that is
 * not known yet, what is no URL) is told apart, and every condition is asked about it.
 */
import type { Json } from "@toolwright/runtime-contract"
import * as HostRule from "../HostRule.js"
import type { Narrowing } from "../RuleSet.js"
import { wordOf } from "./commandGlob.js"
import { hole } from "./glob.js"
import type { Subject } from "./subject.js"

type Sequences = ReadonlyArray<ReadonlyArray<string>>
type OfText = (text: string, subject: Subject) => Sequences | undefined

const nothing: Sequences = Object.freeze([])

/** The arguments under whose names the value may lie, as conditions on one of them are asked. */
export type Names = ReadonlyArray<string>

export const byPath = (names: Names, keys: Sequences | undefined): Narrowing<Subject> | undefined =>
  keys === undefined ? undefined : { scope: `path ${names.join()}`, keys, find: ofOneText(names, pathSequences) }

const pathSequences: OfText = (text, subject) => {
  const path = subject.path(text)
  return path.open ? undefined : path.sequences
}

export const byHost = (names: Names, ending: ReadonlyArray<string> | undefined): Narrowing<Subject> | undefined =>
  ending === undefined
    ? undefined
    : { scope: `host ${names.join()}`, keys: [ending], find: ofOneText(names, hostSequences) }

const hostSequences: OfText = (text, subject) => {
  const { target } = subject.url(text)
  return target === undefined ? undefined : [HostRule.labelsOf(target.host)]
}

/** Of no value, nothing; of one text, what it says; of anything else there is no telling. */
const ofOneText =
  (names: Names, of: OfText): Narrowing<Subject>["find"] =>
  (subject) => {
    const given = subject.given(names)
    const [name] = given
    if (name === undefined) return nothing
    const value = given.length === 1 ? subject.arguments[name] : undefined
    return typeof value === "string" ? of(value, subject) : undefined
  }

/** `spell` makes equal texts of values that are taken for equal; `undefined` of a value that equals none of them. */
export const byValue = (
  name: string,
  { key, spell }: { readonly key: string; readonly spell: (value: Json.Json) => string | undefined }
): Narrowing<Subject> => ({
  scope: `value ${name}`,
  keys: [[key]],
  find: ({ arguments: args }) => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined
    if (value === undefined) return nothing
    if (Array.isArray(value)) return undefined
    const spelled = spell(value)
    return spelled === undefined ? nothing : [[spelled]]
  }
})

export const byWord = (word: string | undefined): Narrowing<Subject> | undefined =>
  word === undefined ? undefined : { scope: "command", keys: [[word]], find: words }

const words: Narrowing<Subject>["find"] = ({ part }) => {
  if (part === undefined || part.spellings.some((spelling) => spelling.includes(hole))) return undefined
  return [part.exact, ...part.spellings].map((spelling) => [wordOf(spelling)])
}
