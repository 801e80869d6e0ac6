/**
 * The parts of a model's stream, as events of the port: the only place where one becomes the other.
 *
 * Guarantees: a `toolCall` is given only at the turn's own end and only for a call that was completed; parts keep their
 * order; a turn that ends early, breaks its own rules or says nothing has one defined outcome each, and none is an end
 * like any other.
 * Does not parse arguments and does not judge calls: the parse boundary and the gates do.
 */
import { type Json, LlmError, type LlmExecutor, type Message, type Run } from "@toolwright/runtime-contract"
import type {
  ModelFileData,
  ModelFinishReason,
  ModelSource,
  ModelToolCall,
  ModelToolResult,
  ModelUsage,
  ModelWarning,
  StreamPart
} from "./AiSdkModel.js"
import { base64Of, isRecord, jsonObjectOf, jsonOf, ownKey } from "./internal/plainData.js"

type Event = LlmExecutor.LlmEvent

export interface TurnSource {
  /** The provider as the model names itself, for example `anthropic.messages`. */
  readonly provider: string
  /** From the name that the model was shown to the tool's id. */
  readonly toolIdOf: (name: string) => string
  /** Maps an error that the stream carries. */
  readonly failure: (thrown: unknown) => LlmError
}

/** A run of text or reasoning that is being streamed. */
interface Block {
  readonly kind: "text" | "reasoning"
  readonly id: string
  metadata: Json.JsonObject | undefined
  /** The first half of a surrogate pair that was cut between two pieces. */
  half: string
  spoken: boolean
}

/** A call that is being streamed. */
interface Begun {
  readonly toolId: string
  readonly byProvider: boolean
  done: boolean
  /** Arguments that came after the call was said to be complete. */
  late: string
}

/** Reads one turn. `push` each part in order, then `end` when the stream has ended. */
export class StreamMapping {
  readonly #source: TurnSource
  #block: Block | undefined
  readonly #begun = new Map<string, Begun>()
  readonly #calls: Array<ModelToolCall> = []
  readonly #providerCalls = new Map<string, ModelToolCall>()
  readonly #sources: Array<Json.Json> = []
  readonly #notes: Array<string> = []
  #said = false
  #finished = false

  constructor(source: TurnSource) {
    this.#source = source
  }

  /** True when the turn has come to an end: nothing that follows is read. */
  get finished(): boolean {
    return this.#finished
  }

  /** Adds the events of a part to `out`. Throws `LlmError` for an error part and for a turn that contradicts itself. */
  push(part: StreamPart, out: Array<Event>): void {
    if (this.#finished) return
    switch (part.type) {
      case "text-delta":
      case "reasoning-delta":
        return this.#piece(part, out)
      case "text-start":
      case "reasoning-start":
        this.#close(out)
        this.#block = openBlock(part.type === "text-start" ? "text" : "reasoning", part)
        return
      case "text-end":
      case "reasoning-end":
        return this.#blockEnd(part, out)
      case "tool-input-start":
        return this.#begin(part, out)
      case "tool-input-delta":
        return this.#argument(part, out)
      case "tool-call":
        return this.#call(part)
      case "tool-result":
        return part.preliminary === true ? undefined : this.#providerPart(part, out)
      case "tool-approval-request":
        return this.#providerPart(unapproved(part, this.#providerCalls.get(part.toolCallId)), out)
      case "file":
      case "reasoning-file":
        return this.#file(part, out)
      case "custom":
        return announcements.has(part.kind)
          ? undefined
          : this.#opaque({ custom: part.kind }, { metadata: part.providerMetadata, out })
      case "source":
        this.#sources.push(sourceOf(part))
        return
      case "stream-start":
        for (const warning of part.warnings) this.#notes.push(warningText(warning))
        return
      case "finish":
        return this.#finish(part, out)
      case "error":
        return this.#fail(part.error, out)
      case "response-metadata":
      case "ping":
      case "raw":
      case "tool-input-end":
      default:
        // Nothing to tell, or something that a later version added.
        return
    }
  }

  /** The stream has ended. Without a `finish` part the turn is broken, and none of its calls run. */
  end(out: Array<Event>): void {
    if (!this.#finished) this.#broken(out, undefined)
  }

  #piece(part: Extract<StreamPart, { readonly type: "text-delta" | "reasoning-delta" }>, out: Array<Event>): void {
    const kind = part.type === "text-delta" ? "text" : "reasoning"
    let block = this.#block
    if (block === undefined || block.kind !== kind || block.id !== part.id) {
      this.#close(out)
      block = this.#block = openBlock(kind, { id: part.id })
    }
    if (part.providerMetadata !== undefined) block.metadata = merged(block.metadata, part.providerMetadata)
    let text = block.half + part.delta
    block.half = ""
    if (text === "") return
    const last = text.charCodeAt(text.length - 1)
    if (last >= 0xd800 && last <= 0xdbff) {
      block.half = text.slice(-1)
      text = text.slice(0, -1)
      if (text === "") return
    }
    block.spoken = true
    this.#said = true
    out.push({ type: kind, text: text.isWellFormed() ? text : text.toWellFormed() })
  }

  #blockEnd(part: Extract<StreamPart, { readonly type: "text-end" | "reasoning-end" }>, out: Array<Event>): void {
    const kind = part.type === "text-end" ? "text" : "reasoning"
    const told = part.type === "text-end" && part.citations !== undefined ? citing(part) : part.providerMetadata
    const block = this.#block
    if (block?.kind === kind && block.id === part.id) {
      block.metadata = merged(block.metadata, told)
      return this.#close(out)
    }
    // The block was closed by another that began before its end: what its provider wants to see again is kept.
    const metadata = merged(undefined, told)
    if (kind === "reasoning" && metadata !== undefined) {
      this.#said = true
      out.push({ type: "reasoning", text: "", providerMetadata: metadata })
    }
  }

