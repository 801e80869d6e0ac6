/**
 * Small changes to a line of JavaScript that often mend it: one comparison, one sign, one condition at a time.
 *
 * Guarantees: pure; each change is one token; ordered by what the failing test says, the likeliest first.
 * Does not know whether a change is right: the tests do.
 */
import type { TestFailure } from "./testReport.js"

export interface Mending {
  readonly line: number
  readonly before: string
  readonly after: string
  /** What is tried, in words. */
  readonly idea: string
  /** The likelier, the more. */
  readonly weight: number
}

/** One line of code that the failing test leads to. Lines count from 1. */
export interface Suspect {
  readonly line: number
  readonly text: string
  /** The error came from here. */
  readonly isThrower: boolean
}

interface Swap {
  readonly from: RegExp
  readonly to: string
  readonly weight: number
}

const swaps: ReadonlyArray<Swap> = [
  { from: /(?<![<>=])>(?![=>])/g, to: ">=", weight: 5 },
  { from: /(?<![<])<(?![=<])/g, to: "<=", weight: 5 },
  { from: />=/g, to: ">", weight: 5 },
  { from: /<=/g, to: "<", weight: 5 },
  { from: /!==/g, to: "===", weight: 4 },
  { from: /===/g, to: "!==", weight: 4 },
  { from: /&&/g, to: "||", weight: 4 },
  { from: /\|\|/g, to: "&&", weight: 4 },
  { from: /(?<=\s)\+(?=\s)/g, to: "-", weight: 3 },
  { from: /(?<=\s)-(?=\s)/g, to: "+", weight: 3 },
  { from: /(?<=\s)\*(?=\s)/g, to: "/", weight: 2 },
  { from: /(?<=\s)\/(?=\s)/g, to: "*", weight: 2 },
  { from: /\bMath\.floor\b/g, to: "Math.ceil", weight: 3 },
  { from: /\bMath\.ceil\b/g, to: "Math.floor", weight: 3 },
  { from: /\bMath\.max\b/g, to: "Math.min", weight: 3 },
  { from: /\bMath\.min\b/g, to: "Math.max", weight: 3 },
  { from: / - 1\b/g, to: "", weight: 4 },
  { from: / \+ 1\b/g, to: "", weight: 4 },
  { from: /(?<=\b(?:let|const)? ?\w+ = )0(?=;)/g, to: "1", weight: 3 },
  { from: /(?<=\b(?:let|const)? ?\w+ = )1(?=;)/g, to: "0", weight: 3 },
  { from: /\btrue\b/g, to: "false", weight: 2 },
  { from: /\bfalse\b/g, to: "true", weight: 2 }
]

export const mendingsOf = (
  suspects: ReadonlyArray<Suspect>,
  { failure, test }: { readonly failure: TestFailure; readonly test: string }
): ReadonlyArray<Mending> => {
  const numbers = new Set(test.match(/\b\d+(?:\.\d+)?\b/g) ?? [])
  return suspects
    .flatMap((suspect) => [...guards(suspect, failure), ...swapped(suspect, numbers)])
    .toSorted((left, right) => right.weight - left.weight)
}

const swapped = ({ line, text, isThrower }: Suspect, numbers: ReadonlySet<string>): ReadonlyArray<Mending> =>
  swaps.flatMap(({ from, to, weight }) =>
    [...codeOf(text).matchAll(from)].map((match): Mending => {
      const [token] = match
      const after = `${text.slice(0, match.index)}${to}${text.slice(match.index + token.length)}`
      // A comparison with the very number that the test uses is the likeliest to be off by one.
      const beside = /^\s*(\d+(?:\.\d+)?)\b/.exec(text.slice(match.index + token.length))?.[1]
      const isNamed = beside !== undefined && numbers.has(beside) && /[<>]/.test(token)
      const idea = `${token.trim()} becomes ${to.trim() === "" ? "nothing" : to}`
      return { line, before: text, after, idea, weight: weight + (isNamed ? 5 : 0) + (isThrower ? 2 : 0) }
    })
  )

/** A property of nothing was read: the line that did it may ask first. */
const guards = ({ line, text, isThrower }: Suspect, { error }: TestFailure): ReadonlyArray<Mending> => {
  const property = /of (?:undefined|null) \(reading '(\w+)'\)/.exec(error)?.[1]
  const at = property === undefined || !isThrower ? -1 : text.indexOf(`.${property}`)
  if (at < 0) return []
  const after = `${text.slice(0, at)}?${text.slice(at)}`
  return [{ line, before: text, after, idea: `.${property} is read only where there is something`, weight: 9 }]
}

/** Texts and comments as blanks of the same length, so that nothing in them is taken for code. */
const codeOf = (text: string): string =>
  text.replaceAll(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/\/.*$|^\s*\*.*$|\/\*.*?\*\//g, (part) =>
    " ".repeat(part.length)
  )
