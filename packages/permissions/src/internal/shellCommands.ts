/**
 * What one simple command adds to an analysis: itself, what it starts, the scripts in its arguments, and why it may not
 * be understood.
 *
 * Guarantees: a wrapper's inner command is looked at like any other; what changes the meaning of later words is a problem.
 */
import { addMeaning, checkVariable, type MeaningCollector } from "./shellMeaning.js"
import { scriptOf } from "./shellScripts.js"
import { baseName, isKnown, type ShellWord, spell, spellBare } from "./shellWords.js"
import { unwrap } from "./shellWrappers.js"
import type { PartRole, ShellPart } from "../ShellAnalysis.js"

export interface Collector extends MeaningCollector {
  readonly part: (part: ShellPart) => void
  /** Analyses a script found in an argument. */
  readonly script: (script: string, via: ReadonlyArray<string>) => void
}

export interface SimpleCommand {
  readonly words: ReadonlyArray<ShellWord>
  readonly via: ReadonlyArray<string>
  /** Text that it reads as its input, where that is written in the line. */
  readonly input: string | undefined
  readonly depth: number
}

const mostWrappers = 12

export const addCommand = (collector: Collector, command: SimpleCommand): void => {
  const { words, via, depth } = command
  const first = words[0]
  if (first === undefined) return
  if (depth > mostWrappers) return collector.problem("too many commands start one another")
  if (!isKnown(first) || first.text === "") {
    collector.problem("the name of a command is only known when it runs")
    return collector.part(partOf("Runs", command))
  }
  const name = baseName(first.text)
  const inner = unwrap(words)
  const script = scriptOf({ ...command, name })
  const starts = (inner !== undefined && !inner.opaque && inner.inner.length > 0) || script?._tag === "Script"
  // A program named by path is not the one of that name: it needs an allow of its own, whatever it starts.
  collector.part(partOf(starts && !first.text.includes("/") ? "Wraps" : "Runs", command))
  if (inner !== undefined) {
    for (const problem of inner.problems) collector.problem(problem)
    for (const variable of inner.assigns) checkVariable(collector, { name: variable, passed: true })
    for (const guess of inner.guesses) collector.part(partOf("May", { words: guess, via: [...via, name] }))
    for (const next of inner.inner)
      addCommand(collector, { ...command, words: next, via: [...via, name], depth: depth + 1 })
  }
  if (script?._tag === "Script") collector.script(script.text, [...via, name])
  if (script?._tag === "Unknown") collector.problem(script.problem)
  addMeaning(collector, { name, args: words.slice(1) })
}

const partOf = (role: PartRole, { words, via }: Pick<SimpleCommand, "words" | "via">): ShellPart => {
  const exact = spell(words)
  const [first, ...rest] = words
  const bare = first === undefined ? words : [{ ...first, text: baseName(first.text) }, ...rest]
  return {
    role,
    exact,
    spellings: [...new Set([exact, spellBare(words), spell(bare), spellBare(bare)])],
    words: words.map(({ text }) => text),
    via
  }
}
