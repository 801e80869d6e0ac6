import * as http from "node:http"
import type { WebPlace } from "@toolwright/builtin-tools/web"
import type { Policy } from "@toolwright/permissions"
import { Runtime } from "@toolwright/runtime"
import { ExecutableAgentSnapshot, ToolDescriptor } from "@toolwright/runtime-contract"
import { ScriptedLlm } from "@toolwright/testing"
import { describe, expect, it, onTestFinished } from "vitest"
import { guardedWeb } from "../guarded-web.js"

const policy: Policy.Policy = {
  default: "deny",
  rules: [
    { pattern: 'web_fetch(url.host ~ "*.good.test:*")', behavior: "allow" },
    // A name of ours may lead to this machine, and to one place on it not.
    { pattern: 'web_fetch(url.host ~ "127.0.0.1:*")', behavior: "allow" },
    { pattern: 'web_fetch(url.host ~ "127.0.0.9")', behavior: "deny" }
  ]
}

const addresses: Readonly<Record<string, string>> = {
  "docs.good.test": "127.0.0.1",
  "moved.good.test": "127.0.0.9",
  "bad.test": "127.0.0.1"
}

const resolve: WebPlace["resolve"] = (host) =>
  Promise.resolve([{ address: addresses[host] ?? "192.0.2.1", family: 4 as const }])

/** A server that every name above leads to; its paths are names to redirect to. */
const serve = async () => {
  const seen: Array<string> = []
  const server = http.createServer((request, response) => {
    const [, host = ""] = (request.url ?? "").split("/")
    seen.push(`${request.headers.host?.split(":")[0]} ${request.url}`)
    if (host === "") response.writeHead(200, { "content-type": "text/plain" }).end("the page")
    else response.writeHead(302, { location: `http://${host}:${port}/` }).end()
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { port, seen }
}

describe("the guarded web", () => {
  it("[P4] [P5] the policy's host rules hold for the call, for each redirect and for the address that a host resolved to", async () => {
    const { port, seen } = await serve()
    const { gate, tools } = guardedWeb(policy, { workspace: "/ws", resolve, allowedRanges: ["127.0.0.0/8"] })
    const fetched = async (host: string, path = "/"): Promise<string> => {
      const llm = new ScriptedLlm([
        { calls: [{ toolId: "web_fetch", arguments: { url: `http://${host}:${port}${path}` } }] },
        "Done."
      ])
      const snapshot = ExecutableAgentSnapshot.builder("reader")
        .model({ provider: "scripted", model: "one" })
        .tools(tools.map((tool) => ToolDescriptor.forTool(tool, "example")))
        .build()
      const runtime = Runtime.make({ llm, gate, tools })
      const { messages } = await runtime.run({ snapshot, input: "read it", principal: "ada" })
      await runtime.close()
      const [result] = [...messages].flatMap((message) => (message.role === "tool" ? [message] : []))
      return result?.content.map((block) => (block.type === "text" ? block.text : "")).join("") ?? ""
    }
    expect(await fetched("docs.good.test")).toContain("the page")
    expect(await fetched("docs.good.test", "/docs.good.test")).toContain("the page")
    const before = seen.length
    expect(await fetched("bad.test")).toContain("web_fetch is denied by policy")
    expect(await fetched("moved.good.test")).toContain("moved.good.test is denied by policy")
    expect(seen.length).toBe(before)
    expect(await fetched("docs.good.test", "/bad.test")).toContain(
      "a redirect led to bad.test: bad.test is denied by policy"
    )
    expect(await fetched("docs.good.test", "/moved.good.test")).toContain(
      "a redirect led to moved.good.test: moved.good.test is denied by policy"
    )
    expect(seen.slice(before)).toEqual(["docs.good.test /bad.test", "docs.good.test /moved.good.test"])
  })
})
