/**
 * The gate that the engine asks: a policy's decisions in the contract's terms.
 *
 * Guarantees: closed by default; a policy that cannot be read is a gate that blocks; a denial tells the model that it was
 * denied, not which rules there are; an ask tells the approver every reason and carries each asking rule's own terms.
 * Does not look at who is there to answer: narrowing a run (`Unattended`, `DenyAll`) is the engine's.
 */
import { GateOutcome, type Json, PermissionGate, StateKey } from "@toolwright/runtime-contract"
import { checkNames } from "./internal/gateNames.js"
import { type GrantOpinion, hearGrants, type Remembered } from "./internal/grantOpinions.js"
import { rememberPort } from "./internal/rememberPort.js"
import * as Policy from "./Policy.js"
import { PolicyError } from "./PolicyError.js"
import * as PolicyFile from "./PolicyFile.js"
import type { Behavior, Rule } from "./RuleSet.js"
import type { ToolProfile } from "./ToolProfile.js"

export type { GrantOpinion, Remembered } from "./internal/grantOpinions.js"

/** Allows every call. For people who mean it: a runtime without a gate does not build. */
export const allowAll: PermissionGate.PermissionGate = PermissionGate.allowAll

/** A gate that can also say why, without side effects. */
export interface PolicyGate extends PermissionGate.PermissionGate {
  /**
   * With what is remembered, an ask that grants would answer is an allow that names them: `grant g1 (thread t1)`. A child
   * run has no grants, and none covers the repeat of a call whose outcome is unknown.
   */
  readonly explain: (call: Policy.PolicyCall, remembered?: Remembered) => Promise<Explanation>
}

export interface Explanation extends Policy.Explanation {
  /** What each grant of this gate and tool said; empty where none were handed in. */
  readonly grants: ReadonlyArray<GrantOpinion>
}

export interface Options extends Policy.Environment {
  /** Name of the gate in audits, on tickets and in grants. Default `"permissions"`. */
  readonly id?: string
  /**
   * Where relative paths of a call start, absolute. Default: where the tool's profile says that it keeps its directory
   * (`bash` of the box does), else the workspace.
   */
  readonly directory?: (call: PermissionGate.GateCall) => string | undefined
}

export interface GateLists extends Partial<Options> {
  /** Tool ids, globs over ids, or patterns with conditions. */
  readonly allow?: ReadonlyArray<string>
  readonly ask?: ReadonlyArray<string>
  readonly deny?: ReadonlyArray<string>
  /** For what no entry names. Default `"ask"`. */
  readonly default?: Behavior
}

/** A gate from three lists. Throws `PolicyError` for an entry that cannot be read and for a list that does not exist. */
export const make = (lists: GateLists): PolicyGate => {
  checkNames(lists)
  const rules = (["deny", "ask", "allow"] as const).flatMap((behavior) =>
    (lists[behavior] ?? []).map((pattern): Rule => ({ pattern, behavior }))
  )
  return fromPolicy(
    { rules, default: lists.default ?? "ask" },
    { ...lists, workspace: lists.workspace ?? process.cwd() }
  )
}

/** Throws `PolicyError` for a policy that cannot be used. Loads the shell grammar at the first command, unless one is given. */
export const fromPolicy = (policy: Policy.Policy, options: Options): PolicyGate => {
  const id = options.id ?? "permissions"
  const compiled = compileLazily(policy, options)
  // Plain calls are answered at once; only the first command of a process takes a turn.
  const decide = (call: PermissionGate.GateCall): Policy.Decision | Promise<Policy.Decision> => {
    const always = compiled.always(call.tool.id)
    if (always !== undefined) return always
    const asked = askedBy(call, { options, profile: compiled.profileOf(call.tool.id) })
    const ready = compiled.ready(asked.toolId)
    return ready === undefined
      ? compiled.load(asked.toolId).then((loaded) => loaded.decide(asked))
      : ready.decide(asked)
  }
  return {
    id,
    decide: (call) => after(decide(call), (decision) => outcomeOf(decision, call)),
    denies: (call) => after(decide(call), (decision) => denialOf(decision, call)),
    remember: rememberPort({
      gate: id,
      policy,
      environment: options,
      load: compiled.load,
      asked: (call) => askedBy(call, { options, profile: compiled.profileOf(call.tool.id) })
    }),
    explain: async (call, remembered) => {
      const loaded = await compiled.load(call.toolId)
      return withGrants(loaded.explain(call), { call, remembered, gate: id, loaded, workspace: options.workspace })
    }
  }
}

