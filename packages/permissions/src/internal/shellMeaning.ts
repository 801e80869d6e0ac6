/**
 * Builtins of the shell that change what other words mean, where they are read, or that evaluate what they are given.
 *
 * Guarantees: Bash evaluates subscripts and arithmetic wherever they stand, even out of quotes, and runs what it finds in
 * them; so does not pass here whatever is more than a plain name or number.
 */
import { mayPass, maySet } from "./shellVariables.js"
import { isKnown, type ShellWord } from "./shellWords.js"

export interface MeaningCollector {
  readonly problem: (problem: string) => void
  readonly directory: (directory: string) => void
  readonly variables: ReadonlySet<string>
}

const names = (text: string): ReadonlySet<string> => new Set(text.split(" "))

const changers = names("alias unalias hash enable shopt bind complete compopt compgen fc history")
const declarers = names("export declare typeset readonly local")
const setters = names("export declare typeset readonly local read unset mapfile readarray getopts")
const tests = names("test [")

interface Builtin {
  readonly name: string
  readonly args: ReadonlyArray<ShellWord>
}

export const addMeaning = (collector: MeaningCollector, { name, args }: Builtin): void => {
  if (changers.has(name)) collector.problem(`${name} changes what later words mean`)
  if (name === "set" && !args.every(({ text }) => harmlessSetting.test(text)))
    collector.problem("set changes how later words are read")
  if (name === "let" && !args.every(({ text }) => /^[\d\s+*/%()<>=!&|^~-]*$/.test(text)))
    collector.problem("arithmetic may run what its variables hold")
  if (declarers.has(name)) checkFlags(collector, { name, args })
  if (/^(?:mapfile|readarray)$/.test(name) && args.some(({ text }) => /^-[a-z]*[Cc]/.test(text)))
    collector.problem(`${name} -C runs its argument`)
  if (setters.has(name)) for (const { text } of args) checkSetter(collector, text)
  if ((name === "printf" || name === "wait") && /^-[vnpf]/.test(args[0]?.text ?? "")) checkNamed(collector, args)
  if (tests.has(name)) checkTested(collector, args)
  if (name === "cd" || name === "pushd" || name === "popd") addDirectory(collector, { name, args })
}

const harmlessSetting = /^[-+](?:[euxf]+|o|euo|eo|uo)$|^(?:pipefail|errexit|nounset|xtrace|noglob)$/

// With -i a value is arithmetic, with -n it is another variable.
const checkFlags = (collector: MeaningCollector, { name, args }: Builtin): void => {
  for (const { text } of args)
    if (/^[-+]/.test(text) && !/^[-+][rxgaApftul]+$/.test(text))
      collector.problem(`the option ${text} of ${name} is not understood`)
}

// printf -v name, wait -p name.
const checkNamed = (collector: MeaningCollector, args: ReadonlyArray<ShellWord>): void => {
  args.forEach(({ text }, index) => {
    const found = /^-[a-z]*[vp](.*)$/s.exec(text)
    if (found !== null) checkSetter(collector, found[1] || (args[index + 1]?.text ?? ""))
  })
}

const checkTested = (collector: MeaningCollector, args: ReadonlyArray<ShellWord>): void => {
  args.forEach(({ text }, index) => {
    const next = args[index + 1]?.text
    if ((text === "-v" || text === "-R") && next !== undefined && !/^[A-Za-z_]\w*$|^\]$/.test(next))
      collector.problem("a test may run what it names")
  })
}

const addDirectory = (collector: MeaningCollector, { name, args }: Builtin): void => {
  const target = args.find(({ text }) => !/^-[LPe@]*$|^--$/.test(text))
  if (name === "cd" && args.length === 0) return collector.directory("~")
  if (name !== "cd" || target === undefined || !isKnown(target) || args.some(({ text }) => text === "-"))
    return collector.problem(`where ${name} leads is only known when it runs`)
  collector.directory(target.text)
}

const checkSetter = (collector: MeaningCollector, text: string): void => {
  const found = /^([A-Za-z_]\w*)(\[[^\]]*\])?(?:\+?=(.*))?$/s.exec(text)
  if (found === null) {
    if (!/^[-+][A-Za-z0-9]*$|^\d+$/.test(text))
      collector.problem("a variable is named by what is only known when it runs")
    return
  }
  const [, name = "", subscript, value = ""] = found
  checkVariable(collector, { name, passed: false })
  if (subscript !== undefined && !/^\[\d+\]$/.test(subscript)) collector.problem("a subscript may run what it holds")
  if (value.startsWith("(") && /(?:^\(|\s)\[(?!\d+\])/.test(value))
    collector.problem("a subscript may run what it holds")
}

/** `passed`: it stands before a command and reaches it. Otherwise it is set in the shell alone. */
export const checkVariable = (
  collector: Pick<MeaningCollector, "problem" | "variables">,
  { name, passed }: { readonly name: string; readonly passed: boolean }
): void => {
  const harmless = passed ? mayPass(name, collector.variables) : maySet(name, collector.variables)
  if (!harmless) collector.problem(`setting ${name} may change what runs`)
}
