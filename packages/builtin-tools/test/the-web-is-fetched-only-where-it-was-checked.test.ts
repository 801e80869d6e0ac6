import * as http from "node:http"
import type { AddressInfo } from "node:net"
import * as zlib from "node:zlib"
import { expect, it, onTestFinished } from "vitest"
import { ToolOutput } from "@toolwright/runtime-contract"
import { erase } from "../src/index.js"
import { webFetch, type WebPlace } from "../src/web.js"
import { hands } from "./folder.js"

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => void

/** A server on this machine that `good.test` leads to, and a record of what reached it. */
const world = async (handle: Handler, place: WebPlace = {}) => {
  const seen: Array<string> = []
  const server = http.createServer((request, response) => {
    seen.push(`${request.headers.host}${request.url}`)
    handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const resolved: Array<string> = []
  const names: Readonly<Record<string, string>> = {
    "good.test": "127.0.0.1",
    "inside.test": "10.0.0.1",
    "meta.test": "169.254.169.254"
  }
  const tool = webFetch({
    allowedRanges: ["127.0.0.1"],
    resolve: (host) => {
      resolved.push(host)
      const address = names[host]
      return Promise.resolve(address === undefined ? [] : [{ address, family: 4 }])
    },
    ...place
  })
  const { call, text } = hands("/", [erase(tool)])
  return { call, text, seen, resolved, base: `http://good.test:${port}`, port }
}

const answer =
  (
    body: string | Buffer,
    headers: http.OutgoingHttpHeaders = { "content-type": "text/html; charset=utf-8" }
  ): Handler =>
  (_, response) =>
    response.writeHead(200, headers).end(body)

it("a page comes as Markdown with its title, without scripts, and marked as coming from outside", async () => {
  const html = `<html><head><title> A &lt;page </title><style>x{}</style></head><body><h1>Head</h1><p>Some <b>bold</b> <a href="/x">link</a></p>
    <script>alert(1)</script><img src="data:xyz" alt="a cat"><pre><code>x = 1</code></pre></body></html>`
  const { call, base } = await world(answer(html))
  const output = await call("web_fetch", { url: `${base}/` })
  expect(ToolOutput.text(output)).toBe(
    `${base}/ (200)\n# A &lt;page\n\n# Head\n\nSome **bold** [link](/x)\n\n[image: a cat]\n\n\`\`\`\nx = 1\n\`\`\``
  )
  expect(output).toMatchObject({ foreign: true, isError: false, data: { status: 200, truncated: false } })
})

// C082, C083
it.each([
  "http://127.0.0.2/",
  "http://[::1]/",
  "http://[::ffff:169.254.169.254]/",
  "http://2852039166/",
  "http://0xa9.0xfe.0xa9.0xfe/",
  "http://10.0.0.1/",
  "http://192.168.1.1/",
  "http://inside.test/",
  "http://meta.test/latest",
  "http://0.0.0.0/",
  "http://good.test:x@inside.test/",
  "http://user:pass@good.test/",
  "ftp://good.test/",
  "file:///etc/passwd",
  "//good.test/x",
  "data:text/plain,x",
  "http://nowhere.test/"
])("%s is refused and nothing is sent", async (url) => {
  const { text, seen } = await world(answer("secret"))
  expect(await text("web_fetch", { url })).toMatch(/^refused: /)
  expect(seen).toEqual([])
})

it("a name with one private address among public ones is refused", async () => {
  const resolve = () =>
    Promise.resolve([
      { address: "8.8.8.8", family: 4 as const },
      { address: "fd00::1", family: 6 as const }
    ])
  const { text } = await world(answer("x"), { resolve })
  expect(await text("web_fetch", { url: "http://mixed.test/" })).toContain("leads to an address that is not public")
})

it("the name is resolved once, so a second answer cannot lead elsewhere", async () => {
  let asked = 0
  const resolve = () => Promise.resolve([{ address: ++asked === 1 ? "127.0.0.1" : "10.0.0.1", family: 4 as const }])
  const { text, port } = await world(answer("fine", { "content-type": "text/plain" }), { resolve })
  expect(await text("web_fetch", { url: `http://rebind.test:${port}/` })).toContain("fine")
  expect(asked).toBe(1)
})

it.each([
  ["a private address", "http://169.254.169.254/latest", "leads to an address that is not public"],
  ["a private name", "http://inside.test/x", "leads to an address that is not public"],
  ["another scheme", "file:///etc/passwd", "redirected to something that is no URL"],
  ["credentials", "http://a:b@good.test/", "user name or password"]
])("a redirect to %s is refused before anything is sent there", async (_, location, why) => {
  const { text, base, seen } = await world((__, response) => response.writeHead(302, { location }).end())
  expect(await text("web_fetch", { url: `${base}/a` })).toContain(why)
  expect(seen.length).toBe(1)
})

it("redirects are followed a bounded number of times, and each hop is asked about", async () => {
  const asked: Array<string> = []
  const refuses: WebPlace["refuses"] = (...[url, , address]) => {
    if (address === undefined) asked.push(url.pathname)
    return url.pathname === "/denied" ? "the policy says no" : undefined
  }
  const handle: Handler = ({ url }, response) => {
    if (url === "/b") response.writeHead(302, { location: "/c" }).end()
    else if (url === "/c") answer("here", { "content-type": "text/plain" })({} as never, response)
    else if (url === "/to-denied") response.writeHead(302, { location: "/denied" }).end()
    else response.writeHead(302, { location: "/loop" }).end()
  }
  const { text, base, seen, port } = await world(handle, { refuses })
  expect(await text("web_fetch", { url: `${base}/b` })).toBe(`${base}/c (200)\n\nhere`)
  expect(await text("web_fetch", { url: `${base}/to-denied` })).toContain("the policy says no")
  expect(await text("web_fetch", { url: `${base}/loop` })).toContain("more than 5 redirects")
  expect(asked).toEqual(["/b", "/c", "/to-denied", "/denied", ...Array.from({ length: 6 }, () => "/loop")])
  expect(seen).not.toContain(`good.test:${port}/denied`)
})

it("every address of every hop is asked about before anything is sent there", async () => {
  const asked: Array<string> = []
  const refuses: WebPlace["refuses"] = (...[url, first, address]) => {
    asked.push(`${url.pathname} of ${first.pathname}: ${address ?? "name"}`)
    return address === "127.0.0.2" ? "not that address" : undefined
  }
  const resolve: WebPlace["resolve"] = (host) =>
    Promise.resolve(
      (host === "two.test" ? ["127.0.0.1", "127.0.0.2"] : ["127.0.0.1"]).map((address) => ({ address, family: 4 }))
    )
  const handle: Handler = (_, response) => response.writeHead(302, { location: `http://two.test:${port}/b` }).end()
  const { text, base, seen, port } = await world(handle, { refuses, resolve, allowedRanges: ["127.0.0.0/8"] })
  expect(await text("web_fetch", { url: `${base}/a` })).toContain("a redirect led to two.test: not that address")
  expect(asked).toEqual([
    "/a of /a: name",
    "/a of /a: 127.0.0.1",
    "/b of /a: name",
    "/b of /a: 127.0.0.1",
    "/b of /a: 127.0.0.2"
  ])
  expect(seen).toEqual([`good.test:${port}/a`])
})

it("a body that grows when it is unpacked is cut at its bound", async () => {
  const bomb = zlib.gzipSync(Buffer.alloc(100 * 1024 * 1024, "a"))
  const { call, base } = await world(answer(bomb, { "content-type": "text/plain", "content-encoding": "gzip" }))
  const output = await call("web_fetch", { url: base })
  expect(output.data).toMatchObject({ truncated: true })
  expect(ToolOutput.text(output).length).toBeLessThan(50_000)
  expect(ToolOutput.text(output)).toContain("larger than 5 MiB")
})

it("a long page is read in parts that fit together", async () => {
  const page = Array.from({ length: 12_000 }, (_, index) => `word${index}`).join(" ")
  const { call, base } = await world(answer(page, { "content-type": "text/plain" }))
  const first = ToolOutput.text(await call("web_fetch", { url: base }))
  const offset = Number(/go on with offset (\d+)/.exec(first)?.[1])
  const second = ToolOutput.text(await call("web_fetch", { url: base, offset }))
  const body = (text: string): string => text.split("\n\n")[1] ?? ""
  expect((body(first) + body(second)).slice(0, 90_000)).toBe(page.slice(0, 90_000))
})

it.each([
  ["latin-1 from the header", Buffer.from("caf\xe9", "latin1"), "text/plain; charset=iso-8859-1", "café"],
  ["a character set of the page", Buffer.from('<meta charset="windows-1251"><p>\xcf</p>', "latin1"), "text/html", "П"],
  ["an unknown character set", Buffer.from("ok"), "text/plain; charset=nonsense", "ok"],
  ["an image", Buffer.from([1, 2, 3]), "image/png", "(not text: image/png, 3 bytes)"],
  ["escape sequences", Buffer.from("a\u001b[31mb"), "text/plain", "ab"],
  ["a page of unclosed tags", Buffer.from("<script>".repeat(100_000) + "<<<<".repeat(100_000)), "text/html", "(200)"],
  ["a page nested too deeply", Buffer.from("<div>".repeat(200_000) + "deep"), "text/html", "deep"]
])("%s is read", async (_, body, contentType, expected) => {
  const { text, base } = await world(answer(body, { "content-type": contentType }))
  expect(await text("web_fetch", { url: base })).toContain(expected)
})

it("[L3] a fetch that is cancelled ends, and its connection is closed", async () => {
  const controller = new AbortController()
  let closed: Promise<void> | undefined
  const { text, base } = await world((request, response) => {
    closed = new Promise((resolve) => request.once("close", resolve))
    response.writeHead(200, { "content-type": "text/plain" }).write("begun")
    controller.abort(new Error("cancelled"))
  })
  expect(await text("web_fetch", { url: base }, { signal: controller.signal })).toMatch(/^refused: /)
  await closed
})

it("[L3] a resolver that never answers keeps no cancelled fetch", async () => {
  const controller = new AbortController()
  const { call } = await world(answer("x"), {
    resolve: () => {
      setImmediate(() => controller.abort(new Error("cancelled")))
      return new Promise(() => {})
    }
  })
  await expect(call("web_fetch", { url: "http://good.test/" }, { signal: controller.signal })).rejects.toThrow(
    "cancelled"
  )
})

it("a server that changes the protocol unasked is an error, not a silence", async () => {
  const { text, base } = await world((_, response) => {
    response.socket?.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n")
  })
  expect(await text("web_fetch", { url: `${base}/` })).toContain(
    "no whole answer came from good.test: the server changed to a protocol that was not asked for"
  )
})

it("where one checked address cannot be reached the next one is", async () => {
  const { text, port } = await world(answer("said", { "content-type": "text/plain" }), {
    allowedRanges: ["127.0.0.0/8", "::1"],
    resolve: () =>
      Promise.resolve([
        { address: "::1", family: 6 },
        { address: "127.0.0.1", family: 4 }
      ])
  })
  expect(await text("web_fetch", { url: `http://good.test:${port}/` })).toBe(`http://good.test:${port}/ (200)\n\nsaid`)
})

it.each([
  ["zstd", Buffer.from("x"), 'expected content-encoding gzip, br or none, received "zstd"'],
  ["gzip, gzip", zlib.gzipSync(zlib.gzipSync("x")), 'received "gzip, gzip"'],
  ["gzip", Buffer.from("no gzip"), "incorrect header check"],
  ["gzip", zlib.gzipSync("x".repeat(999)).subarray(0, 20), "unexpected end of file"]
])("a body in %s that cannot be unpacked is an error that names the host", async (encoding, body, saying) => {
  const { text, base } = await world(answer(body, { "content-type": "text/plain", "content-encoding": encoding }))
  const said = await text("web_fetch", { url: `${base}/` })
  expect(said).toContain("no whole answer came from good.test: ")
  expect(said).toContain(saying)
})
