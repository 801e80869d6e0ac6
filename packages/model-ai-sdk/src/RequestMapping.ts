/**
 * A request of the runtime as call options of a model: messages, tools, choice of tools, settings.
 *
 * Guarantees: history is always sendable; tools are projected once per snapshot; what a version of the specification does
 * not have is refused by name, not left out.
 * Does not send: see `AiSdkExecutor`.
 */
import { type Json, LlmError, type LlmExecutor, type Message } from "@toolwright/runtime-contract"
import type {
  AiSdkModel,
  CallOptionsV3,
  CallOptionsV4,
  FunctionTool,
  JsonValue,
  ModelToolChoice,
  PromptCustomV4,
  PromptFileV3,
  PromptFileV4,
  PromptReasoningFileV4,
  ProviderTool,
  ResultFileV3,
  ResultFileV4
} from "./AiSdkModel.js"
import { isRecord } from "./internal/plainData.js"
import { type PromptForms, PromptMapper } from "./internal/promptMapper.js"
import { type ModelSettings, optionsOf, settingsOf } from "./ModelSettings.js"
import { type ProviderProfile, profileFor, profiles } from "./ProviderProfile.js"
import { projectSchema } from "./SchemaProjection.js"
import { type ProjectedTools, projectedOnce } from "./ToolProjection.js"

/** A model, and how its provider is spoken to. */
export interface Addressee {
  readonly model: AiSdkModel
  readonly profile: ProviderProfile
  readonly settings: ModelSettings
}

/** Throws `LlmError` (`bindingRejected`) for settings that do not fit. */
export const addresseeOf = (model: AiSdkModel, binding: LlmExecutor.ModelBinding): Addressee => {
  const settings = settingsOf(binding)
  if (settings.reasoning !== undefined && model.specificationVersion === "v3")
    throw new LlmError({
      reason: "bindingRejected",
      message: `settings/reasoning: a model of specification v3 takes it among providerOptions`,
      provider: model.provider,
      isRetryable: false
    })
  return {
    model,
    settings,
    profile: settings.profile === undefined ? profileFor(model.provider) : profiles[settings.profile]
  }
}

/** The tools of a request as its model is shown them. */
export const toolsOf = (request: Pick<LlmExecutor.LlmRequest, "tools">, to: Addressee): ProjectedTools =>
  projectedOnce(request.tools, { profile: to.profile, settings: to.settings })

export const callOptionsV3 = (request: LlmExecutor.LlmRequest, to: Addressee): CallOptionsV3 => ({
  ...common(request, to),
  prompt: mapperFor(mappersV3, { to, forms: formsV3 }).prompt(request)
})

export const callOptionsV4 = (request: LlmExecutor.LlmRequest, to: Addressee): CallOptionsV4 => ({
  ...common(request, to),
  ...(to.settings.reasoning === undefined ? {} : { reasoning: to.settings.reasoning }),
  prompt: mapperFor(mappersV4, { to, forms: formsV4 }).prompt(request)
})

