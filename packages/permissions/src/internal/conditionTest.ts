/**
 * What a condition asks of a call, compiled for the kind of argument it is about.
 *
 * Guarantees: negation is the exact opposite of the positive condition; a value of another type than the rule expects
 * never makes an allow match, and makes a deny match where it spells the same.
 */
import { Json } from "@toolwright/runtime-contract"
import * as Certainty from "../Certainty.js"
import type { Condition } from "../RulePattern.js"
import type { Narrowing, Test } from "../RuleSet.js"
import * as ToolProfile from "../ToolProfile.js"
import * as HostRule from "../HostRule.js"
import * as WorkspacePath from "../WorkspacePath.js"
import { compileCommand } from "./commandGlob.js"
import { valuesAt, wholeAt } from "./fieldValues.js"
import { compileGlob, escapeGlob, hole, matchesGlob, mayMatchGlob } from "./glob.js"
import { byHost, byPath, byValue, byWord } from "./narrowing.js"
import type { Subject } from "./subject.js"

interface ValueTest {
  (value: Json.Json, subject: Subject): Certainty.Certainty
  /** Where it can match, for the arguments under whose names the value may lie. */
  readonly narrow?: ((names: ReadonlyArray<string>) => Narrowing<Subject> | undefined) | undefined
}
type ScalarTest = (value: Json.Json) => Certainty.Certainty

export interface ConditionContext {
  readonly profile: ToolProfile.ToolProfile
  readonly place: WorkspacePath.Place
}

export const compileCondition = (condition: Condition, context: ConditionContext): Test<Subject> => {
  const { kind, part, field } = ToolProfile.kindOf(context.profile, condition.field)
  const negated = condition.operator === "!=" || condition.operator === "!~"
  const positive =
    kind === "command" ? commandTest(condition) : fieldTest(condition, { kind, part, field, place: context.place })
  // Most calls fit a negated condition, so there is nothing to narrow.
  return negated ? (subject) => Certainty.not(positive(subject)) : positive
}

const fieldTest = (
  condition: Condition,
  context: ValueContext & { readonly field: ReadonlyArray<string> }
): Test<Subject> => {
  const { field } = context
  const test = valueTest(condition, context)
  if (Array.isArray(condition.value)) return wholeTest(test, field)
  const overAll = (subject: Subject, at: ReadonlyArray<string>) =>
    Certainty.overAll(
      valuesAt(subject.arguments, at).map((value) => (value === undefined ? Certainty.Never : test(value, subject)))
    )
  const [name] = field
  if (field.length !== 1 || name === undefined) return (subject) => overAll(subject, field)
  // Nearly every field is a plain top-level one with one value.
  const at = (subject: Subject, key: string): Certainty.Certainty => {
    const value = Object.hasOwn(subject.arguments, key) ? subject.arguments[key] : undefined
    if (value === undefined) return Certainty.Never
    return Array.isArray(value) ? overAll(subject, [key]) : test(value, subject)
  }
  const names = context.kind === "text" ? undefined : ToolProfile.synonymsOf(name)
  const narrowing = test.narrow?.(names ?? [name])
  if (names === undefined) return Object.assign((subject: Subject) => at(subject, name), { narrowing })
  const ofAny = (subject: Subject): Certainty.Certainty => {
    const given = subject.given(names)
    const [only] = given
    if (only === undefined) return Certainty.Never
    return given.length === 1 ? at(subject, only) : Certainty.overAll(given.map((key) => at(subject, key)))
  }
  return Object.assign(ofAny, { narrowing })
}

// An array is compared as a whole with an array; one that lies in elements of others is not looked for, so it stays a doubt.
const wholeTest =
  (test: ValueTest, field: ReadonlyArray<string>): Test<Subject> =>
  (subject) => {
    const value = wholeAt(subject.arguments, field)
    if (value !== undefined) return test(value, subject)
    return field.length > 1 && wholeAt(subject.arguments, field.slice(0, 1)) !== undefined
      ? Certainty.Possibly
      : Certainty.Never
  }

// Whoever asks about a command is asked about each part of it in turn.
const commandTest = ({ operator, value }: Condition): Test<Subject> => {
  if (typeof value !== "string" || !/^!?[=~]$/.test(operator)) return () => Certainty.Never
  const test = compileCommand(operator.endsWith("=") ? escapeGlob(value) : value)
  const ofPart = ({ part }: Subject): Certainty.Certainty => (part === undefined ? Certainty.Possibly : test(part))
  return Object.assign(ofPart, { narrowing: byWord(test.word) })
}

interface ValueContext {
  readonly kind: ToolProfile.FieldKind
  readonly part: string | undefined
  readonly place: WorkspacePath.Place
}

