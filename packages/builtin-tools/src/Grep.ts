/**
 * Searches the contents of the workspace's files with a regular expression.
 *
 * Guarantees: ignored, binary and very large files are left out; bounded in time and output; no expression stops the
 * process; links are not followed.
 * Does not change anything.
 */
import { Tool } from "@toolwright/runtime-contract"
import { type Static, Type } from "@toolwright/runtime-contract/typebox"
import { compilePattern } from "./Glob.js"
import { refuse } from "./internal/fileRefusals.js"
import { findRipgrep, searchWithRipgrep } from "./internal/ripgrep.js"
import { openFolder } from "./internal/searchFolder.js"
import { shownName } from "./internal/shownName.js"
import { type SearchHit, type SearchRequest, type SearchResult, searchText } from "./internal/searchText.js"
import type { HeldDirectory } from "./internal/heldDirectory.js"
import type { Found } from "./internal/walkPath.js"
import { within } from "./internal/withinWorkspace.js"
import type { Place } from "./Read.js"
import * as Workspace from "./Workspace.js"

const timeLimit = 20_000
const mostCharacters = 48_000

const context = (description: string) => Type.Integer({ default: 0, minimum: 0, maximum: 50, description })

const args = Type.Object({
  pattern: Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: "A regular expression; no look-around, no back references"
  }),
  path: Type.String({
    default: ".",
    minLength: 1,
    maxLength: 4096,
    description: "A file or folder; default the workspace"
  }),
  glob: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: "Only these files, for example *.ts or src/**" })
  ),
  output_mode: Type.Union([Type.Literal("content"), Type.Literal("files_with_matches"), Type.Literal("count")], {
    default: "content",
    description: "Lines with numbers, or only paths, or matching lines per file"
  }),
  "-i": Type.Boolean({ default: false, description: "Ignore case" }),
  "-A": context("Lines after each match"),
  "-B": context("Lines before each match"),
  "-C": context("Lines on both sides"),
  multiline: Type.Boolean({ default: false, description: "Let matches span lines; the dot matches line ends too" }),
  head_limit: Type.Integer({ default: 250, minimum: 1, maximum: 5_000, description: "Lines, or files, that are shown" })
})

const output = Type.Object({
  files: Type.Array(Type.String({ description: "From the workspace" }), {
    description: "With matches, at most head_limit"
  }),
  matches: Type.Integer({ description: "Matching lines that were found" }),
  truncated: Type.Boolean({ description: "There is more than is shown" })
})

/** Needs no workspace to be described. */
export const Grep = Tool.define({
  id: "grep",
  description: [
    "Search file contents with a regular expression. Ignored files, .git, binary files and files over 10 MiB are left out.",
    `At most head_limit lines and about 48,000 characters are shown; a search ends after ${timeLimit / 1000} seconds.`
  ].join(" "),
  args,
  output,
  recovery: "ReplaySafe",
  target: "Sandbox",
  attribution: { provenance: "Native" }
})

export interface GrepPlace extends Pick<Place, "workspace"> {
  /** Default: ripgrep where it is installed. */
  readonly engine?: "own"
}

/** The tool over a workspace. */
export const grep = ({ workspace, engine }: GrepPlace): Tool.Tool<"grep", typeof args, typeof output> =>
  Tool.implement(
    {
      ...Grep,
      concurrency: ({ path }) => Workspace.claims(workspace, [{ path, access: "Read" }])
    },
    (given, { signal }) => {
      if (`${given.pattern}${given.glob ?? ""}`.includes("\0"))
        throw badPattern(given.pattern, "NUL cannot be searched for")
      return within(workspace, { toolId: Grep.id, pointer: "/path", path: given.path }, async (found) => {
        const place = placeOf(found, given)
        try {
          const request = requestOf(given, place.file)
          const result = await search({ folder: place.directory, request, signal, engine })
          signal.throwIfAborted()
          if (result.problem !== undefined) throw badPattern(given.pattern, result.problem)
          return answer({ given, result, base: place.names })
        } finally {
          place.close()
        }
      })
    }
  )

type Given = Static<typeof args>

/** A folder, or the one file of a folder. */
const placeOf = (found: Found, given: Given) => {
  if (found.entry?.isFile() === true)
    return { directory: found.parent, file: found.name, names: found.names.slice(0, -1), close: () => {} }
  return { ...openFolder(found, { toolId: Grep.id, path: given.path }), file: undefined, names: found.names }
}

