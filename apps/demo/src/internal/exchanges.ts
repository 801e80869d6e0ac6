/**
 * What the offline model remembers of a run: its own calls and their results, read from the committed transcript.
 *
 * Guarantees: derived from messages only, so a run that is resumed elsewhere goes on in the same way.
 * Does not keep anything between requests.
 */
import type { Json, Message, Transcript } from "@toolwright/runtime-contract"
import { Message as Messages } from "@toolwright/runtime-contract"

/** One call with what came of it. */
export interface Exchange {
  readonly toolId: string
  readonly arguments: Json.JsonObject
  readonly isError: boolean
  readonly outcome: Message.CallOutcomeKind
  readonly text: string
  readonly data: Json.Json | undefined
}

export interface Memory {
  /** What the run was asked for, and behind it what was said to it meanwhile. */
  readonly request: string
  /** For each turn of the run that asked for calls, its calls in order. */
  readonly turns: ReadonlyArray<ReadonlyArray<Exchange>>
}

export const remember = (messages: Transcript): Memory => {
  let request = ""
  let turns: Array<Array<Exchange>> = []
  let calls = new Map<string, Message.ToolCallPart>()
  for (const message of messages) {
    if (message.role === "user") {
      const said = Messages.textOf(message.content)
      const isNew = message.id.endsWith("/input")
      request = isNew ? said : `${request}; ${said}`
      if (isNew) turns = []
    } else if (message.role === "assistant") {
      const asked = Messages.toolCallsOf(message)
      calls = new Map(asked.map((call) => [call.callId, call]))
      if (asked.length > 0) turns.push([])
    } else if (message.role === "tool") {
      turns.at(-1)?.push(exchangeOf(message, calls.get(message.callId)))
    }
  }
  return { request, turns }
}

const exchangeOf = (message: Message.ToolMessage, call: Message.ToolCallPart | undefined): Exchange => ({
  toolId: message.toolId,
  arguments: call?.arguments ?? {},
  isError: message.isError,
  outcome: message.outcome,
  text: Messages.textOf(message.content),
  data: message.data
})
