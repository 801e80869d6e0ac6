/**
 * The body of a web page as text that a model can read: HTML as Markdown, text as it is.
 *
 * Guarantees: scripts, styles and what is not shown are left out; the character set is taken from the answer, then from
 * the page; a page that is nested too deeply, or takes too long, to be converted comes as bare text.
 * Does not run scripts and does not load anything that the page names. No page keeps the process for long.
 */
import TurndownService from "turndown"
import { inTime } from "./boundedTime.js"
import { terminalText } from "./terminalText.js"

export interface Page {
  readonly title?: string
  readonly text: string
}

/** `undefined` for what is no text. */
export const pageText = (body: Buffer, contentType: string): Page | undefined => {
  const [type = "", ...parameters] = contentType
    .toLowerCase()
    .split(";")
    .map((part) => part.trim())
  const isHtml =
    type === "text/html" ||
    type === "application/xhtml+xml" ||
    (type === "" && /^\s*<(!doctype html|html)/i.test(body.toString("latin1", 0, 200)))
  if (!isHtml && !/^text\/|^$|[/+](json|xml|yaml|x-yaml|javascript|toml|x-ndjson)$/.test(type)) return undefined
  const named = parameters
    .find((part) => part.startsWith("charset="))
    ?.slice(8)
    .replace(/["']/g, "")
  const label = markedCharset(body) ?? named ?? (isHtml ? metaCharset(body) : undefined)
  if (!isHtml && label?.startsWith("utf-16") !== true && body.subarray(0, 8192).includes(0)) return undefined
  const text = decode(body, label)
  return isHtml ? markdownOf(text) : { text: terminalText(text) }
}

/** A byte order mark knows better than any header. */
const markedCharset = (body: Buffer): string | undefined => {
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le"
  if (body[0] === 0xfe && body[1] === 0xff) return "utf-16be"
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? "utf-8" : undefined
}

const metaCharset = (body: Buffer): string | undefined =>
  /<meta[^<>]+charset=["']?([\w-]+)/i.exec(body.toString("latin1", 0, 4096))?.[1]

const decode = (body: Buffer, label: string | undefined): string => {
  try {
    return new TextDecoder(label ?? "utf-8").decode(body)
  } catch {
    return new TextDecoder("utf-8").decode(body)
  }
}

const markdownOf = (html: string): Page => {
  const title = /<title[^<>]*>([^<]{1,500})/i.exec(html)?.[1]?.replace(/\s+/g, " ").trim()
  const named = title === undefined || title === "" ? {} : { title: terminalText(title) }
  if (html.length > mostConverted || depthOf(html) > deepest) return { ...named, text: terminalText(bareText(html)) }
  try {
    return {
      ...named,
      text: terminalText(inTime(longestConversion, () => converter().turndown(html)))
        .trim()
        .replace(/\n{3,}/g, "\n\n")
    }
  } catch {
    return { ...named, text: terminalText(bareText(html)) }
  }
}

/** Characters that are converted; and levels, for the parser takes time that grows with the square of them. */
const mostConverted = 2_000_000
const deepest = 200

/**
 * Milliseconds; large pages take less than half of it. Unclosed formatting, rows of breaks and of white space make parser
 * and converter take time that grows with their square, and no count of levels tells all such pages.
 */
const longestConversion = 2_000

// Elements that end by themselves, and those whose end may be left out.
const flat = new Set(
  "area base br col embed hr img input link meta source track wbr p li dt dd tr td th option thead tbody tfoot".split(
    " "
  )
)

const depthOf = (html: string): number => {
  let depth = 0
  let most = 0
  for (const [, end, name = ""] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)/gi)) {
    if (flat.has(name.toLowerCase())) continue
    depth = Math.max(0, depth + (end === "/" ? -1 : 1))
    most = Math.max(most, depth)
  }
  return most
}

let made: TurndownService | undefined

const converter = (): TurndownService => {
  if (made !== undefined) return made
  const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" })
  service.remove(["script", "style", "noscript", "iframe", "form", "canvas", "object", "title", "template" as "iframe"])
  // Data URLs are long and say nothing.
  service.addRule("image", {
    filter: "img",
    replacement: (_, node: unknown) => {
      const alt = altOf(node)
      return alt === undefined || alt === "" ? "" : `[image: ${alt}]`
    }
  })
  return (made = service)
}

/** The library's types need those of a browser, which are not here. */
const altOf = (node: unknown): string | undefined => {
  if (typeof node !== "object" || node === null || !("getAttribute" in node) || typeof node.getAttribute !== "function")
    return undefined
  const alt: unknown = Reflect.apply(node.getAttribute, node, ["alt"])
  return typeof alt === "string" ? alt.trim() : undefined
}

const bareText = (html: string): string =>
  withoutHidden(html)
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()

const hidden = /<(?:(script|style|noscript|template|title)\b|!--)/g

const withoutHidden = (html: string): string => {
  const kept: Array<string> = []
  // Only ASCII: other letters change their length with their case, and every place behind them would be wrong.
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  let at = 0
  for (const { index, 1: name } of lower.matchAll(hidden)) {
    if (index < at) continue
    kept.push(html.slice(at, index))
    const close = name === undefined ? "-->" : `</${name}`
    const end = lower.indexOf(close, index)
    at = end < 0 ? html.length : name === undefined ? end + close.length : end
  }
  return [...kept, html.slice(at)].join(" ")
}
