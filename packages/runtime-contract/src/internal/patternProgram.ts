/**
 * Turns a regular expression of a foreign schema into a program for the bounded matcher.
 *
 * Guarantees: the syntax is first checked by the engine itself, and single characters and classes are matched by it, so
 * their meaning is exactly JavaScript's; the program's size is bounded.
 * Does not take back-references, look-behind, inline flags or quantified look-ahead: those cannot be run in bounded time.
 */

/** One instruction. `char` and `class` consume a character, `match` ends the program (or a look-ahead's own program). */
export type Instruction =
  | { readonly op: "char"; readonly code: number }
  | { readonly op: "class"; readonly has: (code: number) => boolean }
  | { readonly op: "split"; readonly first: number; readonly second: number }
  | { readonly op: "jump"; readonly to: number }
  | { readonly op: "start" | "end" | "boundary" | "noBoundary" | "match" }
  /** Runs the program that starts behind this instruction; goes on at `to` if that succeeds, or fails if `negative`. */
  | { readonly op: "look"; readonly negative: boolean; readonly to: number }

export interface PatternProgram {
  readonly code: ReadonlyArray<Instruction>
  /** Whether characters are code points (`u`) or code units. */
  readonly unicode: boolean
}

/** Instructions a program may have after counted repetitions are written out. */
const maxInstructions = 1_000

/** UTF-16 code units of a pattern, and groups inside one another. */
const maxSource = 1_000
const maxGroups = 50

/** Throws `Error` with the reason when the source is no regular expression or cannot be bounded. */
export const compilePattern = (source: string): PatternProgram => {
  if (source.length > maxSource) throw new Error(`more than ${maxSource} characters`)
  const unicode = isValid(source, "u")
  if (!unicode && !isValid(source, "")) throw new Error("no regular expression")
  const parser = new Parser(source, unicode)
  const emitter = new Emitter()
  emitter.emit(parser.parse())
  return { code: [...emitter.code, { op: "match" }], unicode }
}

type Node =
  | { readonly kind: "one"; readonly instruction: Instruction }
  | { readonly kind: "all" | "any"; readonly parts: ReadonlyArray<Node> }
  | { readonly kind: "repeat"; readonly part: Node; readonly least: number; readonly most: number }
  | { readonly kind: "look"; readonly part: Node; readonly negative: boolean }

const isValid = (source: string, flags: string): boolean => {
  try {
    return new RegExp(source, flags) instanceof RegExp
  } catch {
    return false
  }
}

const legacyEscape = /^(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z])/

const surrogatePair = "u[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2}"
const unicodeEscape = new RegExp(`^(?:[pP]\\{[^}]*\\}|u\\{[0-9a-fA-F]+\\}|${surrogatePair})|${legacyEscape.source}`)

// The whole source is known to be valid, so the parser only has to tell the parts apart.
class Parser {
  readonly #source: string
  readonly #flags: string
  #at = 0
  #groups = 0

  constructor(source: string, unicode: boolean) {
    this.#source = source
    this.#flags = unicode ? "u" : ""
  }

  parse(): Node {
    const parts = [this.#sequence()]
    while (this.#take("|")) parts.push(this.#sequence())
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "any", parts }
  }

  #sequence(): Node {
    const parts: Array<Node> = []
    while (this.#at < this.#source.length && !"|)".includes(this.#source.charAt(this.#at))) parts.push(this.#term())
    return { kind: "all", parts }
  }

  #term(): Node {
    const part = this.#atom()
    const count = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.#source.slice(this.#at))
    if (count === null) return part
    if (part.kind === "look") throw new Error("a quantified look-ahead")
    this.#at += count[0].length
    const sign = count[0].charAt(0)
    if (sign === "?") return { kind: "repeat", part, least: 0, most: 1 }
    if (sign !== "{") return { kind: "repeat", part, least: sign === "+" ? 1 : 0, most: Infinity }
    const least = Number(count[1])
    const most = count[2] === "" ? least : count[3] === "" ? Infinity : Number(count[3])
    return { kind: "repeat", part, least, most }
  }

