import type { LlmExecutor, Message } from "@toolwright/runtime-contract"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import type { CallOptionsV4 } from "../src/AiSdkModel.js"
import { AiSdkExecutor } from "../src/index.js"
import { describeTool, emptyArguments } from "./support/descriptors.js"
import { finish, partModel, text } from "./support/partModel.js"
import { providers } from "./support/providers.js"
import { collect, requestOf, signalOf, user } from "./support/requests.js"
import { framesOf } from "@toolwright/model-server"
import { WireServer } from "@toolwright/model-server"

const assistant = (...content: ReadonlyArray<Message.AssistantPart>): Message.AssistantMessage => ({
  role: "assistant",
  id: "a",
  runId: "run",
  step: 1,
  content,
  stop: "toolCalls"
})

const asks = (callId: string, toolId = "ping", more: Partial<Message.ToolCallPart> = {}): Message.ToolCallPart => ({
  type: "toolCall",
  callId,
  toolId,
  arguments: {},
  ...more
})

const answers = (
  callId: string,
  content: string | ReadonlyArray<Message.ContentBlock>,
  isError = false
): Message.ToolMessage => ({
  role: "tool",
  id: `t-${callId}`,
  callId,
  toolId: "ping",
  operationId: `o-${callId}`,
  outcome: "Completed",
  isError,
  content: typeof content === "string" ? [{ type: "text", text: content }] : content
})

const reminder = (words: string): Message.ReminderMessage => ({
  role: "reminder",
  id: words,
  source: "hook",
  text: words
})

/** The options that a model of this provider is called with. */
const sent = async (
  given: Parameters<typeof requestOf>[0],
  { provider = "openai.chat" }: { readonly provider?: string } = {}
): Promise<CallOptionsV4> => {
  const model = partModel([...text("0", "hm"), finish("stop")], provider)
  await collect(
    AiSdkExecutor.fromModel(model).stream(
      requestOf({ tools: [describeTool("ping", emptyArguments)], ...given }),
      signalOf()
    )
  )
  return model.calls[0]!
}

const promptOf = async (messages: ReadonlyArray<Message.Message>, to: { readonly provider?: string } = {}) =>
  (await sent({ messages }, to)).prompt

const result = (toolCallId: string, type: "text" | "error-text", value: string, toolName = "ping") => ({
  type: "tool-result",
  toolCallId,
  toolName,
  output: { type, value }
})

const call = (toolCallId: string, toolName = "ping", input: unknown = {}) => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input
})

describe("calls and results", () => {
  it("[E1] go together: one result a call, in the order of the calls, directly behind them; notes come after", async () => {
    expect(
      await promptOf([
        user("go"),
        assistant(asks("c1"), asks("c2"), asks("c3")),
        answers("c2", "two"),
        reminder("mind the gap"),
        answers("c1", "one", true),
        answers("c1", "one again"),
        answers("c9", "of nobody"),
        user("and?")
      ])
    ).toEqual([
      { role: "user", content: [{ type: "text", text: "go" }] },
      { role: "assistant", content: [call("c1"), call("c2"), call("c3")] },
      {
        role: "tool",
        content: [
          result("c1", "error-text", "one"),
          result("c2", "text", "two"),
          result("c3", "error-text", "No result of this call was recorded.")
        ]
      },
      { role: "user", content: [{ type: "text", text: "[note from hook] mind the gap" }] },
      { role: "user", content: [{ type: "text", text: "and?" }] }
    ])
  })

  it("[T4] have ids and names that the provider takes, the same for call and result", async () => {
    const [, asked, told] = await promptOf([
      user("go"),
      assistant(asks("functions.ping:0", "no such tool!"), asks("c2", "ping")),
      answers("functions.ping:0", "x"),
      answers("c2", "y")
    ])
    const id = expect.stringMatching(/^call_[0-9a-f]{32}$/) as unknown as string
    const name = expect.stringMatching(/^no_such_tool__[0-9a-f]{10}$/) as unknown as string
    expect(asked).toEqual({ role: "assistant", content: [call(id, name), call("c2")] })
    expect(told).toEqual({ role: "tool", content: [result(id, "text", "x", name), result("c2", "text", "y")] })
    const ids = [asked, told].map((message) => (message!.content as Array<{ toolCallId: string }>)[0]!.toolCallId)
    expect(ids[0]).toBe(ids[1])
  })

  it("[T4] of refused arguments are sent as an empty object", async () => {
    const [, asked] = await promptOf([
      user("go"),
      assistant(asks("c1", "ping", { rawArguments: '{"a":' })),
      answers("c1", "bad", true)
    ])
    expect(asked).toEqual({ role: "assistant", content: [call("c1")] })
  })
})

