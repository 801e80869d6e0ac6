/**
 * A tool with its types erased: the runtime's unit of dispatch, and the port through which calls are placed.
 *
 * Guarantees: `spec()` returns the same frozen object each time; arguments that reach `invoke` came through
 * `parseToolArgs`, which alone can make them.
 * Does not adapt typed tools: `erase`, in the built-in tools package, is the only adapter.
 */
import type * as Effect from "effect/Effect"
import type { Attribution } from "./Attribution.js"
import type { JsonObject } from "./Json.js"
import type { ParamDomains } from "./OptionDomain.js"
import type { StateKey } from "./StateKey.js"
import type { ParsedArguments } from "./ToolArgs.js"
import type { ToolConcurrency } from "./ToolConcurrency.js"
import type { ToolError } from "./ToolError.js"
import type { ToolOperation } from "./ToolOperation.js"
import type { ToolOutput } from "./ToolOutput.js"
import type { ToolRecoveryCapability } from "./ToolRecovery.js"

/** `ClientExecuted` tools are gated like any other, then wait for a result from outside. */
export type ToolKind = "Regular" | "ClientExecuted"

/** `Brain`: beside the runtime. `Sandbox`: in a workload; refused where there is no sandbox executor. */
export type ToolTarget = "Brain" | "Sandbox"

/** What can be said of a tool without running it. Frozen, and compared by identity. */
export interface ToolSpec {
  readonly id: string
  readonly description: string
  readonly version?: string
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly kind: ToolKind
  readonly target: ToolTarget
  /** What strict providers or older dialects cannot say of the schema. */
  readonly warnings: ReadonlyArray<string>
}

/** One call, parsed and about to run. */
export interface ToolCall {
  readonly callId: string
  readonly toolId: string
  readonly arguments: ParsedArguments
}

export interface InvocationContext {
  /** Aborts on cancel and time-out. Read lazily: the controller behind it is made at first use. */
  readonly signal: AbortSignal
  readonly operation: ToolOperation
  /** Shows progress to whoever listens; never committed. */
  readonly progress: (text: string) => void
}

/** The three ways of giving a value: now, later, or as an `Effect`. */
export type Eventual<A, E = never> = Effect.Effect<A, E> | PromiseLike<A> | A

/** What the outside world says of an attempt whose outcome is unknown here. */
export type Reconciliation<A = ToolOutput> =
  | { readonly _tag: "Happened"; readonly output: A }
  | { readonly _tag: "NotSent" }
  /** `retryAfter` in milliseconds. */
  | { readonly _tag: "InProgress"; readonly retryAfter: number }
  | { readonly _tag: "Unknown" }

export interface RawTool {
  readonly spec: () => ToolSpec
  readonly recovery: ToolRecoveryCapability
  readonly attribution: Attribution
  /** The keys it may read and stage; anything else is an error result. */
  readonly stateKeys: ReadonlyArray<StateKey>
  readonly concurrency: (args: ParsedArguments) => ToolConcurrency
  readonly paramDomains?: ParamDomains
  /** Live at each use, never cached. */
  readonly invocationTriggers?: () => ReadonlyArray<string>
  readonly reconcile?: (call: ToolCall, operation: ToolOperation) => Eventual<Reconciliation, ToolError>
  readonly invoke: (call: ToolCall, context: InvocationContext) => Eventual<ToolOutput, ToolError>
}

/**
 * Places calls. The registry is one (beside the runtime), a sandbox is another. Only an executor can prove that
 * nothing was sent, with `ToolError.unavailableBeforeDispatch`. One that sends calls away (a sandbox) reports a tool's own
 * failure as an error output: when it fails itself with `Execution`, what it sent is lost and follows its recovery policy.
 */
export interface ToolExecutor {
  readonly recovery: (toolId: string) => ToolRecoveryCapability
  readonly concurrency: (toolId: string, args: ParsedArguments) => ToolConcurrency
  readonly reconcile?: (call: ToolCall, operation: ToolOperation) => Eventual<Reconciliation, ToolError>
  readonly invoke: (call: ToolCall, context: InvocationContext) => Eventual<ToolOutput, ToolError>
}
