import * as crypto from "node:crypto"
import * as http from "node:http"
import * as net from "node:net"
import * as tls from "node:tls"
import { expect, it, onTestFinished, vi } from "vitest"
import type { RefusedHost } from "../src/index.js"
import { boxed, type World } from "./world.js"

vi.setConfig({ testTimeout: 60_000 })

/** The port of a server on this machine. */
const serve = async (server: net.Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return address.port
}

interface Outside extends World {
  /** A web server that says what it was asked. */
  readonly port: number
  /** One that is not listed. */
  readonly other: number
  readonly refused: ReadonlyArray<string>
  readonly asked: ReadonlyArray<string>
  readonly say: (...parts: ReadonlyArray<string | Buffer>) => Promise<string>
}

const big = crypto.randomBytes(3_000_000)

const outside = async (): Promise<Outside> => {
  const asked: Array<string> = []
  const refused: Array<string> = []
  const answer: http.RequestListener = (request, response) => {
    asked.push(`${request.method} ${request.headers.host}${request.url}`)
    if (request.url === "/big") return void response.end(big)
    if (request.url === "/away") return void response.writeHead(302, { location: `http://127.0.0.1:${other}/` }).end()
    let body = ""
    request.on("data", (part: Buffer) => (body += part.toString()))
    request.once("end", () => response.end(`answered ${body}`))
  }
  const port = await serve(http.createServer(answer))
  const other = await serve(http.createServer(answer))
  const names: Readonly<Record<string, ReadonlyArray<string>>> = {
    "good.test": ["127.0.0.1"],
    "inward.test": ["127.0.0.1"],
    "mixed.test": ["93.184.216.34", "169.254.169.254"],
    "mapped.test": ["::ffff:10.0.0.1"]
  }
  const world = await boxed({
    network: {
      hosts: [
        `good.test:${port}`,
        `127.0.0.1:${port}`,
        `inward.test:${other}`,
        "mixed.test",
        "mapped.test",
        "*.wide.test"
      ],
      refused: ({ host, port: at, reason }: RefusedHost) => refused.push(`${host}:${at} ${reason}`),
      resolve: (host) => Promise.resolve(names[host] ?? [])
    }
  })
  const say: Outside["say"] = (...parts) =>
    world.text("proxied", JSON.stringify(parts.map((part) => Buffer.from(part).toString("base64"))))
  return { ...world, port, other, refused, asked, say }
}

const get = (target: string, host: string): string =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
const tunnel = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`

it("a listed host is reached by a whole URL and through a tunnel, under its own name", async () => {
  const { say, port, asked, refused } = await outside()
  expect(await say(get(`http://good.test:${port}/a`, "other.test"))).toContain("answered")
  const posted = `POST http://good.test:${port}/b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody`
  expect(await say(posted)).toContain("answered body")
  expect(await say(tunnel(`GOOD.test.:${port}`), get("/c", `good.test:${port}`))).toMatch(
    / 200 .*[^]* 200 OK[^]*answered/
  )
  // The name that a client gives beside a whole URL counts for nothing.
  expect(asked).toEqual([`GET good.test:${port}/a`, `POST good.test:${port}/b`, `GET good.test:${port}/c`])
  expect(refused).toEqual([])
})

it.each([
  ["a host that is not listed", () => get("http://evil.test/", "good.test"), "evil.test:80 NotListed"],
  ["a tunnel to one", () => tunnel("evil.test:443"), "evil.test:443 NotListed"],
  [
    "another port of a listed host",
    ({ other }: Outside) => get(`http://127.0.0.1:${other}/`, "x"),
    "127.0.0.1:OTHER NotListed"
  ],
  [
    "a listed name of an inner address",
    ({ other }: Outside) => get(`http://inward.test:${other}/`, "x"),
    "inward.test:OTHER NotPublic"
  ],
  ["one inner address among others", () => tunnel("mixed.test:443"), "mixed.test:443 NotPublic"],
  ["an inner address in the form of another family", () => tunnel("mapped.test:443"), "mapped.test:443 NotPublic"],
  ["the name above a wildcard", () => tunnel("wide.test:443"), "wide.test:443 NotListed"],
  ["a name that only ends alike", () => tunnel("notwide.test:443"), "notwide.test:443 NotListed"],
  [
    "an address as one number",
    ({ other }: Outside) => get(`http://2130706433:${other}/`, "x"),
    "127.0.0.1:OTHER NotListed"
  ],
  ["an address in octal", ({ other }: Outside) => tunnel(`0177.1:${other}`), "127.0.0.1:OTHER NotListed"],
  [
    "an address of IPv6 that holds one of IPv4",
    ({ port }: Outside) => tunnel(`[::ffff:127.0.0.1]:${port}`),
    "::ffff:7f00:1:PORT NotListed"
  ],
  ["the metadata service", () => get("http://169.254.169.254/latest", "x"), "169.254.169.254:80 NotListed"]
])("%s is refused, and the one who listed hosts hears of it", async (_, request, told) => {
  const world = await outside()
  expect(await world.say(request(world))).toMatch(/^HTTP\/1\.1 403 /)
  expect(world.refused).toEqual([told.replace("OTHER", String(world.other)).replace("PORT", String(world.port))])
  expect(world.asked).toEqual([])
})

