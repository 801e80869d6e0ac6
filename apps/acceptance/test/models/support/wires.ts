import { createAnthropic } from "@ai-sdk/anthropic"
import { createAnthropic as createAnthropicV4 } from "@ai-sdk/anthropic-v4"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { createOpenAICompatible as createOpenAICompatibleV4 } from "@ai-sdk/openai-compatible-v4"
import { createOpenAI as createOpenAIV4 } from "@ai-sdk/openai-v4"
import { AiSdkExecutor, type AiSdkModel } from "@toolwright/model-ai-sdk"
import type { WireFormat } from "@toolwright/model-server"
import type { LlmExecutor } from "@toolwright/runtime-contract"

/** A provider package of one line, and the format it speaks. */
export interface Wire {
  readonly name: string
  readonly format: WireFormat
  readonly model: (baseURL: string) => AiSdkModel
}

export const wires: ReadonlyArray<Wire> = [
  { name: "chat v3", format: "chat", model: (baseURL) => createOpenAI({ apiKey: "k", baseURL }).chat("m") },
  { name: "chat v4", format: "chat", model: (baseURL) => createOpenAIV4({ apiKey: "k", baseURL }).chat("m") },
  {
    name: "responses v3",
    format: "responses",
    model: (baseURL) => createOpenAI({ apiKey: "k", baseURL }).responses("gpt-5")
  },
  {
    name: "responses v4",
    format: "responses",
    model: (baseURL) => createOpenAIV4({ apiKey: "k", baseURL }).responses("gpt-5")
  },
  {
    name: "compatible v3",
    format: "chat",
    model: (baseURL) => createOpenAICompatible({ name: "local", baseURL, includeUsage: true })("m")
  },
  {
    name: "compatible v4",
    format: "chat",
    model: (baseURL) => createOpenAICompatibleV4({ name: "local", baseURL, includeUsage: true })("m")
  },
  {
    name: "anthropic v3",
    format: "anthropic",
    model: (baseURL) => createAnthropic({ apiKey: "k", baseURL })("claude-sonnet-4-5")
  },
  {
    name: "anthropic v4",
    format: "anthropic",
    model: (baseURL) => createAnthropicV4({ apiKey: "k", baseURL })("claude-sonnet-4-5")
  }
]

export const executorOf = (wire: Wire, url: string): LlmExecutor.LlmExecutor => AiSdkExecutor.fromModel(wire.model(url))
