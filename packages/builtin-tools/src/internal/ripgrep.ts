/**
 * Searching with ripgrep where it is installed.
 *
 * Guarantees: no configuration of the machine is read; the search starts in a folder that is held open, so a swap leads
 * nowhere; output is bounded, and the process is gone when the search ends, is aborted or takes too long.
 * Does not judge: what it says is read by the tool.
 */
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import type { HeldDirectory } from "./heldDirectory.js"
import type { SearchHit, SearchRequest, SearchResult } from "./searchText.js"

let known: string | null | undefined

/** The program, looked up once; `undefined` where there is none. */
export const findRipgrep = (): string | undefined => {
  if (known === undefined) {
    const folders = (process.env["PATH"] ?? "").split(path.delimiter).filter((folder) => path.isAbsolute(folder))
    known = folders.map((folder) => path.join(folder, "rg")).find(isExecutable) ?? null
  }
  return known ?? undefined
}

const isExecutable = (file: string): boolean => {
  try {
    fs.accessSync(file, fs.constants.X_OK)
    return true
  } catch {
    return false
  }
}

const mostBytes = 8_000_000

const fixed = [
  "--no-config",
  "--color=never",
  "--hidden",
  "--no-require-git",
  "--no-ignore-global",
  "--no-ignore-parent",
  "--max-filesize=10M",
  "--no-heading",
  "--with-filename",
  "--line-number",
  "--null",
  "--sort=path",
  "--glob=!.git",
  "--max-columns=500",
  "--max-columns-preview"
]

/** Rejects only where the program cannot be started. */
export const searchWithRipgrep = (
  program: string,
  {
    folder,
    request,
    signal
  }: { readonly folder: HeldDirectory; readonly request: SearchRequest; readonly signal: AbortSignal }
): Promise<SearchResult> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, argumentsOf(request), {
      cwd: folder.at("."),
      env: {},
      stdio: ["ignore", "pipe", "pipe"]
    })
    const parts: Array<Buffer> = []
    let size = 0
    let errors = ""
    let ended: SearchResult["ended"] = "complete"
    const stop = (why: SearchResult["ended"]): void => {
      ended = why
      child.kill("SIGKILL")
    }
    const abort = (): void => stop("aborted")
    const timer = setTimeout(() => stop("timeout"), request.timeout)
    signal.addEventListener("abort", abort, { once: true })
    if (signal.aborted) abort()
    child.stdout.on("data", (part: Buffer) => {
      parts.push(part)
      size += part.length
      if (size > mostBytes) stop("bound")
    })
    child.stderr.on("data", (part: Buffer) => (errors = (errors + part.toString("utf8")).slice(0, 2_000)))
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener("abort", abort)
    }
    child.once("error", (error) => {
      done()
      reject(error)
    })
    child.once("close", (code) => {
      done()
      const problem = code === 2 && size === 0 ? errors : undefined
      resolve({
        hits: hitsOf(Buffer.concat(parts).toString("utf8")),
        ended,
        ...(problem === undefined ? {} : { problem })
      })
    })
  })

const argumentsOf = (request: SearchRequest): ReadonlyArray<string> => [
  ...fixed,
  ...(request.ignoreCase ? ["--ignore-case"] : []),
  ...(request.multiline ? ["--multiline", "--multiline-dotall"] : []),
  ...(request.before > 0 ? [`--before-context=${request.before}`] : []),
  ...(request.after > 0 ? [`--after-context=${request.after}`] : []),
  ...(request.glob === undefined ? [] : [`--glob=${request.glob}`]),
  "--regexp",
  request.pattern,
  "--",
  request.file === undefined ? "." : `./${request.file}`
]

/**
 * Each line of a file comes as its path, NUL, number, mark and text. Names may hold line feeds, so a path is what stands
 * between the end of the line before and its NUL; what has no NUL are separators and words about binary files.
 */
const hitsOf = (text: string): ReadonlyArray<SearchHit> => {
  const hits: Array<SearchHit> = []
  for (let at = 0, nul = text.indexOf("\0"); nul >= 0; nul = text.indexOf("\0", at)) {
    const path = text.slice(at, nul).replace(withoutPath, "").replace(/^\.\//, "")
    const end = text.indexOf("\n", nul)
    at = end < 0 ? text.length : end + 1
    const rest = /^(\d+)([:-])(.*)$/s.exec(text.slice(nul + 1, end < 0 ? text.length : end))
    if (rest === null) continue
    const [, number = "", mark, shown = ""] = rest
    hits.push({ path, line: Number(number), text: shown.replace(/\r$/, ""), isMatch: mark === ":" })
  }
  return hits
}

const withoutPath = /^(?:--\n|[^\n]*: binary file matches \(found [^\n]*\)\n)+/
