/**
 * Text for a terminal: colours, widths and wrapping.
 *
 * Guarantees: no control or direction character of a text reaches the terminal; a line is never wider than asked.
 * Does not write anything.
 */

export type Ink = "plain" | "dim" | "bold" | "green" | "yellow" | "red" | "blue" | "cyan"

const codes: Readonly<Record<Ink, readonly [number, number]>> = {
  plain: [0, 0],
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39]
}

export type Painter = (ink: Ink, text: string) => string

export const painter =
  (color: boolean): Painter =>
  (ink, text) =>
    color && ink !== "plain" ? `\u001b[${codes[ink][0]}m${text}\u001b[${codes[ink][1]}m` : text

/** Written out: what would move the cursor, change colours or turn the direction of the text. A tab is two blanks. */
export const safe = (text: string): string =>
  text
    .replaceAll("\t", "  ")
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
      char === "\n" ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
    )

/** Tabs written out: a terminal makes them as wide as it likes, and in a file they are no blanks. */
export const visibleTabs = (text: string): string => text.replaceAll("\t", "⇥ ")

/** On one line. */
export const safeLine = (text: string): string => safe(text.replaceAll(/\s*\n\s*/g, " ⏎ "))

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

export const widthOf = (text: string): number => {
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += wide.test(segment) ? 2 : 1
  return width
}

/** At most `width` columns; what is cut is shown as an ellipsis. */
export const fit = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let kept = ""
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += wide.test(segment) ? 2 : 1
    if (used > width - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

/** Lines of at most `width` columns, broken at blanks where there are some. Nothing is left out, and an indent stays. */
export const wrap = (text: string, width: number): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => wrapLine(line, width))

const wrapLine = (line: string, width: number): ReadonlyArray<string> => {
  const indent = (/^ */.exec(line)?.[0] ?? "").slice(0, Math.floor(width / 2))
  const room = width - indent.length
  const lines: Array<string> = []
  let current: string | undefined
  for (const word of line.slice(indent.length).split(" ")) {
    const joined = current === undefined ? word : `${current} ${word}`
    if (widthOf(joined) <= room) {
      current = joined
      continue
    }
    if (current !== undefined) lines.push(current)
    const pieces = piecesOf(word, room)
    lines.push(...pieces.slice(0, -1))
    current = pieces.at(-1) ?? ""
  }
  return [...lines, current ?? ""].map((one) => `${indent}${one}`)
}

/** A word that is wider than the line, cut. */
const piecesOf = (word: string, width: number): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  let piece = ""
  let used = 0
  for (const { segment } of graphemes.segment(word)) {
    const taken = wide.test(segment) ? 2 : 1
    if (used + taken > width && piece !== "") {
      pieces.push(piece)
      piece = ""
      used = 0
    }
    piece += segment
    used += taken
  }
  return [...pieces, piece]
}
