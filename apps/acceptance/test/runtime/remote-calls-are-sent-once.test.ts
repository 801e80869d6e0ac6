import { once } from "node:events"
import { connect, createServer, type Server, type Socket } from "node:net"
import { erase } from "@toolwright/builtin-tools"
import { Runtime } from "@toolwright/runtime"
import {
  ExecutableAgentSnapshot,
  type Message,
  PermissionGate,
  type RawTool,
  Tool,
  ToolConcurrency,
  ToolDescriptor,
  ToolError,
  ToolOutput
} from "@toolwright/runtime-contract"
import { ScriptedLlm } from "@toolwright/testing"
import { Type } from "typebox"
import { afterEach, describe, expect, it } from "vitest"

/** What a server does with a request: it runs the tool first where it says so. */
type Behaviour = "run, then drop" | "run, then session unknown" | "run, then answer" | "refuse the arguments"

/** A server of another process as far as the runtime is concerned: its own socket, its own count of what it has run. */
class RemoteServer {
  readonly ran: Array<string> = []
  requests = 0
  readonly #plan: Array<Behaviour>
  readonly #server: Server

  constructor(plan: ReadonlyArray<Behaviour>) {
    this.#plan = [...plan]
    this.#server = createServer((socket) => this.#serve(socket))
  }

  async listen(port = 0): Promise<number> {
    this.#server.listen(port, "127.0.0.1")
    await once(this.#server, "listening")
    const address = this.#server.address()
    if (address === null || typeof address === "string") throw new Error("no port")
    return address.port
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, "close")
  }

  #serve(socket: Socket): void {
    socket.on("error", () => {})
    socket.once("data", (data) => {
      this.requests++
      const behaviour = this.#plan.shift() ?? "run, then answer"
      if (behaviour !== "refuse the arguments") this.ran.push(data.toString())
      if (behaviour === "run, then drop") socket.destroy()
      else if (behaviour === "run, then session unknown") socket.end("404 session unknown")
      else if (behaviour === "refuse the arguments") socket.end("error: bad parameters")
      else socket.end("ok")
    })
  }
}

const tools = {
  create: Tool.make({
    id: "create",
    description: "Creates an order",
    args: Type.Object({}),
    target: "Sandbox",
    call: () => "never run here"
  }),
  read: Tool.make({
    id: "read",
    description: "Reads an order",
    args: Type.Object({}),
    target: "Sandbox",
    recovery: "ReplaySafe",
    call: () => "never run here"
  })
}

interface Remote {
  readonly port: number
  /** Runs before each connection. */
  readonly before: () => Promise<unknown>
}

/** Sends calls away over a connection of their own. What was written may have been run; what was not, was not. */
const remoteExecutor = ({ port, before }: Remote): RawTool.ToolExecutor => ({
  recovery: (toolId) => (toolId === "read" ? "ReplaySafe" : "NonRecoverable"),
  concurrency: () => ToolConcurrency.Serial,
  invoke: async ({ toolId, callId }) => {
    await before()
    const socket = connect(port, "127.0.0.1")
    try {
      await once(socket, "connect")
    } catch (cause) {
      throw ToolError.unavailableBeforeDispatch(`${toolId} could not be sent`, cause)
    }
    socket.write(toolId)
    const chunks: Array<Buffer> = []
    try {
      for await (const chunk of socket) chunks.push(chunk as Buffer)
    } catch (cause) {
      throw ToolError.execution("the connection was lost", cause)
    }
    const answer = Buffer.concat(chunks).toString()
    if (answer === "ok") return ToolOutput.ok(callId, "done")
    if (answer.startsWith("error")) return ToolOutput.error(callId, answer)
    throw ToolError.execution(answer === "" ? "the connection was lost" : answer)
  }
})

const open: Array<RemoteServer> = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

interface Told {
  readonly ran: ReadonlyArray<string>
  readonly requests: number
  readonly outcome: Message.ToolMessage["outcome"] | undefined
  readonly isError: boolean | undefined
}

const callOn = async (
  toolId: keyof typeof tools,
  { plan, isLate = false }: { readonly plan: ReadonlyArray<Behaviour>; readonly isLate?: boolean }
): Promise<Told> => {
  const server = new RemoteServer(plan)
  open.push(server)
  const port = await server.listen()
  // Nobody accepts at first: the port is free again, and the server comes back to it at the second look.
  if (isLate) await server.close()
  const later = new RemoteServer(plan)
  open.push(later)
  let looks = 0
  const Sandbox = remoteExecutor({
    port,
    before: async () => (isLate && ++looks === 2 ? later.listen(port) : undefined)
  })
  const snapshot = ExecutableAgentSnapshot.builder("agent")
    .model({ provider: "scripted", model: "one" })
    .tool(ToolDescriptor.forTool(tools[toolId], "remote"))
    .build()
  const runtime = Runtime.make({
    llm: new ScriptedLlm([{ calls: [{ toolId }] }, "Done."]),
    gate: PermissionGate.allowAll,
    tools: [erase(tools[toolId])],
    executors: { Sandbox }
  })
  const { messages, text } = await runtime.run({ snapshot, input: "go", principal: "ada" })
  expect(text).toBe("Done.")
  const result = [...messages].find((message) => message.role === "tool")
  const { ran, requests } = isLate ? later : server
  return { ran, requests, outcome: result?.outcome, isError: result?.isError }
}

describe("remote calls are sent once", () => {
  it("[R8][E2] C097 what a server may have run is not sent again, and is told as unknown", async () => {
    for (const behaviour of ["run, then drop", "run, then session unknown"] as const)
      expect([behaviour, await callOn("create", { plan: [behaviour] })]).toEqual([
        behaviour,
        { ran: ["create"], requests: 1, outcome: "Indeterminate", isError: true }
      ])
  })

  it("[R8] C097 what may be repeated is repeated", async () => {
    expect(await callOn("read", { plan: ["run, then drop"] })).toEqual({
      ran: ["read", "read"],
      requests: 2,
      outcome: "Completed",
      isError: false
    })
  })

  it("[E2] C097 what was never accepted is sent when somebody accepts it, once", async () => {
    expect(await callOn("create", { plan: [], isLate: true })).toEqual({
      ran: ["create"],
      requests: 1,
      outcome: "Completed",
      isError: false
    })
  })

  it("[E1] C097 an error of the tool itself is its result, and sends nothing again", async () => {
    expect(await callOn("create", { plan: ["refuse the arguments"] })).toEqual({
      ran: [],
      requests: 1,
      outcome: "Completed",
      isError: true
    })
  })
})
