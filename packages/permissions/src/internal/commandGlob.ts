/**
 * Globs over command lines: `*` spans words, and a last ` *` means any arguments or none, so `git *` matches `git` and
 * `git log` but not `gitk`.
 *
 * Guarantees: an allow is compared with the one exact spelling, a deny with all of them.
 */
import * as Certainty from "../Certainty.js"
import type { ShellPart } from "../ShellAnalysis.js"
import { compileGlob, hole, matchesGlob, mayMatchGlob } from "./glob.js"

export const compileCommand = (
  pattern: string
): ((part: Pick<ShellPart, "exact" | "spellings">) => Certainty.Certainty) => {
  const text = pattern.trim().replaceAll(/(?<!\\)\s+/g, " ")
  const globs = [text, ...(text.endsWith(" *") ? [text.slice(0, -2)] : [])].map(compileGlob)
  return ({ exact, spellings }) => {
    if (globs.some((glob) => matchesGlob(glob, exact))) return Certainty.Surely
    if (spellings.some((spelling) => globs.some((glob) => matchesGlob(glob, spelling)))) return Certainty.Loosely
    const open = spellings.filter((spelling) => spelling.includes(hole))
    return open.some((spelling) => globs.some((glob) => mayMatchGlob(glob, spelling)))
      ? Certainty.Possibly
      : Certainty.Never
  }
}
