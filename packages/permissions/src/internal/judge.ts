/**
 * A compiled policy, and what it says of one subject: a call, a part of a command, or a file.
 *
 * Guarantees: grants and `acceptEdits` answer an ask and nothing else; a doubt is answered by neither.
 */
import * as Certainty from "../Certainty.js"
import * as FileSystemView from "../FileSystemView.js"
import type { Environment, Finding, GrantedPattern, Policy, PolicyCall } from "../Policy.js"
import * as RulePattern from "../RulePattern.js"
import * as RuleSet from "../RuleSet.js"
import type { ShellAnalysis } from "../ShellAnalysis.js"
import * as ToolProfile from "../ToolProfile.js"
import * as WorkspacePath from "../WorkspacePath.js"
import { compileCondition } from "./conditionTest.js"
import { hasWildcard } from "./glob.js"
import { valuesAt } from "./fieldValues.js"
import { checkPolicy } from "./policyRules.js"
import { split } from "./pathSegments.js"
import { protectedPaths } from "./protectedPaths.js"
import { Resolver, Subject } from "./subject.js"

export interface JudgedCall extends PolicyCall {
  readonly granted: ReadonlyArray<GrantedPattern>
}

export interface KnownTool {
  readonly profile: ToolProfile.ToolProfile
  readonly commands: ReadonlyArray<ReadonlyArray<string>>
  readonly paths: ReadonlyArray<ReadonlyArray<string>>
  /** The path arguments at the top level, by name. */
  readonly pathNames: ReadonlyArray<string>
}

export interface Judge {
  readonly policy: Policy
  readonly place: WorkspacePath.Place
  readonly rules: RuleSet.RuleSet<Subject>
  /** The denials that have conditions, for words of commands that may be paths or URLs. */
  readonly denials: RuleSet.RuleSet<Subject>
  /** The tools that read from a network and are denied something. */
  readonly fetchers: ReadonlyArray<string>
  readonly shell: ((line: string) => ShellAnalysis) | undefined
  readonly tool: (toolId: string) => KnownTool
  /** The pattern of a grant as a rule set of its own. */
  readonly granted: (pattern: string) => RuleSet.RuleSet<Subject>
  readonly isProtected: (path: WorkspacePath.ResolvedPath) => boolean
}

const fetchersIn = (policy: Policy, tool: (toolId: string) => KnownTool): ReadonlyArray<string> => {
  const named = policy.rules.flatMap(({ behavior, pattern }) =>
    behavior === "deny" ? [RulePattern.parse(pattern).tool] : []
  )
  // A glob over tools is asked about through the usual one.
  return [...new Set(["web_fetch", ...named.filter((id) => !hasWildcard(id))])].filter(
    (id) => tool(id).profile.effect === "network"
  )
}

/** More tool ids or grants than this are met only by an attack on memory; what was compiled is then made again. */
const mostTools = 1_024

export const makeJudge = (policy: Policy, environment: Environment): Judge => {
  const place: WorkspacePath.Place = {
    view: environment.files ?? FileSystemView.node(),
    workspace: environment.workspace
  }
  if (split(place.workspace, place.view.style).root === undefined)
    throw new TypeError(`workspace: expected an absolute path, received ${JSON.stringify(place.workspace)}`)
  const profileOf = ToolProfile.lookup(policy.tools)
  checkPolicy(policy, profileOf)
  const tool = remember((toolId): KnownTool => {
    const profile = profileOf(toolId)
    const paths = ToolProfile.fieldsOfKind(profile, "path")
    const pathNames = paths.flatMap((field) => (field.length === 1 ? field : []))
    return { profile, commands: ToolProfile.fieldsOfKind(profile, "command"), paths, pathNames }
  })
  const ruleSet = (rules: ReadonlyArray<RuleSet.Rule>, fallback: RuleSet.Behavior): RuleSet.RuleSet<Subject> =>
    RuleSet.make({
      rules,
      default: fallback,
      compile: (condition, toolId) => compileCondition(condition, { profile: tool(toolId).profile, place })
    })
  const { shell } = environment
  const variables: ReadonlySet<string> = new Set(policy.variables ?? [])
  const guards = (policy.protected ?? protectedPaths).map((glob) => WorkspacePath.compile(place, glob))
  return {
    policy,
    place,
    rules: ruleSet(policy.rules, policy.default ?? "ask"),
    denials: ruleSet(
      policy.rules.filter(({ behavior, pattern }) => behavior === "deny" && pattern.includes("(")),
      "allow"
    ),
    fetchers: fetchersIn(policy, tool),
    shell: shell === undefined ? undefined : (line) => shell(line, variables),
    tool,
    granted: remember((pattern) => ruleSet([{ pattern, behavior: "allow" }], "ask")),
    isProtected: (path) => guards.some((guard) => guard(path) !== Certainty.Never)
  }
}

