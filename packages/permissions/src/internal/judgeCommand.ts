/**
 * Judges a command line part by part: every command that runs needs an allow, every file that it writes is judged as the
 * file tools would be, and whatever was not understood is asked about.
 *
 * Guarantees: a deny is looked for in more places and spellings than an allow; an empty line is never an allow.
 */
import type { Json } from "@toolwright/runtime-contract"
import * as RuleSet from "../RuleSet.js"
import type { ShellAnalysis, ShellFile, ShellPart } from "../ShellAnalysis.js"
import * as WorkspacePath from "../WorkspacePath.js"
import { valuesAt } from "./fieldValues.js"
import { hole } from "./glob.js"
import { findingOf, type Judge, type JudgedCall, judgeSubject, type FirmFinding } from "./judge.js"
import { join } from "./pathSegments.js"
import { Resolver, Subject } from "./subject.js"
import { looksLikeUrl, mayBePaths, onlyReads } from "./wordCandidates.js"

interface Asked {
  readonly call: JudgedCall
  readonly subject: Subject
  readonly line: Json.Json
}

export const commandFindings = (judge: Judge, { call, subject, line }: Asked): ReadonlyArray<FirmFinding> => {
  const { toolId } = call
  if (typeof line !== "string")
    return [
      judgeSubject(judge, { call, subject, toolId, about: toolId }),
      notUnderstood(judge, "the command is no text")
    ]
  if (judge.shell === undefined) {
    const whole = wholeLine(line)
    return [
      ...heard(judge, { call, subject: subject.withPart(whole), about: whole.exact }),
      notUnderstood(judge, "no shell grammar is loaded")
    ]
  }
  const analysis = judge.shell(line)
  const directories = directoriesOf(judge, { call, analysis })
  const findings = [
    ...analysis.problems.map((problem) => notUnderstood(judge, problem)),
    ...(directories === undefined ? [notUnderstood(judge, "where it runs is only known when it runs")] : []),
    ...analysis.parts.flatMap((part) => partFindings(judge, { call, subject, part })),
    ...heard(judge, { call, subject: subject.withPart(wholeLine(line)), about: "the whole line" }),
    ...fileFindings(judge, { call, analysis, directories: directories ?? [] }),
    ...wordFindings(judge, { parts: analysis.parts, directories: directories ?? [] })
  ]
  return analysis.parts.some(({ role }) => role === "Runs") ? findings : [...findings, nothingRuns(judge, analysis)]
}

const wholeLine = (line: string): Pick<ShellPart, "exact" | "spellings"> => {
  const exact = line.trim().replaceAll(/\s+/g, " ")
  return { exact, spellings: exact === line ? [exact] : [exact, line] }
}

const nothingRuns = (judge: Judge, { parts, files }: ShellAnalysis): FirmFinding =>
  parts.length === 0 && files.length > 0
    ? { about: "the line", behavior: "ask", rule: "shell", reason: "it only redirects" }
    : notUnderstood(judge, "no command was found in it")

// With nothing denied there is nothing that could hide in what was not understood.
const notUnderstood = ({ policy }: Judge, problem: string): FirmFinding => ({
  about: "the line",
  behavior: "ask",
  rule: "shell: not understood",
  reason: problem,
  firm: policy.rules.some(({ behavior }) => behavior === "deny")
})

const partFindings = (
  judge: Judge,
  { call, subject, part }: { readonly call: JudgedCall; readonly subject: Subject; readonly part: ShellPart }
): ReadonlyArray<FirmFinding> => {
  const about = part.exact.replaceAll(hole, "…")
  const ofPart = subject.withPart(part)
  if (part.role === "Runs") return [judgeSubject(judge, { call, subject: ofPart, toolId: call.toolId, about })]
  const findings = heard(judge, { call, subject: ofPart, about })
  if (part.role === "Wraps") return findings
  return findings.map((finding) =>
    finding.behavior === "deny"
      ? { ...finding, behavior: "ask", reason: `${about} may be a command that is denied`, firm: true }
      : finding
  )
}

/** What the rules say against it: a deny, a doubt, or an ask that somebody wrote down. An allow is not needed here. */
const heard = (
  judge: Judge,
  { call, subject, about }: { readonly call: JudgedCall; readonly subject: Subject; readonly about: string }
): ReadonlyArray<FirmFinding> => {
  const verdict = RuleSet.decide(judge.rules, { toolId: call.toolId, call: subject })
  if (verdict.behavior === "deny" && verdict.rule !== undefined) return [findingOf(verdict, { about })]
  if (verdict.behavior !== "ask" || verdict.rule === undefined || isBare(verdict.rule)) return []
  return [findingOf(verdict, { about })]
}

// `ask bash` asks about every command that runs already.
const isBare = (rule: RuleSet.Rule): boolean => rule.behavior === "ask" && !rule.pattern.includes("(")

interface InDirectories {
  /** Where the line may stand, absolute. */
  readonly directories: ReadonlyArray<string>
}

const fileFindings = (
  judge: Judge,
  { call, analysis, directories }: InDirectories & { readonly call: JudgedCall; readonly analysis: ShellAnalysis }
): ReadonlyArray<FirmFinding> => {
  if (analysis.files.length === 0) return []
  return directories.flatMap((directory) => {
    const resolver = new Resolver({ place: judge.place, directory })
    return analysis.files.flatMap((file) => fileFinding(judge, { call, file, resolver }))
  })
}