  #atom(): Node {
    const start = this.#at
    if (this.#take("(")) return this.#group()
    if (this.#take("^")) return one({ op: "start" })
    if (this.#take("$")) return one({ op: "end" })
    if (this.#take(".")) return this.#class(start)
    if (this.#take("[")) {
      while (!this.#take("]")) this.#at += this.#source.charAt(this.#at) === "\\" ? 2 : 1
      return this.#class(start)
    }
    if (this.#take("\\")) return this.#escape(start)
    const code = this.#flags === "u" ? this.#source.codePointAt(start) : this.#source.charCodeAt(start)
    this.#at += code !== undefined && code > 0xffff ? 2 : 1
    return one({ op: "char", code: code ?? 0 })
  }

  #group(): Node {
    const opening = /^\?(?:[:=!]|<[^=!][^>]*>)/.exec(this.#source.slice(this.#at))?.[0] ?? ""
    if (opening === "" && this.#source.charAt(this.#at) === "?") throw new Error("look-behind or inline flags")
    this.#at += opening.length
    if (++this.#groups > maxGroups) throw new Error(`more than ${maxGroups} groups inside one another`)
    const part = this.parse()
    this.#groups--
    this.#at++
    if (opening !== "?=" && opening !== "?!") return part
    return { kind: "look", part, negative: opening === "?!" }
  }

  #escape(start: number): Node {
    const rest = this.#source.slice(this.#at)
    if (rest.startsWith("b") || rest.startsWith("B")) {
      this.#at++
      return one({ op: rest.startsWith("b") ? "boundary" : "noBoundary" })
    }
    if (/^(?:[1-9]|k<)/.test(rest)) throw new Error("a back-reference")
    if (/^(?:0[0-9]|c[^A-Za-z]|c$)/.test(rest)) throw new Error("a legacy escape")
    const known = this.#flags === "u" ? unicodeEscape : legacyEscape
    this.#at += known.exec(rest)?.[0].length ?? 1
    return this.#class(start)
  }

  /** A part that matches one character is left to the engine, one character at a time. */
  #class(start: number): Node {
    const matcher = new RegExp(`^(?:${this.#source.slice(start, this.#at)})$`, this.#flags)
    const ascii: Array<boolean | undefined> = []
    const has = (code: number): boolean => {
      const known = ascii[code]
      if (known !== undefined) return known
      const fits = matcher.test(String.fromCodePoint(code))
      if (code < 128) ascii[code] = fits
      return fits
    }
    return one({ op: "class", has })
  }

  #take(char: string): boolean {
    if (this.#source.charAt(this.#at) !== char) return false
    this.#at++
    return true
  }
}

const one = (instruction: Instruction): Node => ({ kind: "one", instruction })

/** Writes a tree out as instructions. Visits are counted too: a repetition of nothing writes nothing, however often. */
class Emitter {
  readonly code: Array<Instruction> = []
  #visits = 0

  emit(node: Node): void {
    if (this.code.length > maxInstructions || ++this.#visits > 4 * maxInstructions)
      throw new Error(`more than ${maxInstructions} steps`)
    switch (node.kind) {
      case "one":
        this.code.push(node.instruction)
        break
      case "all":
        for (const part of node.parts) this.emit(part)
        break
      case "any":
        this.#alternatives(node.parts)
        break
      case "repeat":
        this.#repeat(node.part, node.least, node.most)
        break
      case "look": {
        const look = this.#later()
        this.emit(node.part)
        this.code.push({ op: "match" })
        this.code[look] = { op: "look", negative: node.negative, to: this.code.length }
      }
    }
  }

  #alternatives(parts: ReadonlyArray<Node>): void {
    const jumps = parts.map((part, index) => {
      if (index === parts.length - 1) return this.emit(part)
      const split = this.#later()
      this.emit(part)
      const jump = this.#later()
      this.#split(split)
      return jump
    })
    for (const jump of jumps) if (jump !== undefined) this.code[jump] = { op: "jump", to: this.code.length }
  }

  #repeat(part: Node, least: number, most: number): void {
    for (let times = 0; times < least; times++) this.emit(part)
    if (most === Infinity) {
      const split = this.#later()
      this.emit(part)
      this.code.push({ op: "jump", to: split })
      this.#split(split)
      return
    }
    const splits: Array<number> = []
    for (let times = least; times < most; times++) {
      splits.push(this.#later())
      this.emit(part)
    }
    for (const split of splits) this.#split(split)
  }

  /** Leaves room for an instruction whose target is not known yet. */
  #later(): number {
    return this.code.push({ op: "match" }) - 1
  }

  /** Goes on behind the instruction, or where the program has come to. */
  #split(at: number): void {
    this.code[at] = { op: "split", first: at + 1, second: this.code.length }
  }
}
