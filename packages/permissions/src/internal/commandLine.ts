/**
 * The command line tool: checks a policy file, and explains what a policy says of recorded calls.
 *
 * Guarantees: reads files and writes to the given output, nothing else; exit 0 is good, 1 is a refused policy or a call
 * that came out otherwise than expected, 2 is a misuse. Text from files is shown with every character visible.
 */
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import type { Json } from "@toolwright/runtime-contract"
import * as ApprovalText from "../ApprovalText.js"
import * as Certainty from "../Certainty.js"
import * as Policy from "../Policy.js"
import * as PolicyFile from "../PolicyFile.js"
import type { Opinion } from "../RuleSet.js"
import { analyse } from "../ShellCommand.js"
import { readCalls, type RecordedCall } from "./recordedCalls.js"

export interface Terminal {
  /** The text of a file; `-` is the standard input. Throws where there is none. */
  readonly read: (path: string) => string
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly color: boolean
  readonly directory: string
}

export const usage = `usage: toolwright-permissions <command>

  check <policy.json>                  is the file a policy? problems with line and column
  explain <policy.json> <calls.json>   what it says of recorded calls: { "tool": "read", "arguments": { "path": "a" } },
                                       one or an array; "expect": "allow" | "ask" | "deny" is compared; - reads the input

  --workspace <directory>              where relative paths start (default: the current directory)
  --json                               for programs
`

class Misuse extends Error {}

export const run = (args: ReadonlyArray<string>, terminal: Terminal): number => {
  try {
    const options = {
      json: { type: "boolean" },
      help: { type: "boolean", short: "h" },
      workspace: { type: "string" }
    } as const
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [command, policy, calls, ...rest] = positionals
    if (values.help === true) return print(terminal, usage)
    const context = {
      terminal,
      json: values.json === true,
      workspace: resolve(terminal.directory, values.workspace ?? ".")
    }
    if (command === "check" && policy !== undefined && calls === undefined) return check(policy, context)
    if (command === "explain" && policy !== undefined && calls !== undefined && rest.length === 0)
      return explain({ policy, calls }, context)
    throw new Misuse(usage.trimEnd())
  } catch (cause) {
    terminal.err(`${ApprovalText.show(cause instanceof Error ? cause.message : String(cause))}\n`)
    return 2
  }
}

interface Context {
  readonly terminal: Terminal
  readonly json: boolean
  readonly workspace: string
}

const print = (terminal: Terminal, text: string): number => {
  terminal.out(text)
  return 0
}

