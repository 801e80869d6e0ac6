/**
 * Rules, and the one way in which they become a verdict.
 *
 * Precedence: a deny that matches is absolute. Otherwise the most specific allow or ask that matches; of equally specific
 * ones ask. Otherwise the default, which is to ask. A deny that may match when the call runs makes an allow an ask.
 *
 * Guarantees: the order of the rules never matters; adding a deny never widens; an allow counts only where it is sure,
 * a deny also under its broadest reading; compiled once, indexed by tool id, memory does not grow with decisions.
 * Does not know what a path, a URL or a command is: `compile` says how surely a condition speaks of a call.
 */
import * as Certainty from "./Certainty.js"
import * as RulePattern from "./RulePattern.js"
import { compileGlob, hasWildcard, matchesGlob } from "./internal/glob.js"
import { type Narrowing, RuleIndex } from "./internal/ruleIndex.js"

export type { Narrowing } from "./internal/ruleIndex.js"

export type Behavior = "allow" | "ask" | "deny"

export interface Rule {
  /** See `RulePattern`. */
  readonly pattern: string
  readonly behavior: Behavior
  /** Told to whoever is asked, and to the model where it denies. */
  readonly reason?: string
  /** For ask: who may answer. Default: anybody the host vouches for. */
  readonly approvers?: ReadonlyArray<string>
  /** For ask: how many must allow. Default 1. */
  readonly quorum?: number
  /** For ask: may the principal of the run answer for itself? Default true. */
  readonly requesterMayAnswer?: boolean
  /** For ask: after so many milliseconds without an answer the call counts as denied. Default: it waits. */
  readonly timeout?: number
}

/** How surely one condition speaks of a call. Made once for each condition and tool, then called for each decision. */
export interface Test<Call> {
  (call: Call): Certainty.Certainty
  /** Where it can match at all, so that most calls need not ask it. Default: anywhere. */
  readonly narrowing?: Narrowing<Call> | undefined
}

export interface Options<Call> {
  readonly rules: ReadonlyArray<Rule>
  /** For what no rule matches. Default `"ask"`. */
  readonly default?: Behavior
  readonly compile: (condition: RulePattern.Condition, toolId: string) => Test<Call>
}

export interface RuleSet<Call> {
  readonly rules: ReadonlyArray<Rule>
  readonly default: Behavior
  readonly [internals]: Index<Call>
}

export interface Verdict {
  readonly behavior: Behavior
  /** The rule that decided; absent where the default did. */
  readonly rule?: Rule
  /** The rule is a deny that could not be ruled out before the call runs. */
  readonly doubtful: boolean
}

const internals: unique symbol = Symbol("RuleSet")

/** A rule as it is evaluated for one tool. */
interface Entry<Call> {
  readonly rule: Rule
  /** What it says where it decides, made once. */
  readonly verdict: Verdict
  readonly conditions: ReadonlyArray<{ readonly text: string; readonly test: Test<Call> }>
}

interface Parsed {
  readonly rule: Rule
  readonly pattern: RulePattern.RulePattern
  readonly names: (toolId: string) => boolean
}

interface Entries<Call> {
  readonly entries: ReadonlyArray<Entry<Call>>
  readonly index: RuleIndex<Call>
}

interface ForTool<Call> {
  readonly denials: Entries<Call>
  /** Allow and ask, the most specific first, ask first among equals. */
  readonly others: Entries<Call>
  /** The verdict on every call, where no condition has a say in it. */
  readonly always: Verdict | undefined
}

interface Index<Call> {
  readonly exact: ReadonlyMap<string, ReadonlyArray<Parsed>>
  readonly globs: ReadonlyArray<Parsed>
  readonly compile: Options<Call>["compile"]
  /** Where no rule decides. */
  readonly fallback: Verdict
  readonly forTool: Map<string, ForTool<Call>>
}

/** More tool ids than this are met only by an attack on memory; the compiled forms are then made again. */
const mostTools = 1_024

