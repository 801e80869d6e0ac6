/**
 * The few members of an AI SDK language model that are called here, as structural types of our own.
 *
 * Guarantees: a model of provider specification v3 or v4 fits as it is, and both are held to their specification by a
 * type test, so neither has to be installed.
 * Does not construct models: their provider packages do.
 */
import type { Json } from "@toolwright/runtime-contract"

/** Options or metadata for one provider or several, by the provider's key. Opaque here. */
export type ProviderOptions = Readonly<Record<string, Json.JsonObject>>

interface Options {
  providerOptions?: Record<string, Record<string, JsonValue>>
}

/** JSON as the specifications write it: mutable. */
export type JsonValue = null | string | number | boolean | { [key: string]: JsonValue | undefined } | Array<JsonValue>

export type PromptText = { type: "text"; text: string } & Options

export type PromptReasoning = { type: "reasoning"; text: string } & Options

/** Version 3 takes base64 as it is, version 4 wants it labelled. */
export type PromptFileV3 = { type: "file"; data: string; mediaType: string; filename?: string } & Options

export type PromptFileV4 = {
  type: "file"
  data: { type: "data"; data: string }
  mediaType: string
  filename?: string
} & Options

export type PromptReasoningFileV4 = {
  type: "reasoning-file"
  data: { type: "data"; data: string }
  mediaType: string
} & Options

export type PromptCustomV4 = { type: "custom"; kind: `${string}.${string}` } & Options

export type PromptToolCall = {
  type: "tool-call"
  toolCallId: string
  toolName: string
  input: unknown
  providerExecuted?: boolean
} & Options

export type PromptToolResult<Content> = {
  type: "tool-result"
  toolCallId: string
  toolName: string
  output:
    | { type: "text" | "error-text"; value: string }
    | { type: "json" | "error-json"; value: JsonValue }
    | { type: "content"; value: Array<{ type: "text"; text: string } | Content> }
} & Options

export type ResultFileV3 =
  | { type: "image-data"; data: string; mediaType: string }
  | { type: "file-data"; data: string; mediaType: string; filename?: string }

export type ResultFileV4 = { type: "file"; data: { type: "data"; data: string }; mediaType: string; filename?: string }

export type AssistantPartOf<File, Content, More = never> =
  | PromptText
  | PromptReasoning
  | PromptToolCall
  | File
  | PromptToolResult<Content>
  | More

export type PromptMessageOf<File, Content, More = never> =
  | { role: "system"; content: string }
  | { role: "user"; content: Array<PromptText | File> }
  | { role: "assistant"; content: Array<AssistantPartOf<File, Content, More>> }
  | { role: "tool"; content: Array<PromptToolResult<Content>> }

export type PromptMessageV3 = PromptMessageOf<PromptFileV3, ResultFileV3>

export type PromptMessageV4 = PromptMessageOf<PromptFileV4, ResultFileV4, PromptReasoningFileV4 | PromptCustomV4>

/** A tool as a model is shown it. The schema is plain JSON. */
export interface FunctionTool {
  type: "function"
  name: string
  description: string
  inputSchema: { [key: string]: JsonValue | undefined }
  strict?: boolean
}

/** A tool that the provider runs itself. */
export interface ProviderTool {
  type: "provider"
  id: `${string}.${string}`
  name: string
  args: Record<string, unknown>
}

export type ModelToolChoice =
  | { type: "auto" }
  | { type: "none" }
  | { type: "required" }
  | { type: "tool"; toolName: string }

interface CallOptions<Prompt> {
  prompt: Array<Prompt>
  maxOutputTokens?: number
  temperature?: number
  stopSequences?: Array<string>
  topP?: number
  topK?: number
  presencePenalty?: number
  frequencyPenalty?: number
  seed?: number
  responseFormat?: { type: "json"; schema: { [key: string]: JsonValue | undefined }; name?: string }
  tools?: Array<FunctionTool | ProviderTool>
  toolChoice?: ModelToolChoice
  abortSignal?: AbortSignal
  headers?: Record<string, string | undefined>
  providerOptions?: Record<string, Record<string, JsonValue>>
}

export type CallOptionsV3 = CallOptions<PromptMessageV3>

export type ReasoningEffort = "provider-default" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"

export interface CallOptionsV4 extends CallOptions<PromptMessageV4> {
  reasoning?: ReasoningEffort
}

