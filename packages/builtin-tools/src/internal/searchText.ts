/**
 * Searching with the language's own regular expressions, for machines without ripgrep.
 *
 * Guarantees: the same files are looked at; an expression that takes too long is interrupted, also in the middle of one
 * match; bounded output.
 * Does not know Rust's dialect of expressions: both know what is commonly used.
 */
import * as vm from "node:vm"
import { readWhole } from "./fileContent.js"
import { decode } from "./fileText.js"
import type { HeldDirectory } from "./heldDirectory.js"
import { cutLine } from "./numberedLines.js"
import { walkTree } from "./walkTree.js"

export interface SearchRequest {
  readonly pattern: string
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly before: number
  readonly after: number
  readonly glob: string | undefined
  /** Only this file of the folder. */
  readonly file: string | undefined
  /** Milliseconds for the whole search. */
  readonly timeout: number
}

export interface SearchHit {
  /** From the folder. */
  readonly path: string
  readonly line: number
  readonly text: string
  /** False for a line of context. */
  readonly isMatch: boolean
}

export interface SearchResult {
  readonly hits: ReadonlyArray<SearchHit>
  readonly ended: "complete" | "bound" | "timeout" | "aborted"
  /** The expression could not be read. */
  readonly problem?: string
}

const mostHits = 20_000

export interface OwnSearch {
  readonly folder: HeldDirectory
  readonly request: SearchRequest
  readonly matchesGlob: (path: string) => boolean
  readonly signal: AbortSignal
}

export const searchText = async ({ folder, request, matchesGlob, signal }: OwnSearch): Promise<SearchResult> => {
  const scan = scannerFor(request)
  if (typeof scan === "string") return { hits: [], ended: "complete", problem: scan }
  const hits: Array<SearchHit> = []
  let ended: SearchResult["ended"] = "complete"
  const look = (
    directory: HeldDirectory,
    { name, path }: { readonly name: string; readonly path: string }
  ): boolean => {
    const lines = textLines(directory, name)
    if (lines === undefined) return true
    try {
      hits.push(...withContext(path, { ...lines, found: scan(lines.text), request }))
    } catch {
      ended = "timeout"
    }
    if (hits.length > mostHits) ended = "bound"
    return ended === "complete"
  }
  if (request.file !== undefined) look(folder, { name: request.file, path: request.file })
  else {
    const walked = await walkTree(folder, {
      signal,
      visit: ({ path, name, type, directory }) =>
        type !== "file" || !matchesGlob(path) || look(directory, { name, path })
    })
    if (!walked.complete) ended = "bound"
  }
  return { hits, ended }
}

const textLines = (
  directory: HeldDirectory,
  name: string
): { readonly text: string; readonly lines: ReadonlyArray<string> } | undefined => {
  try {
    const decoded = decode(readWhole(directory, name).bytes)
    return decoded === undefined ? undefined : { text: decoded.text, lines: decoded.text.split("\n") }
  } catch {
    return undefined
  }
}

const program = new vm.Script(
  `
  const lines = new Set()
  if (multiline) {
    let at = 0, line = 1
    for (const hit of text.matchAll(expression)) {
      for (; at < hit.index; at++) if (text[at] === "\\n") line++
      const last = line + hit[0].split("\\n").length - 1
      for (let one = line; one <= last && lines.size < most; one++) lines.add(one)
    }
  } else {
    const all = text.split("\\n")
    if (all.at(-1) === "") all.pop()
    for (let index = 0; index < all.length && lines.size < most; index++) if (expression.test(all[index])) lines.add(index + 1)
  }
  lines
`
    .replace(/^/, "{")
    .concat("}")
)

/** Lines that match, or why the expression cannot be read. The scanner throws when time is up. */
const scannerFor = (request: SearchRequest): ((text: string) => ReadonlySet<number>) | string => {
  const flags = (request.ignoreCase ? "i" : "") + (request.multiline ? "gms" : "")
  const expression = compile(request.pattern, flags)
  if (typeof expression === "string") return expression
  const place = { text: "", expression, multiline: request.multiline, most: mostHits }
  const context = vm.createContext(place)
  const until = performance.now() + request.timeout
  return (text) => {
    place.text = text
    const left = Math.floor(until - performance.now())
    if (left < 1) throw new Error("time is up")
    const found: unknown = program.runInContext(context, { timeout: left })
    return found instanceof Set || isForeignSet(found) ? new Set([...found].map(Number)) : new Set()
  }
}

// A set that was made in another context is no instance of ours.
const isForeignSet = (value: unknown): value is Iterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.iterator in value

const compile = (pattern: string, flags: string): RegExp | string => {
  try {
    return new RegExp(pattern, `${flags}u`)
  } catch {
    // Escapes that Unicode mode refuses are common in practice.
  }
  try {
    return new RegExp(pattern, flags)
  } catch (error) {
    return error instanceof Error ? error.message : "the expression cannot be read"
  }
}

interface Scanned {
  readonly lines: ReadonlyArray<string>
  readonly found: ReadonlySet<number>
  readonly request: SearchRequest
}

const withContext = (path: string, { lines, found, request }: Scanned): ReadonlyArray<SearchHit> => {
  const shown = new Set<number>()
  for (const line of found) {
    const last = Math.min(line + request.after, lines.length)
    for (let one = Math.max(1, line - request.before); one <= last; one++) shown.add(one)
  }
  return [...shown]
    .sort((left, right) => left - right)
    .map((line) => ({ path, line, text: cutLine(lines[line - 1] ?? "", 500), isMatch: found.has(line) }))
}