/** Throws `PatternError` for the first pattern that cannot be read. */
export const make = <Call>(options: Options<Call>): RuleSet<Call> => {
  const parsed = options.rules.map(parse).sort(byPrecedence)
  const exact = new Map<string, Array<Parsed>>()
  for (const entry of parsed) {
    if (hasWildcard(entry.pattern.tool)) continue
    const others = exact.get(entry.pattern.tool)
    if (others === undefined) exact.set(entry.pattern.tool, [entry])
    else others.push(entry)
  }
  const globs = parsed.filter(({ pattern }) => hasWildcard(pattern.tool))
  const behavior = options.default ?? "ask"
  const fallback: Verdict = Object.freeze({ behavior, doubtful: false })
  return Object.freeze({
    rules: parsed.map(({ rule }) => rule),
    default: behavior,
    [internals]: { exact, globs, compile: options.compile, fallback, forTool: new Map<string, ForTool<Call>>() }
  })
}

const parse = (rule: Rule): Parsed => {
  const pattern = RulePattern.parse(rule.pattern)
  const glob = compileGlob(pattern.tool)
  return { rule, pattern, names: (toolId) => matchesGlob(glob, toolId) }
}

const rank: Readonly<Record<Behavior, number>> = { deny: 0, ask: 1, allow: 2 }

// Total, so that neither the verdict nor the rule that is named for it depends on the order in which rules were written.
const byPrecedence = (left: Parsed, right: Parsed): number =>
  RulePattern.bySpecificity(RulePattern.specificityOf(left.pattern), RulePattern.specificityOf(right.pattern)) ||
  rank[left.rule.behavior] - rank[right.rule.behavior] ||
  compareText(RulePattern.print(left.pattern), RulePattern.print(right.pattern)) ||
  compareText(JSON.stringify(left.rule), JSON.stringify(right.rule))

const compareText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

/** The verdict on one call. Plain look-ups and comparisons: nothing is parsed, allocated per rule or remembered. */
export const decide = <Call>(
  set: RuleSet<Call>,
  { toolId, call }: { readonly toolId: string; readonly call: Call }
): Verdict => {
  const { denials, others, always } = entriesFor(set, toolId)
  if (always !== undefined) return always
  let doubt: Rule | undefined
  for (const at of denials.index.candidates(call)) {
    const entry = denials.entries[at]
    if (entry === undefined) continue
    const certainty = certaintyOf(entry, call)
    if (certainty >= Certainty.Loosely) return entry.verdict
    if (certainty === Certainty.Possibly) doubt ??= entry.rule
  }
  const found = firstThatCounts(others, call)?.verdict ?? set[internals].fallback
  if (doubt !== undefined && found.behavior === "allow") return { behavior: "ask", rule: doubt, doubtful: true }
  return found
}

const firstThatCounts = <Call>({ entries, index }: Entries<Call>, call: Call): Entry<Call> | undefined => {
  for (const at of index.candidates(call)) {
    const entry = entries[at]
    if (entry !== undefined && counts(entry.rule.behavior, certaintyOf(entry, call))) return entry
  }
  return undefined
}

/** The verdict on every call of the tool, whatever its arguments; `undefined` where they have a say in it. */
export const always = <Call>(set: RuleSet<Call>, toolId: string): Verdict | undefined => entriesFor(set, toolId).always

/** True where some rule names this tool, whatever its conditions say. */
export const hasRulesFor = <Call>(set: RuleSet<Call>, toolId: string): boolean => {
  const { denials, others } = entriesFor(set, toolId)
  return denials.entries.length > 0 || others.entries.length > 0
}

/** Whether a rule of this behaviour may act on a match of this certainty. */
export const counts = (behavior: Behavior, certainty: Certainty.Certainty): boolean =>
  behavior === "allow"
    ? certainty === Certainty.Surely
    : certainty >= (behavior === "deny" ? Certainty.Loosely : Certainty.Possibly)

/** The strictest of two verdicts (deny, ask, allow); of equals the first. */
export const stricter = (left: Verdict, right: Verdict): Verdict =>
  rank[right.behavior] < rank[left.behavior] ? right : left

/** What one rule said of a call. */
export interface Opinion {
  readonly rule: Rule
  /** `false` where its pattern names another tool; then the rest is empty. */
  readonly names: boolean
  readonly certainty: Certainty.Certainty
  readonly conditions: ReadonlyArray<{ readonly text: string; readonly certainty: Certainty.Certainty }>
}

