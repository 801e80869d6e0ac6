import { createAnthropic } from "@ai-sdk/anthropic"
import { createAnthropic as createAnthropicV4 } from "@ai-sdk/anthropic-v4"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { createOpenAICompatible as createOpenAICompatibleV4 } from "@ai-sdk/openai-compatible-v4"
import { createOpenAI as createOpenAIV4 } from "@ai-sdk/openai-v4"
import type { AiSdkModel } from "../../src/index.js"
import type { WireFormat } from "@toolwright/model-server"

export interface Provider {
  readonly name: string
  readonly format: WireFormat
  readonly model: (url: string, fetch?: typeof globalThis.fetch) => AiSdkModel
}

/** The real packages, both lines. */
export const providers: ReadonlyArray<Provider> = [
  {
    name: "openai chat v3",
    format: "chat",
    model: (url, fetch) => createOpenAI({ apiKey: "k", baseURL: url, ...using(fetch) }).chat("m")
  },
  {
    name: "openai chat v4",
    format: "chat",
    model: (url, fetch) => createOpenAIV4({ apiKey: "k", baseURL: url, ...using(fetch) }).chat("m")
  },
  {
    name: "openai responses v3",
    format: "responses",
    model: (url, fetch) => createOpenAI({ apiKey: "k", baseURL: url, ...using(fetch) }).responses("gpt-5")
  },
  {
    name: "openai responses v4",
    format: "responses",
    model: (url, fetch) => createOpenAIV4({ apiKey: "k", baseURL: url, ...using(fetch) }).responses("gpt-5")
  },
  {
    name: "openai-compatible v3",
    format: "chat",
    model: (url, fetch) =>
      createOpenAICompatible({ name: "local", baseURL: url, includeUsage: true, ...using(fetch) })("m")
  },
  {
    name: "openai-compatible v4",
    format: "chat",
    model: (url, fetch) =>
      createOpenAICompatibleV4({ name: "local", baseURL: url, includeUsage: true, ...using(fetch) })("m")
  },
  {
    name: "anthropic v3",
    format: "anthropic",
    model: (url, fetch) => createAnthropic({ apiKey: "k", baseURL: url, ...using(fetch) })("claude-sonnet-4-5")
  },
  {
    name: "anthropic v4",
    format: "anthropic",
    model: (url, fetch) => createAnthropicV4({ apiKey: "k", baseURL: url, ...using(fetch) })("claude-sonnet-4-5")
  }
]

const using = (fetch: typeof globalThis.fetch | undefined): { fetch?: typeof globalThis.fetch } =>
  fetch === undefined ? {} : { fetch }
