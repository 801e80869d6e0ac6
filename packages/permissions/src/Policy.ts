/**
 * A policy: rules, a default, a mode and what is known of the tools; and its decisions.
 *
 * Modes: `default`; `acceptEdits`, where file edits inside the workspace need no asking; `plan`, where nothing that
 * writes runs; `bypass`, where everything runs that is not denied. A mode changes what is asked and never what is denied:
 * a deny rule holds in all of them, and so does a default of deny.
 *
 * Guarantees: compiled once; decisions are pure but for looking at links on the disk; `explain` gives the same decision.
 * Does not ask anybody and keeps no state: `PermissionGate` speaks to the engine, `Grant` remembers approvals.
 */
import type { Json, NetworkAddress } from "@toolwright/runtime-contract"
import type * as FileSystemView from "./FileSystemView.js"
import { type JudgedCall, makeJudge, remember } from "./internal/judge.js"
import { alwaysJudged, explainCall, judgeCall } from "./internal/judgeCall.js"
import type { Behavior, Opinion, Rule } from "./RuleSet.js"
import type { ShellAnalyser } from "./ShellAnalysis.js"
import type { ToolProfile, ToolProfiles } from "./ToolProfile.js"

export { protectedPaths } from "./internal/protectedPaths.js"

export type Mode = "default" | "acceptEdits" | "plan" | "bypass"

export interface Policy {
  readonly rules: ReadonlyArray<Rule>
  /** For what no rule matches. Default `"ask"`. */
  readonly default?: Behavior
  /** Default `"default"`. */
  readonly mode?: Mode
  /** What is known of tools beyond `ToolProfile.defaults`. */
  readonly tools?: ToolProfiles
  /** Variables that may be set before a command without asking, beyond the few that are known to be harmless. */
  readonly variables?: ReadonlyArray<string>
  /** Path globs that `acceptEdits` does not cover. Default `protectedPaths`. */
  readonly protected?: ReadonlyArray<string>
  /**
   * The tools whose rules say what a shell command may do with files. A redirection that writes needs an allow of the first
   * of `write`; the others are heard for what they deny. Default `write` and `edit`, and `read`.
   */
  readonly files?: { readonly write?: ReadonlyArray<string>; readonly read?: ReadonlyArray<string> }
}

export interface Environment {
  /** Absolute path of the workspace. Relative paths and globs start there. */
  readonly workspace: string
  /** Default: the disk of this machine. */
  readonly files?: FileSystemView.FileSystemView
  /** `ShellCommand.analyse`, from `@toolwright/permissions/shell`. Without it every command is asked about. */
  readonly shell?: ShellAnalyser
}

export interface PolicyCall {
  readonly toolId: string
  readonly arguments: Json.JsonObject
  /** Where relative paths of this call start, absolute. Default the workspace. */
  readonly directory?: string
  /** Calls of the same tool that may run before this one and leave their directory to it: wherever they lead counts. */
  readonly before?: ReadonlyArray<Json.JsonObject>
  /** What the host of its URL resolved to, where that is known already. */
  readonly address?: NetworkAddress.Address
}

/** One thing that was judged: the call, a part of its command, a file, or a mode. */
export interface Finding {
  readonly about: string
  readonly behavior: Behavior
  /** What decided: a rule (`deny read(path ~ "**\/.env")`), `default: ask`, `mode: plan`, `grant g1`. */
  readonly rule: string
  readonly reason: string
  /** The rule itself, for its approvers and quorum; absent where no rule decided. */
  readonly source?: Rule
}

export interface Decision {
  readonly behavior: Behavior
  readonly rule: string
  readonly reason: string
  /** The rule itself, for its approvers and quorum; absent where no rule decided. */
  readonly source?: Rule
  /** Everything that was judged, the strictest first among them deciding. One finding for a call without a command. */
  readonly findings: ReadonlyArray<Finding>
}

export interface Explanation {
  readonly decision: Decision
  /** What every rule said, in the order of precedence; for a command, one list for each part. */
  readonly opinions: ReadonlyArray<{ readonly about: string; readonly opinions: ReadonlyArray<Opinion> }>
}

export interface CompiledPolicy {
  readonly policy: Policy
  /** `granted`: patterns of approvals that were remembered; they answer an ask, never a deny or a doubt. */
  readonly decide: (call: PolicyCall, granted?: ReadonlyArray<GrantedPattern>) => Decision
  readonly explain: (call: PolicyCall) => Explanation
  /** The decision on every call of the tool; `undefined` where its arguments, or a grant, have a say in it. */
  readonly always: (toolId: string) => Decision | undefined
  /** True where a call of the tool needs the shell grammar. */
  readonly needsShell: (toolId: string) => boolean
  /** What is known of a tool, as its rules are read by it. */
  readonly profileOf: (toolId: string) => ToolProfile
}

export interface GrantedPattern {
  readonly grantId: string
  readonly pattern: string
}

/** Throws `PolicyError` for a rule or a glob that cannot be read, `TypeError` for a workspace that is not absolute. */
export const compile = (policy: Policy, environment: Environment): CompiledPolicy => {
  const judge = makeJudge(policy, environment)
  const judged = (call: PolicyCall, granted: ReadonlyArray<GrantedPattern> = none): JudgedCall => ({ ...call, granted })
  const always = remember((toolId: string) => alwaysJudged(judge, toolId) ?? null)
  return {
    policy,
    decide: (call, granted) => {
      const known = always(call.toolId)
      // A grant answers an ask and nothing else.
      const isFixed = known !== null && (known.behavior !== "ask" || granted === undefined || granted.length === 0)
      return isFixed ? known : judgeCall(judge, judged(call, granted))
    },
    explain: (call) => explainCall(judge, judged(call)),
    always: (toolId) => always(toolId) ?? undefined,
    needsShell: (toolId) => judge.tool(toolId).commands.length > 0,
    profileOf: (toolId) => judge.tool(toolId).profile
  }
}

const none: ReadonlyArray<GrantedPattern> = Object.freeze([])
