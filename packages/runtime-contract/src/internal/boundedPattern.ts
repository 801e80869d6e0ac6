/**
 * Matches regular expressions of foreign schemas in bounded time, whatever pattern and text are.
 *
 * Guarantees: every state is entered at most once for a character, so the work is pattern times text and never
 * exponential, and all patterns of one validation share a fixed amount of it.
 * Does not capture groups: a schema only asks whether a text matches.
 */
import { compilePattern, type Instruction, type PatternProgram } from "./patternProgram.js"

/** Steps that the patterns of one validation may take together: some tens of milliseconds. */
const fuelOfOneValidation = 4_000_000

let fuel = fuelOfOneValidation

/** Before each validation. Validation is synchronous, so one tank serves all. */
export const refuel = (): void => {
  fuel = fuelOfOneValidation
}

/** True when the last validation ran out, and so could not say anything of a text. */
export const isOutOfFuel = (): boolean => fuel < 0

export interface BoundedPattern {
  readonly test: (text: string) => boolean
  /** Ajv tells compiled patterns apart by their text. */
  readonly toString: () => string
}

/** Throws `Error` with the reason for a pattern that cannot be bounded. */
export const boundedPattern = (source: string): BoundedPattern => {
  const matcher = new Matcher(compilePattern(source))
  return {
    test: (text) => matcher.run({ text, start: 0, from: 0, anchored: false }),
    toString: () => `bounded/${source}/`
  }
}

/** Why a pattern cannot be bounded, or is none; `undefined` when it can. */
export const whyUnbounded = (source: unknown): string | undefined => {
  if (typeof source !== "string") return "no text"
  try {
    compilePattern(source)
    return undefined
  } catch (cause) {
    return cause instanceof Error ? cause.message : "no regular expression"
  }
}

class Matcher {
  readonly #code: ReadonlyArray<Instruction>
  readonly #unicode: boolean

  constructor(program: PatternProgram) {
    this.#code = program.code
    this.#unicode = program.unicode
  }

  /** Whether the program at `start` matches from `from` on, or (unless `anchored`) from any later character. */
  run({ text, start, from, anchored }: Search): boolean {
    fuel -= this.#code.length
    if (fuel < 0) return false
    let current: Array<number> = []
    let next: Array<number> = []
    // The character at which each instruction was last entered: once for each is enough.
    const entered = new Int32Array(this.#code.length).fill(-1)
    for (let at = from; ;) {
      if (at === from || !anchored) {
        if (this.#enter({ text, at, entered, list: current }, start)) return true
      }
      if (at >= text.length || fuel < 0 || (anchored && current.length === 0)) return false
      const code = this.#unicode ? (text.codePointAt(at) ?? 0) : text.charCodeAt(at)
      at += code > 0xffff ? 2 : 1
      next.length = 0
      for (const index of current) {
        const step = this.#code[index]
        const consumes = step?.op === "char" ? step.code === code : step?.op === "class" && step.has(code)
        if (consumes && this.#enter({ text, at, entered, list: next }, index + 1)) return true
      }
      fuel -= current.length + 1
      const spare = current
      current = next
      next = spare
    }
  }

  /** Follows everything that consumes nothing. True when the program has matched. */
  #enter(state: State, index: number): boolean {
    const stack = [index]
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      if (state.entered[top] === state.at) continue
      state.entered[top] = state.at
      fuel--
      const step = this.#code[top]
      if (step === undefined) return true
      switch (step.op) {
        case "match":
          return true
        case "char":
        case "class":
          state.list.push(top)
          break
        case "jump":
          stack.push(step.to)
          break
        case "split":
          stack.push(step.second, step.first)
          break
        case "look":
          if (this.run({ text: state.text, start: top + 1, from: state.at, anchored: true }) !== step.negative)
            stack.push(step.to)
          break
        case "start":
        case "end":
        case "boundary":
        case "noBoundary":
          if (holds(step.op, state)) stack.push(top + 1)
      }
    }
    return false
  }
}

interface Search {
  readonly text: string
  readonly start: number
  readonly from: number
  readonly anchored: boolean
}

interface State {
  readonly text: string
  readonly at: number
  readonly entered: Int32Array
  readonly list: Array<number>
}

const holds = (op: "start" | "end" | "boundary" | "noBoundary", { text, at }: State): boolean => {
  if (op === "start") return at === 0
  if (op === "end") return at === text.length
  return (isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at))) === (op === "boundary")
}

const isWord = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f
