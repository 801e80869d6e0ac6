/**
 * Reads a request in plain English into intents: what the offline model understands.
 *
 * Guarantees: deterministic and total; what is not understood is an intent of its own; words like `then` start a new
 * group, which waits for the results of the one before it.
 * Does not correct what people type: misspelt places and odd expressions go to the tools as they are.
 */

import { folderVerbs, type FolderIntent, readFolderClause } from "./folderRequest.js"

export type Intent =
  | { readonly type: "weather"; readonly city: string }
  | { readonly type: "compare"; readonly cities: ReadonlyArray<string>; readonly how: "difference" | "mean" }
  | { readonly type: "calculate"; readonly expression: string }
  | { readonly type: "time"; readonly place: string }
  /** An empty text means: what was found out so far. */
  | { readonly type: "note"; readonly text: string }
  | { readonly type: "list"; readonly item: string }
  | { readonly type: "work"; readonly on: FolderIntent }
  | { readonly type: "unknown"; readonly text: string }

export type Group = ReadonlyArray<Intent>

export const readRequest = (text: string): ReadonlyArray<Group> => {
  const { rest, put } = withoutQuotes(text)
  return rest
    .replaceAll(/\s+/g, " ")
    .split(/[\s,;.]*\b(?:and )?(?:then|after that|afterwards)\b,?\s*|;\s*|[.?!]\s+(?=[A-Za-z])/i)
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => clausesOf(part).flatMap((clause) => readClause(put(clause))))
}

