/**
 * One model turn as its events add up: parts in order, the calls it asks for, what it spent, why it stopped.
 *
 * Guarantees: text that comes in pieces is one part; an event of an unknown kind or shape is left out, never guessed at;
 * a policy that begins again voids everything but the usage.
 * Does not read arguments: `parseToolArgs` does, at ingress.
 */
import type { Json, LlmExecutor, Message, Run } from "@toolwright/runtime-contract"
import { isModel, readMetadata, readPart, readStop, readUsage } from "./readEvent.js"

/** A call as the provider gave it. */
export interface RequestedCall {
  readonly type: "requested"
  readonly callId: string | undefined
  readonly toolId: string
  readonly arguments: string | Json.Json | undefined
  readonly providerMetadata: Json.JsonObject | undefined
}

/** A text that may still grow. */
class OpenText {
  readonly type: "text" | "reasoning"
  text: string
  providerMetadata: Json.JsonObject | undefined
  constructor(
    type: "text" | "reasoning",
    given: { readonly text: string; readonly providerMetadata: Json.JsonObject | undefined }
  ) {
    this.type = type
    this.text = given.text
    this.providerMetadata = given.providerMetadata
  }
}

type Part = OpenText | RequestedCall | Exclude<Message.AssistantPart, Message.ToolCallPart>

export type TurnPart = RequestedCall | Exclude<Message.AssistantPart, Message.ToolCallPart>

export interface Spent {
  readonly model: LlmExecutor.ModelBinding
  readonly usage: Run.Usage
}

const none: ReadonlyArray<never> = Object.freeze([])

export class Turn {
  stop: Message.StopReason = "broken"
  isFinished = false
  callCount = 0
  /** Changes of the model on the way, for the record. */
  fallbacks: ReadonlyArray<{ readonly from: string; readonly to: string; readonly reason: string }> = none
  #parts: Array<Part> = []
  #open: OpenText | undefined
  #model: LlmExecutor.ModelBinding
  #spent: ReadonlyArray<Spent> = none

  constructor(model: LlmExecutor.ModelBinding) {
    this.#model = model
  }

  get spent(): ReadonlyArray<Spent> {
    return this.#spent
  }

  accept(event: LlmExecutor.LlmEvent): void {
    switch (event.type) {
      case "text":
      case "reasoning":
        if (typeof event.text === "string") this.#append(event)
        return
      case "toolCall":
        this.#open = undefined
        this.callCount++
        this.#parts.push(requested(event))
        return
      case "part":
        this.#keep(event.part)
        return
      case "usage":
        this.#spend(event.usage)
        return
      case "attempt":
        this.#again(event)
        return
      case "finish":
        if (event.usage !== undefined) this.#spend(event.usage)
        this.stop = readStop(event.stop)
        this.isFinished = true
        return
      case "toolCallDelta":
        return
    }
  }

  /** The parts in order. Empty texts are left out: no provider takes them back. */
  parts(): ReadonlyArray<TurnPart> {
    const parts: Array<TurnPart> = []
    for (const part of this.#parts) {
      if (!(part instanceof OpenText)) parts.push(part)
      else if (part.text !== "" || (part.type === "reasoning" && part.providerMetadata !== undefined))
        parts.push(closed(part))
    }
    return parts
  }

  /** Pieces of a kind join; one that carries metadata ends its part, as the port says. */
  #append(event: {
    readonly type: "text" | "reasoning"
    readonly text: string
    readonly providerMetadata?: Json.JsonObject
  }): void {
    const { type, text } = event
    const providerMetadata = event.providerMetadata === undefined ? undefined : readMetadata(event.providerMetadata)
    const open = this.#open
    if (open?.type === type) {
      open.text += text
      open.providerMetadata = providerMetadata
    } else {
      const next = new OpenText(type, { text, providerMetadata })
      this.#open = next
      this.#parts.push(next)
    }
    if (providerMetadata !== undefined) this.#open = undefined
  }

  #keep(given: unknown): void {
    const part = readPart(given)
    if (part === undefined) return
    this.#open = undefined
    this.#parts.push(part)
  }

  #again(event: Extract<LlmExecutor.LlmEvent, { readonly type: "attempt" }>): void {
    const model = isModel(event.model) ? event.model : this.#model
    const reason = typeof event.reason === "string" ? event.reason : "another attempt"
    if (nameOf(model) !== nameOf(this.#model))
      this.fallbacks = [...this.fallbacks, { from: nameOf(this.#model), to: nameOf(model), reason }]
    this.#model = model
    this.#parts = []
    this.#open = undefined
    this.callCount = 0
  }

  #spend(given: unknown): void {
    const usage = readUsage(given)
    if (usage === undefined) return
    const last = this.#spent.at(-1)
    const isSame = last !== undefined && last.model === this.#model
    const before = isSame ? this.#spent.slice(0, -1) : this.#spent
    this.#spent = [...before, { model: this.#model, usage: isSame ? sum(last.usage, usage) : usage }]
  }
}

const nameOf = (model: LlmExecutor.ModelBinding): string => `${model.provider}:${model.model}`

const requested = (event: Extract<LlmExecutor.LlmEvent, { readonly type: "toolCall" }>): RequestedCall => ({
  type: "requested",
  callId: typeof event.callId === "string" ? event.callId : undefined,
  toolId: String(event.toolId),
  arguments: event.arguments,
  providerMetadata: event.providerMetadata === undefined ? undefined : readMetadata(event.providerMetadata)
})

const closed = ({ type, text, providerMetadata }: OpenText): TurnPart => {
  const clean = text.isWellFormed() ? text : text.toWellFormed()
  return providerMetadata === undefined ? { type, text: clean } : { type, text: clean, providerMetadata }
}

export const sum = (left: Run.Usage, right: Run.Usage): Run.Usage => {
  const reasoningTokens = add(left.reasoningTokens, right.reasoningTokens)
  const cachedInputTokens = add(left.cachedInputTokens, right.cachedInputTokens)
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens })
  }
}

const add = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0)
