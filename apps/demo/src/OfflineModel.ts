/**
 * A language model that needs no network: a small grammar instead of a neural network, behind the same port.
 *
 * Guarantees: deterministic; asks for several calls in one turn, sends wrong ones as people typed them, and corrects
 * those whose refusal says how.
 * Does not call tools: it asks for them, like any model.
 */
import type { LlmExecutor } from "@toolwright/runtime-contract"
import { remember } from "./internal/exchanges.js"
import { planTurn, type Turn } from "./internal/planTurn.js"

export const offlineModel: LlmExecutor.LlmExecutor = {
  stream: (request) =>
    speak(
      planTurn(remember(request.messages), {
        mayCall: request.toolChoice !== "none",
        hasFolder: request.tools.some(({ id }) => id === "read")
      }),
      request.step
    )
}

/** In pieces, as providers do. */
async function* speak(turn: Turn, step: number): AsyncGenerator<LlmExecutor.LlmEvent, void, undefined> {
  for (const text of turn.text.match(/\S+\s*|\s+/g) ?? []) yield { type: "text", text }
  for (const [index, call] of turn.calls.entries()) {
    const key = `call-${step}-${index + 1}`
    const text = JSON.stringify(call.arguments)
    yield { type: "toolCallDelta", key, toolId: call.toolId, argumentsText: text }
    yield { type: "toolCall", callId: key, toolId: call.toolId, arguments: text }
  }
  await Promise.resolve()
  yield {
    type: "finish",
    stop: turn.calls.length > 0 ? "toolCalls" : "endTurn",
    usage: { inputTokens: 0, outputTokens: 0 }
  }
}
