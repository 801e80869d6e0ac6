/**
 * The committed transcript: what people, the model and tools said, in order.
 *
 * Guarantees: plain frozen data; every tool call of an assistant message is followed by exactly one result, in the same order.
 * Does not hold request-only context: that never enters a transcript.
 */
import type { Json, JsonObject } from "./Json.js"

export interface TextBlock {
  readonly type: "text"
  readonly text: string
}

/** `data` is base64 without a prefix. */
export interface ImageBlock {
  readonly type: "image"
  readonly mediaType: string
  readonly data: string
}

/** `data` is base64 without a prefix. */
export interface FileBlock {
  readonly type: "file"
  readonly mediaType: string
  readonly data: string
  readonly name?: string
}

export type ContentBlock = TextBlock | ImageBlock | FileBlock

/** Reasoning of the model, kept with whatever its provider wants to see again. */
export interface ReasoningPart {
  readonly type: "reasoning"
  readonly text: string
  readonly providerMetadata?: JsonObject
}

/** One call that the model asked for. `rawArguments` is kept only where they were refused; `arguments` is then `{}`. */
export interface ToolCallPart {
  readonly type: "toolCall"
  readonly callId: string
  readonly toolId: string
  readonly arguments: JsonObject
  readonly rawArguments?: string
  /** The id the provider gave, where it could not be used as `callId`. */
  readonly providerCallId?: string
  readonly providerMetadata?: JsonObject
}

/** A tool that the provider ran itself: passed through as a fact, never executed here. */
export interface ProviderToolPart {
  readonly type: "providerTool"
  readonly toolId: string
  readonly callId: string
  readonly input?: Json
  readonly output?: Json
  readonly isError?: boolean
  readonly providerMetadata?: JsonObject
}

export type AssistantPart =
  | (TextBlock & { readonly providerMetadata?: JsonObject })
  | ReasoningPart
  | ToolCallPart
  | ProviderToolPart
  | ImageBlock
  | FileBlock

export interface UserMessage {
  readonly role: "user"
  readonly id: string
  readonly content: ReadonlyArray<ContentBlock>
}

export interface AssistantMessage {
  readonly role: "assistant"
  readonly id: string
  readonly runId: string
  readonly step: number
  readonly content: ReadonlyArray<AssistantPart>
  /** Why the model stopped. `cutOff` turns (length, filter, broken stream) never run their calls. */
  readonly stop: StopReason
}

/** How a call ended. `NotRun`: nothing happened. `Indeterminate`: it may have happened. */
export type CallOutcomeKind = "Completed" | "NotRun" | "Indeterminate"

export interface ToolMessage {
  readonly role: "tool"
  readonly id: string
  readonly callId: string
  readonly toolId: string
  readonly operationId: string
  readonly outcome: CallOutcomeKind
  readonly isError: boolean
  readonly content: ReadonlyArray<ContentBlock>
  readonly data?: Json
  /** The result came from outside the runtime's own process: a client, a person, a web page. */
  readonly foreign?: boolean
}

/** A committed note to the model that no person wrote: a hook's reminder, a settled outcome, a repair request. */
export interface ReminderMessage {
  readonly role: "reminder"
  readonly id: string
  /** Who says so, for example a hook's id. */
  readonly source: string
  readonly text: string
}

export type Message = UserMessage | AssistantMessage | ToolMessage | ReminderMessage

/** `broken`: the stream ended without saying why. `other`: the provider said something that has no name here. */
export type StopReason = "endTurn" | "toolCalls" | "length" | "contentFilter" | "stopSequence" | "broken" | "other"

/** True where calls of the turn must not run, because the turn did not come to its own end. */
export const isCutOff = (stop: StopReason): boolean =>
  stop === "length" || stop === "contentFilter" || stop === "broken"

/** The text blocks of a message, joined by line feeds; images and files are left out. */
export const textOf = (content: ReadonlyArray<AssistantPart | ContentBlock>): string => {
  const texts: Array<string> = []
  for (const part of content) if (part.type === "text") texts.push(part.text)
  return texts.join("\n")
}

export const toolCallsOf = (message: AssistantMessage): ReadonlyArray<ToolCallPart> => {
  const calls: Array<ToolCallPart> = []
  for (const part of message.content) if (part.type === "toolCall") calls.push(part)
  return calls
}