/** All but the prompt: the same in both versions. */
const common = (request: LlmExecutor.LlmRequest, to: Addressee): Omit<CallOptionsV3, "prompt"> => {
  const { profile, settings } = to
  const { temperature, topP, topK, presencePenalty, frequencyPenalty, seed, stopSequences, headers } = settings
  const choice = choose(request, to)
  const answer = typedAnswer(request, profile)
  const maxOutputTokens = request.maxOutputTokens ?? settings.maxOutputTokens
  const providerOptions = optionsOf(profile.options, choice.options, answer?.options, settings.providerOptions)
  return {
    ...(choice.tools.length === 0 ? {} : { tools: choice.tools, toolChoice: choice.toolChoice }),
    ...(answer === undefined ? {} : { responseFormat: answer.format }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(topK === undefined ? {} : { topK }),
    ...(presencePenalty === undefined ? {} : { presencePenalty }),
    ...(frequencyPenalty === undefined ? {} : { frequencyPenalty }),
    ...(seed === undefined ? {} : { seed }),
    ...(stopSequences === undefined ? {} : { stopSequences: [...stopSequences] }),
    ...(headers === undefined ? {} : { headers }),
    ...(providerOptions === undefined ? {} : { providerOptions })
  }
}

interface Choice {
  readonly tools: Array<FunctionTool | ProviderTool>
  readonly toolChoice: ModelToolChoice
  readonly options?: Readonly<Record<string, Json.JsonObject>>
}

/**
 * Narrowing to some tools goes through the provider's own choice where it has one, so that what it has cached of the
 * declarations stays good; elsewhere only those tools are declared.
 */
const choose = (request: LlmExecutor.LlmRequest, to: Addressee): Choice => {
  const projected = toolsOf(request, to)
  const tools = projected.tools as Array<FunctionTool | ProviderTool>
  const { toolChoice } = request
  if (typeof toolChoice === "string") return { tools, toolChoice: { type: toolChoice } }
  const allowed = new Set(toolChoice.toolIds.map(projected.nameOf).filter((name) => name !== undefined))
  // Providers want their declarations beside a history of calls, so "none of them" is not an empty list.
  if (allowed.size === 0) return { tools, toolChoice: { type: "none" } }
  const { allowedTools } = to.profile
  if (allowedTools !== undefined)
    return {
      tools,
      toolChoice: { type: "auto" },
      options: { [allowedTools]: { allowedTools: { toolNames: [...allowed], mode: "auto" } } }
    }
  return {
    tools: tools.filter((tool) => tool.type === "provider" || allowed.has(tool.name)),
    toolChoice: { type: "auto" }
  }
}

interface TypedAnswer {
  readonly format: NonNullable<CallOptionsV3["responseFormat"]>
  readonly options?: Readonly<Record<string, Json.JsonObject>>
}

/** The format of a typed final answer, where the provider has formats and its dialect can say the schema. */
const typedAnswer = (request: LlmExecutor.LlmRequest, profile: ProviderProfile): TypedAnswer | undefined => {
  if (request.output === undefined || profile.typedAnswer === "words") return undefined
  const tight = profile.strict === undefined ? undefined : projectSchema(request.output, profile.strict)
  const projected = tight?.ok === true ? tight : projectSchema(request.output, profile.dialect)
  if (!projected.ok)
    throw new LlmError({
      reason: "bindingRejected",
      message: `the schema of the final answer cannot be said to this provider: ${projected.pointer || "(root)"}: ${projected.reason}`,
      isRetryable: false
    })
  // Plain JSON, which the specification types as mutable.
  const format = { type: "json" as const, schema: projected.schema as { [key: string]: JsonValue }, name: "answer" }
  return tight?.ok === false ? { format, options: { openai: { strictJsonSchema: false } } } : { format }
}

type Block = Message.FileBlock | Message.ImageBlock

const filename = (block: Block): { filename?: string } =>
  block.type === "file" && block.name !== undefined ? { filename: block.name } : {}

const formsV3: PromptForms<PromptFileV3, ResultFileV3, never> = {
  file: (block) => ({ type: "file", data: block.data, mediaType: block.mediaType, ...filename(block) }),
  resultFile: (block) =>
    block.type === "image"
      ? { type: "image-data", data: block.data, mediaType: block.mediaType }
      : { type: "file-data", data: block.data, mediaType: block.mediaType, ...filename(block) },
  opaque: () => undefined
}

const labelled = (data: string): { type: "data"; data: string } => ({ type: "data", data })

const formsV4: PromptForms<PromptFileV4, ResultFileV4, PromptReasoningFileV4 | PromptCustomV4> = {
  file: (block) => ({ type: "file", data: labelled(block.data), mediaType: block.mediaType, ...filename(block) }),
  resultFile: (block) => ({ type: "file", data: labelled(block.data), mediaType: block.mediaType, ...filename(block) }),
  opaque: ({ custom, file }) => {
    if (typeof custom === "string" && isKind(custom)) return { type: "custom", kind: custom }
    if (!isRecord(file) || typeof file["data"] !== "string" || typeof file["mediaType"] !== "string") return undefined
    return { type: "reasoning-file", data: labelled(file["data"]), mediaType: file["mediaType"] }
  }
}

const isKind = (kind: string): kind is `${string}.${string}` => kind.includes(".")

type Mapper<File, ResultFile, More> = PromptMapper<File, ResultFile, More>

const mappersV3 = new Map<string, Mapper<PromptFileV3, ResultFileV3, never>>()
const mappersV4 = new Map<string, Mapper<PromptFileV4, ResultFileV4, PromptReasoningFileV4 | PromptCustomV4>>()

/** One mapper for each kind of addressee, because a message's written form depends on nothing else. */
const mapperFor = <File, ResultFile, More>(
  mappers: Map<string, Mapper<File, ResultFile, More>>,
  { forms, to }: { readonly forms: PromptForms<File, ResultFile, More>; readonly to: Addressee }
): Mapper<File, ResultFile, More> => {
  const { provider } = to.model
  const key = `${to.profile.name} ${provider}`
  let mapper = mappers.get(key)
  if (mapper === undefined) mappers.set(key, (mapper = new PromptMapper({ forms, profile: to.profile, provider })))
  return mapper
}
