/**
 * The exact JSON reader: finds the first thing in a text that strict parsing refuses, and says where and why.
 *
 * Guarantees: the grammar of RFC 8259 and nothing else; never throws, never recurses deeper than the depth limit.
 * Does not build a value: `strictJson` lets `JSON.parse` do that and comes here only in doubt.
 */
/// <reference lib="es2024.string" />
import type { ArgumentIssue } from "../ToolError.js"
import { type Place, pointerOf } from "./jsonPointer.js"

/** How many objects and arrays may lie inside one another, the root included. */
export const maxDepth = 64

/** The first problem of a text, or `undefined` when it is one JSON object that strict parsing accepts. */
export const scanJson = (text: string): ArgumentIssue | undefined => new Scanner(text).scan()

const numberToken = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y
const wordToken = /[^\s,:"[\]{}]+/y

class Scanner {
  readonly #text: string
  #at = 0
  #problem: ArgumentIssue | undefined

  constructor(text: string) {
    this.#text = text
  }

  scan(): ArgumentIssue | undefined {
    this.#space()
    const root = this.#text[this.#at]
    if (!this.#value(undefined, 1)) return this.#problem
    this.#space()
    if (this.#at < this.#text.length) {
      const fix = "send exactly one JSON object; use one call for each object"
      this.#refuse("", { expected: "nothing after the JSON value", received: `extra text ${this.#here()}`, fix })
    } else if (root !== "{") this.#refuse("", rootProblem(root, this.#text))
    return this.#problem
  }

  #value(place: Place | undefined, depth: number): boolean {
    const first = this.#text.charCodeAt(this.#at)
    if (first === 0x7b || first === 0x5b) {
      if (depth > maxDepth)
        return this.#refuse(pointerOf(place), {
          expected: `at most ${maxDepth} levels of nesting`,
          received: "one level more"
        })
      return first === 0x7b ? this.#object(place, depth) : this.#array(place, depth)
    }
    if (first === 0x22) return this.#string(place) !== undefined
    if (first === 0x2d || (first >= 0x30 && first <= 0x39)) return this.#number(place)
    for (const word of ["true", "false", "null"])
      if (this.#text.startsWith(word, this.#at) && this.#word() === word) {
        this.#at += word.length
        return true
      }
    return this.#badValue(place)
  }

  #object(place: Place | undefined, depth: number): boolean {
    const seen = new Set<string>()
    this.#at++
    this.#space()
    if (this.#take("}")) return true
    for (;;) {
      if (this.#text[this.#at] !== '"') return this.#syntax(place, "a key in double quotes")
      const key = this.#string(place)
      if (key === undefined) return false
      const child: Place = { parent: place, key }
      if (seen.has(key))
        return this.#refuse(pointerOf(child), {
          expected: "every key once",
          received: `the key ${JSON.stringify(key.slice(0, 60).toWellFormed())} a second time`,
          fix: "send the key once"
        })
      seen.add(key)
      this.#space()
      if (!this.#take(":")) return this.#syntax(child, "a colon after the key")
      this.#space()
      if (!this.#value(child, depth + 1)) return false
      this.#space()
      if (this.#take("}")) return true
      if (!this.#take(",")) return this.#syntax(place, "a comma or a closing brace")
      this.#space()
    }
  }

  #array(place: Place | undefined, depth: number): boolean {
    this.#at++
    this.#space()
    if (this.#take("]")) return true
    for (let index = 0; ; index++) {
      if (!this.#value({ parent: place, key: index }, depth + 1)) return false
      this.#space()
      if (this.#take("]")) return true
      if (!this.#take(",")) return this.#syntax(place, "a comma or a closing bracket")
      this.#space()
    }
  }

  /** The decoded text, or `undefined` after a refusal. */
  #string(place: Place | undefined): string | undefined {
    const start = this.#at
    for (this.#at++; ; this.#at++) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === 0x22) break
      if (Number.isNaN(code)) return void this.#syntax(place, "a closing double quote")
      if (code < 0x20) return void this.#syntax(place, "control characters in strings written as escapes")
      if (code === 0x5c && !this.#escape()) return void this.#syntax(place, "a JSON escape")
    }
    const decoded: unknown = JSON.parse(this.#text.slice(start, ++this.#at))
    if (typeof decoded !== "string") return undefined
    if (decoded.isWellFormed()) return decoded
    return void this.#refuse(pointerOf(place), {
      expected: "well-formed Unicode text",
      received: "half of a surrogate pair",
      fix: "send the whole character or leave it out"
    })
  }

  #escape(): boolean {
    const next = this.#text[++this.#at]
    if (next === undefined) return false
    if (next !== "u") return '"\\/bfnrt'.includes(next)
    const digits = this.#text.slice(this.#at + 1, this.#at + 5)
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) return false
    this.#at += 4
    return true
  }

  #number(place: Place | undefined): boolean {
    numberToken.lastIndex = this.#at
    const match = numberToken.exec(this.#text)
    const word = this.#word()
    if (match === null || match[0] !== word) return this.#badValue(place)
    const value = Number(word)
    const isInteger = match[1] === undefined && match[2] === undefined
    if (isInteger && !Number.isSafeInteger(value))
      return this.#refuse(pointerOf(place), {
        expected: "an integer from -9007199254740991 to 9007199254740991",
        received: word.length > 60 ? `${word.slice(0, 60)}…` : word,
        fix: "send it in quotes if the field takes a string"
      })
    if (!Number.isFinite(value))
      return this.#refuse(pointerOf(place), { expected: "a finite number", received: word.slice(0, 60) })
    this.#at += word.length
    return true
  }

  #badValue(place: Place | undefined): boolean {
    const word = this.#word()
    if (/^[+-]?(?:[0-9.]|nan|inf)/i.test(word))
      return this.#refuse(pointerOf(place), { expected: "a JSON number", received: word.slice(0, 60) })
    if (/^(?:true|false|none|null|undefined)$/i.test(word))
      return this.#refuse(pointerOf(place), { expected: "true, false or null", received: word })
    return this.#syntax(place, "a JSON value")
  }

  #syntax(place: Place | undefined, expected: string): boolean {
    const atEnd = this.#at >= this.#text.length
    const fenced = place === undefined && /^\s*```/.test(this.#text)
    const fix = fenced ? "send the bare JSON object, without a code fence" : "send one complete JSON object"
    return this.#refuse(pointerOf(place), {
      expected,
      received: atEnd ? `the end of the text at character ${this.#text.length}` : this.#here(),
      ...(atEnd || fenced ? { fix } : {})
    })
  }

  #refuse(pointer: string, problem: Omit<ArgumentIssue, "pointer">): boolean {
    // Some of the text is quoted, and a quote must not carry half a character into a message.
    this.#problem = { pointer, ...problem, received: problem.received.toWellFormed() }
    return false
  }

  #here(): string {
    const shown = JSON.stringify(this.#text.slice(this.#at, this.#at + 20).toWellFormed())
    return `${shown} at character ${this.#at}`
  }

  #word(): string {
    wordToken.lastIndex = this.#at
    return wordToken.exec(this.#text)?.[0] ?? ""
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at++
    return true
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }
}

const rootProblem = (first: string | undefined, text: string): Omit<ArgumentIssue, "pointer"> => {
  const expected = "a JSON object at the root"
  if (first === "[") return { expected, received: "an array", fix: "send an object with the fields of the tool" }
  if (first !== '"') return { expected, received: text.trim().slice(0, 60) }
  return { expected, received: "a string", fix: "send the object itself, not a string that contains it" }
}
