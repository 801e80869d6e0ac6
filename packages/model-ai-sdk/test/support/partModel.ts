import type { AiSdkModelV4, CallOptionsV4, StreamPart } from "../../src/AiSdkModel.js"

/** A model that gives these parts. Keeps the options it was called with. */
export const partModel = (
  parts: ReadonlyArray<StreamPart>,
  provider = "test.chat"
): AiSdkModelV4 & { readonly calls: Array<CallOptionsV4> } => {
  const calls: Array<CallOptionsV4> = []
  return {
    specificationVersion: "v4",
    provider,
    modelId: "m",
    calls,
    doStream: (options) => {
      calls.push(options)
      return Promise.resolve({
        stream: new ReadableStream<StreamPart>({
          start: (controller) => {
            for (const part of parts) controller.enqueue(part)
            controller.close()
          }
        })
      })
    }
  }
}

export const finish = (
  unified: "stop" | "tool-calls" | "length" | "content-filter" | "error" | "interrupted" | "other",
  raw?: string
): StreamPart => ({
  type: "finish",
  usage: {
    inputTokens: { total: undefined, cacheRead: undefined },
    outputTokens: { total: undefined, reasoning: undefined }
  },
  finishReason: { unified, raw }
})

export const text = (id: string, ...deltas: ReadonlyArray<string>): ReadonlyArray<StreamPart> => [
  { type: "text-start", id },
  ...deltas.map((delta): StreamPart => ({ type: "text-delta", id, delta })),
  { type: "text-end", id }
]

export const call = (toolCallId: string, toolName: string, input: unknown): StreamPart => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input
})