  #close(out: Array<Event>): void {
    const block = this.#block
    if (block === undefined) return
    this.#block = undefined
    const text = block.half === "" ? "" : "\ufffd"
    if (block.metadata !== undefined && (block.spoken || text !== "" || block.kind === "reasoning")) {
      this.#said = true
      out.push({ type: block.kind, text, providerMetadata: block.metadata })
    } else if (text !== "") {
      this.#said = true
      out.push({ type: block.kind, text })
    }
  }

  #begin(part: Extract<StreamPart, { readonly type: "tool-input-start" }>, out: Array<Event>): void {
    const toolId = this.#source.toolIdOf(part.toolName)
    const byProvider = part.providerExecuted === true
    this.#begun.set(part.id, { toolId, byProvider, done: false, late: "" })
    if (!byProvider) out.push({ type: "toolCallDelta", key: part.id, toolId, argumentsText: "" })
  }

  #argument(part: Extract<StreamPart, { readonly type: "tool-input-delta" }>, out: Array<Event>): void {
    const begun = this.#begun.get(part.id)
    if (begun?.byProvider === true || part.delta === "") return
    if (begun?.done === true) begun.late += part.delta
    out.push({ type: "toolCallDelta", key: part.id, argumentsText: part.delta })
  }

  #call(part: ModelToolCall): void {
    this.#said = true
    if (part.providerExecuted === true) {
      this.#providerCalls.set(part.toolCallId, part)
      return
    }
    if (part.toolName.trim() === "") throw this.#malformed("a tool call without a name")
    const begun = this.#begun.get(part.toolCallId)
    if (begun !== undefined) begun.done = true
    // The same call told twice is one call; a second one that only shares the id is a call of its own.
    const known = this.#calls.some(
      (call) =>
        call.toolCallId === part.toolCallId &&
        call.toolCallId !== "" &&
        call.toolName === part.toolName &&
        call.input === part.input
    )
    if (!known) this.#calls.push(part)
  }

  #providerPart(result: ModelToolResult, out: Array<Event>): void {
    const call = this.#providerCalls.get(result.toolCallId)
    this.#providerCalls.delete(result.toolCallId)
    this.#close(out)
    this.#said = true
    const output = jsonOf(result.result)
    out.push({
      type: "part",
      part: {
        ...this.#providerTool(call ?? result, call),
        ...(output === undefined ? {} : { output }),
        ...(result.isError === true ? { isError: true } : {})
      }
    })
  }

  #providerTool(named: ModelToolCall | ModelToolResult, call: ModelToolCall | undefined): Message.ProviderToolPart {
    const input = call === undefined ? undefined : argumentOf(call.input)
    return {
      type: "providerTool",
      toolId: named.toolName,
      callId: named.toolCallId,
      ...(input === undefined ? {} : { input }),
      providerMetadata: { ...merged(undefined, named.providerMetadata), [ownKey]: { provider: this.#source.provider } }
    }
  }

  #file(part: Extract<StreamPart, { readonly type: "file" | "reasoning-file" }>, out: Array<Event>): void {
    const { mediaType } = part
    const data = dataOf(part.data)
    if (part.type === "reasoning-file" || typeof data !== "string")
      return this.#opaque(
        typeof data === "string" ? { file: { mediaType, data } } : { link: { mediaType, url: data.url } },
        { metadata: part.providerMetadata, out }
      )
    this.#close(out)
    this.#said = true
    out.push({ type: "part", part: { type: mediaType.startsWith("image/") ? "image" : "file", mediaType, data } })
  }

  /** Something that only its provider understands: kept as reasoning without words, so that it can be sent back. */
  #opaque(own: Json.JsonObject, { metadata, out }: { readonly metadata: unknown; readonly out: Array<Event> }): void {
    this.#close(out)
    this.#said = true
    const note = { ...own, provider: this.#source.provider }
    out.push({ type: "reasoning", text: "", providerMetadata: { ...merged(undefined, metadata), [ownKey]: note } })
  }

  #fail(error: unknown, out: Array<Event>): void {
    const failure = this.#source.failure(error)
    // Some packages report the early end of a stream as an error, others as an end without a reason: it is one thing here.
    if (failure.reason === "malformedResponse" && /without a finish reason/i.test(failure.message))
      return this.#broken(out, undefined)
    throw failure
  }

  #finish(part: Extract<StreamPart, { readonly type: "finish" }>, out: Array<Event>): void {
    const usage = usageOf(part.usage)
    const stop = this.#stopOf(part.finishReason)
    if (stop === "broken") return this.#broken(out, usage)
    const cutOff = stop === "length" || stop === "contentFilter"
    const open = [...this.#begun.values()].filter((begun) => !begun.done && !begun.byProvider)
    if (open.length > 0 && !cutOff) throw this.#malformed(`a call of ${names(open)} that was begun and not completed`)
    if (open.length > 0) this.#notes.push(`a call of ${names(open)} was cut off`)
    if (stop === "toolCalls" && this.#calls.length === 0)
      throw this.#malformed("a stop for tool calls without a tool call")
    if (part.finishReason.raw !== undefined && stop === "other") this.#notes.push(`stopped: ${part.finishReason.raw}`)
    this.#conclude({ stop, usage }, out)
  }

  #stopOf({ unified, raw }: ModelFinishReason): Message.StopReason {
    switch (unified) {
      case "stop":
        if (this.#calls.length > 0) return "toolCalls"
        // A pause of the provider's own tools is no end of an answer, whatever it is called.
        if (raw === "pause_turn") return "other"
        return raw === "stop_sequence" ? "stopSequence" : "endTurn"
      case "tool-calls":
        // A turn whose only tools were the provider's own has come to its end.
        return this.#calls.length === 0 && this.#said && this.#begun.size === 0 ? "endTurn" : "toolCalls"
      case "length":
        return "length"
      case "content-filter":
        return "contentFilter"
      case "error":
        throw this.#malformed(`an end in error (${raw ?? "no reason given"})`)
      case "interrupted":
        return "broken"
      case "other":
      default:
        return raw === undefined ? "broken" : "other"
    }
  }

  #broken(out: Array<Event>, usage: Run.Usage | undefined): void {
    if (!this.#said) throw this.#malformed("a stream that ended before anything was said")
    this.#notes.push("the stream ended before the turn did")
    this.#conclude({ stop: "broken", usage }, out)
  }

  #conclude(
    { stop, usage }: { readonly stop: Message.StopReason; readonly usage: Run.Usage | undefined },
    out: Array<Event>
  ): void {
    this.#finished = true
    this.#close(out)
    for (const call of this.#providerCalls.values()) out.push({ type: "part", part: this.#providerTool(call, call) })
    if (this.#sources.length > 0) out.push({ type: "part", part: this.#cited() })
    for (const call of this.#calls) out.push(this.#toolCall(call))
    const note = this.#notes.join("; ").toWellFormed().slice(0, 1_000)
    out.push({ type: "finish", stop, ...(usage === undefined ? {} : { usage }), ...(note === "" ? {} : { note }) })
  }

  #toolCall(call: ModelToolCall): Event {
    const late = this.#begun.get(call.toolCallId)?.late ?? ""
    const metadata = merged(undefined, call.providerMetadata)
    const { input } = call
    return {
      type: "toolCall",
      toolId: this.#source.toolIdOf(call.toolName),
      // What was streamed behind a "complete" call belongs to its text: the parse boundary sees all of it.
      arguments: typeof input === "string" ? input + late : jsonOf(input),
      ...(call.toolCallId === "" ? {} : { callId: call.toolCallId }),
      ...(metadata === undefined ? {} : { providerMetadata: metadata })
    }
  }

  #cited(): Message.ProviderToolPart {
    return {
      type: "providerTool",
      toolId: "sources",
      callId: "sources",
      output: this.#sources,
      providerMetadata: { [ownKey]: { provider: this.#source.provider, shown: false } }
    }
  }

  #malformed(what: string): LlmError {
    return new LlmError({
      reason: "malformedResponse",
      message: `${this.#source.provider} sent ${what}`,
      provider: this.#source.provider,
      isRetryable: true
    })
  }
}

/** Parts of a provider's own kind that say nothing of the answer and are never read back. */
const announcements: ReadonlySet<string> = new Set(["anthropic.message_start"])

const unapproved = (
  part: Extract<StreamPart, { readonly type: "tool-approval-request" }>,
  call: ModelToolCall | undefined
): ModelToolResult => ({
  type: "tool-result",
  toolCallId: part.toolCallId,
  toolName: call?.toolName ?? "approval",
  isError: true,
  result: "The provider asked for an approval that cannot be given here; the tool did not run."
})

const openBlock = (kind: Block["kind"], part: { readonly id: string; readonly providerMetadata?: unknown }): Block => ({
  kind,
  id: part.id,
  metadata: merged(undefined, part.providerMetadata),
  half: "",
  spoken: false
})

/** Metadata of one provider after the other: what comes later wins, member by member. */
const merged = (known: Json.JsonObject | undefined, more: unknown): Json.JsonObject | undefined => {
  const added = more === undefined ? undefined : jsonObjectOf(more)
  if (added === undefined || known === undefined) return added ?? known
  const both: Record<string, Json.Json> = { ...known }
  for (const [key, value] of Object.entries(added)) {
    const before = both[key]
    both[key] = isRecord(before) && isRecord(value) ? { ...before, ...value } : value
  }
  return both
}

const citing = (part: Extract<StreamPart, { readonly type: "text-end" }>): unknown => ({
  ...(isRecord(part.providerMetadata) ? part.providerMetadata : {}),
  [ownKey]: { citations: part.citations }
})

/** A provider's own call: its input as a value where it is JSON, else as the text it is. */
const argumentOf = (input: unknown): Json.Json | undefined => {
  if (typeof input !== "string") return jsonOf(input)
  try {
    return jsonOf(JSON.parse(input))
  } catch {
    return input.toWellFormed()
  }
}

const dataOf = (data: ModelFileData): string | { readonly url: string } => {
  if (typeof data === "string" || data instanceof Uint8Array) return base64Of(data)
  return data.type === "url" ? { url: data.url.href } : base64Of(data.data)
}

const sourceOf = (source: ModelSource): Json.Json => {
  const { id, filename, mediaType, sourceType, title, url } = source
  return jsonOf({ id, sourceType, url, title, mediaType, filename }) ?? null
}

const names = (calls: ReadonlyArray<Begun>): string => [...new Set(calls.map((call) => call.toolId))].join(", ")

const warningText = (warning: ModelWarning): string => {
  if (warning.type === "other") return warning.message
  if (warning.type === "deprecated") return `deprecated ${warning.setting}: ${warning.message}`
  return `${warning.type}: ${warning.feature}${warning.details === undefined ? "" : ` (${warning.details})`}`
}

/** Tokens of a request, where the provider counted at all. */
const usageOf = (usage: ModelUsage): Run.Usage | undefined => {
  const { inputTokens, outputTokens } = usage
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined
  return {
    inputTokens: inputTokens.total ?? 0,
    outputTokens: outputTokens.total ?? 0,
    ...(outputTokens.reasoning === undefined ? {} : { reasoningTokens: outputTokens.reasoning }),
    ...(inputTokens.cacheRead === undefined ? {} : { cachedInputTokens: inputTokens.cacheRead })
  }
}
