/**
 * The port to a language model: one request, one stream of events.
 *
 * Guarantees asked of a model: events in order, a `toolCall` only when its arguments are complete, one `finish` at the
 * end. A stream that ends without `finish` is a broken turn, and none of its calls run.
 * Does not retry, fall back or project schemas: policies live around the port.
 */
/// <reference lib="es2024.string" />
import * as Data from "effect/Data"
import type { Json, JsonObject } from "./Json.js"
import type { AssistantPart, ContentBlock, StopReason } from "./Message.js"
import type { Usage } from "./Run.js"
import type { ToolDescriptor } from "./ToolDescriptor.js"
import type { Transcript } from "./Transcript.js"

/** Which model, by provider and name; `settings` are handed through. */
export interface ModelBinding {
  readonly provider: string
  readonly model: string
  readonly settings?: JsonObject
}

export type ToolChoice = "auto" | "none" | "required" | { readonly toolIds: ReadonlyArray<string> }

/** A note for one request only: never committed, never in the transcript. */
export interface RequestNote {
  readonly source: string
  readonly content: ReadonlyArray<ContentBlock>
}

export interface LlmRequest {
  readonly runId: string
  readonly threadId: string
  /** The durable step number, and which try of it this is (from 1). */
  readonly step: number
  readonly attempt: number
  readonly model: ModelBinding
  /** For a policy around the port: tried in order, only before anything was committed of a response. */
  readonly fallbacks?: ReadonlyArray<ModelBinding>
  readonly instructions: string
  /** What to send of the committed history. Always sendable: every call has its result. */
  readonly messages: Transcript
  readonly notes: ReadonlyArray<RequestNote>
  /** The same array object for every request of a snapshot. */
  readonly tools: ReadonlyArray<ToolDescriptor>
  readonly toolChoice: ToolChoice
  readonly maxOutputTokens?: number
  /** Schema of a typed final answer, where the snapshot asks for one. */
  readonly output?: JsonObject
}

export interface LlmContext {
  /** Aborts when nobody wants the answer any more. Read lazily. */
  readonly signal: AbortSignal
}

/**
 * `text` and `reasoning` come in pieces; pieces of a kind that follow one another are one part. A piece that carries
 * `providerMetadata`, perhaps with an empty text, ends its part, and the metadata is that of the whole part.
 */
export type LlmEvent =
  | { readonly type: "text"; readonly text: string; readonly providerMetadata?: JsonObject }
  | { readonly type: "reasoning"; readonly text: string; readonly providerMetadata?: JsonObject }
  /** Arguments as they come, for display. `key` tells the calls of a turn apart. */
  | { readonly type: "toolCallDelta"; readonly key: string; readonly toolId?: string; readonly argumentsText: string }
  /** A completed call. `arguments` is the provider's raw text, or a value where the provider gives one. */
  | {
      readonly type: "toolCall"
      readonly callId?: string
      readonly toolId: string
      readonly arguments: string | Json | undefined
      readonly providerMetadata?: JsonObject
    }
  /** Any other part to be kept with the message: a provider's own tool, an image, a file. */
  | { readonly type: "part"; readonly part: Exclude<AssistantPart, { readonly type: "toolCall" }> }
  /** Adds to what the turn has spent with the model that answers now; the usage of `finish` adds as well. */
  | { readonly type: "usage"; readonly usage: Usage }
  /** A policy around the port begins again, perhaps with another model: everything emitted of this turn but usage is void. */
  | { readonly type: "attempt"; readonly attempt: number; readonly model: ModelBinding; readonly reason: string }
  | { readonly type: "finish"; readonly stop: StopReason; readonly usage?: Usage; readonly note?: string }

/** A tool that a model cannot be shown, with the JSON Pointer into its input schema that is why (`""`: the whole tool). */
export interface RefusedTool {
  readonly toolId: string
  readonly pointer: string
  readonly reason: string
}

/** Rejections of the iteration are read as `LlmError`; anything else becomes `provider` with its cause. */
export interface LlmExecutor {
  readonly stream: (request: LlmRequest, context: LlmContext) => AsyncIterable<LlmEvent>
  /** Which of these tools the model cannot be shown: for whoever resolves a snapshot. Such a tool costs only itself. */
  readonly refused?: (model: ModelBinding, tools: ReadonlyArray<ToolDescriptor>) => ReadonlyArray<RefusedTool>
}

export type LlmErrorReason =
  | "bindingRejected"
  | "invalidRequest"
  | "unauthorized"
  | "forbidden"
  | "modelNotFound"
  | "usageLimit"
  | "contextOverflow"
  | "contentFiltered"
  | "rateLimited"
  | "overloaded"
  | "timeout"
  | "network"
  | "malformedResponse"
  | "provider"
  | "aborted"

const known: Readonly<Record<LlmErrorReason, true>> = {
  bindingRejected: true,
  invalidRequest: true,
  unauthorized: true,
  forbidden: true,
  modelNotFound: true,
  usageLimit: true,
  contextOverflow: true,
  contentFiltered: true,
  rateLimited: true,
  overloaded: true,
  timeout: true,
  network: true,
  malformedResponse: true,
  provider: true,
  aborted: true
}

const reasons: ReadonlySet<unknown> = new Set(Object.keys(known))

const retryable: ReadonlySet<LlmErrorReason> = new Set(["rateLimited", "overloaded", "timeout", "network", "provider"])

/** A request that gave no usable turn. `retryAfter` in milliseconds, as the provider asked. */
export class LlmError extends Data.TaggedError("LlmError")<{
  readonly reason: LlmErrorReason
  readonly message: string
  readonly provider?: string
  readonly status?: number
  readonly retryAfter?: number
  readonly isRetryable?: boolean
  readonly cause?: unknown
}> {
  /** May the same request succeed later? The provider's own word where it gave one. */
  get retryable(): boolean {
    return this.isRetryable ?? retryable.has(this.reason)
  }

  /**
   * An `LlmError` is kept; anything else that was thrown or rejected becomes `provider` with its cause, and so does one
   * whose reason or message is none. Total: never throws.
   */
  static fromUnknown(thrown: unknown): LlmError {
    if (isWhole(thrown)) return thrown
    return new LlmError({ reason: "provider", message: describe(thrown), isRetryable: false, cause: thrown })
  }
}

const isWhole = (thrown: unknown): thrown is LlmError => {
  try {
    if (!(thrown instanceof LlmError)) return false
    const { reason, message }: { readonly reason: unknown; readonly message: unknown } = thrown
    return typeof message === "string" && message.isWellFormed() && reasons.has(reason)
  } catch {
    // What cannot be looked at is not ours.
    return false
  }
}

const describe = (thrown: unknown): string => {
  try {
    if (!(thrown instanceof Error)) return "the model failed"
    const { message }: { readonly message: unknown } = thrown
    return typeof message === "string" ? message.toWellFormed() : "the model failed"
  } catch {
    return "the model failed with an unreadable error"
  }
}