it.each([
  ["a URL with a password", ({ port }: Outside) => get(`http://a:b@good.test:${port}/`, "x")],
  ["another scheme", ({ port }: Outside) => get(`ftp://good.test:${port}/`, "x")],
  ["a path alone", () => get("/latest", "good.test")],
  ["a tunnel without a port", () => tunnel("good.test")]
])("%s is no request for a proxy", async (_, request) => {
  const world = await outside()
  expect(await world.say(request(world))).toMatch(/^HTTP\/1\.1 400 /)
  expect(world.asked).toEqual([])
})

it("a redirect to a host that is not listed ends at the proxy", async () => {
  const { say, port, other, asked, refused } = await outside()
  const away = /location: (\S+)/i.exec(await say(get(`http://good.test:${port}/away`, "x")))?.[1] ?? ""
  expect(await say(get(away, "x"))).toMatch(/^HTTP\/1\.1 403 /)
  expect([asked, refused]).toEqual([[`GET good.test:${port}/away`], [`127.0.0.1:${other} NotListed`]])
})

it("a tunnel carries requests for the host that it was opened for, from the first to the last", async () => {
  const { say, port, asked, refused } = await outside()
  const first = `GET /1 HTTP/1.1\r\nHost: good.test:${port}\r\n\r\n`
  const said = await say(tunnel(`good.test:${port}`), first, get("/2", "other.test"))
  expect(said.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 403"])
  expect(asked).toEqual([`GET good.test:${port}/1`])
  expect(refused).toEqual([`good.test:${port} OtherHost`])
  expect(await say(tunnel(`good.test:${port}`), tunnel(`127.0.0.1:${port}`))).toContain(" 400 ")
  expect(await say(tunnel(`good.test:${port}`), get(`http://good.test:${port}/3`, `good.test:${port}`))).toContain(
    " 403 "
  )
  expect(asked.length).toBe(1)
})

/** What a client sends first when it wants `servername`. */
const greeting = async (servername: string | undefined): Promise<Buffer> => {
  const came = new Promise<Buffer>((resolve) => {
    void serve(net.createServer((socket) => socket.once("data", (part) => (resolve(part), socket.destroy())))).then(
      (port) => {
        const asked = tls.connect({ port, host: "127.0.0.1", ...(servername === undefined ? {} : { servername }) })
        asked.on("error", () => {})
      }
    )
  })
  return came
}

it("TLS goes on as it came where it names the host of its tunnel, and ends where it names another or none", async () => {
  const got: Array<string> = []
  const port = await serve(
    net.createServer((socket) =>
      socket.once("data", (part) => (got.push(part.toString("base64")), socket.end("came through")))
    )
  )
  const refused: Array<string> = []
  const { text } = await boxed({
    network: {
      hosts: [`good.test:${port}`, `127.0.0.1:${port}`],
      resolve: () => Promise.resolve(["127.0.0.1"]),
      refused: ({ host, reason }) => refused.push(`${host} ${reason}`)
    }
  })
  const through = async (target: string, hello: Buffer): Promise<boolean> => {
    const parts = [Buffer.from(tunnel(target)), hello].map((part) => part.toString("base64"))
    return (await text("proxied", JSON.stringify(parts))).includes("came through")
  }
  const [good, evil, none] = [await greeting("good.test"), await greeting("evil.test"), await greeting(undefined)]
  expect(await through(`good.test:${port}`, good)).toBe(true)
  expect(await through(`127.0.0.1:${port}`, none)).toBe(true)
  expect(got).toEqual([good, none].map((one) => one.toString("base64")))
  expect(await through(`good.test:${port}`, evil)).toBe(false)
  expect(await through(`good.test:${port}`, none)).toBe(false)
  expect(await through(`127.0.0.1:${port}`, good)).toBe(false)
  expect(got.length).toBe(2)
  expect(refused).toEqual(["good.test OtherHost", "good.test OtherProtocol", "127.0.0.1 OtherHost"])
})

it("much data comes whole, several times at once, beside calls", async () => {
  const { text, port } = await outside()
  const digest = crypto.createHash("sha256").update(big).digest("hex")
  const downloads = Array.from({ length: 8 }, () => text("download", `http://good.test:${port}/big`))
  expect(await text("echo", "beside")).toBe("beside")
  expect(await Promise.all(downloads)).toEqual(Array.from({ length: 8 }, () => digest))
})

it("there is no other way out than the proxy", async () => {
  const { text, port } = await outside()
  expect(await text("connect", String(port))).toContain("ECONNREFUSED")
  const place = JSON.parse(await text("place")) as { readonly env: Readonly<Record<string, string>> }
  expect(place.env["HTTPS_PROXY"]).toBe("http://127.0.0.1:3128")
})

it.each([
  "",
  "*",
  "*.org",
  "http://example.org",
  "example.org/x",
  "example.org:0",
  "a b",
  "*.10.0.0.1",
  "example.org:99999"
])("the host %j cannot be listed", async (host) => {
  await expect(boxed({ network: { hosts: [host] } })).rejects.toMatchObject({ fault: "BadNetwork" })
})
