/**
 * Exact replacements in a text, in order, all or none.
 *
 * Guarantees: pure; a text that is missing, ambiguous or unchanged is reported with its place and what would help.
 */
import type { ToolError } from "@toolwright/runtime-contract"
import { cutLine } from "./numberedLines.js"

export interface TextEdit {
  readonly old_string: string
  readonly new_string: string
  readonly replace_all: boolean
}

type Issue = Extract<ToolError["reason"], { readonly _tag: "InvalidArguments" }>["issues"][number]

export type Replaced =
  | { readonly ok: true; readonly text: string; readonly count: number; readonly shown: string }
  | { readonly ok: false; readonly issues: ReadonlyArray<Issue> }

/** `pointer` is where an edit stands in the arguments. */
export const replaceTexts = (text: string, edits: ReadonlyArray<TextEdit & { readonly pointer: string }>): Replaced => {
  let now = text
  let count = 0
  let lastPlace = 0
  for (const edit of edits) {
    const old = edit.old_string.replaceAll("\r\n", "\n")
    const wanted = now.includes("\r") ? edit.old_string : old
    // Of a text that overlaps itself either place may be meant.
    const places = placesOf(now, { part: wanted, step: edit.replace_all ? wanted.length : 1 })
    const issue = issueOf({ edit, now, places, wanted })
    if (issue !== undefined) return { ok: false, issues: [issue] }
    lastPlace = places[0] ?? 0
    const fresh = now.includes("\r") ? edit.new_string : edit.new_string.replaceAll("\r\n", "\n")
    now = now.split(wanted).join(fresh.toWellFormed())
    count += places.length
  }
  return { ok: true, text: now, count, shown: surroundings(now, lastPlace, edits.at(-1)?.new_string ?? "") }
}

/** Starts of occurrences that lie at least `step` apart; none for an empty text. */
const placesOf = (
  text: string,
  { part, step }: { readonly part: string; readonly step: number }
): ReadonlyArray<number> => {
  const places: Array<number> = []
  if (part === "") return places
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + step)) places.push(at)
  return places
}

interface Attempt {
  readonly edit: TextEdit & { readonly pointer: string }
  readonly now: string
  readonly places: ReadonlyArray<number>
  readonly wanted: string
}

const issueOf = ({ edit, now, places, wanted }: Attempt): Issue | undefined => {
  const pointer = `${edit.pointer}/old_string`
  if (edit.old_string === "")
    return {
      pointer,
      expected: "text that stands in the file",
      received: "an empty text",
      fix: "use `write` for a new file"
    }
  if (edit.old_string === edit.new_string)
    return {
      pointer: `${edit.pointer}/new_string`,
      expected: "a different text",
      received: "the same text",
      fix: "leave this edit out"
    }
  if (places.length === 0)
    return {
      pointer,
      expected: "text that stands in the file",
      received: "text that does not",
      fix: nearest(now, wanted)
    }
  if (places.length === 1 || edit.replace_all) return undefined
  const lines = places.slice(0, 5).map((at) => lineAt(now, at))
  return {
    pointer,
    expected: "text that occurs once",
    received: `text that occurs ${places.length} times (lines ${lines.join(", ")}${places.length > 5 ? ", …" : ""})`,
    fix: "include more of the lines around it, or send replace_all: true"
  }
}

const lineAt = (text: string, at: number): number => text.slice(0, at).split("\n").length

/** Most misses are a matter of white space, or of line numbers that were copied along. */
const nearest = (text: string, wanted: string): string => {
  if (/^\s*\d+\t/m.test(wanted) && text.includes(wanted.replace(/^\s*\d+\t/gm, ""))) return "leave out the line numbers"
  const first = wanted
    .split("\n")
    .find((line) => line.trim() !== "")
    ?.trim()
  const line = first === undefined ? -1 : text.split("\n").findIndex((one) => one.trim() === first)
  if (line < 0) return "read the file again and copy the text exactly"
  return `line ${line + 1} is alike but the white space or the following lines differ; read from there and copy exactly`
}

const around = 3

/** The lines about the last change, with numbers, so that nobody has to read the file again for them. */
const surroundings = (text: string, at: number, fresh: string): string => {
  const lines = text.split("\n")
  const first = Math.max(0, lineAt(text, at) - 1 - around)
  const last = Math.min(lines.length, lineAt(text, at) + Math.min(fresh.split("\n").length, 20) + around - 1)
  return lines
    .slice(first, last)
    .map((line, index) => `${first + index + 1}\t${cutLine(line, 300)}`)
    .join("\n")
}
