import { type TSchema, Type } from "typebox"
import type { Json, JsonObject } from "../Json.js"

/** A closed object: a field that this version does not know is a record that this version cannot read. */
export const closed = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

export const tagged = <Tag extends string, P extends Record<string, TSchema>>(tag: Tag, properties: P) =>
  closed({ _tag: Type.Literal(tag), ...properties })

export const optional = Type.Optional
export const text = Type.String()
export const texts = Type.Array(text)
export const count = Type.Integer({ minimum: 0 })
/** Milliseconds since the epoch; a clock may give fractions. */
export const moment = Type.Number()
export const json = Type.Unsafe<Json>({})
export const jsonObject = Type.Unsafe<JsonObject>({ type: "object" })
export const flag = Type.Boolean()

/** One of these texts. An `enum`: a union of constants makes the validator try and fail one after the other. */
export const oneOf = <const N extends ReadonlyArray<string>>(...values: N) =>
  Type.Unsafe<N[number]>({ type: "string", enum: values })

const metadata = { providerMetadata: optional(jsonObject) }
const textBlock = closed({ type: Type.Literal("text"), text })
const imageBlock = closed({ type: Type.Literal("image"), mediaType: text, data: text })
const fileBlock = closed({ type: Type.Literal("file"), mediaType: text, data: text, name: optional(text) })
const contentBlock = Type.Union([textBlock, imageBlock, fileBlock])
export const content = Type.Array(contentBlock)

const assistantPart = Type.Union([
  closed({ type: Type.Literal("text"), text, ...metadata }),
  closed({ type: Type.Literal("reasoning"), text, ...metadata }),
  closed({
    type: Type.Literal("toolCall"),
    callId: text,
    toolId: text,
    arguments: jsonObject,
    rawArguments: optional(text),
    providerCallId: optional(text),
    ...metadata
  }),
  closed({
    type: Type.Literal("providerTool"),
    toolId: text,
    callId: text,
    input: optional(json),
    output: optional(json),
    isError: optional(flag),
    ...metadata
  }),
  imageBlock,
  fileBlock
])

const stop = oneOf("endTurn", "toolCalls", "length", "contentFilter", "stopSequence", "broken", "other")

export const reminder = closed({ role: Type.Literal("reminder"), id: text, source: text, text })

/** Tool results are not among them: publication derives them from the calls. */
export const message = Type.Union([
  closed({ role: Type.Literal("user"), id: text, content }),
  closed({
    role: Type.Literal("assistant"),
    id: text,
    runId: text,
    step: count,
    content: Type.Array(assistantPart),
    stop
  }),
  reminder
])

const scope = oneOf("Run", "Thread", "Shared")
const merge = oneOf("Disjoint", "Commutative", "Exclusive")
export const stateCommand = Type.Union([
  tagged("Set", { scope, key: text, merge, value: json }),
  tagged("Remove", { scope, key: text, merge })
])

export const toolOutput = closed({
  callId: text,
  content,
  isError: flag,
  data: optional(json),
  state: Type.Array(stateCommand),
  foreign: optional(flag)
})