interface Explaining {
  readonly gate: string
  readonly workspace: string
  readonly loaded: Policy.CompiledPolicy
  readonly call: Policy.PolicyCall
  readonly remembered: Remembered | undefined
}

const withGrants = (
  explanation: Policy.Explanation,
  { gate, workspace, loaded, call, remembered }: Explaining
): Explanation => {
  if (remembered === undefined) return { ...explanation, grants: [] }
  const { decision } = explanation
  const requirements = decision.behavior === "ask" ? requirementsOf(decision, remembered.now ?? Date.now()) : []
  const { opinions, answering } = hearGrants(
    {
      gate,
      workspace,
      call,
      requirements: requirements.map((one) => ({ ...one, gate })),
      covers: (pattern) => loaded.decide(call, [{ grantId: pattern, pattern }]).behavior === "allow"
    },
    remembered
  )
  if (answering === undefined) return { ...explanation, grants: opinions }
  const used = opinions.filter(({ answers }) => answers)
  const granted: Policy.Decision = {
    behavior: "allow",
    rule: `grant ${used.map(({ grantId, scope }) => `${grantId} (${scope})`).join(", ")}`,
    reason: `${used.map(({ text }) => text).join(", ")} was granted; without it: ${decision.reason}`,
    findings: decision.findings
  }
  return { ...explanation, decision: granted, grants: opinions }
}

const askedBy = (
  call: PermissionGate.GateCall,
  { options, profile }: { readonly options: Options; readonly profile: ToolProfile }
): Policy.PolicyCall => {
  const asked = { toolId: call.tool.id, arguments: call.arguments }
  const directory = options.directory?.(call) ?? keptDirectory(call, { options, profile })
  const before = profile.directory === undefined ? none : callsBefore(call)
  if (directory === undefined && before.length === 0) return asked
  return { ...asked, ...(directory === undefined ? {} : { directory }), ...(before.length === 0 ? {} : { before }) }
}

/** A value that is no text is an error of the state's, and a gate that throws blocks. */
const keptDirectory = (
  { state }: PermissionGate.GateCall,
  { options, profile }: { readonly options: Options; readonly profile: ToolProfile }
): string | undefined => {
  if (profile.directory === undefined) return undefined
  const kept = state.get(StateKey.make({ name: profile.directory, schema: directorySchema }))
  if (typeof kept !== "string" || kept === "" || kept === ".") return undefined
  return /^(?:[/\\]|[A-Za-z]:)/.test(kept) ? kept : `${options.workspace}/${kept}`
}

const directorySchema: StateKey.StateKey["schema"] = Object.freeze({ type: "string" })

/** Earlier calls of the turn may change the directory that the tool keeps, and were not run yet when this one is judged. */
const callsBefore = ({ earlier, tool }: PermissionGate.GateCall): ReadonlyArray<Json.JsonObject> =>
  earlier.flatMap((one) =>
    one.toolId === tool.id &&
    one.arguments !== undefined &&
    (one.standing === "AboutToRun" || one.standing === "Waiting")
      ? [one.arguments]
      : []
  )

const none: ReadonlyArray<never> = Object.freeze([])

const after = <A, B>(value: A | Promise<A>, use: (value: A) => B): B | Promise<B> =>
  value instanceof Promise ? value.then(use) : use(value)

// The policy is checked at once, with or without a grammar; the compiled form with one replaces it when a command arrives.
const compileLazily = (policy: Policy.Policy, options: Options) => {
  let compiled = Policy.compile(policy, options)
  let complete = options.shell !== undefined
  const load = async (toolId: string): Promise<Policy.CompiledPolicy> => {
    if (complete || !compiled.needsShell(toolId)) return compiled
    const { ShellCommand } = await import("./shell.js")
    if (!complete) compiled = Policy.compile(policy, { ...options, shell: ShellCommand.analyse })
    complete = true
    return compiled
  }
  return {
    load,
    ready: (toolId: string) => (complete || !compiled.needsShell(toolId) ? compiled : undefined),
    // No call that needs the grammar is decided without a look at its arguments.
    always: (toolId: string) => compiled.always(toolId),
    profileOf: (toolId: string) => compiled.profileOf(toolId)
  }
}

const outcomeOf = (decision: Policy.Decision, call: PermissionGate.GateCall): GateOutcome.GateOutcome => {
  switch (decision.behavior) {
    case "allow":
      return GateOutcome.allowBy(decision.rule)
    case "deny":
      return GateOutcome.block(denialText(decision, call), decision.rule)
    case "ask": {
      const [first, ...rest] = requirementsOf(decision, call.now)
      return GateOutcome.requireConfirmation(first ?? { reason: decision.reason, rule: decision.rule }, ...rest)
    }
  }
}