const mostDirectories = 16

/**
 * A relative path starts in whichever directory the line, or one before it, has reached by then, which nobody follows
 * through branches: all count. `undefined` where there is no telling.
 */
const directoriesOf = (
  judge: Judge,
  { call, analysis }: { readonly call: JudgedCall; readonly analysis: ShellAnalysis }
): ReadonlyArray<string> | undefined => {
  const before = linesBefore(judge, call).map((line) => judge.shell?.(line))
  if (before.some((each) => each !== undefined && each.problems.length > 0)) return undefined
  let reached: ReadonlyArray<string> = [call.directory ?? judge.place.workspace]
  for (const path of [...before.flatMap((each) => each?.directories ?? []), ...analysis.directories]) {
    const further = reached.flatMap((directory) =>
      WorkspacePath.resolve(judge.place, { path, directory }).spellings.map((found) =>
        join(found, judge.place.view.style)
      )
    )
    reached = [...new Set([...reached, ...further])]
    if (reached.length > mostDirectories) return undefined
  }
  return reached
}

const linesBefore = (judge: Judge, { toolId, before }: JudgedCall): ReadonlyArray<string> =>
  (before ?? []).flatMap((args) =>
    judge
      .tool(toolId)
      .commands.flatMap((field) => valuesAt(args, field))
      .filter((line) => typeof line === "string")
  )

const usualFiles = { write: ["write", "edit"], read: ["read"] } as const

const fileFinding = (
  judge: Judge,
  { call, file, resolver }: { readonly call: JudgedCall; readonly file: ShellFile; readonly resolver: Resolver }
): ReadonlyArray<FirmFinding> => {
  const writes = file.access === "Write"
  const tools = writes ? writersOf(judge) : readersOf(judge)
  const about = `${writes ? ">" : "<"} ${file.path.replaceAll(hole, "…")}`
  return tools.flatMap((toolId, index) => {
    const subject = fileSubject(judge, { toolId, path: file.path, resolver })
    // The first tool for writing must allow it; the others, and all for reading, are heard only for what they forbid.
    if (writes && index === 0) return [judgeSubject(judge, { call, subject, toolId, about })]
    return heardAs(judge, { subject, toolId, about })
  })
}

const writersOf = ({ policy }: Judge): ReadonlyArray<string> => policy.files?.write ?? usualFiles.write
const readersOf = ({ policy }: Judge): ReadonlyArray<string> => policy.files?.read ?? usualFiles.read

const heardAs = (
  judge: Judge,
  { subject, toolId, about }: { readonly subject: Subject; readonly toolId: string; readonly about: string }
): ReadonlyArray<FirmFinding> => {
  const verdict = RuleSet.decide(judge.rules, { toolId, call: subject })
  const against = verdict.rule !== undefined && verdict.behavior !== "allow"
  return against ? [findingOf(verdict, { about })] : []
}

/** The call that a file tool would have made: the path under every name that its path arguments go by. */
const fileSubject = (
  judge: Judge,
  { toolId, path, resolver }: { readonly toolId: string; readonly path: string; readonly resolver: Resolver }
): Subject => {
  const args: Record<string, string> = {}
  for (const name of judge.tool(toolId).pathNames) args[name] = path
  return new Subject(args, { resolver })
}

/** Words that may name a file or a host that is denied elsewhere: the program behind them decides, so it is a doubt. */
const wordFindings = (
  judge: Judge,
  { parts, directories }: InDirectories & { readonly parts: ReadonlyArray<ShellPart> }
): ReadonlyArray<FirmFinding> => {
  const denied = (toolId: string) => RuleSet.hasRulesFor(judge.denials, toolId)
  const readers = readersOf(judge).filter(denied)
  const writers = writersOf(judge).filter(denied)
  const fetchers = judge.fetchers.filter(denied)
  if (readers.length + writers.length + fetchers.length === 0) return []
  const resolvers = directories.map((directory) => new Resolver({ place: judge.place, directory }))
  const doubts: Array<FirmFinding> = []
  const ask = (toolId: string, { subject, about }: { readonly subject: Subject; readonly about: string }) => {
    const { behavior, rule } = RuleSet.decide(judge.denials, { toolId, call: subject })
    if (behavior === "allow" || rule === undefined) return
    const reason = `${about} may touch what ${toolId} is denied`
    doubts.push({ about, behavior: "ask", rule: `deny ${rule.pattern}`, reason, source: rule, firm: true })
  }
  for (const { role, words } of parts) {
    if (role === "May") continue
    const [command = "", ...rest] = words
    const about = (text: string) => `${command} ${text}`.replaceAll(hole, "…")
    const tools = onlyReads(command) ? readers : [...readers, ...writers]
    for (const path of tools.length === 0 ? [] : rest.flatMap(mayBePaths))
      for (const toolId of tools)
        for (const resolver of resolvers)
          ask(toolId, { subject: fileSubject(judge, { toolId, path, resolver }), about: about(path) })
    const resolver = new Resolver({ place: judge.place })
    for (const url of fetchers.length === 0 ? [] : rest.flatMap((word) => looksLikeUrl(command, word)))
      for (const toolId of fetchers) ask(toolId, { subject: new Subject({ url }, { resolver }), about: about(url) })
  }
  return doubts
}
