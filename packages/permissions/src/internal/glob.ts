/**
 * Globs over text: `*` is any run of characters, `?` is one, `\` makes the next character literal, all else is itself.
 * A text may have holes: places whose content is not known before it runs.
 *
 * Guarantees: linear in pattern times text, so a hostile text cannot stall a decision; a hole is matched for certain by
 * `*` alone, and possibly by anything.
 * Does not know paths, hosts or commands: those have their own readers on top.
 */

/** Stands in a text for what is known only when it runs. It cannot occur in a command, a path or a host. */
export const hole = "\u0000"

/** True where the pattern is more than a literal. */
export const hasWildcard = (pattern: string): boolean => /[*?]/.test(pattern.replaceAll(/\\./gs, ""))

/** How many characters of a pattern are not wildcards. */
export const literalLength = (pattern: string): number =>
  pattern.replaceAll(/\\(.)/gs, "$1").replaceAll(/[*?]/g, "").length

/** What is wrong with a glob, said as what was expected; `undefined` where nothing is. */
export const problemOfGlob = (pattern: string): string | undefined => {
  const bare = pattern.replaceAll(/\\./gs, "")
  if (bare.includes("\\")) return "a character after the last backslash"
  if (/[[\]{}]/.test(bare))
    return "no brackets or braces, which globs here do not know: write several rules, or \\[ for the character"
  if (pattern === "") return "a glob that is not empty"
  return pattern.includes(hole) ? "no NUL character" : undefined
}

/** The same text as a pattern that matches only it. */
export const escapeGlob = (text: string): string => text.replaceAll(/[\\*?[\]{}]/g, "\\$&")

/** One step of a compiled pattern: a character, any one character, or any run. */
type Step = string | typeof one | typeof run
const one = Symbol("one")
const run = Symbol("run")

export interface Glob {
  readonly steps: ReadonlyArray<Step>
  /** Set where the pattern is a plain text. */
  readonly literal: string | undefined
}

export const compileGlob = (pattern: string): Glob => {
  const steps: Array<Step> = []
  const characters = Array.from(pattern)
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? ""
    if (character === "*") {
      if (steps.at(-1) !== run) steps.push(run)
    } else if (character === "?") steps.push(one)
    else steps.push(character === "\\" ? (characters[++index] ?? "\\") : character)
  }
  const literal = steps.every((step) => typeof step === "string") ? steps.join("") : undefined
  return { steps, literal }
}

/** True where the pattern matches the text for certain: whatever its holes turn out to be. */
export const matchesGlob = (glob: Glob, text: string): boolean => {
  if (glob.literal !== undefined) return glob.literal === text && !text.includes(hole)
  const { steps } = glob
  const length = text.length
  let at = 0
  let step = 0
  // Where to come back to: behind the last run, and how much of the text it has swallowed so far.
  let behindRun = -1
  let swallowed = 0
  while (at < length) {
    const want = steps[step]
    const size = widthAt(text, at)
    if (want === run) {
      behindRun = ++step
      swallowed = at
    } else if (want !== undefined && accepts(want, text, at)) {
      step++
      at += size
    } else if (behindRun >= 0) {
      step = behindRun
      swallowed += widthAt(text, swallowed)
      at = swallowed
    } else return false
  }
  while (steps[step] === run) step++
  return step === steps.length
}

const widthAt = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  return code >= 0xd800 && code <= 0xdbff && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00 ? 2 : 1
}

const accepts = (want: Step, text: string, at: number): boolean => {
  if (text[at] === hole) return false
  return typeof want === "string" ? text.startsWith(want, at) : true
}

/** Longer texts with holes are taken to match: nothing is gained by an exact answer, and much time lost. */
const longestOpen = 4_096

/** True where some content of the holes would make the pattern match. Only worth asking of a text that has holes. */
export const mayMatchGlob = (glob: Glob, text: string): boolean => {
  if (text.length > longestOpen) return true
  const { steps } = glob
  // reached[i]: the steps before i can produce the text so far.
  let reached = closure(steps, new Set([0]))
  for (const character of Array.from(text)) {
    const next = new Set<number>()
    for (const index of reached) {
      const want = steps[index]
      if (character === hole) {
        // A hole is any text: from here every later step can be reached.
        for (let later = index; later <= steps.length; later++) next.add(later)
      } else if (want === run) next.add(index)
      else if (want === one || want === character) next.add(index + 1)
    }
    reached = closure(steps, next)
    if (reached.size === 0) return false
  }
  return reached.has(steps.length)
}

// A run may be empty, so whoever stands before it may also stand behind it.
const closure = (steps: ReadonlyArray<Step>, from: Set<number>): Set<number> => {
  for (const index of from) if (steps[index] === run) from.add(index + 1)
  return from
}