/** Makes it once for each key, and again where there are too many. */
export const remember = <A>(make: (key: string) => A): ((key: string) => A) => {
  const made = new Map<string, A>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const next = make(key)
    if (made.size >= mostTools) made.clear()
    made.set(key, next)
    return next
  }
}

export const subjectFor = (judge: Judge, call: Omit<PolicyCall, "toolId">): Subject =>
  new Subject(call.arguments, {
    resolver: new Resolver({ place: judge.place, directory: call.directory, address: call.address })
  })

export interface Asked {
  readonly call: JudgedCall
  readonly subject: Subject
  /** Whose rules are asked: the called tool, or the one that stands for a file. */
  readonly toolId: string
  readonly about: string
}

export interface FirmFinding extends Finding {
  /** It is a doubt, or was not understood: no mode and no grant settles it. */
  readonly firm?: boolean
}

/** The verdict of the rules on one subject, and what mode and grants make of an ask. */
export const judgeSubject = (judge: Judge, asked: Asked): FirmFinding => {
  const verdict = RuleSet.decide(judge.rules, { toolId: asked.toolId, call: asked.subject })
  if (verdict.behavior !== "ask" || verdict.doubtful) return findingOf(verdict, asked)
  return granted(judge, { asked }) ?? acceptedEdit(judge, { asked, verdict }) ?? findingOf(verdict, asked)
}

interface Answered {
  readonly asked: Asked
  readonly verdict: RuleSet.Verdict
}

export const findingOf = (verdict: RuleSet.Verdict, { about }: { readonly about: string }): FirmFinding => {
  const { behavior, rule, doubtful } = verdict
  if (rule === undefined) return { about, behavior, rule: `default: ${behavior}`, reason: `no rule matches ${about}` }
  const text = `${rule.behavior} ${rule.pattern}`
  if (doubtful)
    return { about, behavior, rule: text, reason: `${about} may be what ${text} means`, source: rule, firm: true }
  return { about, behavior, rule: text, reason: rule.reason ?? `${text} matches ${about}`, source: rule }
}

const granted = (judge: Judge, { asked }: Pick<Answered, "asked">): FirmFinding | undefined => {
  const { call, subject, toolId, about } = asked
  if (call.granted.length === 0) return undefined
  const grant = call.granted.find(
    ({ pattern }) => RuleSet.decide(judge.granted(pattern), { toolId, call: subject }).behavior === "allow"
  )
  if (grant === undefined) return undefined
  return { about, behavior: "allow", rule: `grant ${grant.grantId}`, reason: `${grant.pattern} was granted` }
}

// Only where no rule asked: an ask that somebody wrote down stands.
const acceptedEdit = (judge: Judge, { asked, verdict }: Answered): FirmFinding | undefined => {
  if (judge.policy.mode !== "acceptEdits" || verdict.rule !== undefined) return undefined
  const { subject, toolId, about } = asked
  const { profile, paths } = judge.tool(toolId)
  if (profile.effect !== "edit") return undefined
  const values = paths.flatMap((field) => valuesAt(subject.arguments, field)).filter((value) => value !== undefined)
  const inside = values.every((value) => {
    if (typeof value !== "string") return false
    const path = subject.path(value)
    return WorkspacePath.isInside(judge.place, path) && !judge.isProtected(path)
  })
  if (values.length === 0 || !inside) return undefined
  return { about, behavior: "allow", rule: "mode: acceptEdits", reason: "an edit inside the workspace" }
}
