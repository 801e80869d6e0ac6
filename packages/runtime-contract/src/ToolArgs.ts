/**
 * The one boundary through which a model's arguments enter: from text or value to a frozen object that fits its schema.
 *
 * Guarantees: never throws, repairs nothing, runs no code of a value; what comes out is what is gated, digested, shown
 * and run. A refusal tells the model where, what was expected and how to mend it.
 * Does not decide whether the call may run.
 */
/// <reference lib="es2024.string" />
import { digestOf, digestOfCanonical } from "./internal/argumentsDigest.js"
import { argumentsMessage } from "./internal/argumentsMessage.js"
import { compiledFor, type CompiledSchema } from "./internal/compiledSchema.js"
import { shorten } from "./internal/describeValue.js"
import type { ArgumentNote } from "./internal/applyNormalization.js"
import { copyJson } from "./internal/plainJson.js"
import { readArguments } from "./internal/readArguments.js"
import type { JsonObject } from "./Json.js"
import { type ArgumentIssue, ToolError } from "./ToolError.js"

export { nearestName } from "./internal/describeValue.js"
export type { ArgumentNote } from "./internal/applyNormalization.js"

declare const parsed: unique symbol

/** Arguments that have been parsed, normalised, validated and frozen. Only `parseToolArgs` makes them. */
export type ParsedArguments = JsonObject & { readonly [parsed]: "ParsedArguments" }

/** What the boundary needs to know of a tool. A `ToolSpec` is one. */
export interface ArgumentsSpec {
  readonly id: string
  readonly inputSchema: JsonObject
}

export interface ParseOptions {
  /**
   * `strict` (default) coerces nothing. `lossless` reads a string as the number or boolean it spells, only where no
   * string is allowed and only if the text is exactly how that value is written; each time is a note.
   */
  readonly arguments?: "strict" | "lossless"
}

export interface AcceptedArguments {
  readonly ok: true
  readonly value: ParsedArguments
  /** What `lossless` changed, to be recorded; empty otherwise. */
  readonly notes: ReadonlyArray<ArgumentNote>
  /** `ToolBatch.digestOf(value)`: SHA-256 (64 hexadecimal digits), by which the call is decided on, stored and run. */
  readonly digest: string
}

export interface RefusedArguments {
  readonly ok: false
  /** `InvalidArguments`; `Execution` where the tool's own schema cannot be used. */
  readonly error: ToolError
}

/**
 * Parses the arguments of one call. `raw` is the provider's text or an in-process value; absent, `null`, empty and blank
 * are `{}`. Text is read strictly: duplicate keys, numbers that JSON does not have, unsafe integers, infinities, lone
 * surrogates, trailing text and nesting over 64 are refused. Null at an optional member that takes no null is absent, an
 * absent member with a default is filled (own schemas only), -0 is 0. Never throws.
 */
export const parseToolArgs = (
  spec: ArgumentsSpec,
  ...[raw, options]: readonly [raw: unknown, options?: ParseOptions]
): AcceptedArguments | RefusedArguments => {
  let compiled: CompiledSchema
  try {
    compiled = compiledFor(spec.inputSchema)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "its schema cannot be read"
    return { ok: false, error: ToolError.execution(`${shorten(spec.id, 64)} cannot be called: ${why}`, cause) }
  }
  const read = readArguments(compiled, { raw, lossless: options?.arguments === "lossless" })
  if (!read.ok) {
    const { issues } = read
    return { ok: false, error: ToolError.invalidArguments(argumentsMessage(spec.id, { issues, before: true }), issues) }
  }
  const { canonical, notes, value } = read
  const digest = canonical === undefined ? digestOf(value) : digestOfCanonical(canonical)
  // The brand: this is the only place that gives it.
  return { ok: true, value: value as ParsedArguments, notes, digest }
}

/** The error for what a tool's own checks find in its arguments, with the text that the model reads. */
export const invalidArguments = (toolId: string, issues: ReadonlyArray<ArgumentIssue>): ToolError =>
  ToolError.invalidArguments(argumentsMessage(toolId, { issues, before: false }), issues)

/** The refusal of every call in a turn that ended by length, by a filter or in a broken stream, even if its text parses. */
export const cutOff = (toolId: string): RefusedArguments => ({
  ok: false,
  error: ToolError.invalidArguments(
    `The answer was cut off, so the call of ${shorten(toolId, 64)} may be incomplete and was not run. Send the call again.`
  )
})

/** Identical invalid calls in a row after which the whole schema is shown. */
export const showSchemaAt = 3

/** Identical invalid calls in a row that end the run. */
export const endRunAt = 5

/**
 * The answer to an invalid call that is the `count`-th identical one in a row (from 1): from the third on with the whole
 * schema, and `endsRun` from the fifth on. What identical means is the caller's: same tool, same raw arguments.
 */
export const answerInvalid = (
  spec: ArgumentsSpec,
  { count, message }: { readonly count: number; readonly message: string }
): { readonly text: string; readonly endsRun: boolean } => {
  const endsRun = count >= endRunAt
  if (count < showSchemaAt) return { text: message, endsRun }
  const schema = JSON.stringify(spec.inputSchema)
  return {
    text: `${message}\nThe same call was sent ${count} times. The arguments must fit this JSON Schema:\n${schema}`,
    endsRun
  }
}

/** UTF-16 code units of refused arguments that are kept. */
export const rawArgumentsLimit = 8_192

/**
 * Refused arguments as they are committed: the raw text, capped, with lone surrogates as U+FFFD. An in-process value is
 * shown as JSON, or named where it is none. Never throws.
 */
export const capRawArguments = (raw: unknown, limit: number = rawArgumentsLimit): string => {
  const text = typeof raw === "string" ? raw : textOf(raw)
  // Cut first: a huge text is not worth making well-formed.
  const whole = text.length <= limit ? text.toWellFormed() : shorten(text.slice(0, limit + 1), limit)
  return text.length <= limit ? whole : `${whole} (${text.length - limit} more characters)`
}

const textOf = (raw: unknown): string => {
  if (raw === undefined) return ""
  const copy = copyJson(raw)
  if (copy.ok) return JSON.stringify(copy.value)
  const [issue] = copy.issues
  return `(no JSON: ${issue?.received ?? "another value"} at ${issue?.pointer === "" ? "the root" : (issue?.pointer ?? "the root")})`
}
