import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import type * as TreeSitter from "@vscode/tree-sitter-wasm"
import * as fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import { analyse } from "../src/ShellCommand.js"
import { evasions, plainLines } from "./authority/evasions.js"

interface Node {
  readonly type: string
  readonly text: string
  readonly hasError: boolean
  readonly children: ReadonlyArray<Node | null>
}

interface Grammar {
  readonly parse: (line: string) => { readonly rootNode: Node; readonly delete: () => void } | null
}

/** Bash as another project wrote it down, compiled to WebAssembly. Only tests load it. */
const loadGrammar = async (): Promise<Grammar> => {
  const require = createRequire(import.meta.url)
  const { Language, Parser } = require("@vscode/tree-sitter-wasm") as typeof TreeSitter
  const directory = dirname(require.resolve("@vscode/tree-sitter-wasm"))
  await Parser.init()
  const parser = new Parser()
  parser.setLanguage(await Language.load(join(directory, "tree-sitter-bash.wasm")))
  return parser as unknown as Grammar
}

const reserved: ReadonlySet<string> = new Set(
  "time ! if then elif else fi while until do done for in case esac".split(" ")
)

const collect = (node: Node, type: string): ReadonlyArray<Node> => [
  ...(node.type === type ? [node] : []),
  ...node.children.flatMap((child) => (child === null ? [] : collect(child, type)))
]

describe("another grammar of Bash", () => {
  let grammar: Grammar
  beforeAll(async () => {
    grammar = await loadGrammar()
  })

  /** The plain names of commands that it sees, or nothing where it cannot read the line. */
  const namesIn = (line: string): ReadonlyArray<string> | undefined => {
    const tree = grammar.parse(line)
    if (tree === null) return undefined
    const names = tree.rootNode.hasError ? undefined : collect(tree.rootNode, "command_name").map(({ text }) => text)
    tree.delete()
    return names?.filter((name) => /^[\w./-]+$/.test(name))
  }

  const unseenIn = (line: string): ReadonlyArray<string> => {
    const names = namesIn(line)
    const { parts, problems } = analyse(line)
    // A line that is continued inside of a word is two words there, and one word to Bash.
    if (names === undefined || problems.length > 0 || line.includes("\\\n")) return []
    const seen = new Set(parts.map(({ words }) => words[0]))
    // Behind `time` and `!` that grammar takes reserved words for commands.
    return names.filter((name) => !reserved.has(name) && !seen.has(name))
  }

  const assertSeen = (lines: fc.Arbitrary<string>, seed: number) => {
    const sample = fc.sample(lines, { numRuns: 1_500, seed })
    const read = sample.filter((line) => namesIn(line) !== undefined)
    return {
      share: read.length / sample.length,
      unseen: sample.flatMap((line) => (unseenIn(line).length > 0 ? [[line, unseenIn(line)]] : []))
    }
  }

  it("[P5] sees no command in a line that ours does not see", { timeout: 60_000 }, () => {
    const evasive = assertSeen(evasions(), 31)
    const plain = assertSeen(plainLines, 32)
    const pieces = fc
      .array(
        fc.constantFrom(
          "a",
          "b x",
          "$(c)",
          "`d`",
          "'q'",
          '"$(e)"',
          ";",
          "&&",
          "|",
          "||",
          "&",
          "(",
          ")",
          "{ ",
          "; }",
          "\n",
          " ",
          "<(f)",
          "> o",
          "2>&1",
          "<<< g",
          "${h:-$(i)}",
          "if ",
          "; then ",
          "; fi"
        ),
        { minLength: 1, maxLength: 10 }
      )
      .map((parts) => parts.join(""))
    const random = assertSeen(pieces, 33)
    expect([evasive.unseen, plain.unseen, random.unseen]).toEqual([[], [], []])
    // The comparison says something only where both can read the line.
    expect([evasive.share > 0.5, plain.share > 0.9, random.share > 0.1]).toEqual([true, true, true])
  })
})
