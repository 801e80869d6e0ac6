/**
 * Where the choices for a parameter come from, when they live in the running system and not in the schema.
 *
 * Guarantees: a declaration only; values are resolved live, by the runtime, at each use.
 * Does not validate: the schema does. A domain helps people and surfaces to choose.
 */
import type { JsonObject } from "./Json.js"

export type OptionDomain =
  | { readonly _tag: "ToolNames" }
  | { readonly _tag: "AgentIds" }
  | { readonly _tag: "ThreadIds" }
  | { readonly _tag: "Custom"; readonly name: string }

/** Parameter name (a top-level property of the arguments) to its domain. */
export type ParamDomains = Readonly<Record<string, OptionDomain>>

export interface DomainOption {
  readonly value: string
  readonly label?: string
}

/** Resolves a custom domain. `chosen` holds the values already picked for sibling parameters. */
export type DomainResolver = (
  chosen: JsonObject
) => ReadonlyArray<DomainOption> | PromiseLike<ReadonlyArray<DomainOption>>

export const ToolNames: OptionDomain = Object.freeze({ _tag: "ToolNames" })
export const AgentIds: OptionDomain = Object.freeze({ _tag: "AgentIds" })
export const ThreadIds: OptionDomain = Object.freeze({ _tag: "ThreadIds" })
export const Custom = (name: string): OptionDomain => Object.freeze({ _tag: "Custom", name })

/** True for a declaration of one of the kinds above. */
export const isDomain = (value: unknown): value is OptionDomain => {
  if (typeof value !== "object" || value === null || !("_tag" in value)) return false
  const { _tag } = value
  if (_tag === "Custom") return "name" in value && typeof value.name === "string" && value.name !== ""
  return _tag === "ToolNames" || _tag === "AgentIds" || _tag === "ThreadIds"
}
