/**
 * Which options the methods of a runtime know, and of what kind each is: plain JavaScript and spread options are checked here.
 *
 * Guarantees: an option that does not exist is refused with its name and the one that was probably meant, before anything
 * is asked of a store; so is one of the wrong kind, for a pause that is no number would never end.
 * Does not judge what options mean together: the methods do.
 */
import { ToolArgs } from "@toolwright/runtime-contract"
import { badRequest } from "../RunError.js"

/** `undefined` where the value fits, else what was expected. */
type Kind = (value: unknown) => string | undefined

interface Option {
  readonly kind: Kind
  readonly isRequired?: true
}

type Options = Readonly<Record<string, Option>>

const kind =
  (expected: string, fits: (value: unknown) => boolean): Kind =>
  (value) =>
    fits(value) ? undefined : expected

const isName = (value: unknown): boolean => typeof value === "string" && value.trim() !== ""
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value)

const name = kind("a name", isName)
const text = kind("a text", (value) => typeof value === "string")
const flag = kind("true or false", (value) => typeof value === "boolean")
const count = kind("a whole number from 1", (value) => Number.isSafeInteger(value) && Number(value) >= 1)
const position = kind("the number of a fact, from 0", (value) => Number.isSafeInteger(value) && Number(value) >= 0)
const wait = kind("milliseconds, 0 or more", (value) => isNumber(value) && value >= 0)
const pause = kind("milliseconds, more than 0", (value) => isNumber(value) && value > 0)
const moment = kind("milliseconds since the epoch", isNumber)
const callable = kind("a function", (value) => typeof value === "function")
const object = kind("an object", (value) => typeof value === "object" && value !== null)
const taken = kind("true", (value) => value === true)
/** Read, and refused in its own words, by the method. */
const any: Kind = () => undefined

const optional = (of: Kind): Option => ({ kind: of })
const required = (of: Kind): Option => ({ kind: of, isRequired: true })

const ref: Options = { threadId: required(name), runId: optional(text), by: optional(name) }

const remember: Options = {
  scope: optional(any),
  rule: optional(text),
  expiresAt: optional(moment),
  gate: optional(text),
  shown: optional(text)
}

const expected: Options = {
  runId: optional(any),
  threadId: optional(any),
  snapshotFingerprint: optional(any),
  digest: optional(any),
  toolIdentity: optional(any)
}

const known = {
  run: {
    snapshot: optional(any),
    input: optional(any),
    principal: optional(any),
    threadId: optional(any),
    narrowing: optional(any),
    policy: optional(any),
    metadata: optional(any),
    onEvent: optional(any),
    signal: optional(any)
  },
  resume: {
    approver: optional(any),
    expect: optional(object),
    answerId: optional(name),
    remember: optional(object),
    onEvent: optional(callable)
  },
  expect: expected,
  remember,
  ref,
  stop: { ...ref, reason: required(text) },
  steer: { ...ref, input: optional(any), interrupt: optional(flag) },
  resolve: { threadId: required(name), operationId: required(name), resolution: required(object), by: required(name) },
  recover: { limit: optional(count) },
  takeOver: { threadId: required(name), takeOver: required(taken) },
  work: { every: optional(pause), limit: optional(count), onRecovered: optional(callable) },
  describeTools: { snapshot: optional(object), chosen: optional(object) },
  watch: { threadId: required(name), from: optional(position) },
  previewGrant: { ...remember, ticketId: required(name) },
  grants: { threadId: optional(name), principal: optional(text) },
  revokeGrant: { grantId: required(name), by: optional(any) },
  verifyAudit: { threadId: required(name), expected: optional(text) },
  close: { grace: optional(wait) }
} satisfies Readonly<Record<string, Options>>

/** Methods that are told which run: a handle or an outcome names one, whatever else it has, unless that is a misspelt name. */
const refers: ReadonlySet<keyof typeof known> = new Set(["ref", "stop", "steer"])

/** Throws `RunError`. `place` stands before the names of options that lie within another. */
export const checkMethod = (method: keyof typeof known, given: unknown, place = ""): void => {
  const options: Options = known[method]
  if (typeof given !== "object" || given === null) throw badRequest(place === "" ? "options" : place, "an object")
  const named = (option: string): string => (place === "" ? option : `${place}/${option}`)
  for (const option of Object.keys(given)) {
    if (Object.hasOwn(options, option)) continue
    const names = Object.keys(options)
    if (!refers.has(method) || ToolArgs.nearestName(option, names) !== undefined)
      throw badRequest(named(option), instead(option, names))
  }
  const values: Readonly<Record<string, unknown>> = { ...given }
  for (const [option, { kind: of, isRequired }] of Object.entries(options)) {
    const value = values[option]
    const misfit = value === undefined && isRequired !== true ? undefined : of(value)
    if (misfit !== undefined) throw badRequest(named(option), misfit)
  }
}

/** The names alone: `run` reads its options in its own words, and is asked often. */
export const checkRunNames = (given: object): void => {
  for (const option of Object.keys(given))
    if (!Object.hasOwn(known.run, option)) throw badRequest(option, instead(option, Object.keys(known.run)))
}

/** Without options, nobody answers: that is refused, and recorded, as an answer. */
export const checkResume = (given: unknown): void => {
  if (given === undefined) return
  checkMethod("resume", given)
  for (const option of ["expect", "remember"] as const) {
    const within = valueOf(given, option)
    if (within !== undefined) checkMethod(option, within, option)
  }
}

const valueOf = (given: unknown, option: string): unknown => {
  const values: Readonly<Record<string, unknown>> = typeof given === "object" ? { ...given } : {}
  return values[option]
}

/** Taking over is asked for by its name, with a thread: neither of them alone is anything. */
export const checkRecover = (given: unknown): void => {
  const isTaking = typeof given === "object" && given !== null && ("takeOver" in given || "threadId" in given)
  checkMethod(isTaking ? "takeOver" : "recover", given)
}

const instead = (option: string, options: ReadonlyArray<string>): string => {
  const meant = ToolArgs.nearestName(option, options)
  return `${meant === undefined ? `one of ${options.join(", ")}` : meant}; there is no such option`
}
