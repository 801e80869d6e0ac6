/** One model turn, written down as the server-sent events of three wire formats. */

export interface WireTurn {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: ReadonlyArray<{ readonly id: string; readonly name: string; readonly arguments: string }>
  /** Default: what the turn has. */
  readonly stop?: "end" | "tools" | "length" | "filter"
  readonly input?: number
  readonly output?: number
}

export type WireFormat = "chat" | "responses" | "anthropic"

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

const event = (value: { readonly type: string }): string => `event: ${value.type}\n${data(value)}`

/** Pieces of a few characters, never a whole text at once. */
const pieces = (text: string): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / 5) }, (_, n) => text.slice(n * 5, n * 5 + 5))

const stopOf = (turn: WireTurn): NonNullable<WireTurn["stop"]> =>
  turn.stop ?? ((turn.calls ?? []).length > 0 ? "tools" : "end")

const chat = (turn: WireTurn): ReadonlyArray<string> => {
  const chunk = (choice: object, more: object = {}): string =>
    data({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, ...choice }],
      ...more
    })
  const reasons = { end: "stop", tools: "tool_calls", length: "length", filter: "content_filter" }
  return [
    chunk({ delta: { role: "assistant", content: "" } }),
    ...pieces(turn.reasoning ?? "").map((text) => chunk({ delta: { reasoning_content: text } })),
    ...pieces(turn.text ?? "").map((text) => chunk({ delta: { content: text } })),
    ...(turn.calls ?? []).flatMap((call, index) => [
      chunk({
        delta: { tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] }
      }),
      ...pieces(call.arguments).map((text) =>
        chunk({ delta: { tool_calls: [{ index, function: { arguments: text } }] } })
      )
    ]),
    chunk({ delta: {}, finish_reason: reasons[stopOf(turn)] }),
    data({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [],
      usage: {
        prompt_tokens: turn.input ?? 10,
        completion_tokens: turn.output ?? 5,
        total_tokens: (turn.input ?? 10) + (turn.output ?? 5)
      }
    }),
    "data: [DONE]\n\n"
  ]
}

const responses = (turn: WireTurn): ReadonlyArray<string> => {
  const frames: Array<string> = []
  const send = (value: { readonly type: string }): void => void frames.push(event(value))
  let index = 0
  send({ type: "response.created", response: { id: "resp_1", created_at: 1, model: "m" } } as { type: string })
  if (turn.reasoning !== undefined) {
    const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: null as string | null }
    send({ type: "response.output_item.added", output_index: index, item } as { type: string })
    send({ type: "response.reasoning_summary_part.added", item_id: "rs_1", summary_index: 0 } as { type: string })
    for (const delta of pieces(turn.reasoning))
      send({ type: "response.reasoning_summary_text.delta", item_id: "rs_1", summary_index: 0, delta } as {
        type: string
      })
    send({ type: "response.reasoning_summary_part.done", item_id: "rs_1", summary_index: 0 } as { type: string })
    send({
      type: "response.output_item.done",
      output_index: index++,
      item: { ...item, encrypted_content: "sealed" }
    } as { type: string })
  }
  if (turn.text !== undefined) {
    const item = { type: "message", id: "msg_1", role: "assistant", status: "in_progress", content: [] }
    send({ type: "response.output_item.added", output_index: index, item } as { type: string })
    for (const delta of pieces(turn.text))
      send({ type: "response.output_text.delta", item_id: "msg_1", output_index: index, content_index: 0, delta } as {
        type: string
      })
    send({ type: "response.output_item.done", output_index: index++, item: { ...item, status: "completed" } } as {
      type: string
    })
  }
  for (const call of turn.calls ?? []) {
    const item = {
      type: "function_call",
      id: `fc_${call.id}`,
      call_id: call.id,
      name: call.name,
      arguments: "",
      status: "in_progress"
    }
    send({ type: "response.output_item.added", output_index: index, item } as { type: string })
    for (const delta of pieces(call.arguments))
      send({ type: "response.function_call_arguments.delta", item_id: item.id, output_index: index, delta } as {
        type: string
      })
    send({
      type: "response.function_call_arguments.done",
      item_id: item.id,
      output_index: index,
      arguments: call.arguments
    } as { type: string })
    send({
      type: "response.output_item.done",
      output_index: index++,
      item: { ...item, arguments: call.arguments, status: "completed" }
    } as { type: string })
  }
  const stop = stopOf(turn)
  const cut = stop === "length" ? "max_output_tokens" : stop === "filter" ? "content_filter" : undefined
  send({
    type: cut === undefined ? "response.completed" : "response.incomplete",
    response: {
      id: "resp_1",
      ...(cut === undefined ? {} : { incomplete_details: { reason: cut } }),
      usage: { input_tokens: turn.input ?? 10, output_tokens: turn.output ?? 5, total_tokens: 15 }
    }
  } as { type: string })
  return frames
}

const anthropic = (turn: WireTurn): ReadonlyArray<string> => {
  const frames: Array<string> = []
  const send = (value: object): void => void frames.push(event(value as { type: string }))
  let index = 0
  const block = (content_block: object, deltas: ReadonlyArray<object>): void => {
    send({ type: "content_block_start", index, content_block })
    for (const delta of deltas) send({ type: "content_block_delta", index, delta })
    send({ type: "content_block_stop", index: index++ })
  }
  send({
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: turn.input ?? 10, output_tokens: 1 }
    }
  })
  send({ type: "ping" })
  if (turn.reasoning !== undefined)
    block({ type: "thinking", thinking: "" }, [
      ...pieces(turn.reasoning).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: "signed" }
    ])
  if (turn.text !== undefined)
    block(
      { type: "text", text: "" },
      pieces(turn.text).map((text) => ({ type: "text_delta", text }))
    )
  for (const call of turn.calls ?? [])
    block(
      { type: "tool_use", id: call.id, name: call.name, input: {} },
      pieces(call.arguments).map((partial_json) => ({ type: "input_json_delta", partial_json }))
    )
  const reasons = { end: "end_turn", tools: "tool_use", length: "max_tokens", filter: "refusal" }
  send({
    type: "message_delta",
    delta: { stop_reason: reasons[stopOf(turn)], stop_sequence: null },
    usage: { output_tokens: turn.output ?? 5 }
  })
  send({ type: "message_stop" })
  return frames
}

/** The frames of a turn, each a whole server-sent event. */
export const framesOf = (format: WireFormat, turn: WireTurn): ReadonlyArray<string> => {
  if (format === "chat") return chat(turn)
  return format === "responses" ? responses(turn) : anthropic(turn)
}

/** The body of an error as each provider writes it. */
export const errorBody = (
  format: WireFormat,
  error: { readonly type: string; readonly code?: string; readonly message: string }
): string =>
  JSON.stringify(
    format === "anthropic"
      ? { type: "error", error: { type: error.type, message: error.message } }
      : { error: { message: error.message, type: error.type, code: error.code ?? null, param: null } }
  )