const requestOf = (given: Given, file: string | undefined): SearchRequest => ({
  pattern: given.pattern,
  ignoreCase: given["-i"],
  multiline: given.multiline,
  before: given.output_mode === "content" ? Math.max(given["-B"], given["-C"]) : 0,
  after: given.output_mode === "content" ? Math.max(given["-A"], given["-C"]) : 0,
  glob: given.glob,
  file,
  timeout: timeLimit
})

interface Searching {
  readonly folder: HeldDirectory
  readonly request: SearchRequest
  readonly signal: AbortSignal
  readonly engine: "own" | undefined
}

const search = ({ folder, request, signal, engine }: Searching): Promise<SearchResult> => {
  const program = engine === "own" ? undefined : findRipgrep()
  if (program !== undefined) return searchWithRipgrep(program, { folder, request, signal })
  return searchText({ folder, request, signal, matchesGlob: globMatcher(request.glob) })
}

/** Like an ignore file: a pattern without a slash means the name at any depth. */
const globMatcher = (glob: string | undefined): ((path: string) => boolean) => {
  if (glob === undefined) return () => true
  const isNegated = glob.startsWith("!")
  const bare = isNegated ? glob.slice(1) : glob
  const matches = compilePattern(bare.includes("/") ? bare.replace(/^\//, "") : `**/${bare}`)
  return (path) => matches(path) !== isNegated
}

const badPattern = (pattern: string, problem: string) =>
  refuse({
    toolId: Grep.id,
    pointer: "/pattern",
    expected: "a regular expression",
    received: JSON.stringify(pattern).slice(0, 300),
    fix: `${problem.replace(/\s+/g, " ").trim().slice(0, 300)}; escape characters that are meant literally`
  })

interface Answering {
  readonly given: Given
  readonly result: SearchResult
  /** Names of the searched folder, from the workspace. */
  readonly base: ReadonlyArray<string>
}

const answer = ({ given, result, base }: Answering): Tool.Result<Static<typeof output>> => {
  const counts = new Map<string, number>()
  const hits = result.hits.map((hit) => ({ ...hit, path: [...base, hit.path].join("/") }))
  for (const { path, isMatch } of hits) if (isMatch) counts.set(path, (counts.get(path) ?? 0) + 1)
  const files = [...counts.keys()]
  const all = linesOf(given, { hits, counts })
  const { lines, isWhole } = fitting(all, given.head_limit)
  const truncated = !isWhole || files.length > given.head_limit || result.ended !== "complete"
  const notes = noteOf(result, { shown: lines.length, all: all.length, isWhole })
  const text = lines.length === 0 ? ["no match", ...notes].join("\n") : [...lines, ...notes].join("\n")
  const matches = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return Tool.result(
    { files: files.slice(0, given.head_limit), matches, truncated },
    { content: [{ type: "text", text }] }
  )
}

const linesOf = (
  { output_mode }: Given,
  { hits, counts }: { readonly hits: ReadonlyArray<SearchHit>; readonly counts: ReadonlyMap<string, number> }
): ReadonlyArray<string> => {
  if (output_mode === "files_with_matches") return [...counts.keys()].map(shownName)
  if (output_mode === "count") return [...counts].map(([path, count]) => `${shownName(path)}:${count}`)
  return hits.map(({ path, line, text, isMatch }) => {
    const mark = isMatch ? ":" : "-"
    return `${shownName(path)}${mark}${line}${mark}${text}`
  })
}

const fitting = (
  all: ReadonlyArray<string>,
  most: number
): { readonly lines: ReadonlyArray<string>; readonly isWhole: boolean } => {
  const lines: Array<string> = []
  let left = mostCharacters
  for (const line of all) {
    if (lines.length >= most || line.length > left) return { lines, isWhole: false }
    left -= line.length + 1
    lines.push(line)
  }
  return { lines, isWhole: true }
}

const noteOf = (
  { ended }: SearchResult,
  { shown, all, isWhole }: { readonly shown: number; readonly all: number; readonly isWhole: boolean }
): ReadonlyArray<string> => [
  ...(isWhole ? [] : [`(${shown} of ${all} lines; narrow the search or raise head_limit)`]),
  ...(ended === "timeout" ? [`(the search was ended after ${timeLimit / 1000} seconds; narrow it)`] : []),
  ...(ended === "bound" ? ["(the search was ended because there is too much; narrow it)"] : [])
]