// Told to the model: that it is denied, and the author's own reason. The rules themselves are nobody's business there.
const denialText = ({ source, rule, reason }: Policy.Decision, call: PermissionGate.GateCall): string => {
  if (rule.startsWith("mode:")) return reason
  const why = source?.behavior === "deny" ? source.reason : undefined
  return `${call.tool.id} is denied by policy${why === undefined ? "" : `: ${why}`}`
}

const denialOf = (decision: Policy.Decision, call: PermissionGate.GateCall): string | undefined =>
  decision.behavior === "deny" ? denialText(decision, call) : undefined

const mostReasons = 16

/** One requirement for each rule that asks, with that rule's own terms, and one for each other reason. */
const requirementsOf = (decision: Policy.Decision, now: number): ReadonlyArray<GateOutcome.Requirement> => {
  const byRule = new Map<string, GateOutcome.Requirement>()
  const byReason = new Map<string, GateOutcome.Requirement>()
  for (const { behavior, rule, reason, source } of decision.findings) {
    if (behavior !== "ask") continue
    // No rule's terms are ever left out; of further reasons a person reads so many.
    if (source?.behavior === "ask") {
      const terms = termsOf(source, now)
      const key = `${rule} ${JSON.stringify(terms)}`
      if (!byRule.has(key)) byRule.set(key, { reason, rule, ...terms })
    } else if (byReason.size < mostReasons && !byReason.has(reason)) byReason.set(reason, { reason, rule })
  }
  const requirements = [...byRule.values(), ...byReason.values()]
  return requirements.length === 0 ? [{ reason: decision.reason, rule: decision.rule }] : requirements
}

const termsOf = (
  { approvers, quorum, requesterMayAnswer, timeout }: Rule,
  now: number
): Omit<GateOutcome.Requirement, "reason"> => ({
  ...(approvers === undefined ? {} : { approvers }),
  ...(quorum === undefined ? {} : { quorum }),
  ...(requesterMayAnswer === undefined ? {} : { requesterMayAnswer }),
  ...(timeout === undefined ? {} : { deadline: now + timeout })
})

/** A gate that blocks every call and says why to operators. For a policy that cannot be read. */
export const blocked = (problem: unknown, id = "permissions"): PolicyGate => {
  const reason = "the permission policy cannot be read"
  return {
    id,
    decide: () => GateOutcome.block(reason, `policy: ${problem instanceof Error ? problem.message : String(problem)}`),
    denies: () => reason,
    explain: () => Promise.reject(problem instanceof Error ? problem : new Error(String(problem)))
  }
}

export interface TextOptions extends Options {
  /** What the text is called in messages, such as a file name. */
  readonly file?: string
}

/** A gate from the text of a policy file. Never throws: a text that is refused is a gate that blocks, with the problems beside it. */
export const fromText = (
  text: string,
  options: TextOptions
): { readonly gate: PolicyGate; readonly problem: PolicyError | undefined } => {
  try {
    const file = options.file === undefined ? {} : { file: options.file }
    return { gate: fromPolicy(PolicyFile.parse(text, file), options), problem: undefined }
  } catch (cause) {
    const problem =
      cause instanceof PolicyError
        ? cause
        : new PolicyError([{ pointer: "", expected: "a policy that compiles", received: String(cause) }], { cause })
    return { gate: blocked(problem, options.id), problem }
  }
}

export interface ReplaceableGate {
  readonly gate: PolicyGate
  /** Returns why the new text was refused; `undefined` where it is in force now. */
  readonly replace: (next: string) => PolicyError | undefined
}

/** A gate whose policy can be replaced while it is in use. A text that is refused changes nothing. */
export const replaceable = (text: string, options: TextOptions): ReplaceableGate => {
  let current = fromText(text, options).gate
  return {
    gate: {
      id: options.id ?? "permissions",
      decide: (call) => current.decide(call),
      denies: (call) => current.denies?.(call),
      remember: {
        workspace: options.workspace,
        preview: (request) => rememberedBy(current).preview(request),
        covers: (pattern, call) => rememberedBy(current).covers(pattern, call)
      },
      explain: (...asked) => current.explain(...asked)
    },
    replace: (next: string): PolicyError | undefined => {
      const { gate, problem } = fromText(next, options)
      if (problem === undefined) current = gate
      return problem
    }
  }
}

// While the policy cannot be read nothing is remembered.
const rememberedBy = ({ remember }: PolicyGate): PermissionGate.RememberPort => {
  if (remember === undefined) throw new TypeError("the permission policy cannot be read, so nothing is remembered")
  return remember
}
