import { framesOf, WireServer } from "@toolwright/model-server"
import { type LlmExecutor, Transcript } from "@toolwright/runtime-contract"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { chooseModel } from "../src/Models.js"

let server: WireServer
beforeEach(async () => {
  server = await WireServer.start()
})
afterEach(() => server.close())

const choice = (asked: string | undefined, environment: Record<string, string>): Promise<unknown> =>
  chooseModel(asked, environment).then(
    (chosen) => chosen.binding,
    (error: Error) => error.message
  )

describe("the model of the demo", () => {
  it("[L7] is the one that was named, else the one the environment points to, else the offline one", async () => {
    expect([
      await choice(undefined, {}),
      await choice(undefined, { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }),
      await choice(undefined, { OPENAI_API_KEY: " ", ANTHROPIC_API_KEY: "k" }),
      await choice("anthropic:claude-x", { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }),
      await choice("local:qwen3:8b", { OPENAI_BASE_URL: server.url }),
      await choice("offline", { OPENAI_API_KEY: "k" })
    ]).toEqual([
      { provider: "offline", model: "grammar-1" },
      { provider: "openai", model: "gpt-5-mini" },
      { provider: "anthropic", model: "claude-sonnet-4-5" },
      { provider: "anthropic", model: "claude-x" },
      { provider: "local", model: "qwen3:8b" },
      { provider: "offline", model: "grammar-1" }
    ])
  })

  it("[L7] of a server of one's own is the first that it lists", async () => {
    server.reply({ body: JSON.stringify({ object: "list", data: [{ id: "llama3.2" }, { id: "qwen3" }] }) })
    expect(await choice(undefined, { OPENAI_BASE_URL: `${server.url}/` })).toEqual({
      provider: "local",
      model: "llama3.2"
    })
    expect((await server.request(0)).path).toBe("/models")
  })

  it("[L7] that cannot be asked is refused by what is missing", async () => {
    server.reply({ body: JSON.stringify({ data: [] }) }, { status: 404, body: "no" })
    expect([
      await choice("gpt-5", {}),
      await choice("openai:", { OPENAI_API_KEY: "k" }),
      await choice("anthropic:claude-x", { OPENAI_API_KEY: "k" }),
      await choice("local:x", {}),
      await choice(undefined, { OPENAI_BASE_URL: server.url }),
      await choice(undefined, { OPENAI_BASE_URL: server.url })
    ]).toEqual([
      "--model gpt-5: expected a provider among openai, anthropic, local, offline, as in openai:gpt-5-mini",
      "--model openai:: expected a name behind the colon, as in openai:NAME",
      "--model anthropic:claude-x: expected ANTHROPIC_API_KEY in the environment",
      "--model local:x: expected OPENAI_BASE_URL in the environment",
      `OPENAI_BASE_URL: ${server.url}/models lists no model; name one with --model local:NAME`,
      `OPENAI_BASE_URL: ${server.url}/models does not answer with its models; name one with --model local:NAME`
    ])
  })

  it("[L7] is really spoken to, its package loaded on the way", async () => {
    server.reply({ frames: framesOf("chat", { text: "hello there" }) })
    const chosen = await chooseModel("local:m", { OPENAI_BASE_URL: server.url })
    const request: LlmExecutor.LlmRequest = {
      runId: "run",
      threadId: "thread",
      step: 1,
      attempt: 1,
      model: chosen.binding,
      instructions: "",
      messages: new Transcript([{ role: "user", id: "u", content: [{ type: "text", text: "hi" }] }]),
      notes: [],
      tools: [],
      toolChoice: "auto"
    }
    let said = ""
    for await (const event of chosen.llm.stream(request, { signal: new AbortController().signal }))
      if (event.type === "text") said += event.text
    expect([said, (await server.request(0)).path]).toEqual(["hello there", "/chat/completions"])
  })
})
