/**
 * The terminal as a person uses it: lines in, and Ctrl-C.
 *
 * Guarantees: without a terminal nobody is asked; what is typed ahead is not lost, and decides nothing; a question that is cancelled gives `undefined`; an interrupt is told
 * once and never ends the process by itself.
 * Does not know what the lines mean.
 */
import { createInterface, type Interface } from "node:readline/promises"

export interface AskOptions {
  /** What stands in the line already, to be changed. */
  readonly prefill?: string
  /** What was typed before the question was there is no answer to it: for everything that decides something. */
  readonly isFresh?: boolean
  /** Aborts when the question needs no answer any more. */
  readonly calledOff?: AbortSignal
}

/** Asks the person; `undefined` when the question was cancelled or called off. */
export type Ask = (question: string, options?: AskOptions) => Promise<string | undefined>

export class Console {
  readonly isAttended: boolean
  readonly #onInterrupt: () => void
  #lines: Interface | undefined
  #question: AbortController | undefined
  /** Lines that were typed while nothing was asked. */
  #ahead: Array<string> = []

  constructor(onInterrupt: () => void) {
    this.isAttended = process.stdin.isTTY && process.stdout.isTTY
    this.#onInterrupt = onInterrupt
    process.on("SIGINT", this.#interrupt)
  }

  /** `undefined` at the end of the input, on Ctrl-C, and when it was called off. */
  readonly ask: Ask = async (question, { prefill, calledOff, isFresh } = {}) => {
    this.#lines ??= this.#open()
    if (isFresh === true) this.#ahead = []
    const ahead = this.#ahead.shift()
    if (ahead !== undefined) {
      process.stdout.write(`${question}${ahead}\n`)
      return ahead
    }
    this.#question = new AbortController()
    const { signal } = this.#question
    try {
      const answer = this.#lines.question(question, {
        signal: calledOff === undefined ? signal : AbortSignal.any([signal, calledOff])
      })
      if (prefill !== undefined) this.#lines.write(prefill)
      return await answer
    } catch {
      process.stdout.write("\n")
      // A question that was cancelled leaves its interface without echo.
      this.#lines.close()
      this.#lines = undefined
      return undefined
    } finally {
      this.#question = undefined
    }
  }

  /** The lines of a standard input that is no terminal. */
  async *piped(): AsyncGenerator<string, void, undefined> {
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
    for await (const line of lines) if (line.trim() !== "") yield line.trim()
  }

  close(): void {
    process.off("SIGINT", this.#interrupt)
    this.#lines?.close()
  }

  readonly #interrupt = (): void => {
    this.#question?.abort()
    this.#onInterrupt()
  }

  #open(): Interface {
    const lines = createInterface({ input: process.stdin, output: process.stdout, historySize: 100 })
    // In raw mode Ctrl-C is a key and no signal.
    lines.on("SIGINT", this.#interrupt)
    lines.on("line", (line) => this.#ahead.push(line))
    lines.on("close", () => this.#question?.abort())
    return lines
  }
}
