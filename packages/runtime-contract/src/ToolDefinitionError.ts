/**
 * Why a tool could not be defined.
 *
 * Guarantees: thrown while the program starts, before anything is registered; names the tool, the place in its
 * definition (a JSON Pointer into the schema or option) and what was expected there.
 * Does not describe a failed call: that is `ToolError`.
 */

/** The closed set of reasons. */
export type ToolDefinitionReason =
  | "BadId"
  | "BadDescription"
  | "BadVersion"
  | "BadRecovery"
  | "BadStateKeys"
  | "BadPrefix"
  | "BadOption"
  /** The root of the arguments is no object. */
  | "RootNotObject"
  /** The root of the arguments is a union; nest it under a property. */
  | "RootUnion"
  /** A kind of schema whose checks JSON Schema cannot carry: refinements, codecs, `undefined`, bigint, functions. */
  | "UnsupportedType"
  | "UnknownFormat"
  /** A `$ref` that leads nowhere, leaves the document, or stands where it cannot be closed. */
  | "BadReference"
  /** A `default` that its own schema refuses. */
  | "BadDefault"
  /** Not a JSON Schema, or one that the validator refuses. */
  | "BadSchema"
  /** Larger or deeper than a guarded schema may be, or more work to check than a call is allowed. */
  | "SchemaTooLarge"

/** What a `ToolDefinitionError` says, without the tool's id, which the caller adds. */
export interface ToolDefinitionProblem {
  readonly reason: ToolDefinitionReason
  /** JSON Pointer into the schema or the options; `""` is the root. */
  readonly pointer?: string
  readonly expected: string
  readonly received?: string
  /** What to write instead, as one short sentence. */
  readonly hint?: string
}

/** A tool definition that cannot work. `message` states tool, place, expectation, and what came instead. */
export class ToolDefinitionError extends Error {
  readonly _tag = "ToolDefinitionError"
  override readonly name = "ToolDefinitionError"
  readonly toolId: string | undefined
  readonly reason: ToolDefinitionReason
  readonly pointer: string | undefined
  readonly expected: string
  readonly received: string | undefined
  readonly hint: string | undefined

  constructor(problem: ToolDefinitionProblem & { readonly toolId?: string; readonly cause?: unknown }) {
    super(messageOf(problem), problem.cause === undefined ? undefined : { cause: problem.cause })
    this.toolId = problem.toolId
    this.reason = problem.reason
    this.pointer = problem.pointer
    this.expected = problem.expected
    this.received = problem.received
    this.hint = problem.hint
  }

  /** The same problem, naming the tool it belongs to. Keeps the cause. */
  forTool(toolId: string): ToolDefinitionError {
    return this.#with({ toolId })
  }

  /** The same problem, its place under `parent`: a schema's own pointers start at the schema. Keeps the cause. */
  under(parent: string): ToolDefinitionError {
    return this.#with({ pointer: `${parent}${this.pointer ?? ""}` })
  }

  #with(change: { readonly toolId?: string; readonly pointer?: string }): ToolDefinitionError {
    const { reason, expected, received, hint } = this
    const toolId = change.toolId ?? this.toolId
    const pointer = change.pointer ?? this.pointer
    return new ToolDefinitionError({
      reason,
      expected,
      ...(toolId === undefined ? {} : { toolId }),
      ...(pointer === undefined ? {} : { pointer }),
      ...(received === undefined ? {} : { received }),
      ...(hint === undefined ? {} : { hint }),
      ...(this.cause === undefined ? {} : { cause: this.cause })
    })
  }
}

const messageOf = (problem: ToolDefinitionProblem & { readonly toolId?: string }): string => {
  const tool = problem.toolId === undefined ? "tool definition" : `tool ${JSON.stringify(problem.toolId)}`
  const place = problem.pointer === undefined ? "" : ` at ${problem.pointer === "" ? "the root" : problem.pointer}`
  const received = problem.received === undefined ? "" : `, received ${problem.received}`
  const hint = problem.hint === undefined ? "" : ` (${problem.hint})`
  return `${tool}${place}: expected ${problem.expected}${received}${hint}`
}
