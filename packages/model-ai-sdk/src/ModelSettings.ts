/**
 * The settings of a model binding, read once and checked.
 *
 * Guarantees: an unknown or unfit setting rejects the binding, naming it; nothing is guessed.
 * Does not hold secrets: a snapshot is stored.
 */
import { type Json, LlmError, type LlmExecutor } from "@toolwright/runtime-contract"
import type { JsonValue, ProviderTool, ReasoningEffort } from "./AiSdkModel.js"
import { isRecord } from "./internal/plainData.js"
import { isProfileName, type ProfileName, profiles } from "./ProviderProfile.js"

/** What `ModelBinding.settings` may hold for a model of this package. All optional. */
export interface ModelSettings {
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly seed?: number
  /** Tokens of one answer, where the request does not say. */
  readonly maxOutputTokens?: number
  readonly stopSequences?: ReadonlyArray<string>
  /** Models of specification v4 only; others take it among `providerOptions`. */
  readonly reasoning?: ReasoningEffort
  readonly headers?: Readonly<Record<string, string>>
  /** Handed through, by the provider's key. */
  readonly providerOptions?: Readonly<Record<string, Json.JsonObject>>
  /** Tools that the provider runs itself, by its id for them, for example `anthropic.web_search_20250305`. */
  readonly providerTools?: ReadonlyArray<{
    readonly id: string
    readonly name: string
    readonly args?: Json.JsonObject
  }>
  /** Ask for the provider's strict mode, tool by tool, where a schema can be said in it. Default false. */
  readonly strictTools?: boolean
  /** The kind of provider, where its name does not tell. */
  readonly profile?: ProfileName
}

const none: ModelSettings = Object.freeze({})

const read = new WeakMap<Json.JsonObject, ModelSettings>()

/** Throws `LlmError` (`bindingRejected`), naming the setting and what it takes. */
export const settingsOf = (binding: LlmExecutor.ModelBinding): ModelSettings => {
  const { settings } = binding
  if (settings === undefined) return none
  const known = read.get(settings)
  if (known !== undefined) return known
  for (const [name, value] of Object.entries(settings)) {
    const takes = Object.hasOwn(kinds, name) ? kinds[name as keyof ModelSettings] : undefined
    if (takes === undefined)
      throw rejected(binding, `settings/${name}: expected one of ${Object.keys(kinds).join(", ")}`)
    if (!takes.fits(value))
      throw rejected(binding, `settings/${name}: expected ${takes.what}, got ${JSON.stringify(value).slice(0, 200)}`)
  }
  // Every member was checked against its kind above.
  const checked = settings as ModelSettings
  read.set(settings, checked)
  return checked
}

interface Kind {
  readonly what: string
  readonly fits: (value: unknown) => boolean
}

const number: Kind = { what: "a number", fits: (value) => typeof value === "number" }
const whole: Kind = {
  what: "a whole number from 1",
  fits: (value) => typeof value === "number" && Number.isSafeInteger(value) && value > 0
}
const flag: Kind = { what: "true or false", fits: (value) => typeof value === "boolean" }
const efforts: ReadonlyArray<unknown> = ["provider-default", "none", "minimal", "low", "medium", "high", "xhigh", "max"]

const isProviderTool = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value["id"] === "string" &&
  /^[^.]+\..+$/.test(value["id"]) &&
  typeof value["name"] === "string" &&
  (value["args"] === undefined || isRecord(value["args"]))

const kinds: Readonly<Record<keyof ModelSettings, Kind>> = {
  temperature: number,
  topP: number,
  topK: number,
  presencePenalty: number,
  frequencyPenalty: number,
  seed: number,
  maxOutputTokens: whole,
  stopSequences: {
    what: "a list of texts",
    fits: (value) => Array.isArray(value) && value.every((one) => typeof one === "string")
  },
  reasoning: { what: `one of ${efforts.join(", ")}`, fits: (value) => efforts.includes(value) },
  headers: {
    what: "texts by name",
    fits: (value) => isRecord(value) && Object.values(value).every((one) => typeof one === "string")
  },
  providerOptions: {
    what: "objects by provider",
    fits: (value) => isRecord(value) && Object.values(value).every(isRecord)
  },
  providerTools: {
    what: 'a list of { id: "provider.tool", name, args? }',
    fits: (value) => Array.isArray(value) && value.every(isProviderTool)
  },
  strictTools: flag,
  profile: {
    what: `one of ${Object.keys(profiles).join(", ")}`,
    fits: (value) => typeof value === "string" && isProfileName(value)
  }
}

const rejected = (binding: LlmExecutor.ModelBinding, message: string): LlmError =>
  new LlmError({
    reason: "bindingRejected",
    message: `model ${binding.provider}:${binding.model}: ${message}`,
    provider: binding.provider,
    isRetryable: false
  })

/** The provider's own tools as a model is given them. */
export const providerToolsOf = (settings: ModelSettings): ReadonlyArray<ProviderTool> =>
  (settings.providerTools ?? []).map(({ args, id, name }) => ({
    type: "provider",
    id: id as `${string}.${string}`,
    name,
    args: { ...args }
  }))

/** Options by provider, joined member by member; what comes later wins. */
export const optionsOf = (
  ...given: ReadonlyArray<Readonly<Record<string, object>> | undefined>
): Record<string, Record<string, JsonValue>> | undefined => {
  const options: Record<string, Record<string, JsonValue>> = {}
  for (const one of given)
    // A copy, because the specification wants mutable values and ours are frozen.
    for (const [key, value] of Object.entries(one ?? {}))
      options[key] = { ...options[key], ...(structuredClone(value) as Record<string, JsonValue>) }
  return Object.keys(options).length === 0 ? undefined : options
}
