/**
 * The committed transcript as a prompt that a provider accepts.
 *
 * Guarantees: every call has exactly one result, in the order of the calls and directly behind them; nothing is empty and
 * no surrogate stands alone; reasoning goes back only to a provider that can read it; a message is written once and kept.
 * Does not choose what is sent, and does not change what is committed.
 */
import type { Json, LlmExecutor, Message } from "@toolwright/runtime-contract"
import type {
  AssistantPartOf,
  JsonValue,
  PromptMessageOf,
  PromptText,
  PromptToolCall,
  PromptToolResult
} from "../AiSdkModel.js"
import type { ProviderProfile } from "../ProviderProfile.js"
import { exposedCallId, exposedName } from "../ToolNames.js"
import { isRecord, ownKey, wellFormed } from "./plainData.js"

type FileOrImage = Message.FileBlock | Message.ImageBlock

/** What differs between the versions of the specification. */
export interface PromptForms<File, ResultFile, More> {
  readonly file: (block: FileOrImage) => File
  readonly resultFile: (block: FileOrImage) => ResultFile
  /** What only its provider understands, where the version has a part for it. */
  readonly opaque: (note: Json.JsonObject) => More | undefined
}

interface SentCall {
  readonly callId: string
  readonly toolCallId: string
  readonly toolName: string
  readonly options: PromptToolCall["providerOptions"]
}

type Written<File, ResultFile, More> =
  | { readonly role: "user"; readonly content: Array<PromptText | File> }
  | {
      readonly role: "assistant"
      readonly content: Array<AssistantPartOf<File, ResultFile, More>>
      readonly calls: ReadonlyArray<SentCall>
    }
  | {
      readonly role: "tool"
      readonly output: PromptToolResult<ResultFile>["output"]
      /** What goes into a message behind the results. */
      readonly behind: ReadonlyArray<File>
    }

export class PromptMapper<File, ResultFile, More> {
  readonly #forms: PromptForms<File, ResultFile, More>
  readonly #profile: ProviderProfile
  readonly #provider: string
  readonly #written = new WeakMap<Message.Message, Written<File, ResultFile, More>>()

  constructor(to: {
    readonly forms: PromptForms<File, ResultFile, More>
    readonly profile: ProviderProfile
    readonly provider: string
  }) {
    this.#forms = to.forms
    this.#profile = to.profile
    this.#provider = to.provider
  }

