import type { LlmExecutor } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import { AiSdkExecutor } from "../src/index.js"
import type { StreamPart } from "../src/AiSdkModel.js"
import { call, finish, partModel, text } from "./support/partModel.js"
import { collect, requestOf, signalOf, summary } from "./support/requests.js"

const eventsOf = (
  ...parts: ReadonlyArray<StreamPart | ReadonlyArray<StreamPart>>
): Promise<ReadonlyArray<LlmExecutor.LlmEvent>> =>
  collect(AiSdkExecutor.fromModel(partModel(parts.flat())).stream(requestOf({}), signalOf()))

const outcome = (...parts: ReadonlyArray<StreamPart | ReadonlyArray<StreamPart>>): Promise<unknown> =>
  eventsOf(...parts).then(
    summary,
    (error: { readonly reason: string; readonly message: string }) => `${error.reason}: ${error.message}`
  )

const start = (id: string, toolName: string): StreamPart => ({ type: "tool-input-start", id, toolName })
const piece = (id: string, delta: string): StreamPart => ({ type: "tool-input-delta", id, delta })
const asked = (callId: string | undefined, toolId: string, args: unknown) => ({
  type: "toolCall",
  callId,
  toolId,
  arguments: args
})

describe("a tool call", () => {
  it("[T4] is given with all the text that was streamed for it, also what came behind its completion (C106)", async () => {
    const q = '{"q":"x"}'
    expect(
      await outcome(start("1", "f"), piece("1", q), call("1", "f", q), piece("1", ',"limit":1}'), finish("tool-calls"))
    ).toEqual([asked("1", "f", `${q},"limit":1}`), { type: "finish", stop: "toolCalls" }])
  })

  it("[T4] that is told twice under one id is one call; two calls under one id are two (C107)", async () => {
    expect(await outcome(call("z", "f", "{}"), call("z", "f", "{}"), finish("tool-calls"))).toEqual([
      asked("z", "f", "{}"),
      { type: "finish", stop: "toolCalls" }
    ])
    expect(await outcome(call("z", "f", '{"u":1}'), call("z", "g", '{"u":2}'), finish("tool-calls"))).toEqual([
      asked("z", "f", '{"u":1}'),
      asked("z", "g", '{"u":2}'),
      { type: "finish", stop: "toolCalls" }
    ])
  })

  it("[T4] without an id is given without one, and with any input as it came", async () => {
    expect(await outcome(call("", "f", undefined), call("", "g", { a: 1 }), finish("stop"))).toEqual([
      asked(undefined, "f", undefined),
      asked(undefined, "g", { a: 1 }),
      { type: "finish", stop: "toolCalls" }
    ])
  })

  it("[L7] without a name, begun and never completed, or announced and never made breaks the turn", async () => {
    expect([
      await outcome(call("1", " ", "{}"), finish("tool-calls")),
      await outcome(text("0", "hm"), start("1", "f"), piece("1", '{"a"'), finish("tool-calls")),
      await outcome(text("0", "hm"), start("1", "f"), finish("stop")),
      await outcome(finish("tool-calls", "tool_calls"))
    ]).toEqual([
      "malformedResponse: test.chat sent a tool call without a name",
      "malformedResponse: test.chat sent a call of f that was begun and not completed",
      "malformedResponse: test.chat sent a call of f that was begun and not completed",
      "malformedResponse: test.chat sent a stop for tool calls without a tool call"
    ])
  })

  it("[T4] that a length or a filter cut off is not given, and the turn says so", async () => {
    for (const [unified, stop] of [
      ["length", "length"],
      ["content-filter", "contentFilter"]
    ] as const)
      expect(await outcome(text("0", "hm"), start("1", "f"), piece("1", '{"a"'), finish(unified))).toEqual([
        { type: "text", text: "hm" },
        { type: "finish", stop, note: "a call of f was cut off" }
      ])
  })
})

