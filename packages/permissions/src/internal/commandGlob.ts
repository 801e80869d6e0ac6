/**
 * Globs over command lines: `*` spans words, and a last ` *` means any arguments or none, so `git *` matches `git` and
 * `git log` but not `gitk`.
 *
 * Guarantees: an allow is compared with the one exact spelling, a deny with all of them.
 */
import * as Certainty from "../Certainty.js"
import type { ShellPart } from "../ShellAnalysis.js"
import { compileGlob, hole, matchesGlob, mayMatchGlob } from "./glob.js"

type Part = Pick<ShellPart, "exact" | "spellings">

export interface CommandTest {
  (part: Part): Certainty.Certainty
  /** It is never one of a part without holes, unless a spelling begins with this word. `undefined`: it may with any. */
  readonly word: string | undefined
}

/** What stands before the first space. */
export const wordOf = (spelling: string): string => {
  const space = spelling.indexOf(" ")
  return space < 0 ? spelling : spelling.slice(0, space)
}

export const compileCommand = (pattern: string): CommandTest => {
  const text = pattern.trim().replaceAll(/(?<!\\)\s+/g, " ")
  const globs = [text, ...(text.endsWith(" *") ? [text.slice(0, -2)] : [])].map(compileGlob)
  const first = /^(?:[^\s\\*?]|\\\S)+(?= |$)/.exec(text)?.[0]
  const test = ({ exact, spellings }: Part): Certainty.Certainty => {
    if (globs.some((glob) => matchesGlob(glob, exact))) return Certainty.Surely
    if (spellings.some((spelling) => globs.some((glob) => matchesGlob(glob, spelling)))) return Certainty.Loosely
    const open = spellings.filter((spelling) => spelling.includes(hole))
    return open.some((spelling) => globs.some((glob) => mayMatchGlob(glob, spelling)))
      ? Certainty.Possibly
      : Certainty.Never
  }
  return Object.assign(test, { word: first?.replaceAll(/\\(.)/gs, "$1") })
}