const read = (path: string, terminal: Terminal): string => {
  try {
    return terminal.read(path)
  } catch (cause) {
    throw new Misuse(`${path}: cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

const check = (path: string, { terminal, json }: Context): number => {
  const text = read(path, terminal)
  const report = PolicyFile.check(text)
  if (json) {
    terminal.out(
      `${JSON.stringify({ ok: report.policy !== undefined, problems: report.problems, warnings: report.warnings })}\n`
    )
    return report.policy === undefined ? 1 : 0
  }
  const paint = painter(terminal.color)
  if (report.policy === undefined) {
    terminal.err(refusal({ path, text, report }, paint))
    return 1
  }
  for (const { line, column, message } of report.warnings)
    terminal.out(`${path}:${line}:${column}: ${paint("ask", "warning")}: ${ApprovalText.showLine(message)}\n`)
  const { rules, mode, default: fallback } = report.policy
  const count = (behavior: string) => rules.filter((rule) => rule.behavior === behavior).length
  const summary = `${rules.length} rules (${count("deny")} deny, ${count("ask")} ask, ${count("allow")} allow), default ${fallback ?? "ask"}, mode ${mode ?? "default"}`
  return print(terminal, `${path}: ${paint("allow", "ok")}: ${summary}\n`)
}

type Paint = (behavior: string, text: string) => string

const colors: ReadonlyMap<string, string> = new Map([
  ["allow", "32"],
  ["ask", "33"],
  ["deny", "31"],
  ["dim", "2"]
])

const painter =
  (color: boolean): Paint =>
  (behavior, text) =>
    color ? `\u001b[${colors.get(behavior) ?? "0"}m${text}\u001b[0m` : text

interface Refused {
  readonly path: string
  readonly text: string
  readonly report: PolicyFile.Report
}

/** Each problem with its line and a mark under the place. */
const refusal = ({ path, text, report }: Refused, paint: Paint): string => {
  const lines = text.split(/\r\n|\r|\n/)
  return report.problems
    .map(({ line = 1, column = 1, pointer, expected, received }) => {
      const about = pointer === "" ? "" : `${pointer}: `
      const head = `${path}:${line}:${column}: ${paint("deny", "error")}: ${ApprovalText.showLine(`${about}expected ${expected}, got ${received}`)}`
      const source = (lines[line - 1] ?? "").slice(0, 200)
      return `${head}\n  ${ApprovalText.showLine(source.replaceAll("\t", " "))}\n  ${" ".repeat(column - 1)}${paint("deny", "^")}\n`
    })
    .join("")
}

const explain = (
  paths: { readonly policy: string; readonly calls: string },
  { terminal, json, workspace }: Context
): number => {
  const text = read(paths.policy, terminal)
  const report = PolicyFile.check(text)
  const paint = painter(terminal.color)
  if (report.policy === undefined) {
    terminal.err(refusal({ path: paths.policy, text, report }, paint))
    return 1
  }
  const calls = readCalls(read(paths.calls, terminal), paths.calls)
  const policy = Policy.compile(report.policy, { workspace, shell: analyse })
  const explained = calls.map((call) => ({
    call,
    ...policy.explain({ toolId: call.toolId, arguments: call.arguments })
  }))
  for (const each of explained) terminal.out(json ? `${JSON.stringify(forPrograms(each))}\n` : forPeople(each, paint))
  return explained.some(({ call, decision }) => call.expect !== undefined && call.expect !== decision.behavior) ? 1 : 0
}

type Explained = Policy.Explanation & { readonly call: RecordedCall }

const forPrograms = ({ call, decision }: Explained): Json.JsonObject => ({
  tool: call.toolId,
  arguments: call.arguments,
  behavior: decision.behavior,
  rule: decision.rule,
  reason: decision.reason,
  findings: decision.findings.map(({ about, behavior, rule, reason }) => ({ about, behavior, rule, reason })),
  ...(call.expect === undefined ? {} : { expect: call.expect, asExpected: call.expect === decision.behavior })
})

const forPeople = ({ call, decision, opinions }: Explained, paint: Paint): string => {
  const line = (text: string) => `  ${ApprovalText.showLine(text)}\n`
  const head = `${ApprovalText.showLine(`${call.toolId} ${JSON.stringify(call.arguments)}`)}\n`
  const verdict = `  ${paint(decision.behavior, decision.behavior.padEnd(5))} ${ApprovalText.showLine(decision.rule)}\n${line(`      ${decision.reason}`)}`
  const wrong =
    call.expect !== undefined && call.expect !== decision.behavior
      ? `  ${paint("deny", `expected ${call.expect}`)}\n`
      : ""
  const findings =
    decision.findings.length < 2
      ? ""
      : decision.findings
          .map(
            (each) =>
              `    ${paint(each.behavior, each.behavior.padEnd(5))} ${ApprovalText.showLine(`${each.about}: ${each.rule}`)}\n`
          )
          .join("")
  const rules = opinions
    .map(({ about, opinions: all }) => {
      const named = all.filter(({ names }) => names)
      const silent = all.length - named.length
      const said = named.map((each) => `    ${paint("dim", ApprovalText.showLine(opinionText(each)))}\n`).join("")
      const others = silent === 0 ? "" : `    ${paint("dim", `${silent} of ${all.length} rules name another tool`)}\n`
      return `${line(`rules on ${about}`)}${said}${others}`
    })
    .join("")
  return `${head}${verdict}${wrong}${findings}${rules}\n`
}

const opinionText = ({ rule, certainty, conditions }: Opinion): string => {
  const failing = conditions.find((each) => each.certainty === certainty)
  const which = failing === undefined || certainty === Certainty.Surely ? "" : ` (${failing.text})`
  return `${rule.behavior} ${rule.pattern}: ${Certainty.describe(certainty)}${which}`
}
