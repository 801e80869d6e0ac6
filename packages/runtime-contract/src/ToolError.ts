/**
 * What can go wrong with one tool call, as one tagged error with a closed reason.
 *
 * Guarantees: identifiers and data only, the original cause kept, recognisable across copies of this package.
 * Does not decide what follows: the engine maps reasons to call phases, and every reason becomes a result the model sees.
 */
import * as Data from "effect/Data"

/** One place in the arguments that did not fit. Shown to the model, so it says how to mend the call. */
export interface ArgumentIssue {
  /** JSON Pointer (RFC 6901) into the arguments; `""` is the root. */
  readonly pointer: string
  readonly expected: string
  readonly received: string
  /** What to send instead, as one short sentence. */
  readonly fix?: string
}

/** The tool has no unique implementation, or the snapshot does not show it. Nothing happened. */
export interface Unknown {
  readonly _tag: "Unknown"
  readonly toolId: string
  readonly why: "NotVisible" | "NotRegistered" | "Ambiguous"
}

/** Wrong shape, or a semantic check failed. The model may correct the call. */
export interface InvalidArguments {
  readonly _tag: "InvalidArguments"
  readonly issues: ReadonlyArray<ArgumentIssue>
}

/** An executor's proof that nothing was sent. Thrown from inside `call` it proves nothing and is read as `Execution`. */
export interface UnavailableBeforeDispatch {
  readonly _tag: "UnavailableBeforeDispatch"
}

/** Configuration failed, or the effect may have happened: never assume that a repeat is safe. */
export interface Execution {
  readonly _tag: "Execution"
}

/** The closed set of reasons. */
export type ToolErrorReason = Unknown | InvalidArguments | UnavailableBeforeDispatch | Execution

const brand: unique symbol = Symbol.for("@toolwright/ToolError") as never

/** The error of every tool call. `message` is what the model reads. */
export class ToolError extends Data.TaggedError("ToolError")<{
  readonly reason: ToolErrorReason
  readonly message: string
  readonly cause?: unknown
}> {
  readonly [brand] = true

  static unknown(toolId: string, why: Unknown["why"] = "NotRegistered"): ToolError {
    const message = why === "Ambiguous" ? `tool ${toolId} is registered more than once` : `unknown tool ${toolId}`
    return new ToolError({ reason: { _tag: "Unknown", toolId, why }, message })
  }

  /** `issues` name the places; without them the message stands alone. */
  static invalidArguments(message: string, issues: ReadonlyArray<ArgumentIssue> = []): ToolError {
    return new ToolError({ reason: { _tag: "InvalidArguments", issues }, message })
  }

  static unavailableBeforeDispatch(message: string, cause?: unknown): ToolError {
    return new ToolError({ reason: { _tag: "UnavailableBeforeDispatch" }, message, ...causeOf(cause) })
  }

  static execution(message: string, cause?: unknown): ToolError {
    return new ToolError({ reason: { _tag: "Execution" }, message, ...causeOf(cause) })
  }

  /** A `ToolError` is kept; anything else that was thrown or rejected becomes `Execution` with its cause. Total: never throws. */
  static fromUnknown(thrown: unknown): ToolError {
    return isToolError(thrown) ? thrown : ToolError.execution(describe(thrown), thrown)
  }
}

/** True for a `ToolError` of this or any other copy of the package that has its reason and its message. */
export const isToolError = (value: unknown): value is ToolError => {
  try {
    return typeof value === "object" && value !== null && brand in value && hasMembers(value)
  } catch {
    // A value that cannot be looked at is not ours.
    return false
  }
}

/** Somebody may have changed them, or have made the error of something else: it is then like any other that is thrown. */
const hasMembers = (value: object): boolean => {
  if (!("message" in value) || typeof value.message !== "string" || !("reason" in value)) return false
  const { reason } = value
  return typeof reason === "object" && reason !== null && "_tag" in reason && tags.has(reason._tag)
}

const tags: ReadonlySet<unknown> = new Set(
  Object.keys({
    Unknown: true,
    InvalidArguments: true,
    UnavailableBeforeDispatch: true,
    Execution: true
  } satisfies Readonly<Record<ToolErrorReason["_tag"], true>>)
)

const causeOf = (cause: unknown): { readonly cause?: unknown } => (cause === undefined ? {} : { cause })

/** Of an error of foreign make, whose members may be anything. */
const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

const describe = (thrown: unknown): string => {
  try {
    if (thrown instanceof Error) return textOf(thrown.message) ?? textOf(thrown.name) ?? "the tool failed"
    return typeof thrown === "string" && thrown !== "" ? thrown : "the tool failed without a message"
  } catch {
    return "the tool failed with an unreadable error"
  }
}
