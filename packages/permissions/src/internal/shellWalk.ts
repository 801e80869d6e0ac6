/**
 * Walks the syntax tree of a command line and collects what it would do.
 *
 * Guarantees: every node is visited, whatever it is a child of, so a command cannot hide in a place that nobody thought
 * of; a parse error, an unclosed here-document or a construct that is not known is a problem, whatever the tree says.
 */
import {
  type Command,
  forEachChild,
  parse,
  type ParameterExpansionPart,
  type Redirection,
  type SyntaxNode,
  type TestExpression,
  type Word
} from "unbash"
import type { ShellAnalysis, ShellFile, ShellPart } from "../ShellAnalysis.js"
import { addCommand, type Collector } from "./shellCommands.js"
import { checkVariable } from "./shellMeaning.js"
import { isKnown, readWord } from "./shellWords.js"

/** Longer lines are asked about unread; a person cannot read them either. UTF-16 code units. */
const longestLine = 65_536
const mostParts = 256
const deepestScript = 8

export const analyse = (line: string, variables: ReadonlySet<string>): ShellAnalysis => {
  const walk = new Walk(variables)
  walk.script(line, [])
  return {
    line,
    parts: walk.parts,
    files: walk.files,
    problems: [...walk.problems],
    directories: walk.directories
  }
}

/** Mean nothing beyond what their children do. A new kind of node is none of these until somebody has looked at it. */
const inert = [
  "AndOr",
  "AnsiCQuoted",
  "ArithmeticBinary",
  "ArithmeticFor",
  "ArithmeticGroup",
  "ArithmeticTernary",
  "ArithmeticUnary",
  "BraceExpansion",
  "BraceGroup",
  "Case",
  "CaseItem",
  "CaseModification",
  "CompoundList",
  "Default",
  "DoubleQuoted",
  "Elif",
  "FileDescriptor",
  "FileDescriptorVariable",
  "Glob",
  "HereDocBody",
  "HereDocDelimiter",
  "HereString",
  "If",
  "Literal",
  "LocaleString",
  "Names",
  "Negation",
  "Pipeline",
  "Redirected",
  "Remove",
  "Replace",
  "SimpleExpansion",
  "SingleQuoted",
  "Slice",
  "Statement",
  "Subshell",
  "TestCommand",
  "TestGroup",
  "TestLogical",
  "TestNot",
  "Time",
  "Transform",
  "Unknown",
  "While"
] as const
const inertTypes: ReadonlySet<string> = new Set(inert)

const isInert = (node: SyntaxNode): node is Extract<SyntaxNode, { type: (typeof inert)[number] }> =>
  inertTypes.has(node.type)

class Walk implements Collector {
  readonly variables: ReadonlySet<string>
  readonly parts: Array<ShellPart> = []
  readonly files: Array<ShellFile> = []
  readonly problems = new Set<string>()
  readonly directories: Array<string> = []
  #depth = 0
  #via: ReadonlyArray<string> = []

  constructor(variables: ReadonlySet<string>) {
    this.variables = variables
  }

  problem(problem: string): void {
    this.problems.add(problem)
  }

  part(part: ShellPart): void {
    if (this.parts.length < mostParts) this.parts.push(part)
    else this.problem("the line holds too many commands")
  }

  directory(directory: string): void {
    this.directories.push(directory)
  }

  script(script: string, via: ReadonlyArray<string>): void {
    if (script.length > longestLine) return this.problem("the line is too long")
    if (this.#depth >= deepestScript) return this.problem("scripts are nested too deeply")
    // Line feed and tab are the only control characters that a shell treats as white space.
    if (/[^\P{Cc}\t\n]/u.test(script)) this.problem("the line holds control characters")
    const outer = this.#via
    this.#via = via
    this.#depth++
    this.#read(script)
    this.#depth--
    this.#via = outer
  }

  #read(script: string): void {
    try {
      this.visit(parse(script))
    } catch (cause) {
      // Expressions nest deeper than a stack reaches. What was seen until then still counts.
      this.problem(`the line cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`)
    }
  }

  readonly visit = (node: SyntaxNode): void => {
    this.#meet(node)
    forEachChild(node, this.visit)
  }

