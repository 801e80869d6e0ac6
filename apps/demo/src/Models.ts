/**
 * Which model the demo talks to: one of a provider, one of a server of one's own, or none (the offline model).
 *
 * Guarantees: `--model` decides, else the keys and addresses in the environment; a provider's package is loaded only when
 * its model is asked; what is missing is named, before anything is asked.
 * Does not read the environment itself: it is given one.
 */
import { AiSdkExecutor } from "@toolwright/model-ai-sdk"
import { ModelPolicy } from "@toolwright/runtime"
import { type LlmExecutor, RuntimeClock } from "@toolwright/runtime-contract"
import { CommandLineError } from "./CommandLine.js"
import { offlineModel } from "./OfflineModel.js"

type Environment = Readonly<Record<string, string | undefined>>

export interface ChosenModel {
  readonly binding: LlmExecutor.ModelBinding
  /** With retry, circuit, time limits and the rest around it. Speaks for every model that a run has pinned. */
  readonly llm: LlmExecutor.LlmExecutor
}

/** What runs pin that no provider answers. */
const offlineBinding: LlmExecutor.ModelBinding = { provider: "offline", model: "grammar-1" }

/** The models that are asked for where only a key is there. */
const usual = { openai: "gpt-5-mini", anthropic: "claude-sonnet-4-5" } as const

const providers = ["openai", "anthropic", "local", "offline"] as const

type Provider = (typeof providers)[number]

/**
 * `asked` is what stands behind `--model`: `provider:name`. Without a model and without a key: the offline model. Throws
 * `CommandLineError` for a provider that does not exist or whose key or address is not set.
 */
export const chooseModel = async (asked: string | undefined, environment: Environment): Promise<ChosenModel> => {
  const binding = asked === undefined ? await found(environment) : named(asked, environment)
  return { binding: binding ?? offlineBinding, llm: byProvider(around(environment)) }
}

/** A run that goes on after a restart speaks with the model it began with, whichever is chosen now. */
const byProvider = (providers: LlmExecutor.LlmExecutor): LlmExecutor.LlmExecutor => ({
  ...providers,
  stream: (request, context) =>
    (request.model.provider === offlineBinding.provider ? offlineModel : providers).stream(request, context)
})

const named = (asked: string, environment: Environment): LlmExecutor.ModelBinding | undefined => {
  const [provider = "", ...rest] = asked.split(":")
  const model = rest.join(":")
  if (!isProvider(provider))
    throw new CommandLineError(
      `--model ${asked}: expected a provider among ${providers.join(", ")}, as in openai:${usual.openai}`
    )
  if (provider === "offline") return undefined
  if (model === "")
    throw new CommandLineError(`--model ${asked}: expected a name behind the colon, as in ${provider}:NAME`)
  const variable = provider === "local" ? "OPENAI_BASE_URL" : keyOf[provider]
  if (!isSet(environment[variable]))
    throw new CommandLineError(`--model ${asked}: expected ${variable} in the environment`)
  return { provider, model }
}

const keyOf = { openai: "OPENAI_API_KEY", anthropic: "ANTHROPIC_API_KEY" } as const

const isProvider = (name: string): name is Provider => providers.some((provider) => provider === name)

const isSet = (value: string | undefined): value is string => value !== undefined && value.trim() !== ""

/** A server of one's own before a provider: whoever names an address means it. */
const found = async (environment: Environment): Promise<LlmExecutor.ModelBinding | undefined> => {
  const address = environment["OPENAI_BASE_URL"]
  if (isSet(address)) return { provider: "local", model: await firstModelOf(address, environment) }
  if (isSet(environment["OPENAI_API_KEY"])) return { provider: "openai", model: usual.openai }
  return isSet(environment["ANTHROPIC_API_KEY"]) ? { provider: "anthropic", model: usual.anthropic } : undefined
}

/** Such a server lists its models; the first one will do where none was named. */
const firstModelOf = async (address: string, environment: Environment): Promise<string> => {
  const listed = `${address.replace(/\/$/, "")}/models`
  const hint = "name one with --model local:NAME"
  try {
    const key = environment["OPENAI_API_KEY"]
    const headers = isSet(key) ? { authorization: `Bearer ${key}` } : {}
    const response = await fetch(listed, { headers, signal: AbortSignal.timeout(3_000) })
    const body: unknown = await response.json()
    const list = typeof body === "object" && body !== null && "data" in body ? body.data : undefined
    const first: unknown = Array.isArray(list) ? list[0] : undefined
    if (typeof first === "object" && first !== null && "id" in first && typeof first.id === "string") return first.id
  } catch (cause) {
    throw new CommandLineError(`OPENAI_BASE_URL: ${listed} does not answer with its models; ${hint}`, { cause })
  }
  throw new CommandLineError(`OPENAI_BASE_URL: ${listed} lists no model; ${hint}`)
}

const around = (environment: Environment): LlmExecutor.LlmExecutor => {
  const llm = AiSdkExecutor.fromProviders({
    openai: async (name) => {
      const { createOpenAI } = await import("@ai-sdk/openai")
      return createOpenAI({ apiKey: environment["OPENAI_API_KEY"] ?? "" })(name)
    },
    anthropic: async (name) => {
      const { createAnthropic } = await import("@ai-sdk/anthropic")
      return createAnthropic({ apiKey: environment["ANTHROPIC_API_KEY"] ?? "" })(name)
    },
    local: async (name) => {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
      const apiKey = environment["OPENAI_API_KEY"]
      const baseURL = environment["OPENAI_BASE_URL"] ?? ""
      return createOpenAICompatible({
        name: "local",
        baseURL,
        includeUsage: true,
        ...(isSet(apiKey) ? { apiKey } : {})
      })(name)
    }
  })
  return ModelPolicy.around(llm, { environment: { clock: RuntimeClock.system } })
}
