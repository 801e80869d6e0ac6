/**
 * Whatever a provider package throws or streams as an error, as one `LlmError` with a closed reason.
 *
 * Guarantees: total, the thrown value is kept as cause, and errors of the AI SDK are known by their marker symbols, so
 * any copy and either line of the packages will do.
 * Does not retry and does not decide what is worth a retry: the reason does, unless the provider said so itself.
 */
import { LlmError, type LlmExecutor } from "@toolwright/runtime-contract"

type Reason = LlmExecutor.LlmErrorReason

/** Where an error came from. */
export interface ErrorSource {
  readonly provider: string
  /** Milliseconds since the epoch: a `Retry-After` may name a moment. */
  readonly now: () => number
  /** The request was given up by the caller, whatever the provider makes of that. */
  readonly aborted: boolean
}

/** Maps anything thrown by `doStream`, by its stream, or carried by one of its `error` parts. Never throws. */
export const toLlmError = (thrown: unknown, source: ErrorSource): LlmError => {
  if (source.aborted)
    return new LlmError({
      reason: "aborted",
      message: "the request was aborted",
      provider: source.provider,
      cause: thrown
    })
  if (thrown instanceof LlmError) return thrown
  const told = readError(thrown)
  const reason = reasonOf(thrown, told)
  const retryAfter = retryAfterOf(told, source.now)
  const isRetryable = retryWordOf(told, reason)
  return new LlmError({
    reason,
    message: messageOf(told, reason),
    provider: source.provider,
    cause: thrown,
    ...(told.status === undefined ? {} : { status: told.status }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(isRetryable === undefined ? {} : { isRetryable })
  })
}

/** What can be read of an error, whichever package made it. */
interface Told {
  readonly name: string
  readonly message: string
  readonly status: number | undefined
  /** Codes and types as the provider names them, lower case, most telling first. */
  readonly codes: ReadonlyArray<string>
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>> | undefined
  readonly causes: ReadonlyArray<unknown>
}

const marked = (value: unknown, name: string): boolean =>
  typeof value === "object" && value !== null && Reflect.get(value, Symbol.for(`vercel.ai.error.${name}`)) === true

const record = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined

const readError = (thrown: unknown): Told => {
  const given = record(thrown) ?? {}
  const body = record(given["data"]) ?? parsed(given["responseBody"]) ?? (thrown instanceof Error ? undefined : given)
  // `{ error: { … } }`, `{ type: "response.failed", response: { error: { … } } }`, or the error itself
  const inner = record(body?.["error"]) ?? record(record(body?.["response"])?.["error"]) ?? body ?? {}
  const codes = [inner["code"], inner["type"], inner["status"], given["code"], given["type"]].map(text)
  return {
    name: text(given["name"]) ?? "",
    message: text(given["message"]) ?? text(inner["message"]) ?? text(thrown) ?? "",
    status: statusOf(given["statusCode"]) ?? statusOf(given["status"]) ?? statusOf(inner["code"]),
    codes: codes.filter((code) => code !== undefined).map((code) => code.toLowerCase()),
    headers: record(given["responseHeaders"]) ?? {},
    body: inner,
    causes: causesOf(thrown)
  }
}

const statusOf = (value: unknown): number | undefined => {
  const status = typeof value === "string" && /^[45]\d\d$/.test(value) ? Number(value) : value
  return typeof status === "number" && status >= 400 && status <= 599 ? status : undefined
}

const parsed = (body: unknown): Readonly<Record<string, unknown>> | undefined => {
  if (typeof body !== "string" || body.length > 65_536) return undefined
  try {
    return record(JSON.parse(body))
  } catch {
    return undefined
  }
}

/** The error and what caused it, at most eight deep. */
const causesOf = (thrown: unknown): ReadonlyArray<unknown> => {
  const causes: Array<unknown> = []
  for (let at = thrown; at !== undefined && at !== null && causes.length < 8; at = record(at)?.["cause"])
    causes.push(at)
  return causes
}

/** Codes and types by which providers name what happened, in the spelling of OpenAI, Anthropic, Google and Amazon. */
const reasonByCode: ReadonlyMap<string, Reason> = new Map<string, Reason>([
  ["context_length_exceeded", "contextOverflow"],
  ["request_too_large", "contextOverflow"],
  ["insufficient_quota", "usageLimit"],
  ["billing_error", "usageLimit"],
  ["billing_hard_limit_reached", "usageLimit"],
  ["content_filter", "contentFiltered"],
  ["content_policy_violation", "contentFiltered"],
  ["model_not_found", "modelNotFound"],
  ["not_found_error", "modelNotFound"],
  ["not_found", "modelNotFound"],
  ["authentication_error", "unauthorized"],
  ["invalid_api_key", "unauthorized"],
  ["unauthenticated", "unauthorized"],
  ["permission_error", "forbidden"],
  ["permission_denied", "forbidden"],
  ["rate_limit_error", "rateLimited"],
  ["rate_limit_exceeded", "rateLimited"],
  ["resource_exhausted", "rateLimited"],
  ["throttlingexception", "rateLimited"],
  ["overloaded_error", "overloaded"],
  ["overloaded", "overloaded"],
  ["unavailable", "overloaded"],
  ["timeout_error", "timeout"],
  ["deadline_exceeded", "timeout"],
  ["server_error", "provider"],
  ["api_error", "provider"],
  ["internal", "provider"]
])

/** Messages that name a full context where the code does not. */
const overflow =
  /maximum context|context (?:length|window|size)|prompt is too long|input is too long|too many (?:input )?tokens|exceeds? the (?:maximum|available) (?:number of tokens|context)|reduce the length/i

const spent = /credit balance|quota exceeded|exceeded your current quota|billing/i

const reasonByStatus: ReadonlyMap<number, Reason> = new Map<number, Reason>([
  [401, "unauthorized"],
  [402, "usageLimit"],
  [403, "forbidden"],
  [404, "modelNotFound"],
  [408, "timeout"],
  [409, "provider"],
  [413, "contextOverflow"],
  [425, "overloaded"],
  [429, "rateLimited"],
  [503, "overloaded"],
  [504, "timeout"],
  [529, "overloaded"]
])

const reasonOfStatus = (status: number): Reason =>
  reasonByStatus.get(status) ?? (status < 500 ? "invalidRequest" : "provider")

/** Errors of the AI SDK that no server sent. */
const reasonByMarker: ReadonlyArray<readonly [string, Reason]> = [
  ["AI_NoSuchModelError", "modelNotFound"],
  ["AI_LoadAPIKeyError", "unauthorized"],
  ["AI_LoadSettingError", "bindingRejected"],
  ["AI_UnsupportedFunctionalityError", "invalidRequest"],
  ["AI_InvalidPromptError", "invalidRequest"],
  ["AI_InvalidArgumentError", "invalidRequest"],
  ["AI_JSONParseError", "malformedResponse"],
  ["AI_TypeValidationError", "malformedResponse"],
  ["AI_InvalidResponseDataError", "malformedResponse"],
  ["AI_EmptyResponseBodyError", "malformedResponse"],
  ["AI_NoContentGeneratedError", "malformedResponse"]
]

const connectionCodes: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT"
])

