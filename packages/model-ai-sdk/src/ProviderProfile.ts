/**
 * What is particular about each kind of provider, as one table.
 *
 * Guarantees: data only; whoever is not in the table gets the common profile, which asks for nothing special.
 * Does not name models: what one model of a provider cannot do, its provider says.
 */
import type { ProviderOptions } from "./AiSdkModel.js"
import * as SchemaDialect from "./SchemaDialect.js"
import { type CallIdRule, type NameRule, plainCallIds, plainNames, shortCallIds } from "./ToolNames.js"

export interface ProviderProfile {
  readonly name: ProfileName
  readonly dialect: SchemaDialect.SchemaDialect
  /** The dialect of the provider's strict mode, where it has one that is asked for tool by tool. */
  readonly strict?: SchemaDialect.SchemaDialect
  readonly names: NameRule
  readonly callIds: CallIdRule
  /** Whether files of a result go with the result, or in a message behind the results. */
  readonly files: "inResult" | "behindResults"
  /** Whether files that the model made can be sent back to it. Elsewhere a line of text stands for them. */
  readonly assistantFiles: boolean
  /** `signed`: reasoning is sent back only with metadata of one of these providers, and only with something behind it. */
  readonly reasoning:
    | { readonly send: "all" | "none" }
    | { readonly send: "signed"; readonly by: ReadonlyArray<string> }
  /** Where a note to the model goes that follows results: a user message, or the last result's text. */
  readonly notes: "message" | "inResult"
  /** Whether a typed final answer is asked for by response format or in words. */
  readonly typedAnswer: "responseFormat" | "words"
  /** The provider option by which the tools of one request are narrowed without changing what is declared. */
  readonly allowedTools?: string
  /** Options that hold unless the binding's settings say otherwise. */
  readonly options?: ProviderOptions
}

export type ProfileName = "openai" | "openai-responses" | "anthropic" | "google" | "mistral" | "common"

const openAi: ProviderProfile = {
  name: "openai",
  dialect: SchemaDialect.openAi,
  strict: SchemaDialect.openAiStrict,
  names: plainNames,
  callIds: plainCallIds,
  files: "behindResults",
  assistantFiles: false,
  reasoning: { send: "none" },
  notes: "message",
  typedAnswer: "responseFormat"
}

export const profiles: Readonly<Record<ProfileName, ProviderProfile>> = {
  openai: openAi,
  "openai-responses": {
    ...openAi,
    name: "openai-responses",
    files: "inResult",
    reasoning: { send: "signed", by: ["openai", "azure"] },
    allowedTools: "openai",
    // The transcript is the truth: nothing refers to items that a provider keeps and one day does not.
    options: { openai: { store: false } }
  },
  anthropic: {
    name: "anthropic",
    dialect: SchemaDialect.anthropic,
    // "json" is the tool by which its package asks older models for typed answers.
    names: { ...plainNames, reserved: new Set(["json"]) },
    callIds: plainCallIds,
    files: "inResult",
    assistantFiles: false,
    reasoning: { send: "signed", by: ["anthropic"] },
    notes: "message",
    typedAnswer: "responseFormat"
  },
  google: {
    name: "google",
    dialect: SchemaDialect.google,
    names: { ...plainNames, pattern: /^[A-Za-z_][A-Za-z0-9_-]*$/, before: "_" },
    callIds: plainCallIds,
    files: "inResult",
    assistantFiles: true,
    reasoning: { send: "all" },
    notes: "message",
    typedAnswer: "words"
  },
  mistral: {
    name: "mistral",
    dialect: SchemaDialect.common,
    names: plainNames,
    callIds: shortCallIds,
    files: "behindResults",
    assistantFiles: false,
    reasoning: { send: "none" },
    notes: "inResult",
    typedAnswer: "words"
  },
  common: {
    name: "common",
    dialect: SchemaDialect.common,
    names: plainNames,
    callIds: plainCallIds,
    files: "behindResults",
    assistantFiles: false,
    reasoning: { send: "all" },
    notes: "message",
    typedAnswer: "words"
  }
}

/** By the name that a model gives its provider, for example `openai.responses`. The first match holds. */
const table: ReadonlyArray<readonly [RegExp, ProfileName]> = [
  [/anthropic|claude/i, "anthropic"],
  [/^(?:azure|openai)\b.*responses/i, "openai-responses"],
  [/^(?:azure|openai)\b/i, "openai"],
  [/^(?:google|vertex|gemini)/i, "google"],
  [/^mistral/i, "mistral"]
]

export const isProfileName = (name: string): name is ProfileName => Object.hasOwn(profiles, name)

/** The profile of a provider. */
export const profileFor = (provider: string): ProviderProfile =>
  profiles[table.find(([pattern]) => pattern.test(provider))?.[1] ?? "common"]
