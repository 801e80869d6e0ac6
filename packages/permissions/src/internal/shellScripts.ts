/**
 * Commands that run a text as a command line: where the text is, and when it is not known.
 *
 * Guarantees: a script that is spelled out is handed back to be analysed; any other is a problem.
 */
import { isKnown, type ShellWord, spellBare } from "./shellWords.js"

export interface ScriptUse {
  readonly name: string
  readonly words: ReadonlyArray<ShellWord>
  /** Text that the command reads as its input, where the line spells it out. */
  readonly input: string | undefined
}

export type Script =
  | { readonly _tag: "Script"; readonly text: string }
  | { readonly _tag: "Unknown"; readonly problem: string }

const shells: ReadonlySet<string> = new Set(["sh", "bash", "dash", "ash", "rbash"])
const otherShells: ReadonlySet<string> = new Set(
  "zsh ksh mksh fish csh tcsh xonsh nu pwsh powershell cmd elvish".split(" ")
)

/** `undefined` for a command that runs no text, among them a shell that runs a file. */
export const scriptOf = (use: ScriptUse): Script | undefined => {
  const { name, words } = use
  if (name === "eval") return known(name, words.slice(words[1]?.text === "--" ? 2 : 1))
  if (name === "trap") {
    const action = words.slice(1).find(({ text }) => text !== "--")
    return action === undefined || /^-[lp]?$/.test(action.text) ? undefined : known(name, [action])
  }
  if (name === "watch") return ofWatch(words)
  if (name === "." || name === "source") return isFile(words[1]) ? undefined : unknown(name)
  if (otherShells.has(name)) return { _tag: "Unknown", problem: `${name} has a grammar of its own` }
  return shells.has(name) ? ofShell(use) : undefined
}

const known = (name: string, text: ReadonlyArray<ShellWord>): Script =>
  text.every(isKnown) ? { _tag: "Script", text: spellBare(text) } : unknown(name)

const unknown = (name: string): Script => ({ _tag: "Unknown", problem: `what ${name} runs is only known when it runs` })

const isFile = (word: ShellWord | undefined): boolean =>
  word !== undefined && isKnown(word) && !/^\/(?:dev|proc)\//.test(word.text)

// watch [options] command...: the words are joined and given to a shell.
const ofWatch = (words: ReadonlyArray<ShellWord>): Script => {
  for (let at = 1; at < words.length; at++) {
    const text = words[at]?.text ?? ""
    if (text === "--") return known("watch", words.slice(at + 1))
    if (!text.startsWith("-")) return known("watch", words.slice(at))
    if (/^-[bcdegptwx]*[nq]$|^--(?:interval|equexit)$/.test(text)) at++
    else if (!/^-[bcdegptwx]+(?:[nq][\d.]+)?$|^-[nq][\d.]+$|^--(?:interval|equexit)=|^--[a-z]+$/.test(text))
      return notUnderstood("watch", text)
  }
  return unknown("watch")
}

const notUnderstood = (name: string, option: string): Script => ({
  _tag: "Unknown",
  problem: `the option ${option} of ${name} is not understood`
})

const options = new Set(["pipefail", "errexit", "nounset", "noglob", "noclobber"])

// sh [options] -c script [name arguments], sh [options] file, or sh reading its input. Options may follow -c.
const ofShell = ({ name, words, input }: ScriptUse): Script | undefined => {
  let commands = false
  let at = 1
  for (; at < words.length; at++) {
    const word = words[at]
    if (word === undefined || !isKnown(word)) return unknown(name)
    const { text } = word
    if (text === "--" || text === "-") {
      at++
      break
    }
    if (!/^[-+]/.test(text)) break
    if (/^[-+]o$/.test(text) && options.has(words[at + 1]?.text ?? "")) at++
    else if (/^[-+][celux]+$/.test(text)) commands ||= text.startsWith("-") && text.includes("c")
    else return notUnderstood(name, text)
  }
  const next = words[at]
  if (commands) return next === undefined ? unknown(name) : known(name, [next])
  if (next !== undefined) return isFile(next) ? undefined : unknown(name)
  return input === undefined
    ? { _tag: "Unknown", problem: `${name} reads its commands from its input` }
    : { _tag: "Script", text: input }
}