describe("the end of a turn", () => {
  it("[L7] is what the provider said, or broken where it said nothing", async () => {
    const stops: Array<unknown> = []
    for (const end of [
      [finish("stop", "end_turn")],
      [finish("stop", "stop_sequence")],
      [finish("stop", "pause_turn")],
      [finish("length", "max_tokens")],
      [finish("content-filter", "refusal")],
      [finish("interrupted")],
      [finish("other")],
      [finish("other", "eos")],
      []
    ])
      stops.push((await eventsOf(text("0", "hm"), end)).at(-1))
    const broken = { type: "finish", stop: "broken", note: "the stream ended before the turn did" }
    expect(stops).toEqual([
      { type: "finish", stop: "endTurn" },
      { type: "finish", stop: "stopSequence" },
      { type: "finish", stop: "other", note: "stopped: pause_turn" },
      { type: "finish", stop: "length" },
      { type: "finish", stop: "contentFilter" },
      broken,
      broken,
      { type: "finish", stop: "other", note: "stopped: eos" },
      broken
    ])
  })

  it("[L7] in error is a malformed response, and so is a stream without a word", async () => {
    expect([
      await outcome(text("0", "hm"), finish("error", "MALFORMED_FUNCTION_CALL")),
      await outcome(),
      await outcome(finish("other"))
    ]).toEqual([
      "malformedResponse: test.chat sent an end in error (MALFORMED_FUNCTION_CALL)",
      "malformedResponse: test.chat sent a stream that ended before anything was said",
      "malformedResponse: test.chat sent a stream that ended before anything was said"
    ])
  })

  it("[L7] comes once: nothing behind it is read", async () => {
    expect(
      await outcome(text("0", "hm"), finish("stop"), text("1", "more"), call("1", "f", "{}"), finish("tool-calls"))
    ).toEqual([
      { type: "text", text: "hm" },
      { type: "finish", stop: "endTurn" }
    ])
  })

  it("[L7] carries what was counted, and the provider's warnings", async () => {
    expect(
      (
        await eventsOf(
          {
            type: "stream-start",
            warnings: [
              { type: "unsupported", feature: "seed", details: "ignored" },
              { type: "other", message: "old model" }
            ]
          },
          text("0", "hm"),
          {
            type: "finish",
            finishReason: { unified: "stop", raw: "stop" },
            usage: { inputTokens: { total: 7, cacheRead: 3 }, outputTokens: { total: 5, reasoning: 2 } }
          }
        )
      ).at(-1)
    ).toEqual({
      type: "finish",
      stop: "endTurn",
      usage: { inputTokens: 7, outputTokens: 5, reasoningTokens: 2, cachedInputTokens: 3 },
      note: "unsupported: seed (ignored); old model"
    })
  })
})

describe("text and reasoning", () => {
  it("[L4] keep characters whole that were cut between two pieces, and mark one that never came", async () => {
    expect(await eventsOf(text("0", "a\ud83d", "\ude00b", "c\ud83d"), finish("stop"))).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "\ud83d\ude00b" },
      { type: "text", text: "c" },
      { type: "text", text: "\ufffd" },
      { type: "finish", stop: "endTurn" }
    ])
  })

  it("[L4] end each part with its own metadata, so that signatures stay with their reasoning", async () => {
    const thinking = (
      id: string,
      words: string,
      metadata: Record<string, Record<string, string>>
    ): ReadonlyArray<StreamPart> => [
      { type: "reasoning-start", id },
      { type: "reasoning-delta", id, delta: words },
      { type: "reasoning-delta", id, delta: "", providerMetadata: metadata },
      { type: "reasoning-end", id, providerMetadata: { anthropic: { more: "m" } } }
    ]
    expect(
      await eventsOf(
        thinking("0", "one", { anthropic: { signature: "s1" } }),
        { type: "reasoning-start", id: "1", providerMetadata: { anthropic: { redactedData: "sealed" } } },
        { type: "reasoning-end", id: "1" },
        text("2", "hm"),
        finish("stop")
      )
    ).toEqual([
      { type: "reasoning", text: "one" },
      { type: "reasoning", text: "", providerMetadata: { anthropic: { signature: "s1", more: "m" } } },
      { type: "reasoning", text: "", providerMetadata: { anthropic: { redactedData: "sealed" } } },
      { type: "text", text: "hm" },
      { type: "finish", stop: "endTurn" }
    ])
  })

  it("[L4] of two parts that are streamed at once keep their order of arrival", async () => {
    expect(
      summary(
        await eventsOf(
          { type: "text-start", id: "t" },
          { type: "text-delta", id: "t", delta: "a" },
          { type: "reasoning-start", id: "r" },
          { type: "reasoning-delta", id: "r", delta: "b" },
          { type: "text-delta", id: "t", delta: "c" },
          { type: "reasoning-end", id: "r", providerMetadata: { p: { sealed: "x" } } },
          { type: "text-end", id: "t" },
          finish("stop")
        )
      )
    ).toEqual([
      { type: "text", text: "a" },
      { type: "reasoning", text: "b" },
      { type: "text", text: "c" },
      { type: "finish", stop: "endTurn" }
    ])
  })
})