export interface Explanation {
  readonly verdict: Verdict
  /** In the order of precedence. */
  readonly opinions: ReadonlyArray<Opinion>
}

/** The same verdict as `decide`, with what every rule said. */
export const explain = <Call>(
  set: RuleSet<Call>,
  asked: { readonly toolId: string; readonly call: Call }
): Explanation => {
  const { denials, others } = entriesFor(set, asked.toolId)
  const entries = new Map([...denials.entries, ...others.entries].map((entry) => [entry.rule, entry] as const))
  return {
    verdict: decide(set, asked),
    opinions: set.rules.map((rule) => opinionOf(rule, { entry: entries.get(rule), call: asked.call }))
  }
}

const opinionOf = <Call>(
  rule: Rule,
  { entry, call }: { readonly entry: Entry<Call> | undefined; readonly call: Call }
): Opinion => {
  if (entry === undefined) return { rule, names: false, certainty: Certainty.Never, conditions: [] }
  const conditions = entry.conditions.map(({ text, test }) => ({ text, certainty: test(call) }))
  return { rule, names: true, certainty: certaintyOf(entry, call), conditions }
}

const certaintyOf = <Call>(entry: Entry<Call>, call: Call): Certainty.Certainty => {
  let certainty: Certainty.Certainty = Certainty.Surely
  for (const { test } of entry.conditions) {
    certainty = Certainty.and(certainty, test(call))
    if (certainty === Certainty.Never) return certainty
  }
  return certainty
}

const entriesFor = <Call>(set: RuleSet<Call>, toolId: string): ForTool<Call> => {
  const index = set[internals]
  const known = index.forTool.get(toolId)
  if (known !== undefined) return known
  const naming = [...(index.exact.get(toolId) ?? []), ...index.globs.filter(({ names }) => names(toolId))].sort(
    byPrecedence
  )
  const entries = naming.map((parsed): Entry<Call> => ({
    rule: parsed.rule,
    verdict: Object.freeze({ behavior: parsed.rule.behavior, rule: parsed.rule, doubtful: false }),
    conditions: parsed.pattern.conditions.map((condition) => ({
      text: RulePattern.printCondition(condition),
      test: index.compile(condition, toolId)
    }))
  }))
  const denials = entries.filter(({ rule }) => rule.behavior === "deny")
  const others = entries.filter(({ rule }) => rule.behavior !== "deny")
  const forTool = {
    denials: indexed(denials),
    others: indexed(others),
    always: alwaysOf({ denials, others, fallback: index.fallback })
  }
  if (index.forTool.size >= mostTools) index.forTool.clear()
  index.forTool.set(toolId, forTool)
  return forTool
}

const indexed = <Call>(entries: ReadonlyArray<Entry<Call>>): Entries<Call> => ({
  entries,
  index: new RuleIndex(entries.map(narrowingOf))
})

/** All conditions must hold, so any of them may narrow: the one with the longest keys leaves the fewest calls. */
const narrowingOf = <Call>({ conditions }: Entry<Call>): Narrowing<Call> | undefined => {
  let best: Narrowing<Call> | undefined
  for (const { test } of conditions) {
    const { narrowing } = test
    if (narrowing !== undefined && (best === undefined || shortest(narrowing) > shortest(best))) best = narrowing
  }
  return best
}

const shortest = ({ keys }: Narrowing<never>): number => Math.min(...keys.map((key) => key.length))

const alwaysOf = <Call>(given: {
  readonly denials: ReadonlyArray<Entry<Call>>
  readonly others: ReadonlyArray<Entry<Call>>
  readonly fallback: Verdict
}): Verdict | undefined => {
  const denied = given.denials.find(isBare)
  // Another denial may come first and be the one that is named.
  if (given.denials.length > 0) return denied === given.denials[0] ? denied?.verdict : undefined
  const [first] = given.others
  if (first === undefined) return given.fallback
  return isBare(first) ? first.verdict : undefined
}

const isBare = <Call>({ conditions }: Entry<Call>): boolean => conditions.length === 0
