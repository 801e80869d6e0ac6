/**
 * Shell words as a program would receive them: quotes and escapes undone, holes where the shell fills something in.
 *
 * Guarantees: a word without holes is exactly what the command gets; everything that the shell may change (expansions,
 * globs, braces, translated strings) is a hole.
 */
import type { Word, WordPart } from "unbash"
import { hole } from "./glob.js"

export interface ShellWord {
  /** Unquoted text; holes stand for what is not known. */
  readonly text: string
  /** May become no word or several. */
  readonly spreads: boolean
  /** Begins with a tilde that the shell leaves alone. */
  readonly plainTilde: boolean
}

export const literalWord = (text: string): ShellWord => ({ text, spreads: false, plainTilde: text.startsWith("~") })

/** Any number of words that are not known. */
export const unknownWords: ShellWord = { text: hole, spreads: true, plainTilde: false }

export const isKnown = (word: ShellWord): boolean => !word.spreads && !word.text.includes(hole)

export const readWord = (word: Word): ShellWord => {
  const { text, spreads } = readParts(word)
  const tilde = word.text.startsWith("~")
  // The shell fills in ~user, ~+, ~- and ~1; home is left to whoever knows it.
  if (tilde && !/^~(?:\/|$)/.test(text)) return { text: hole + text.replace(/^~[^/]*/, ""), spreads, plainTilde: false }
  return { text: collapse(text), spreads, plainTilde: text.startsWith("~") && !tilde }
}

const readParts = ({ parts, value }: Word): { readonly text: string; readonly spreads: boolean } => {
  if (parts === undefined) return { text: value, spreads: false }
  const read = parts.map(readPart)
  return { text: read.map(({ text }) => text).join(""), spreads: read.some(({ spreads }) => spreads) }
}

// Neighbouring holes are one.
const collapse = (text: string): string => {
  let found = text
  while (found.includes(hole + hole)) found = found.replaceAll(hole + hole, hole)
  return found
}

const readPart = (part: WordPart): { readonly text: string; readonly spreads: boolean } => {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return { text: part.value, spreads: false }
    case "DoubleQuoted":
      return {
        text: part.parts.map((child) => (child.type === "Literal" ? child.value : hole)).join(""),
        // "$@" and "${a[@]}" are several words in spite of their quotes.
        spreads: part.parts.some((child) => child.type !== "Literal" && child.text.includes("@"))
      }
    // A translated string is whatever a message catalogue says.
    case "LocaleString":
      return { text: hole, spreads: false }
    case "ProcessSubstitution":
      return { text: hole, spreads: false }
    case "SimpleExpansion":
    case "ParameterExpansion":
    case "CommandExpansion":
    case "ArithmeticExpansion":
    case "Glob":
    case "ExtendedGlob":
    case "BraceExpansion":
      return { text: hole, spreads: true }
  }
}

/** The one spelling in which commands are compared: single spaces, quotes only where a word needs them. */
export const spell = (words: ReadonlyArray<ShellWord>): string => words.map(quote).join(" ")

/** The words with single spaces and no quotes at all. */
export const spellBare = (words: ReadonlyArray<ShellWord>): string => words.map(({ text }) => text).join(" ")

const quote = ({ text, plainTilde }: ShellWord): string =>
  needsNoQuotes.test(text.replaceAll(hole, "x")) && !plainTilde ? text : `'${text.replaceAll("'", `'\\''`)}'`

const needsNoQuotes = /^(?:[\w@%+=:,./~^!{}[\]-]|[^\p{ASCII}\s])+$/u

/** `/usr/bin/Git.exe` is `git`. */
export const baseName = (text: string): string =>
  text
    .slice(Math.max(text.lastIndexOf("/"), text.lastIndexOf("\\")) + 1)
    .replace(/\.(?:exe|cmd|bat|com)$/i, "")
    .toLowerCase()
