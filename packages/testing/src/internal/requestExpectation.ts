/**
 * What a scripted turn may demand of the request that it answers, and the first thing that does not hold.
 *
 * Guarantees: only what is named is compared. Does not throw: the caller decides what a mismatch means.
 */
import { type LlmExecutor, Message } from "@toolwright/runtime-contract"

/** Each given field must hold; a function may say what is wrong, or throw. */
export type RequestExpectation =
  | ((request: LlmExecutor.LlmRequest) => string | undefined | void)
  | {
      readonly step?: number
      readonly attempt?: number
      readonly toolChoice?: LlmExecutor.ToolChoice
      /** The ids of the offered tools, in order. */
      readonly tools?: ReadonlyArray<string>
      /** How many messages of history are sent. */
      readonly messages?: number
      /** A text that stands in the last message. */
      readonly lastMessage?: string
      /** The sources of the request-only notes, in order. */
      readonly notes?: ReadonlyArray<string>
    }

/** `undefined` when everything holds. */
export const firstMismatch = (
  expectation: RequestExpectation | undefined,
  request: LlmExecutor.LlmRequest
): string | undefined => {
  if (expectation === undefined) return undefined
  if (typeof expectation === "function") return judged(expectation, request)
  const received: Readonly<Record<string, unknown>> = {
    step: request.step,
    attempt: request.attempt,
    toolChoice: request.toolChoice,
    tools: request.tools.map((tool) => tool.id),
    messages: request.messages.length,
    notes: request.notes.map((note) => note.source)
  }
  const { lastMessage, ...exact } = expectation
  for (const [name, expected] of Object.entries(exact))
    if (expected !== undefined && JSON.stringify(expected) !== JSON.stringify(received[name]))
      return `expected ${name} ${JSON.stringify(expected)}, got ${JSON.stringify(received[name])}`
  const last = lastText(request)
  return lastMessage === undefined || last.includes(lastMessage)
    ? undefined
    : `expected ${JSON.stringify(lastMessage)} in the last message, got ${JSON.stringify(last)}`
}

const judged = (
  check: (request: LlmExecutor.LlmRequest) => string | undefined | void,
  request: LlmExecutor.LlmRequest
): string | undefined => {
  try {
    return check(request) ?? undefined
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

const lastText = (request: LlmExecutor.LlmRequest): string => {
  const last = request.messages.at(-1)
  if (last === undefined) return ""
  return last.role === "reminder" ? last.text : Message.textOf(last.content)
}
