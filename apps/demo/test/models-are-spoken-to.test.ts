import { framesOf, WireServer } from "@toolwright/model-server"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { start } from "./world.js"

vi.setConfig({ testTimeout: 30_000 })

let server: WireServer
beforeEach(async () => {
  server = await WireServer.start()
})
afterEach(() => server.close())

const words = ["--offline", "--model", "local:m", "what is 1 + 1"]

const sum = framesOf("chat", {
  text: "Let me calculate.",
  calls: [{ id: "c1", name: "calculate", arguments: '{"expression":"1 + 1"}' }],
  input: 120,
  output: 9
})

describe("a turn with a real model", () => {
  it("[L7] shows what it asks for, what runs, what it says, and what it used in which step", async () => {
    server.reply({ frames: sum }, { frames: framesOf("chat", { text: "It is two.", input: 150, output: 4 }) })
    const { code, out } = await start(words, { environment: { OPENAI_BASE_URL: server.url } }).finished
    expect(code).toBe(0)
    expect(out.split("\n")).toEqual([
      "› what is 1 + 1",
      "",
      "  1    model    Let me calculate.",
      "  1.1  request  calculate  expression: 1 + 1",
      "  1.1  gate     allow calculate",
      "  1.1  run      calculate",
      "  1    usage    120 tokens in, 9 out  local:m, step 1",
      '  1.1  result   ok  {"result":"2","rounded":false}',
      "  1    commit   results published",
      "",
      "  It is two.",
      "  2    usage    150 tokens in, 4 out  local:m, step 2",
      ""
    ])
  })

  it("[L7] works on a folder with the same tools, and is told what they found", async () => {
    const call = { id: "c1", name: "grep", arguments: '{"pattern":"TODO","path":"src"}' }
    server.reply(
      { frames: framesOf("chat", { calls: [call] }) },
      { frames: framesOf("chat", { text: "Two are left." }) }
    )
    const asked = ["--offline", "--model", "local:m", "what is left to do?"]
    const { code, out } = await start(asked, { environment: { OPENAI_BASE_URL: server.url } }).finished
    expect(code).toBe(0)
    expect(out).toContain("Two are left.")
    const { tools } = (await server.request(0)).body as { tools: ReadonlyArray<{ function: { name: string } }> }
    expect(tools.map((tool) => tool.function.name)).toEqual([
      "get_weather",
      "calculate",
      "current_time",
      "save_note",
      "add_to_list",
      "read",
      "write",
      "edit",
      "move",
      "delete",
      "list",
      "glob",
      "grep",
      "bash",
      "web_fetch",
      "todo",
      "ask_user"
    ])
    expect(JSON.stringify((await server.request(1)).body)).toContain(
      "src/receipt.js:9:  // TODO: say when the shop closes."
    )
  })

  it("[L4] shows words while they come, and says so where a new attempt makes them void", async () => {
    const broken = framesOf("chat", { text: "The sum is three " }).slice(0, 4)
    server.reply({ frames: sum }, { frames: broken, afterwards: "reset" })
    const talk = start(words, { terminal: true, environment: { OPENAI_BASE_URL: server.url } })
    await talk.shown("The sum")
    server.reply({ frames: framesOf("chat", { text: "It is two." }) })
    await talk.shown("(void: ")
    const { code, out } = await talk.finished
    expect(code).toBe(0)
    expect(out.split("It is two.")).toHaveLength(2)
  })

  it("[L3] Ctrl-C ends a model that says nothing, and the request with it", async () => {
    server.reply({ frames: [], afterwards: "stall" })
    const running = start(words, { environment: { OPENAI_BASE_URL: server.url } })
    const request = await server.request(0)
    running.interrupt()
    const { code, err, out } = await running.finished
    expect({ code, err }).toEqual({ code: 130, err: "" })
    expect(out).toContain("The run ended: it was cancelled.")
    expect(await request.closed).toEqual({ answered: false })
  })

  it("[L7] that fails is the end of the run, with the reason", async () => {
    server.reply({ status: 401, body: JSON.stringify({ error: { message: "bad key" } }) })
    const { code, out } = await start(words, { environment: { OPENAI_BASE_URL: server.url } }).finished
    expect(code).toBe(1)
    expect(out).toContain("The run ended: something failed: unauthorized")
  })
})