/** What a stream gives, as far as it is read. Unknown members and unknown types of parts are passed over. */
export type StreamPart =
  | { readonly type: "stream-start"; readonly warnings: ReadonlyArray<ModelWarning> }
  | Block<"text-start" | "reasoning-start">
  | Block<"reasoning-end">
  | Block<"tool-input-end">
  | (Block<"text-end"> & { readonly citations?: unknown })
  | (Block<"text-delta" | "reasoning-delta"> & { readonly delta: string })
  | (Block<"tool-input-delta"> & { readonly delta: string })
  | (Block<"tool-input-start"> & { readonly toolName: string; readonly providerExecuted?: boolean | undefined })
  | ModelToolCall
  | ModelToolResult
  | (Marked<"tool-approval-request"> & { readonly approvalId: string; readonly toolCallId: string })
  | (Marked<"file" | "reasoning-file"> & { readonly mediaType: string; readonly data: ModelFileData })
  | (Marked<"custom"> & { readonly kind: string })
  | ModelSource
  | { readonly type: "finish"; readonly usage: ModelUsage; readonly finishReason: ModelFinishReason }
  | { readonly type: "error"; readonly error: unknown }
  | { readonly type: "response-metadata" | "raw" | "ping" }

interface Marked<Type extends string> {
  readonly type: Type
  readonly providerMetadata?: unknown
}

interface Block<Type extends string> extends Marked<Type> {
  readonly id: string
}

export interface ModelToolCall extends Marked<"tool-call"> {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
  readonly providerExecuted?: boolean | undefined
}

export interface ModelToolResult extends Marked<"tool-result"> {
  readonly toolCallId: string
  readonly toolName: string
  readonly result: unknown
  readonly isError?: boolean | undefined
  readonly preliminary?: boolean | undefined
}

export interface ModelSource extends Marked<"source"> {
  readonly sourceType: string
  readonly id: string
  readonly url?: string | undefined
  readonly title?: string | undefined
  readonly mediaType?: string | undefined
  readonly filename?: string | undefined
}

/** Version 3 gives the data itself, version 4 says what it gives. */
export type ModelFileData =
  | string
  | Uint8Array
  | { readonly type: "data"; readonly data: string | Uint8Array }
  | { readonly type: "url"; readonly url: { readonly href: string } }

export type ModelWarning =
  | { readonly type: "unsupported" | "compatibility"; readonly feature: string; readonly details?: string | undefined }
  | { readonly type: "deprecated"; readonly setting: string; readonly message: string }
  | { readonly type: "other"; readonly message: string }

export interface ModelFinishReason {
  readonly unified: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "interrupted" | "other"
  readonly raw: string | undefined
}

export interface ModelUsage {
  readonly inputTokens: { readonly total: number | undefined; readonly cacheRead: number | undefined }
  readonly outputTokens: { readonly total: number | undefined; readonly reasoning: number | undefined }
}

/** What is used of a `ReadableStream`. */
export interface PartStream<Part = StreamPart> {
  readonly getReader: () => PartReader<Part>
}

export interface PartReader<Part = StreamPart> {
  readonly read: () => Promise<
    { readonly done: false; readonly value: Part } | { readonly done: true; readonly value?: Part | undefined }
  >
  readonly cancel: (reason?: unknown) => Promise<void>
}

interface Model<Version extends string, Options> {
  readonly specificationVersion: Version
  readonly provider: string
  readonly modelId: string
  readonly doStream: (options: Options) => PromiseLike<{ readonly stream: PartStream }>
}

export type AiSdkModelV3 = Model<"v3", CallOptionsV3>

export type AiSdkModelV4 = Model<"v4", CallOptionsV4>

/** Any language model of the AI SDK, of either specification. */
export type AiSdkModel = AiSdkModelV3 | AiSdkModelV4

/** True for a language model of specification v3 or v4; older and newer ones are not. */
export const isAiSdkModel = (value: unknown): value is AiSdkModel =>
  typeof value === "object" &&
  value !== null &&
  "specificationVersion" in value &&
  (value.specificationVersion === "v3" || value.specificationVersion === "v4") &&
  "doStream" in value &&
  typeof value.doStream === "function" &&
  "provider" in value &&
  typeof value.provider === "string" &&
  "modelId" in value &&
  typeof value.modelId === "string"
