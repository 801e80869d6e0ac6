/**
 * Reads the parts of a rule's pattern from its text, one after the other.
 *
 * Guarantees: every refusal names the column where reading stopped and what was expected there.
 * Does not judge what the parts mean together.
 */
import type { Json } from "@toolwright/runtime-contract"
import type { Operator } from "../RulePattern.js"
import { type JsonNode, plainJson, readJson } from "./jsonText.js"

type Refusal = (column: number, expected: string) => Error

const operators: ReadonlyArray<Operator> = ["!=", "!~", "<=", ">=", "=", "~", "<", ">"]

export class PatternScanner {
  readonly #text: string
  readonly #refuse: Refusal
  #at = 0

  constructor(text: string, refuse: Refusal) {
    this.#text = text
    this.#refuse = refuse
  }

  problem(column: number, expected: string): Error {
    return this.#refuse(column, expected)
  }

  /** The column of the next part, from 1. */
  column(): number {
    this.#space()
    return this.#at + 1
  }

  take(mark: string): boolean {
    this.#space()
    if (!this.#text.startsWith(mark, this.#at)) return false
    this.#at += mark.length
    return true
  }

  need(mark: string, expected: string): void {
    if (!this.take(mark)) throw this.#refuse(this.#at + 1, expected)
  }

  end(): void {
    this.#space()
    if (this.#at < this.#text.length) throw this.#refuse(this.#at + 1, "the end of the pattern")
  }

  toolGlob(): string {
    this.#space()
    const found = this.#match(/[A-Za-z0-9_*?-]+/y)
    if (found === undefined) throw this.#refuse(this.#at + 1, "a tool id, or a glob over ids with * and ?")
    return found
  }

  /** Empty where an operator follows at once: the whole arguments. */
  field(): ReadonlyArray<string> {
    const column = this.column()
    const pointer = this.#match(/(?:\/(?:[^~\s=!<>,()"/]|~[01])*)+/y)
    if (pointer !== undefined)
      return pointer
        .slice(1)
        .split("/")
        .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
    const dotted = this.#match(/[A-Za-z_$][\w$-]*(?:\.[\w$-]+)*/y)
    if (dotted !== undefined) return dotted.split(".")
    if (operators.some((operator) => this.#text.startsWith(operator, this.#at))) return []
    throw this.#refuse(column, "a field, as a dotted path or a JSON Pointer")
  }

  operator(): Operator {
    this.#space()
    const found = operators.find((operator) => this.#text.startsWith(operator, this.#at))
    if (found === undefined) throw this.#refuse(this.#at + 1, `one of ${operators.join(" ")}`)
    this.#at += found.length
    return found
  }

  /** Any JSON value. */
  value(): Json.Json {
    this.#space()
    const start = this.#at
    const end = this.#endOfValue()
    try {
      const value = parseJson(this.#text.slice(start, end))
      this.#at = end
      return value
    } catch {
      throw this.#refuse(
        start + 1,
        "a JSON value: text in double quotes, a number, true, false, null, an array, or an object with every key once"
      )
    }
  }

  // Finds where a value ends by brackets and strings alone; JSON.parse then decides whether it is one.
  #endOfValue(): number {
    let depth = 0
    for (let at = this.#at; at < this.#text.length; at++) {
      const char = this.#text.charAt(at)
      if (char === '"') {
        for (at++; at < this.#text.length && this.#text[at] !== '"'; at++) if (this.#text[at] === "\\") at++
        if (depth === 0) return at + 1
      } else if (char === "{" || char === "[") depth++
      else if (char === "}" || char === "]") {
        if (--depth <= 0) return at + 1
      } else if (depth === 0 && (char === "," || char === ")" || /\s/.test(char))) return at
    }
    return this.#text.length
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #space(): void {
    this.#match(/\s+/y)
  }
}

const parseJson = (text: string): Json.Json => {
  const node = readJson(text)
  if (hasDuplicates(node)) throw new TypeError("a key twice")
  return plainJson(node)
}

const hasDuplicates = (node: JsonNode): boolean => {
  if (node.kind === "scalar") return false
  if (node.kind === "array") return node.items.some(hasDuplicates)
  return (
    new Set(node.members.map(({ key }) => key)).size < node.members.length ||
    node.members.some(({ value }) => hasDuplicates(value))
  )
}
