/**
 * From a failing test to the lines that it runs, by names and indents alone.
 *
 * Guarantees: pure; takes lines of the functions that the test calls, and of those that the error came through.
 * Does not parse JavaScript: a function ends where the next line stands as far left as its first.
 */
import type { Suspect } from "./mendings.js"
import type { TestFailure } from "./testReport.js"

export interface SourceFile {
  /** From the folder. */
  readonly path: string
  readonly lines: ReadonlyArray<string>
}

/** The files of the folder that a file imports, from the folder. */
export const importsOf = ({ path, lines }: SourceFile): ReadonlyArray<string> => {
  const found = [...lines.join("\n").matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*|\brequire\()["'](\.{1,2}\/[^"']+)["']/g)]
  return [...new Set(found.map(([, name = ""]) => joined(path, name)))].slice(0, 6)
}

const joined = (from: string, name: string): string => {
  const parts = from.split("/").slice(0, -1)
  for (const part of name.split("/")) {
    if (part === "..") parts.pop()
    else if (part !== ".") parts.push(part)
  }
  const path = parts.join("/")
  return /\.\w+$/.test(path) ? path : `${path}.js`
}

/** The lines of what begins at a line, counted from 1. */
export const functionAt = ({ lines }: SourceFile, line: number): ReadonlyArray<string> =>
  lines.slice(line - 1, endOf(lines, line - 1) + 1)

const indentOf = (line: string): number => /^\s*/.exec(line)?.[0].length ?? 0

const endOf = (lines: ReadonlyArray<string>, first: number): number => {
  const indent = indentOf(lines[first] ?? "")
  for (let at = first + 1; at < lines.length; at++) {
    const line = lines[at] ?? ""
    if (line.trim() === "" || indentOf(line) > indent) continue
    return /^\s*[)}\]]/.test(line) ? at : at - 1
  }
  return lines.length - 1
}

/** The lines of a source that the failing test leads to. */
export const suspectsIn = (
  source: SourceFile,
  { body, failure }: { readonly body: string; readonly failure: TestFailure }
): ReadonlyArray<Suspect> => {
  const { lines, path } = source
  const throwers = new Set(failure.stack.filter(({ file }) => file.endsWith(`/${path}`)).map(({ line }) => line - 1))
  const found = new Set<number>(throwers)
  lines.forEach((line, first) => {
    const name =
      /^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\s*\*?\s*|(?:const|let|var)\s+|static\s+)?([A-Za-z_$][\w$]*)\s*(?:=\s*(?:async\s*)?(?:\(|[\w$]+\s*=>|function)|\()/.exec(
        line
      )?.[1]
    if (
      name === undefined ||
      keywords.has(name) ||
      !new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}\\s*\\(`).test(body)
    )
      return
    for (let at = first; at <= endOf(lines, first); at++) found.add(at)
  })
  return [...found]
    .toSorted((left, right) => left - right)
    .map((at) => ({ line: at + 1, text: lines[at] ?? "", isThrower: throwers.has(at) }))
    .filter(({ text }) => text.trim() !== "")
}

const keywords: ReadonlySet<string> = new Set(["if", "for", "while", "switch", "return", "catch", "throw", "await"])
