/**
 * The name under which a provider is shown a tool, and the id under which it is shown a call.
 *
 * Guarantees: pure functions of id and rule, so a name is the same in every request, process and order of tools; an id
 * that fits is kept as it is; one that does not is told apart from every other by a hash of the whole.
 * Does not look anything up: the way back is kept with the projected tools.
 */
import { Json } from "@toolwright/runtime-contract"

export interface NameRule {
  /** Matches a whole name that the provider takes. */
  readonly pattern: RegExp
  /** UTF-16 code units. */
  readonly longest: number
  /** What a name that begins wrongly is given in front. */
  readonly before: string
  /** Names that the provider's package uses for itself. */
  readonly reserved: ReadonlySet<string>
}

/** Letters, digits, `_` and `-`, at most 64: what nearly every provider takes. */
export const plainNames: NameRule = { pattern: /^[A-Za-z0-9_-]+$/, longest: 64, before: "", reserved: new Set() }

/** `undefined` for an id that no name can be made of: it has no visible character. */
export const exposedName = (id: string, rule: NameRule): string | undefined => {
  if (fits(id, rule)) return id
  if (!/[\p{L}\p{N}]/u.test(id)) return undefined
  const suffix = `_${Json.sha256Hex(id).slice(0, 10)}`
  const readable = id.normalize("NFKC").replaceAll(/[^A-Za-z0-9_-]+/g, "_")
  const begun = fits(readable.slice(0, 1) || "_", rule) ? readable : rule.before + readable
  return begun.slice(0, rule.longest - suffix.length) + suffix
}

const fits = (name: string, rule: NameRule): boolean =>
  name.length <= rule.longest && rule.pattern.test(name) && !rule.reserved.has(name)

export interface CallIdRule {
  readonly pattern: RegExp
  /** Makes an id from 64 hexadecimal digits. */
  readonly make: (digest: string) => string
}

/** What OpenAI and Anthropic take. */
export const plainCallIds: CallIdRule = {
  pattern: /^[A-Za-z0-9_-]{1,40}$/,
  make: (digest) => `call_${digest.slice(0, 32)}`
}

/** Mistral takes nine letters and digits. */
export const shortCallIds: CallIdRule = { pattern: /^[A-Za-z0-9]{9}$/, make: (digest) => digest.slice(0, 9) }

/** The id of a call as this provider takes it. The same for the call and for its result. */
export const exposedCallId = (callId: string, rule: CallIdRule): string =>
  rule.pattern.test(callId) ? callId : rule.make(Json.sha256Hex(callId))
