/**
 * Text that is shown while it comes: word by word, wrapped, and safe.
 *
 * Guarantees: nothing is shown twice; what was shown can be compared with what was committed; a new attempt begins anew.
 * Does not know whether the text will hold: what is committed does.
 */
import { safe, widthOf } from "./paper.js"

export interface Sheet {
  readonly write: (text: string) => void
  /** An empty line, unless there is one. */
  readonly gap: () => void
  /** Columns that the text may take. */
  readonly columns: () => number
}

const indent = "  "

export class StreamedText {
  readonly #sheet: Sheet
  #text = ""
  /** The word that is not complete. */
  #word = ""
  #column = 0

  constructor(sheet: Sheet) {
    this.#sheet = sheet
  }

  get isEmpty(): boolean {
    return this.#text === ""
  }

  add(text: string): void {
    if (this.isEmpty && text !== "") {
      this.#sheet.gap()
      this.#sheet.write(indent)
    }
    this.#text += text
    this.#word += text
    const words = this.#word.split(/(?<=[ \n])/)
    this.#word = /[ \n]$/.test(this.#word) ? "" : (words.pop() ?? "")
    for (const word of words) this.#put(word)
  }

  /** Shows the rest and ends the line. True when exactly `committed` was shown. */
  finish(committed?: string): boolean {
    const text = this.#text
    if (text === "") return false
    this.#put(this.#word)
    this.#sheet.write("\n")
    this.#text = ""
    this.#word = ""
    this.#column = 0
    return text === committed
  }

  #put(word: string): void {
    const isLast = word.endsWith("\n")
    const shown = safe(isLast ? word.slice(0, -1) : word)
    const width = widthOf(shown.trimEnd())
    if (this.#column > 0 && this.#column + width > this.#sheet.columns()) this.#break()
    this.#sheet.write(shown)
    this.#column += widthOf(shown)
    if (isLast) this.#break()
  }

  #break(): void {
    this.#sheet.write(`\n${indent}`)
    this.#column = 0
  }
}