const valueTest = (condition: Condition, { kind, part, place }: ValueContext): ValueTest => {
  const { operator, value } = condition
  const compare = comparisons.get(operator)
  if (compare !== undefined && typeof value === "number" && part !== "port")
    return numberTest((given) => compare(given, value))
  if (typeof value === "string" && kind === "path" && compare === undefined) {
    const test = WorkspacePath.compile(place, operator.endsWith("~") ? value : escapeGlob(value))
    const ofPath = (given: Json.Json, subject: Subject): Certainty.Certainty =>
      typeof given === "string" ? test(subject.path(given)) : Certainty.Possibly
    return Object.assign(ofPath, { narrow: (names: ReadonlyArray<string>) => byPath(names, test.beginnings) })
  }
  if (kind === "url" && (part !== undefined || typeof value === "string")) return urlTest(condition, part)
  if (operator.endsWith("~") && typeof value === "string") return textTest(value)
  return equalTest(value)
}

const comparisons: ReadonlyMap<string, (left: number, right: number) => boolean> = new Map([
  ["<", (left: number, right: number) => left < right],
  ["<=", (left: number, right: number) => left <= right],
  [">", (left: number, right: number) => left > right],
  [">=", (left: number, right: number) => left >= right]
])

const numberTest =
  (holds: (given: number) => boolean): ValueTest =>
  (given) => {
    if (typeof given === "number") return holds(given) ? Certainty.Surely : Certainty.Never
    // A number in quotes is one to many tools; what is none at all cannot be shown to be within bounds.
    const spelled = typeof given === "string" ? Number(given.trim() || Number.NaN) : Number.NaN
    return Number.isNaN(spelled) || holds(spelled) ? Certainty.Loosely : Certainty.Never
  }

const textTest = (pattern: string): ScalarTest => {
  const glob = compileGlob(pattern)
  const composed = compileGlob(pattern.normalize("NFC"))
  return (given) => {
    const text = typeof given === "string" ? given : Json.canonicalJson(given)
    if (typeof given === "string" && matchesGlob(glob, text)) return Certainty.Surely
    if (matchesGlob(composed, text.normalize("NFC"))) return Certainty.Loosely
    // NUL is the mark of what is not known, so a text that holds it is matched by `*` alone.
    return text.includes(hole) && mayMatchGlob(composed, text) ? Certainty.Loosely : Certainty.Never
  }
}

const equalTest = (value: Json.Json): ScalarTest & Pick<ValueTest, "narrow"> => {
  const canonical = Json.canonicalJson(value)
  const spelled = spellScalar(value)
  const test = (given: Json.Json): Certainty.Certainty => {
    if (given === value || (typeof given === "object" && Json.canonicalJson(given) === canonical))
      return Certainty.Surely
    return spelled !== undefined && spellScalar(given) === spelled ? Certainty.Loosely : Certainty.Never
  }
  const narrow = ([name = "", ...others]: ReadonlyArray<string>): Narrowing<Subject> | undefined =>
    spelled === undefined || others.length > 0 ? undefined : byValue(name, { key: spelled, spell: spellScalar })
  return Object.assign(test, { narrow })
}

// `5` and "5", and the two ways of writing é, are different values that look alike.
const spellScalar = (value: Json.Json): string | undefined =>
  typeof value === "object" ? undefined : String(value).normalize("NFC")

const urlTest = ({ operator, value }: Condition, part: string | undefined): ValueTest => {
  const test =
    typeof value === "string"
      ? urlTextTest(part, { isGlob: operator.endsWith("~"), value })
      : urlNumberTest(part, { operator, value })
  const ofUrl = (given: Json.Json, subject: Subject): Certainty.Certainty =>
    typeof given === "string" ? test(subject.url(given)) : Certainty.Possibly
  return Object.assign(ofUrl, { narrow: (names: ReadonlyArray<string>) => byHost(names, test.endings) })
}

const urlTextTest = (
  part: string | undefined,
  { isGlob, value }: { readonly isGlob: boolean; readonly value: string }
): HostRule.UrlTest => {
  if (part === "host") return HostRule.compileHost(value)
  if (part === undefined && isGlob) return HostRule.compileUrl(value)
  const test = isGlob
    ? textTest(value)
    : equalTest(part === undefined ? (HostRule.resolve(value).target?.url.href ?? value) : value)
  return ({ target }) => {
    if (target === undefined) return Certainty.Possibly
    return test(
      part === "scheme"
        ? target.scheme
        : part === "path"
          ? target.url.pathname
          : part === "port"
            ? String(target.port)
            : target.url.href
    )
  }
}

const urlNumberTest = (
  part: string | undefined,
  { operator, value }: Pick<Condition, "operator" | "value">
): HostRule.UrlTest => {
  const compare = comparisons.get(operator)
  return ({ target }) => {
    if (target === undefined) return Certainty.Possibly
    if (part !== "port" || target.port === undefined || typeof value !== "number") return Certainty.Never
    return (compare === undefined ? target.port === value : compare(target.port, value))
      ? Certainty.Surely
      : Certainty.Never
  }
}