  prompt(request: LlmExecutor.LlmRequest): Array<PromptMessageOf<File, ResultFile, More>> {
    const prompt: Array<PromptMessageOf<File, ResultFile, More>> = []
    const system = this.#system(request)
    if (system !== "") prompt.push({ role: "system", content: system })
    const batch = new OpenBatch<File, ResultFile, More>(this.#profile)
    for (const message of request.messages) {
      if (message.role === "reminder") {
        batch.note(noteText(message.source, message.text))
        continue
      }
      const written = this.#write(message)
      if (written.role === "tool" && message.role === "tool") {
        batch.result(message.callId, written)
        continue
      }
      batch.close(prompt)
      if (written.role === "user") prompt.push({ role: "user", content: written.content })
      else if (written.role === "assistant") {
        if (written.content.length > 0) prompt.push({ role: "assistant", content: written.content })
        batch.open(written.calls)
      }
    }
    for (const note of request.notes) {
      for (const block of note.content)
        if (block.type === "text") batch.note(noteText(note.source, block.text))
        else batch.file(this.#forms.file(block))
    }
    batch.close(prompt)
    return prompt
  }

  #system(request: LlmExecutor.LlmRequest): string {
    const instructions = request.instructions.trim() === "" ? "" : request.instructions.toWellFormed()
    if (request.output === undefined || this.#profile.typedAnswer === "responseFormat") return instructions
    const words = `Give the final answer as one JSON value and nothing else. It must fit this JSON Schema:\n${JSON.stringify(request.output)}`
    return instructions === "" ? words : `${instructions}\n\n${words}`
  }

  #write(message: Exclude<Message.Message, Message.ReminderMessage>): Written<File, ResultFile, More> {
    const known = this.#written.get(message)
    if (known !== undefined) return known
    const written =
      message.role === "user"
        ? { role: message.role, content: this.#userContent(message.content) }
        : message.role === "assistant"
          ? this.#assistant(message)
          : this.#result(message)
    this.#written.set(message, written)
    return written
  }

  #userContent(blocks: ReadonlyArray<Message.ContentBlock>): Array<PromptText | File> {
    const content: Array<PromptText | File> = []
    for (const block of blocks)
      if (block.type !== "text") content.push(this.#forms.file(block))
      else if (block.text.trim() !== "") content.push({ type: "text", text: block.text.toWellFormed() })
    return content.length > 0 ? content : [{ type: "text", text: "(empty)" }]
  }

  #assistant(message: Message.AssistantMessage): Written<File, ResultFile, More> {
    const content: Array<AssistantPartOf<File, ResultFile, More>> = []
    const calls: Array<SentCall> = []
    // Reasoning is written when something stands behind it: alone at the end, providers refuse it.
    let thoughts: Array<AssistantPartOf<File, ResultFile, More>> = []
    for (const part of message.content) {
      if (part.type === "reasoning") {
        thoughts.push(...this.#reasoning(part))
        continue
      }
      const said = part.type === "toolCall" ? [this.#call(part, calls)] : this.#spoken(part)
      if (said.length === 0) continue
      content.push(...thoughts, ...said)
      thoughts = []
    }
    if (this.#profile.reasoning.send === "all" && content.length > 0) content.push(...thoughts)
    return { role: "assistant", content, calls }
  }

  #call(part: Message.ToolCallPart, calls: Array<SentCall>): PromptToolCall {
    const toolCallId = exposedCallId(part.callId, this.#profile.callIds)
    const toolName = this.#name(part.toolId)
    const options = optionsOf(part.providerMetadata)
    calls.push({ callId: part.callId, toolCallId, toolName, options })
    return { type: "tool-call", toolCallId, toolName, input: wellFormed(part.arguments), ...having(options) }
  }

  #name(toolId: string): string {
    return exposedName(toolId, this.#profile.names) ?? "unknown_tool"
  }

  #reasoning(part: Message.ReasoningPart): ReadonlyArray<AssistantPartOf<File, ResultFile, More>> {
    const note = part.providerMetadata?.[ownKey]
    if (isRecord(note)) {
      const own = note["provider"] === this.#provider ? this.#forms.opaque(note as Json.JsonObject) : undefined
      return own === undefined ? [] : [{ ...own, ...having(optionsOf(part.providerMetadata)) }]
    }
    const { reasoning } = this.#profile
    const options = optionsOf(part.providerMetadata)
    if (reasoning.send === "none") return []
    if (
      reasoning.send === "signed" &&
      !reasoning.by.some((provider) => options !== undefined && Object.hasOwn(options, provider))
    )
      return []
    if (part.text === "" && options === undefined) return []
    return [{ type: "reasoning", text: part.text.toWellFormed(), ...having(options) }]
  }

  #spoken(
    part: Exclude<Message.AssistantPart, Message.ToolCallPart | Message.ReasoningPart>
  ): ReadonlyArray<AssistantPartOf<File, ResultFile, More>> {
    switch (part.type) {
      case "text":
        // Blank text is refused by some and means nothing to the others.
        return part.text.trim() === ""
          ? []
          : [{ type: "text", text: part.text.toWellFormed(), ...having(optionsOf(part.providerMetadata)) }]
      case "providerTool":
        return this.#providerTool(part)
      case "image":
      case "file":
        return this.#profile.assistantFiles
          ? [this.#forms.file(part)]
          : [
              {
                type: "text",
                text: `[the assistant gave ${part.type === "image" ? "an image" : "a file"} of type ${part.mediaType}]`
              }
            ]
    }
  }

  /** A provider's own call goes back to that provider as what it was, and to any other as a line of text. */
  #providerTool(part: Message.ProviderToolPart): ReadonlyArray<AssistantPartOf<File, ResultFile, More>> {
    const note = part.providerMetadata?.[ownKey]
    if (isRecord(note) && note["shown"] === false) return []
    if (!isRecord(note) || note["provider"] !== this.#provider) {
      const text = `[the provider ran ${part.toolId}${told(" with ", part.input)}${told(": ", part.output)}]`
      return [{ type: "text", text: text.toWellFormed() }]
    }
    const { callId: toolCallId, toolId: toolName } = part
    const options = having(optionsOf(part.providerMetadata))
    const input = wellFormed(part.input ?? {})
    const call: PromptToolCall = { type: "tool-call", toolCallId, toolName, input, providerExecuted: true, ...options }
    if (part.output === undefined) return [call]
    // Plain JSON, which the specification types as mutable.
    const value = wellFormed(part.output) as JsonValue
    return [
      call,
      {
        type: "tool-result",
        toolCallId,
        toolName,
        output: { type: part.isError === true ? "error-json" : "json", value },
        ...options
      }
    ]
  }

  #result(message: Message.ToolMessage): Written<File, ResultFile, More> {
    const texts: Array<string> = []
    const files: Array<FileOrImage> = []
    for (const block of message.content)
      if (block.type !== "text") files.push(block)
      else if (block.text !== "") texts.push(block.text.toWellFormed())
    const text = texts.join("\n")
    const within = this.#profile.files === "inResult"
    if (files.length === 0 || !within) {
      const attached =
        files.length === 0
          ? ""
          : `[${files.length === 1 ? "1 file" : `${files.length} files`} attached behind the results]`
      const value = [text, attached].filter((one) => one.trim() !== "").join("\n")
      return {
        role: "tool",
        output: { type: message.isError ? "error-text" : "text", value: value === "" ? "(no output)" : value },
        behind: files.map(this.#forms.file)
      }
    }
    const said = message.isError ? `[error] ${text}` : text
    return {
      role: "tool",
      output: {
        type: "content",
        value: [
          ...(said.trim() === "" ? [] : [{ type: "text" as const, text: said }]),
          ...files.map(this.#forms.resultFile)
        ]
      },
      behind: []
    }
  }
}

type Result<ResultFile> = PromptToolResult<ResultFile>

/** The calls of the last assistant message, until all that belongs to them is written. */
class OpenBatch<File, ResultFile, More> {
  readonly #profile: ProviderProfile
  #calls: ReadonlyArray<SentCall> = []
  #results = new Map<string, Extract<Written<File, ResultFile, More>, { readonly role: "tool" }>>()
  #behind: Array<PromptText | File> = []

  constructor(profile: ProviderProfile) {
    this.#profile = profile
  }

  open(calls: ReadonlyArray<SentCall>): void {
    this.#calls = calls
  }

  /** A second result of a call and a result without a call cannot be sent. */
  result(callId: string, written: Extract<Written<File, ResultFile, More>, { readonly role: "tool" }>): void {
    if (!this.#results.has(callId) && this.#calls.some((call) => call.callId === callId))
      this.#results.set(callId, written)
  }

  /** Text for the model, behind the results. */
  note(text: string): void {
    this.#behind.push({ type: "text", text })
  }

  file(file: File): void {
    this.#behind.push(file)
  }

  close(prompt: Array<PromptMessageOf<File, ResultFile, More>>): void {
    const files: Array<PromptText | File> = []
    const results = this.#calls.map((call): Result<ResultFile> => {
      const { callId, options, toolCallId, toolName } = call
      const written = this.#results.get(callId)
      if (written !== undefined && written.behind.length > 0)
        files.push(
          { type: "text", text: `[files of the result of ${toolName}, call ${toolCallId}]` },
          ...written.behind
        )
      const output = written?.output ?? { type: "error-text" as const, value: "No result of this call was recorded." }
      return { type: "tool-result", toolCallId, toolName, output, ...having(options) }
    })
    let behind = [...files, ...this.#behind]
    if (results.length > 0 && this.#profile.notes === "inResult") behind = intoLast(results, behind)
    if (results.length > 0) prompt.push({ role: "tool", content: results })
    if (behind.length > 0) prompt.push({ role: "user", content: behind })
    if (this.#calls.length === 0 && this.#behind.length === 0) return
    this.#calls = []
    this.#results = new Map()
    this.#behind = []
  }
}

/** Texts move into the last result, where that is text; the rest stays behind. */
const intoLast = <File, ResultFile>(
  results: Array<Result<ResultFile>>,
  behind: ReadonlyArray<PromptText | File>
): Array<PromptText | File> => {
  const last = results.at(-1)
  if (last === undefined || (last.output.type !== "text" && last.output.type !== "error-text")) return [...behind]
  const isText = (part: PromptText | File): part is PromptText => isRecord(part) && part["type"] === "text"
  const texts = behind.filter(isText).map((part) => part.text)
  const value = [last.output.value, ...texts].join("\n\n")
  results[results.length - 1] = { ...last, output: { type: last.output.type, value } }
  return behind.filter((part) => !isText(part))
}

const noteText = (source: string, text: string): string =>
  `[note from ${source}] ${text === "" ? "(empty)" : text}`.toWellFormed()

const told = (before: string, value: Json.Json | undefined): string => {
  if (value === undefined) return ""
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return before + (text.length > 4_000 ? `${text.slice(0, 4_000)}…` : text)
}

/** Metadata as options, without our own notes. */
const optionsOf = (metadata: Json.JsonObject | undefined): Record<string, Record<string, JsonValue>> | undefined => {
  if (metadata === undefined) return undefined
  const options: Record<string, Record<string, JsonValue>> = {}
  for (const [provider, value] of Object.entries(metadata))
    if (provider !== ownKey && isRecord(value)) options[provider] = value as Record<string, JsonValue>
  return Object.keys(options).length === 0 ? undefined : options
}

const having = (
  options: Record<string, Record<string, JsonValue>> | undefined
): { providerOptions?: Record<string, Record<string, JsonValue>> } =>
  options === undefined ? {} : { providerOptions: options }
