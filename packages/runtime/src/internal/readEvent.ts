/**
 * Reads the members of a model's events that are written down: adapters are foreign code, and pass on what providers send.
 *
 * Guarantees: total; what is given back is plain JSON of exactly the shape that a record has, so a thread can always be
 * read again; what cannot be read is left out, and a reason to stop that nobody knows is `other`.
 * Does not add up: the turn does.
 */
/// <reference lib="es2024.string" />
import { Json, type LlmExecutor, type Message, type Run } from "@toolwright/runtime-contract"
import { isJson, readContent } from "./readOutput.js"

const stops: ReadonlyMap<unknown, Message.StopReason> = new Map(
  (["endTurn", "toolCalls", "length", "contentFilter", "stopSequence", "broken", "other"] as const).map((one) => [
    one,
    one
  ])
)

export const readStop = (stop: unknown): Message.StopReason => stops.get(stop) ?? "other"

/** Parts of a token count as one. A usage without its two main figures is none. */
export const readUsage = (usage: unknown): Run.Usage | undefined => {
  if (!isRecord(usage)) return undefined
  const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens } = usage
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined
  return {
    inputTokens: Math.ceil(inputTokens),
    outputTokens: Math.ceil(outputTokens),
    ...(isCount(reasoningTokens) ? { reasoningTokens: Math.ceil(reasoningTokens) } : {}),
    ...(isCount(cachedInputTokens) ? { cachedInputTokens: Math.ceil(cachedInputTokens) } : {})
  }
}

export const isModel = (model: unknown): model is LlmExecutor.ModelBinding =>
  isRecord(model) && typeof model["provider"] === "string" && typeof model["model"] === "string"

/** As JSON would keep it; `undefined` where it would not keep an object. */
export const readMetadata = (metadata: unknown): Json.JsonObject | undefined => {
  const read = readJson(metadata)
  return Json.isJsonObject(read) ? read : undefined
}

type KeptPart = Exclude<Message.AssistantPart, Message.ToolCallPart>

/** Calls are events of their own: a part that looks like one is left out. */
export const readPart = (part: unknown): KeptPart | undefined => {
  if (!isRecord(part)) return undefined
  const { type, text } = part
  const metadata = metadataOf(part["providerMetadata"])
  if (type === "text" || type === "reasoning")
    return typeof text === "string" ? { type, text: text.toWellFormed(), ...metadata } : undefined
  if (type === "providerTool") return readProviderTool(part)
  const [block] = (type === "image" || type === "file" ? readContent([part]) : undefined) ?? []
  return block
}

const readProviderTool = ({
  callId,
  toolId,
  input,
  output,
  isError,
  providerMetadata
}: Readonly<Record<string, unknown>>): KeptPart | undefined => {
  if (typeof callId !== "string" || typeof toolId !== "string") return undefined
  return {
    type: "providerTool",
    callId,
    toolId,
    ...valueOf("input", input),
    ...valueOf("output", output),
    ...(typeof isError === "boolean" ? { isError } : {}),
    ...metadataOf(providerMetadata)
  }
}

const valueOf = (
  name: "input" | "output",
  value: unknown
): { readonly input?: Json.Json; readonly output?: Json.Json } => {
  const read = readJson(value)
  return read === undefined ? {} : { [name]: read }
}

const metadataOf = (value: unknown): { readonly providerMetadata?: Json.JsonObject } => {
  const providerMetadata = readMetadata(value)
  return providerMetadata === undefined ? {} : { providerMetadata }
}

/** Plain JSON as it is; anything else as its text would be read again. */
const readJson = (value: unknown): Json.Json | undefined => {
  if (value === undefined) return undefined
  try {
    if (isJson(value, 0)) return value
    const again: unknown = JSON.parse(JSON.stringify(value) ?? "null")
    return isJson(again, 0) ? again : undefined
  } catch {
    return undefined
  }
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null