const isConnectionError = (cause: unknown): boolean => {
  const code = record(cause)?.["code"]
  if (typeof code === "string" && connectionCodes.has(code)) return true
  // fetch says no more than this when a body breaks off or nobody answers
  return (
    cause instanceof TypeError && /^(?:terminated|fetch failed|failed to fetch|network error)$/i.test(cause.message)
  )
}

const reasonOf = (thrown: unknown, told: Told): Reason => {
  for (const cause of told.causes) {
    const name = record(cause)?.["name"]
    if (name === "AbortError" || name === "ResponseAborted") return "aborted"
    if (name === "TimeoutError") return "timeout"
  }
  for (const code of told.codes) {
    const reason = reasonByCode.get(code)
    if (reason !== undefined) return reason
  }
  if (told.status === undefined || told.status < 500) {
    if (overflow.test(told.message)) return "contextOverflow"
    if (spent.test(told.message)) return "usageLimit"
  }
  if (told.status !== undefined) return reasonOfStatus(told.status)
  for (const cause of told.causes) for (const [name, reason] of reasonByMarker) if (marked(cause, name)) return reason
  if (told.causes.some(isConnectionError)) return "network"
  if (told.codes.includes("invalid_request_error") || told.codes.includes("invalid_argument")) return "invalidRequest"
  // A call that failed without any answer: nobody was reached.
  return marked(thrown, "AI_APICallError") && Reflect.get(Object(thrown), "statusCode") === undefined
    ? "network"
    : "provider"
}

/** The provider's own word on a retry, or ours where what came over the wire was broken rather than wrong. */
const retryWordOf = (told: Told, reason: Reason): boolean | undefined => {
  const word = told.headers["x-should-retry"]
  if (word === "true") return true
  if (word === "false") return false
  if (reason === "malformedResponse") return !told.causes.some((cause) => marked(cause, "AI_TypeValidationError"))
  // Nobody knows what this was: a fault of the code as likely as one of the network.
  if (reason === "provider" && told.status === undefined && told.codes.length === 0) return false
  return undefined
}

const retryAfterOf = (told: Told, now: () => number): number | undefined => {
  const exact = Number(told.headers["retry-after-ms"] ?? Number.NaN)
  if (Number.isFinite(exact) && exact >= 0) return Math.ceil(exact)
  const asked = text(told.headers["retry-after"])
  if (asked !== undefined) {
    const seconds = Number(asked)
    if (Number.isFinite(seconds)) return seconds >= 0 ? Math.ceil(seconds * 1000) : undefined
    const moment = Date.parse(asked)
    return Number.isNaN(moment) ? undefined : Math.max(0, moment - now())
  }
  const details = told.body?.["details"]
  if (!Array.isArray(details)) return undefined
  for (const detail of details) {
    const delay = /^(\d+(?:\.\d+)?)s$/.exec(text(record(detail)?.["retryDelay"]) ?? "")
    if (delay !== null) return Math.ceil(Number(delay[1]) * 1000)
  }
  return undefined
}

const longestMessage = 2_000

const messageOf = (told: Told, reason: Reason): string => {
  const message = told.message.trim().toWellFormed()
  if (message === "") return `the model failed: ${reason}${told.status === undefined ? "" : ` (status ${told.status})`}`
  return message.length > longestMessage ? `${message.slice(0, longestMessage).toWellFormed()}…` : message
}