describe("what is empty or broken", () => {
  it("[T10] is filled, left out or made whole", async () => {
    expect(
      await promptOf([
        { role: "user", id: "u", content: [{ type: "text", text: "  " }] },
        assistant({ type: "text", text: " \n" }, asks("c1", "ping", { arguments: { t: "x\ud83d", ok: "😀" } })),
        answers("c1", ""),
        assistant({ type: "text", text: "" }),
        { role: "user", id: "u2", content: [{ type: "text", text: "row \ud83d end" }] }
      ])
    ).toEqual([
      { role: "user", content: [{ type: "text", text: "(empty)" }] },
      { role: "assistant", content: [call("c1", "ping", { t: "x\ufffd", ok: "😀" })] },
      { role: "tool", content: [result("c1", "text", "(no output)")] },
      { role: "user", content: [{ type: "text", text: "row \ufffd end" }] }
    ])
  })
})

describe("reasoning", () => {
  const signed = { type: "reasoning", text: "because", providerMetadata: { anthropic: { signature: "s" } } } as const
  const unsigned = { type: "reasoning", text: "hm" } as const
  const history = [user("go"), assistant(signed, unsigned, { type: "text", text: "a" }, signed)]

  it("[L7] goes back with its signature, and only where something stands behind it", async () => {
    expect((await promptOf(history, { provider: "anthropic.messages" }))[1]).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "because", providerOptions: { anthropic: { signature: "s" } } },
        { type: "text", text: "a" }
      ]
    })
  })

  it("[L7] of one provider is not sent to another that could not read it", async () => {
    for (const provider of ["openai.responses", "openai.chat", "mistral.chat"])
      expect((await promptOf(history, { provider }))[1]).toEqual({
        role: "assistant",
        content: [{ type: "text", text: "a" }]
      })
  })

  it("[L7] is sent as it is to providers that take any", async () => {
    expect(((await promptOf(history, { provider: "deepseek.chat" }))[1]!.content as Array<unknown>).length).toBe(4)
  })
})

describe("files", () => {
  const image = { type: "image", mediaType: "image/png", data: "AQID" } as const
  const history = [
    {
      role: "user",
      id: "u",
      content: [
        { type: "text", text: "look" },
        { type: "file", mediaType: "application/pdf", data: "AQID", name: "a.pdf" }
      ]
    },
    assistant(asks("c1"), asks("c2")),
    answers("c1", [{ type: "text", text: "a chart" }, image]),
    answers("c2", "plain")
  ] as const

  it("[T10] of a result stay in it where the provider takes them there", async () => {
    const prompt = await promptOf(history, { provider: "anthropic.messages" })
    expect(prompt[0]).toEqual({
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "file", mediaType: "application/pdf", data: { type: "data", data: "AQID" }, filename: "a.pdf" }
      ]
    })
    expect(prompt[2]!.content[0]).toEqual({
      type: "tool-result",
      toolCallId: "c1",
      toolName: "ping",
      output: {
        type: "content",
        value: [
          { type: "text", text: "a chart" },
          { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } }
        ]
      }
    })
  })

  it("[T10] of a result follow behind all results where it takes only text there", async () => {
    expect((await promptOf(history)).slice(2)).toEqual([
      {
        role: "tool",
        content: [result("c1", "text", "a chart\n[1 file attached behind the results]"), result("c2", "text", "plain")]
      },
      {
        role: "user",
        content: [
          { type: "text", text: "[files of the result of ping, call c1]" },
          { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } }
        ]
      }
    ])
  })
})

