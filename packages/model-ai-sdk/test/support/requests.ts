import { type LlmExecutor, type Message, Transcript } from "@toolwright/runtime-contract"

export const user = (text: string): Message.UserMessage => ({
  role: "user",
  id: `u-${text}`,
  content: [{ type: "text", text }]
})

/** A request with what a test cares about. */
export const requestOf = (
  given: Partial<Omit<LlmExecutor.LlmRequest, "messages">> & { readonly messages?: ReadonlyArray<Message.Message> }
): LlmExecutor.LlmRequest => ({
  runId: "run",
  threadId: "thread",
  step: 1,
  attempt: 1,
  model: { provider: "p", model: "m" },
  instructions: "",
  notes: [],
  tools: [],
  toolChoice: "auto",
  ...given,
  messages: new Transcript(given.messages ?? [user("hello")])
})

export const signalOf = (): LlmExecutor.LlmContext => ({ signal: new AbortController().signal })

/** All events of a stream. */
export const collect = async (
  events: AsyncIterable<LlmExecutor.LlmEvent>
): Promise<ReadonlyArray<LlmExecutor.LlmEvent>> => {
  const all: Array<LlmExecutor.LlmEvent> = []
  for await (const event of events) all.push(event)
  return all
}

/** What a turn says, without the pieces it came in and without what only its provider reads. */
export const summary = (events: ReadonlyArray<LlmExecutor.LlmEvent>): ReadonlyArray<unknown> => {
  const parts: Array<Record<string, unknown>> = []
  let open: { type: string; text: string } | undefined
  for (const event of events) {
    if (event.type === "toolCallDelta") continue
    if (event.type === "text" || event.type === "reasoning") {
      if (open?.type === event.type) open.text += event.text
      else if (event.text !== "") parts.push((open = { type: event.type, text: event.text }))
      continue
    }
    open = undefined
    if (event.type === "toolCall")
      parts.push({ type: "toolCall", callId: event.callId, toolId: event.toolId, arguments: event.arguments })
    else parts.push({ ...event })
  }
  return parts
}
