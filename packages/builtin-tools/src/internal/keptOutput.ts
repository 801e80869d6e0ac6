/**
 * Output of a program as it comes: the beginning and the end are kept to be shown, the whole goes to a file when it is long.
 *
 * Guarantees: bounded memory and file; both streams in the order of arrival; no character is cut in half.
 * Does not clean the text: whoever shows it does.
 */
import { StringDecoder } from "node:string_decoder"
import { headOf, tailOf } from "./numberedLines.js"

/** Characters of the beginning and of the end that are shown. */
const shownEach = 16_000
const mostInFile = 16 * 1024 * 1024

/** Takes the whole output when it becomes too long to show. `undefined`: there is no place for it. */
export interface Sink {
  readonly path: string
  readonly write: (text: string) => void
  readonly close: () => void
}

export class KeptOutput {
  readonly #open: () => Sink | undefined
  #head = ""
  #tail = ""
  #characters = 0
  #bytes = 0
  #sink: Sink | undefined
  #isOpened = false
  #inFile = 0

  constructor(open: () => Sink | undefined) {
    this.#open = open
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** A reader for one stream. Call it without an argument at the end. */
  readonly reader = (): ((part?: Buffer) => void) => {
    const decoder = new StringDecoder("utf8")
    return (part) => {
      this.#bytes += part?.length ?? 0
      this.#take(part === undefined ? decoder.end() : decoder.write(part))
    }
  }

  #take(text: string): void {
    if (text === "") return
    this.#characters += text.length
    if (this.#isOpened) this.#toFile(text)
    const room = shownEach - this.#head.length
    const head = room > 0 && this.#tail === "" ? headOf(text, Math.min(room, text.length)) : ""
    this.#head += head
    this.#tail += text.slice(head.length)
    if (!this.#isOpened && this.#tail.length > shownEach) {
      this.#isOpened = true
      this.#sink = this.#open()
      this.#toFile(this.#head + this.#tail)
    }
    // Cut seldom: the end is needed only once.
    if (this.#tail.length > 4 * shownEach) this.#tail = tailOf(this.#tail, shownEach)
  }

  #toFile(text: string): void {
    if (this.#sink === undefined || this.#inFile >= mostInFile) return
    const part = text.length <= mostInFile - this.#inFile ? text : headOf(text, mostInFile - this.#inFile)
    this.#inFile += Math.max(part.length, 1)
    try {
      this.#sink.write(part)
    } catch {
      this.#sink.close()
      this.#sink = undefined
    }
  }

  /** Closes the file. `clean` makes a text fit to be shown. */
  finish(clean: (text: string) => string): {
    readonly text: string
    readonly truncated: boolean
    readonly file?: string
  } {
    this.#sink?.close()
    const file = this.#sink?.path
    const kept = file === undefined ? {} : { file }
    if (!this.#isOpened) return { text: clean(this.#head + this.#tail), truncated: false }
    const tail = tailOf(this.#tail, shownEach)
    const left = this.#characters - this.#head.length - tail.length
    const where = file === undefined ? "they were not kept" : `the whole output is in ${file}`
    return {
      text: `${clean(this.#head)}\n[${left} characters left out here; ${where}]\n${clean(tail)}`,
      truncated: true,
      ...kept
    }
  }
}