describe("what a provider ran itself", () => {
  const ran = (provider: string): Message.ProviderToolPart => ({
    type: "providerTool",
    toolId: "web_search",
    callId: "p1",
    input: { q: "x" },
    output: { hits: 1 },
    providerMetadata: { toolwright: { provider } }
  })

  it("[L7] goes back to it as it was, and to any other as a line of text", async () => {
    const history = (provider: string) => [user("go"), assistant(ran(provider), { type: "text", text: "found" })]
    expect((await promptOf(history("anthropic.messages"), { provider: "anthropic.messages" }))[1]!.content).toEqual([
      { type: "tool-call", toolCallId: "p1", toolName: "web_search", input: { q: "x" }, providerExecuted: true },
      { type: "tool-result", toolCallId: "p1", toolName: "web_search", output: { type: "json", value: { hits: 1 } } },
      { type: "text", text: "found" }
    ])
    expect((await promptOf(history("anthropic.messages"), { provider: "openai.chat" }))[1]!.content).toEqual([
      { type: "text", text: '[the provider ran web_search with {"q":"x"}: {"hits":1}]' },
      { type: "text", text: "found" }
    ])
  })
})

describe("notes of one request", () => {
  const notes = [{ source: "clock", content: [{ type: "text", text: "it is noon" }] }] as const

  it("[L5] stand at the end, behind results", async () => {
    const { prompt } = await sent({
      messages: [user("go"), assistant(asks("c1")), answers("c1", "x")],
      notes,
      instructions: "Be brief."
    })
    expect([prompt[0], prompt.at(-1)]).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "[note from clock] it is noon" }] }
    ])
  })

  it("[L5] go into the last result where no message may follow one", async () => {
    const { prompt } = await sent(
      { messages: [user("go"), assistant(asks("c1")), answers("c1", "x")], notes },
      { provider: "mistral.chat" }
    )
    expect(prompt.at(-1)).toEqual({
      role: "tool",
      content: [{ ...result(expect.any(String) as string, "text", "x\n\n[note from clock] it is noon") }]
    })
  })
})

describe("over the wire", () => {
  let server: WireServer
  beforeEach(async () => {
    server = await WireServer.start()
  })
  afterEach(() => server.close())

  const history: ReadonlyArray<Message.Message> = [
    user("go"),
    assistant({ type: "text", text: "looking" }, asks("c1"), asks("c2")),
    answers("c1", "one"),
    reminder("mind"),
    answers("c2", "two", true),
    user("more")
  ]

  it.each(providers)("[E1] $name sends calls, their results and nothing between them", async (provider) => {
    server.reply({ frames: framesOf(provider.format, { text: "ok" }) })
    const llm = AiSdkExecutor.fromModel(provider.model(server.url))
    const request: LlmExecutor.LlmRequest = requestOf({
      messages: history,
      tools: [describeTool("ping", emptyArguments)]
    })
    await collect(llm.stream(request, signalOf()))
    const { body } = await server.request(0)
    const items = (body["messages"] ?? body["input"]) as Array<Record<string, unknown>>
    expect(items.map(shape)).toEqual(
      provider.format === "anthropic"
        ? ["user", "assistant:text,tool_use c1,tool_use c2", "user:tool_result c1,tool_result c2,text,text"]
        : provider.format === "chat"
          ? ["user", "assistant c1 c2", "tool c1", "tool c2", "user", "user"]
          : [
              "user",
              "assistant",
              "function_call c1",
              "function_call c2",
              "function_call_output c1",
              "function_call_output c2",
              "user",
              "user"
            ]
    )
  })
})

/** What matters of an item of a request: roles, kinds, ids of calls. */
const shape = (item: Record<string, unknown>): string => {
  if (typeof item["type"] === "string" && item["type"].startsWith("function_call"))
    return `${item["type"]} ${String(item["call_id"])}`
  if (item["role"] === "tool") return `tool ${String(item["tool_call_id"])}`
  const calls = (item["tool_calls"] as Array<{ id: string }> | undefined) ?? []
  if (calls.length > 0) return `${String(item["role"])} ${calls.map(({ id }) => id).join(" ")}`
  const parts = Array.isArray(item["content"]) ? (item["content"] as Array<Record<string, string>>) : []
  const kinds = parts.map((part) => [part["type"], part["id"] ?? part["tool_use_id"]].filter(Boolean).join(" "))
  return kinds.length > 1 ? `${String(item["role"])}:${kinds.join(",")}` : String(item["role"])
}