describe("what is not text", () => {
  it("[L7] is kept with the message: files, provider's tools, sources, and parts that only the provider reads", async () => {
    const own = (note: object) => ({ toolwright: { ...note, provider: "test.chat" } })
    expect(
      await outcome(
        { type: "file", mediaType: "image/png", data: { type: "data", data: Uint8Array.of(1, 2, 3) } },
        { type: "file", mediaType: "application/pdf", data: "AQID" },
        { type: "file", mediaType: "video/mp4", data: { type: "url", url: new URL("https://files.example/1") } },
        { type: "custom", kind: "test.sealed", providerMetadata: { test: { seal: "x" } } },
        { type: "tool-call", toolCallId: "p1", toolName: "web_search", input: '{"q":"x"}', providerExecuted: true },
        { type: "tool-result", toolCallId: "p1", toolName: "web_search", result: { partial: true }, preliminary: true },
        { type: "tool-result", toolCallId: "p1", toolName: "web_search", result: { hits: [1] } },
        { type: "tool-call", toolCallId: "p2", toolName: "code", input: "{broken", providerExecuted: true },
        { type: "source", sourceType: "url", id: "s1", url: "https://a.example", title: "A" },
        text("0", "hm"),
        finish("tool-calls")
      )
    ).toEqual([
      { type: "part", part: { type: "image", mediaType: "image/png", data: "AQID" } },
      { type: "part", part: { type: "file", mediaType: "application/pdf", data: "AQID" } },
      {
        type: "part",
        part: {
          type: "providerTool",
          toolId: "web_search",
          callId: "p1",
          input: { q: "x" },
          output: { hits: [1] },
          providerMetadata: own({})
        }
      },
      { type: "text", text: "hm" },
      {
        type: "part",
        part: { type: "providerTool", toolId: "code", callId: "p2", input: "{broken", providerMetadata: own({}) }
      },
      {
        type: "part",
        part: {
          type: "providerTool",
          toolId: "sources",
          callId: "sources",
          output: [{ id: "s1", sourceType: "url", url: "https://a.example", title: "A" }],
          providerMetadata: own({ shown: false })
        }
      },
      { type: "finish", stop: "endTurn" }
    ])
    const sealed = await eventsOf(
      { type: "custom", kind: "test.sealed", providerMetadata: { test: { seal: "x" } } },
      finish("stop")
    )
    expect(sealed[0]).toEqual({
      type: "reasoning",
      text: "",
      providerMetadata: { test: { seal: "x" }, ...own({ custom: "test.sealed" }) }
    })
  })

  it("[L7] asks for no approval: a provider's tool that wants one did not run, and says so", async () => {
    expect(
      await outcome(
        { type: "tool-call", toolCallId: "m1", toolName: "mcp.send", input: "{}", providerExecuted: true },
        { type: "tool-approval-request", approvalId: "a1", toolCallId: "m1" },
        finish("stop")
      )
    ).toEqual([
      {
        type: "part",
        part: expect.objectContaining({ toolId: "mcp.send", callId: "m1", isError: true }) as unknown
      },
      { type: "finish", stop: "endTurn" }
    ])
  })
})
