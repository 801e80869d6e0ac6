/**
 * The difference between two texts as people read it: unified, with three lines around each change.
 *
 * Guarantees: every character that could hide something is written out; changed ends of lines are seen; bounded in time,
 * and where that is not enough the whole of both texts is the difference.
 * Does not read files.
 */
import { ApprovalText } from "@toolwright/permissions"
import type { InkedLine } from "../Page.js"

const around = 3

/** Milliseconds that a difference may take. */
const patience = 500

/** Empty where the texts are the same. */
export const fileDiff = async (before: string, after: string): Promise<ReadonlyArray<InkedLine>> => {
  if (before === after) return []
  // Loaded at the first difference: most requests change no file.
  const { structuredPatch } = await import("diff")
  const patch = structuredPatch("", "", before, after, undefined, undefined, { context: around, timeout: patience })
  if (patch === undefined) return [...all("-", before), ...all("+", after)].map(inked)
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    { ink: "cyan", text: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@` } as const,
    ...lines.map(inked)
  ])
}

const all = (sign: "-" | "+", text: string): ReadonlyArray<string> =>
  text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => `${sign}${line}`)

const inked = (line: string): InkedLine => ({ ink: inkOf(line), text: endShown(ApprovalText.show(line)) })

/** Blanks at the end of a changed line are seen by nobody, and may be the change. */
const endShown = (line: string): string =>
  /^[-+]/.test(line) ? line.replace(/(?<=.) +$/, (blanks) => "⟨U+0020⟩".repeat(blanks.length)) : line

const inkOf = (line: string): InkedLine["ink"] =>
  line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : line.startsWith("\\") ? "dim" : "plain"