  #meet(node: SyntaxNode): void {
    if (isInert(node)) return
    switch (node.type) {
      case "Script":
        for (const { message } of node.errors ?? []) this.problem(`it does not parse: ${message}`)
        return
      case "Command":
        return this.#command(node)
      case "Redirect":
      case "HereDoc":
        return this.#redirection(node)
      case "Word":
        return this.#word(node)
      case "Assignment":
        if (node.index !== undefined && !/^\d+$/.test(node.index.value))
          this.problem("a subscript may run what it holds")
        return
      case "ArrayValue":
        if (node.elements.some(({ text }) => /^\[(?!\d+\])/.test(text)))
          this.problem("a subscript may run what it holds")
        return
      case "Function":
        return this.problem("it defines a function")
      case "Coproc":
        return this.problem("it starts a coprocess")
      case "ExtendedGlob":
        return this.problem("an extended glob is read differently by other shells")
      case "CommandExpansion":
      case "ProcessSubstitution":
      case "ArithmeticCommandExpansion":
        if (node.script === undefined) this.problem("a substitution is not understood")
        return
      case "ParameterExpansion":
        return this.#parameter(node)
      case "ArithmeticExpansion":
      case "ArithmeticCommand":
        if (node.expression === undefined) this.problem("an arithmetic expression is not understood")
        return
      case "ArithmeticWord":
        if (!/^(?:\d+|0[xX][0-9a-fA-F]+)$/.test(node.value)) this.problem("arithmetic may run what its variables hold")
        return
      case "For":
      case "Select":
        return checkVariable(this, { name: node.name.value, passed: false })
      case "TestUnary":
      case "TestBinary":
        return this.#test(node)
      default:
        this.problem("a construct is not understood")
    }
  }

  #command(node: Command): void {
    const words = node.name === undefined ? [] : [node.name, ...node.args]
    for (const prefix of node.prefix)
      // IFS= before read changes how that one line is split, and nothing else.
      if (prefix.type === "Assignment" && !(prefix.name === "IFS" && node.name?.text === "read"))
        checkVariable(this, { name: prefix.name, passed: words.length > 0 })
    // What an assignment among the arguments sets is looked at under the name of the command.
    const read = words.map((word) =>
      word.type === "Word" ? readWord(word) : { text: word.text, spreads: false, plainTilde: false }
    )
    addCommand(this, { words: read, via: this.#via, input: inputOf(node.redirects), depth: 0 })
  }

  #redirection(node: Exclude<Redirection, { type: "HereString" }>): void {
    if (node.type === "HereDoc") {
      if (node.closing === undefined || node.delimiter === undefined) this.problem("a here-document does not end")
      return
    }
    if (node.descriptor?.type === "FileDescriptorVariable")
      checkVariable(this, { name: node.descriptor.name, passed: false })
    if (node.target === undefined) return this.problem("a redirection leads nowhere")
    const target = readWord(node.target)
    if (node.operator === "<&" || node.operator === ">&") {
      if (/^(?:\d+-?|-)$/.test(target.text)) return
      if (node.operator === "<&") return this.problem("a redirection is not understood")
    }
    if (/^\/dev\/+(?:tcp|udp)(?:\/|$)/.test(target.text))
      return this.problem("a redirection opens a network connection")
    if (/^\/dev\/(?:null|stdin|stdout|stderr|fd\/\d+)$/.test(target.text)) return
    if (!isKnown(target)) this.problem("where a redirection leads is only known when it runs")
    if (target.text === "") return this.problem("a redirection leads nowhere")
    if (node.operator === "<" || node.operator === "<>") this.files.push({ access: "Read", path: target.text })
    if (node.operator !== "<") this.files.push({ access: "Write", path: target.text })
  }

  // A word without parts is taken as plain text. Should the parser ever have missed something in one, it shows here.
  #word(word: Word): void {
    if (word.parts !== undefined) return
    const bare = word.text.replaceAll(/\\[^]/g, "")
    if (/[`'"]|\$[({['"\w@*#?!$-]|[<>]\(/.test(bare)) this.problem("a word is not understood")
  }

  #parameter({ prefix, index, operation }: ParameterExpansionPart): void {
    if (prefix === "!") this.problem("an indirect expansion may run what its variable holds")
    if (index !== undefined && !/^(?:\d+|[@*])$/.test(index.value)) this.problem("a subscript may run what it holds")
    if (operation === undefined) return
    const plain = (word: Word | undefined) => word === undefined || /^ ?-?\d+$/.test(word.value)
    if (operation.type === "Transform" && !/^[QULu]$/.test(operation.operand.value))
      this.problem("an expansion may run what its variable holds")
    if (operation.type === "Unknown") this.problem("an expansion is not understood")
    if (operation.type === "Slice" && !(plain(operation.offset) && plain(operation.length)))
      this.problem("arithmetic may run what its variables hold")
    if (operation.type === "Default" && operation.operator.endsWith("=")) this.problem("an expansion sets a variable")
  }

  #test(node: Extract<TestExpression, { type: "TestUnary" | "TestBinary" }>): void {
    if (node.type === "TestUnary") {
      if (node.operator === "-v" && !/^[A-Za-z_]\w*$/.test(node.operand.value))
        this.problem("a test may run what it names")
      return
    }
    if (!/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) return
    if (![node.left, node.right].every(({ value }) => /^-?\d+$/.test(value)))
      this.problem("arithmetic may run what its variables hold")
  }
}

/** The text that a command reads as its input, where the line spells it out. */
const inputOf = (redirections: ReadonlyArray<Redirection>): string | undefined => {
  const last = redirections.findLast(changesInput)
  if (last?.type === "HereString" && last.target !== undefined) {
    const word = readWord(last.target)
    return isKnown(word) ? `${word.text}\n` : undefined
  }
  if (last?.type !== "HereDoc" || last.closing === undefined) return undefined
  const text = last.operator === "<<-" ? last.body.text.replaceAll(/^\t+/gm, "") : last.body.text
  return last.delimiter?.quoted === true || last.body.parts === undefined ? text : undefined
}

const changesInput = (node: Redirection): boolean => {
  if (node.descriptor !== undefined) return node.descriptor.type === "FileDescriptor" && node.descriptor.value === 0
  return node.type !== "Redirect" || node.operator.startsWith("<")
}
