import * as http from "node:http"
import type * as net from "node:net"
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest"
import type { RefusedHost } from "@toolwright/sandbox"
import { makeWorld, secret, type World } from "./world.js"

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

// One host is listed: a server that answers, and redirects to the one that is not.
let world: World
let listed: number
const refused: Array<RefusedHost> = []
const server = http.createServer((request, response) => {
  if (request.url === "/away") response.writeHead(302, { location: `http://127.0.0.1:${world.port}/` })
  response.end(`listed says ${request.headers.host}`)
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  listed = (server.address() as net.AddressInfo).port
  world = await makeWorld({
    network: { hosts: [`127.0.0.1:${listed}`], refused: (one) => void refused.push(one) }
  })
})
afterAll(async () => {
  server.close()
  await world.close()
})
afterEach(() => {
  if (world.reached.length > 0) throw new Error(`the host was reached: ${world.reached.join()}`)
})

const run = (command: string): Promise<string> =>
  world.bash(command.replaceAll("PORT", String(world.port)).replaceAll("LISTED", String(listed)))

it("what is listed is reached by ordinary programs, so the attacks have something to get through", async () => {
  expect(await run("curl -s http://127.0.0.1:LISTED/; echo; curl -s -p http://127.0.0.1:LISTED/")).toBe(
    `listed says 127.0.0.1:${listed}\nlisted says 127.0.0.1:${listed}`
  )
})

it.each([
  ["without the proxy", "timeout 3 bash -c 'echo GET / > /dev/tcp/127.0.0.1/PORT && echo GOT THROUGH'"],
  [
    "without the proxy, to what is listed",
    "timeout 3 bash -c 'echo GET / > /dev/tcp/127.0.0.1/LISTED && echo GOT THROUGH'"
  ],
  ["outside, without the proxy", "timeout 3 bash -c 'echo > /dev/tcp/1.1.1.1/53 && echo GOT THROUGH'"],
  ["by the variables left out", "env -i curl -sm 3 http://127.0.0.1:PORT/"],
  ["by another port", "curl -sm 3 http://127.0.0.1:PORT/"],
  ["by a tunnel", "curl -sm 3 -p http://127.0.0.1:PORT/"],
  [
    "by a name for this machine",
    "curl -sm 3 http://localhost:PORT/; curl -sm 3 http://localhost:LISTED/ | grep -q says && echo GOT THROUGH"
  ],
  ["by one number", "curl -sm 3 http://2130706433:PORT/"],
  ["in base sixteen", "curl -sm 3 http://0x7f000001:PORT/"],
  ["in base eight", "curl -sm 3 http://017700000001:PORT/"],
  ["by few parts", "curl -sm 3 http://127.1:PORT/"],
  ["by an address of IPv6", "curl -gsm 3 'http://[::ffff:127.0.0.1]:PORT/'; curl -gsm 3 'http://[::1]:PORT/'"],
  ["by nobody's address", "curl -sm 3 http://0.0.0.0:PORT/; curl -gsm 3 'http://[::]:PORT/'"],
  ["by a user name", "curl -sm 3 http://127.0.0.1:LISTED@127.0.0.1:PORT/"],
  [
    "by another name in the head",
    "curl -sm 3 -H 'Host: 127.0.0.1:PORT' http://127.0.0.1:LISTED/ | grep PORT && echo GOT THROUGH"
  ],
  ["by a redirect", "curl -sLm 3 http://127.0.0.1:LISTED/away"],
  [
    "by a second request in a tunnel",
    `printf 'CONNECT 127.0.0.1:LISTED HTTP/1.1\\r\\n\\r\\nGET http://127.0.0.1:PORT/ HTTP/1.1\\r\\nHost: 127.0.0.1:PORT\\r\\n\\r\\n' | timeout 3 bash -c 'exec 5<>/dev/tcp/127.0.0.1/3128; cat >&5; cat <&5'`
  ],
  [
    "by a tunnel in a tunnel",
    `printf 'CONNECT 127.0.0.1:LISTED HTTP/1.1\\r\\n\\r\\nCONNECT 127.0.0.1:PORT HTTP/1.1\\r\\n\\r\\nGET / HTTP/1.1\\r\\n\\r\\n' | timeout 3 bash -c 'exec 5<>/dev/tcp/127.0.0.1/3128; cat >&5; cat <&5'`
  ],
  [
    "by a request hidden in a body",
    `printf 'POST http://127.0.0.1:LISTED/ HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET http://127.0.0.1:PORT/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' | timeout 3 bash -c 'exec 5<>/dev/tcp/127.0.0.1/3128; cat >&5; cat <&5'`
  ],
  ["by lines in a host", "curl -sm 3 -p --proxy-header $'X: y\\r\\nHost: 127.0.0.1:PORT' 'http://127.0.0.1:PORT/'"],
  [
    "in another protocol",
    "curl -sm 3 -x socks5://127.0.0.1:3128 http://127.0.0.1:PORT/; curl -sm 3 ftp://127.0.0.1:PORT/"
  ],
  [
    "by the name server",
    'timeout 3 getent hosts example.org && echo GOT THROUGH; timeout 5 node -e \'const r = new (require("dns").Resolver)(); r.setServers(["1.1.1.1"]); r.resolve4("example.org", (e) => e || console.log("GOT THROUGH"))\''
  ],
  [
    "by the proxy's own place",
    'timeout 3 node -e \'require("net").createServer().listen(3128, "127.0.0.1", () => console.log("GOT THROUGH")).on("error", () => {})\''
  ],
  ["to the metadata service", "curl -sm 3 http://169.254.169.254/ | grep -v sandbox && echo GOT THROUGH"]
])("a host that is not listed is not reached %s", async (_, command) => {
  const text = await run(command)
  expect([text.includes(secret), text.includes("GOT THROUGH")]).toEqual([false, false])
})

it("the one who listed hosts hears what was tried, each once, and the program is told why", async () => {
  expect(await run("curl -sm 3 http://evil.example/; curl -sm 3 http://evil.example/")).toBe(
    "evil.example:80 is not a listed host of this sandbox\n".repeat(2).trimEnd()
  )
  expect(refused.filter(({ host }) => host === "evil.example")).toEqual([
    { host: "evil.example", port: 80, reason: "NotListed" }
  ])
})

it("a flood of connections ends, and neither the hand nor the proxy with it", async () => {
  const flood = `const net = require("net"); let n = 0
    for (let i = 0; i < 1000; i++) net.connect(3128, "127.0.0.1").on("error", () => {}).on("connect", () => n++)
    setTimeout(() => process.exit(), 1500)`
  await world.node(flood)
  expect(await run("curl -s http://127.0.0.1:LISTED/")).toContain("listed says")
})
