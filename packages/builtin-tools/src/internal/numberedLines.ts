/**
 * A part of a text as a model reads it: every line with its number, long lines cut, and a note where to go on.
 *
 * Guarantees: bounded, never half a character; the numbers are those of the file.
 */
const longestLine = 2_000
const mostCharacters = 48_000

export interface Window {
  /** First line, from 1. */
  readonly offset: number
  /** Number of lines. */
  readonly limit: number
}

export interface Shown {
  readonly text: string
  readonly first: number
  readonly last: number
  readonly total: number
}

export const numberedLines = (text: string, { offset, limit }: Window): Shown => {
  if (text === "") return { text: "(the file is empty)", first: 1, last: 0, total: 0 }
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n")
  const total = lines.length
  if (offset > total) return { text: `(the file has only ${total} lines)`, first: offset, last: offset - 1, total }
  const shown: Array<string> = []
  let left = mostCharacters
  for (const [index, line] of lines.slice(offset - 1, offset - 1 + limit).entries()) {
    const one = `${offset + index}\t${cutLine(line)}`
    if (one.length > left && shown.length > 0) break
    left -= one.length + 1
    shown.push(one)
  }
  const last = offset + shown.length - 1
  if (last < total) shown.push(`(lines ${offset} to ${last} of ${total}; go on with offset ${last + 1})`)
  return { text: shown.join("\n"), first: offset, last, total }
}

export const cutLine = (line: string, most: number = longestLine): string => {
  if (line.length <= most) return line
  const head = headOf(line, most)
  return `${head}… (${line.length - head.length} more characters)`
}

/** The first characters, never ending in half of one. */
export const headOf = (text: string, length: number): string => {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

/** The last characters, never beginning with half of one. */
export const tailOf = (text: string, length: number): string => {
  if (text.length <= length) return text
  const start = text.length - length
  const first = text.charCodeAt(start)
  return text.slice(first >= 0xdc00 && first <= 0xdfff ? start + 1 : start)
}
