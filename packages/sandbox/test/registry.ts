// Tools by hand, as plain objects, for both sides: what the executor does must not depend on how they were made.
import { spawn } from "node:child_process"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as http from "node:http"
import * as net from "node:net"
import type { RawTool, ToolOutput } from "@toolwright/runtime-contract"

let count = 0
const key = { name: "k", scope: "Thread", merge: "Disjoint", schema: {} } as const
const text = (callId: string, value: unknown): ToolOutput.ToolOutput => ({
  callId,
  content: [{ type: "text", text: String(value) }],
  isError: false,
  state: []
})

interface Call {
  readonly callId: string
  readonly arguments: { readonly value?: string }
}

interface Options extends Partial<Pick<RawTool.RawTool, "recovery" | "stateKeys">> {
  readonly outputSchema?: RawTool.ToolSpec["outputSchema"]
  readonly reconcile?: unknown
}

const tool = (
  id: string,
  { recovery = "ReplaySafe", stateKeys = [], outputSchema, ...rest }: Options,
  invoke: (call: Call, context: RawTool.InvocationContext) => unknown
): RawTool.RawTool => {
  const inputSchema = { type: "object", properties: { value: { type: "string" } }, additionalProperties: false }
  const schemas = outputSchema === undefined ? { inputSchema } : { inputSchema, outputSchema }
  const spec = Object.freeze({ id, description: id, ...schemas, kind: "Regular", target: "Sandbox", warnings: [] })
  const attribution = { role: "tool", alias: id, provenance: "Extension" }
  const made: unknown = {
    spec: () => spec,
    recovery,
    attribution,
    stateKeys,
    concurrency: () => ({ _tag: "Parallel" }),
    invoke,
    ...rest
  }
  return made as RawTool.RawTool
}

const refusal = Object.assign(new Error("not like that"), {
  reason: { _tag: "InvalidArguments", issues: [{ pointer: "/value", expected: "a", received: "b" }, { nonsense: 1 }] }
})

const make = (place: object): ReadonlyArray<RawTool.RawTool> => [
  tool("echo", {}, ({ callId, arguments: { value } }) => text(callId, value)),
  tool("count", {}, ({ callId }) => text(callId, ++count)),
  tool("operation", {}, ({ callId }, { operation }) => text(callId, JSON.stringify(operation))),
  tool("state", { stateKeys: [key] }, ({ callId }, { operation }) => ({
    ...text(callId, operation.state.get(key)),
    state: [{ _tag: "Set", scope: "Thread", key: "k", merge: "Disjoint", value: 2 }]
  })),
  tool("place", {}, ({ callId }) =>
    text(callId, JSON.stringify({ ...place, pid: process.pid, env: process.env, cwd: process.cwd() }))
  ),
  tool("print", {}, ({ callId }) => {
    console.log("noise")
    process.stdout.write("more noise")
    return text(callId, "quiet")
  }),
  tool("progress", {}, ({ callId }, { progress }) => {
    progress("half")
    return new Promise((resolve) => setTimeout(() => resolve(text(callId, "whole")), 20))
  }),
  tool("kept", {}, ({ callId }) => text(callId, fs.statSync("/etc/toolwright-code").size)),
  tool("fail", { recovery: "NonRecoverable" }, () => {
    throw new Error("broken")
  }),
  tool("refuse", {}, () => Promise.reject(refusal)),
  tool(
    "wait",
    {},
    (_, { signal }) =>
      new Promise((__, reject) =>
        signal.addEventListener("abort", () => reject(new Error(String((signal.reason as Error).message))))
      )
  ),
  tool("deaf", { recovery: "NonRecoverable" }, () => new Promise(() => {})),
  tool("busy", {}, () => {
    for (;;);
  }),
  tool("exit", { recovery: "NonRecoverable" }, () => process.exit(3)),
  tool("huge", {}, ({ callId }) => text(callId, "x".repeat(70 * 1024 * 1024))),
  tool("circular", {}, ({ callId }) => {
    const output: object & { data?: unknown } = { ...text(callId, "x") }
    output.data = output
    return output
  }),
  tool("nothing", {}, () => undefined),
  tool(
    "typed",
    { outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
    ({ callId, arguments: { value } }) => ({
      ...text(callId, value),
      data: JSON.parse(value ?? "") as unknown
    })
  ),
  tool("write", {}, ({ callId, arguments: { value } }) => {
    fs.writeFileSync(value ?? "", "x")
    return text(callId, "written")
  }),
  tool(
    "connect",
    {},
    ({ callId, arguments: { value } }) =>
      new Promise((resolve) => {
        const socket = net.connect(Number(value), "127.0.0.1")
        socket.once("connect", () => resolve(text(callId, "connected")))
        socket.once("error", (error) => resolve(text(callId, error.message)))
      })
  ),
  // Writes one part after the other, each after an answer to the one before, and gives all that came until the end.
  tool("proxied", {}, ({ callId, arguments: { value } }) => {
    const parts = JSON.parse(value ?? "[]") as Array<string>
    return new Promise((resolve) => {
      let said = ""
      const socket = net.connect({ port: 3128, host: "127.0.0.1" })
      const next = (): void => void socket.write(Buffer.from(parts.shift() ?? "", "base64"))
      socket.once("connect", next)
      socket.on("data", (part) => {
        said += part.toString("latin1")
        if (parts.length > 0) next()
      })
      socket.on("error", (error) => (said += error.message))
      socket.once("close", () => resolve(text(callId, said)))
    })
  }),
  tool("download", {}, ({ callId, arguments: { value } }) => {
    const digest = crypto.createHash("sha256")
    return new Promise((resolve) => {
      http.get({ port: 3128, host: "127.0.0.1", path: value, agent: false }, (answer) => {
        answer.on("data", (part: Buffer) => digest.update(part))
        answer.once("end", () => resolve(text(callId, digest.digest("hex"))))
      })
    })
  }),
  tool("leave", {}, ({ callId, arguments: { value } }) => {
    spawn("setsid", ["sleep", value ?? "1"], { detached: true, stdio: "ignore" }).unref()
    return text(callId, "left")
  }),
  tool("forge", {}, ({ callId, arguments: { value } }) => {
    fs.writeSync(1, Buffer.from(value ?? "", "base64"))
    return new Promise((resolve) => setTimeout(() => resolve(text(callId, "own")), 200))
  }),
  tool(
    "reconciled",
    {
      recovery: "DurableRequest",
      reconcile: ({ callId }: Call, operation: { readonly operationId: string }) => ({
        _tag: "Happened",
        output: text(callId, `before ${operation.operationId}`)
      })
    },
    ({ callId }) => text(callId, "now")
  )
]

export default make