/** What is quoted is one word for everything that cuts a request into pieces. */
const withoutQuotes = (text: string): { readonly rest: string; readonly put: (part: string) => string } => {
  const quoted: Array<string> = []
  const rest = text.replaceAll(/`[^`]*`|"[^"]*"/g, (part) => {
    quoted.push(part)
    return `\ue000${quoted.length - 1}\ue001`
  })
  const put = (part: string): string =>
    part.replaceAll(/\ue000(\d+)\ue001/g, (mark, index: string) => quoted[Number(index)] ?? mark)
  return { rest, put }
}

const clausesOf = (part: string): ReadonlyArray<string> =>
  part.split(new RegExp(`^(?:please |can you )?(?:${folderVerbs})\\b`, "i").test(part) ? betweenWork : betweenIntents)

/** Between two pieces of work on the folder; a comma may stand between files. */
const betweenWork = new RegExp(`,?\\s+and\\s+(?=(?:${folderVerbs}|weather|what)(?:\\s|$))`, "i")

const opener =
  "what|weather|temperature|time|calculate|compute|how|save|note|write|remember|jot|add|put|compare|average|difference|tell|show"

/** A comma or an `and` before a word that begins another request; between places it joins them. */
const betweenIntents = new RegExp(
  `(?:,\\s*(?:and\\s+|also\\s+)?|\\s+(?:and|also|plus)\\s+)(?=(?:the\\s+)?(?:${opener})\\b)`,
  "i"
)

const readClause = (clause: string): ReadonlyArray<Intent> => {
  const text = clause.replace(/[\s.?!,]+$/, "").replace(/^(?:please|can you|could you|tell me|show me)\s+/i, "")
  return (
    readListing(text) ??
    readWork(text) ??
    readNote(text) ??
    readComparison(text) ??
    readWeather(text) ??
    readTime(text) ??
    readSum(text) ?? [{ type: "unknown", text }]
  )
}

const readWork = (text: string): ReadonlyArray<Intent> | undefined => {
  const on = readFolderClause(text)
  return on === undefined ? undefined : [{ type: "work", on }]
}

const readListing = (text: string): ReadonlyArray<Intent> | undefined => {
  const item = /^(?:add|put|write)\s+(.+?)\s+(?:to|on|onto)\s+(?:the\s+|my\s+|our\s+)?(?:shopping\s+)?list$/i.exec(
    text
  )?.[1]
  return item === undefined ? undefined : [{ type: "list", item }]
}

const readNote = (text: string): ReadonlyArray<Intent> | undefined => {
  const match = /^(?:save|write|jot|note|remember)\b(?:\s+down)?(.*)$/i.exec(text)
  if (match === null) return undefined
  const said = (match[1] ?? "")
    .replace(/^(?:\s+(?:me|a|the|another))*\s+note\b/i, "")
    .replace(/\s+(?:as|in|to|into)\s+(?:a|my|the)\s+(?:note|file)s?$/i, "")
    .replace(/^\s*(?::|that says\b|saying\b|to\b|that\b(?=\s+\w))?\s*/i, "")
  return [{ type: "note", text: reference.test(said) ? "" : said }]
}

/** What was found out so far, in the words that people have for it. */
const reference =
  /^(?:it|that|this|these|them|those|all|everything|(?:of )?(?:the )?(?:result|answer|weather|number)s?)?$/i

const readComparison = (text: string): ReadonlyArray<Intent> | undefined => {
  const isMean = /\b(?:average|mean)\b/i.test(text)
  if (!isMean && !/\b(?:difference|compare|warmer|colder)\b/i.test(text)) return undefined
  const places = /\b(?:between|of|in|for|is|temperatures?)\s+((?!temperature|the\b|it\b).+)$/i.exec(
    text.replace(/\btemperatures?\s+(?:of|in|between)\b/i, "of")
  )
  const cities = placesOf((places?.[1] ?? "").replaceAll(/\b(?:warmer|colder) than\b/gi, "and"))
  return cities.length < 2 ? undefined : [{ type: "compare", cities, how: isMean ? "mean" : "difference" }]
}

const readWeather = (text: string): ReadonlyArray<Intent> | undefined => {
  if (!/\b(?:weather|temperature|forecast)\b|\bhow (?:warm|cold|hot|windy) is it\b/i.test(text)) return undefined
  const cities = placesOf(/\b(?:in|for|at|of)\s+(.+)$/i.exec(text)?.[1] ?? "")
  return cities.length === 0 ? [{ type: "weather", city: "" }] : cities.map((city) => ({ type: "weather", city }))
}

const readTime = (text: string): ReadonlyArray<Intent> | undefined => {
  if (!/\b(?:time|date|day)\b/i.test(text) || /\btimes\b/i.test(text)) return undefined
  const places = placesOf(/\b(?:in|for|at)\s+(.+)$/i.exec(text)?.[1] ?? "")
  return places.length === 0 ? [{ type: "time", place: "" }] : places.map((place) => ({ type: "time", place }))
}

const readSum = (text: string): ReadonlyArray<Intent> | undefined => {
  const said = text.replace(/^(?:what(?:'s| is| are)|calculate|compute|how much (?:is|are)|work out|and)\s+/i, "")
  if (!/\d|\b(?:pi|tau)\b/i.test(said)) return undefined
  const isAsked = said !== text || /^[-+(.\d√]/.test(said) || /^\w+\s*\(/.test(said)
  return isAsked ? [{ type: "calculate", expression: expressionOf(said) }] : undefined
}

const words: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bthe square root of\s+([\d.]+)/gi, "sqrt($1)"],
  [/√\s*([\d.]+)/g, "sqrt($1)"],
  [/\s*\bpercent\b/gi, "%"],
  [/\s+squared\b/gi, "^2"],
  [/\s+cubed\b/gi, "^3"],
  [/\bto the power of\b/gi, "^"],
  [/\bplus\b/gi, "+"],
  [/\bminus\b/gi, "-"],
  [/\b(?:times|multiplied by)\b/gi, "*"],
  [/\b(?:divided by|over)\b/gi, "/"]
]

const expressionOf = (said: string): string =>
  words.reduce((text, [pattern, sign]) => text.replaceAll(pattern, sign), said.replace(/^the\s+(?!square)/i, "")).trim()

const placesOf = (text: string): ReadonlyArray<string> =>
  text
    .split(/\s*(?:,|&|\band\b|\bor\b|\bvs\.?|\bversus\b)\s*/i)
    .map((place) => place.replace(/\b(?:right now|now|today|tonight|at the moment|please)\b/gi, "").trim())
    .filter((place) => place !== "")
