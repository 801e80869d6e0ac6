/**
 * JSON with positions: every value and every key knows where it stands in the text.
 *
 * Guarantees: the grammar of RFC 8259 and nothing else; duplicate keys are kept, so that they can be refused; depth is bounded.
 * Does not interpret: `PolicyFile` does.
 */

import type { Json } from "@toolwright/runtime-contract"

export type JsonNode =
  | { readonly kind: "object"; readonly at: number; readonly members: ReadonlyArray<JsonMember> }
  | { readonly kind: "array"; readonly at: number; readonly items: ReadonlyArray<JsonNode> }
  | { readonly kind: "scalar"; readonly at: number; readonly value: string | number | boolean | null }

export interface JsonMember {
  readonly key: string
  readonly at: number
  readonly value: JsonNode
}

/** The plain value of a node. Of a key that stands twice the last counts, so refuse those before. */
export const plainJson = (node: JsonNode): Json.Json => {
  if (node.kind === "scalar") return node.value
  if (node.kind === "array") return node.items.map(plainJson)
  return Object.fromEntries(node.members.map(({ key, value }) => [key, plainJson(value)]))
}

/** A text that is no JSON. `at` is an offset in UTF-16 code units. */
export class JsonTextError extends Error {
  readonly at: number
  readonly expected: string
  readonly received: string
  constructor(problem: { readonly at: number; readonly expected: string; readonly received: string }) {
    super(`expected ${problem.expected}, got ${problem.received}`)
    this.at = problem.at
    this.expected = problem.expected
    this.received = problem.received
  }
}

/** Throws `JsonTextError`. */
export const readJson = (text: string): JsonNode => new Reader(text).read()

/** Line and column of an offset, both from 1. */
export const positionOf = (text: string, at: number): { readonly line: number; readonly column: number } => {
  const before = text.slice(0, at)
  const start = Math.max(before.lastIndexOf("\n"), before.lastIndexOf("\r")) + 1
  return { line: before.split(/\r\n|\r|\n/).length, column: at - start + 1 }
}

const deepest = 64

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): JsonNode {
    const node = this.#value(1)
    this.#space()
    if (this.#at < this.#text.length) throw this.#problem("nothing after the JSON value")
    return node
  }

  #value(depth: number): JsonNode {
    this.#space()
    const at = this.#at
    const first = this.#text[at]
    if (depth > deepest) throw this.#problem(`at most ${deepest} levels of nesting`)
    if (first === "{") return this.#object(at, depth)
    if (first === "[") return this.#array(at, depth)
    if (first === '"') return { kind: "scalar", at, value: this.#string() }
    const word = this.#match(/true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y)
    if (word === undefined || /[\w.+-]/.test(this.#text[this.#at] ?? "")) {
      this.#at = at
      throw this.#problem("a JSON value")
    }
    const value: unknown = JSON.parse(word)
    if (typeof value === "number" && !Number.isFinite(value)) throw this.#problem("a finite number")
    return { kind: "scalar", at, value: typeof value === "number" || typeof value === "boolean" ? value : null }
  }

  #object(at: number, depth: number): JsonNode {
    const members: Array<JsonMember> = []
    this.#at++
    if (this.#take("}")) return { kind: "object", at, members }
    do {
      this.#space()
      const keyAt = this.#at
      if (this.#text[keyAt] !== '"') throw this.#problem("a key in double quotes")
      const key = this.#string()
      if (!this.#take(":")) throw this.#problem("a colon after the key")
      members.push({ key, at: keyAt, value: this.#value(depth + 1) })
    } while (this.#take(","))
    if (!this.#take("}")) throw this.#problem("a comma or a closing brace")
    return { kind: "object", at, members }
  }

  #array(at: number, depth: number): JsonNode {
    const items: Array<JsonNode> = []
    this.#at++
    if (this.#take("]")) return { kind: "array", at, items }
    do items.push(this.#value(depth + 1))
    while (this.#take(","))
    if (!this.#take("]")) throw this.#problem("a comma or a closing bracket")
    return { kind: "array", at, items }
  }

  #string(): string {
    const raw = this.#match(/"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y)
    if (raw === undefined || Array.from(raw).some((character) => character < " "))
      throw this.#problem("a string in double quotes, control characters escaped")
    const value: unknown = JSON.parse(raw)
    return typeof value === "string" ? value : ""
  }

  #problem(expected: string): JsonTextError {
    const rest = this.#text.slice(this.#at, this.#at + 20)
    return new JsonTextError({
      at: this.#at,
      expected,
      received: rest === "" ? "the end of the text" : JSON.stringify(rest)
    })
  }

  #take(mark: string): boolean {
    this.#space()
    if (this.#text[this.#at] !== mark) return false
    this.#at++
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #space(): void {
    this.#match(/[ \t\r\n]*/y)
  }
}
