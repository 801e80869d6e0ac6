/**
 * The proxy that a box with listed hosts speaks to: plain HTTP by whole URLs, everything else by `CONNECT`.
 *
 * Guarantees: connects to listed hosts only, at addresses that were resolved here, judged and then used; a tunnel carries
 * TLS for the host that it was opened for, or HTTP whose every request names that host; refusals are reported.
 * Does not look into TLS: what a listed host does with a connection is the business of whoever listed it.
 */
import * as dns from "node:dns/promises"
import * as http from "node:http"
import * as net from "node:net"
import type { Duplex } from "node:stream"
import { NetworkAddress } from "@toolwright/runtime-contract"
import { admits, type HostAndPort, type HostList, lists, parseTarget, type RefusedHost } from "./hostList.js"
import { readGreeting } from "./tlsName.js"

/** All addresses of a name. */
export type ResolveHost = (host: string) => Promise<ReadonlyArray<string>>

export interface HostProxyOptions {
  readonly list: HostList
  readonly resolve: ResolveHost
  readonly refused: (refused: RefusedHost) => void
}

export const resolveWithSystem: ResolveHost = async (host) =>
  (await dns.lookup(host, { all: true, verbatim: true })).map(({ address }) => address)

/** Milliseconds until a connection must stand. */
const connectLimit = 15_000

const sayings: Readonly<Record<RefusedHost["reason"], string>> = {
  NotListed: "is not a listed host of this sandbox",
  NotPublic: "leads to an address that is not public and not listed",
  OtherHost: "was named to the proxy, but the request is for another host",
  OtherProtocol: "was asked for something else than HTTP and TLS with a host name"
}

class Refusal extends Error {}

/** Where a request goes, judged: the addresses are the only ones that may be connected to. */
interface Way extends HostAndPort {
  readonly addresses: ReadonlyArray<string>
}

export class HostProxy {
  readonly #options: HostProxyOptions
  readonly #server: http.Server
  /** Tunnels that carry plain HTTP, with the way that they were opened for. */
  readonly #within = new WeakMap<Duplex, Way>()

  constructor(options: HostProxyOptions) {
    this.#options = options
    this.#server = http.createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
      void this.#forward(request, response)
    })
    this.#server.on("connect", (request, stream, head) => void this.#tunnel(request, { stream, head }))
    this.#server.on("clientError", (_, stream) => stream.destroy())
  }

  /** Serves one connection that a program in the box made. */
  take(stream: Duplex): void {
    this.#server.emit("connection", stream)
  }

  async #wayTo(target: HostAndPort): Promise<Way> {
    const { list, resolve } = this.#options
    const { host, port } = target
    if (!lists(list, target)) throw this.#refuse(target, "NotListed")
    const isAddress = NetworkAddress.parseAddress(host) !== undefined
    const addresses = isAddress ? [host] : await resolve(host)
    // One bad address among good ones is how a name is made to lead inside.
    if (!addresses.every((address) => admits(list, address, port))) throw this.#refuse(target, "NotPublic")
    if (addresses.length === 0) throw new Error(`${host} has no address`)
    return { host, port, addresses }
  }

  #refuse({ host, port }: HostAndPort, reason: RefusedHost["reason"]): Refusal {
    this.#options.refused({ host, port, reason })
    return new Refusal(`${host}:${port} ${sayings[reason]}`)
  }

  async #forward(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    try {
      const { url, way } = await this.#asked(request)
      const socket = connect(way)
      const outgoing = http.request(url, {
        method: request.method ?? "GET",
        headers: { ...passedOn(request.headers), host: url.host },
        // And so without an agent, which would connect by itself.
        createConnection: () => socket
      })
      const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
        outgoing.once("response", resolve)
        outgoing.on("error", reject)
      })
      response.once("close", () => socket.destroy())
      if (hasBody(request.headers)) request.pipe(outgoing)
      else outgoing.end()
      const answer = await answered
      answer.on("error", () => response.destroy())
      response.writeHead(answer.statusCode ?? 502, passedOn(answer.headers))
      answer.pipe(response)
    } catch (error) {
      if (response.headersSent) return void response.destroy()
      // Not read to its end, so that nothing of it is taken for the next request.
      response.writeHead(statusOf(error), { "content-type": "text/plain", connection: "close" }).end(sayingOf(error))
    }
  }

  async #asked(request: http.IncomingMessage): Promise<{ readonly url: URL; readonly way: Way }> {
    const opened = this.#within.get(request.socket)
    const text = request.url ?? ""
    if (opened !== undefined) {
      const authority = parseTarget(withPort(request.headers.host ?? ""))
      if (authority?.host !== opened.host || authority.port !== opened.port || !text.startsWith("/"))
        throw this.#refuse(opened, "OtherHost")
      return { url: new URL(`http://${bracketed(opened.host)}:${opened.port}${text}`), way: opened }
    }
    const target = NetworkAddress.parse(text)
    if (target?.scheme !== "http" || target.port === undefined || target.credentials)
      throw new SyntaxError("expected a whole http URL without credentials, or CONNECT")
    return { url: target.url, way: await this.#wayTo({ host: target.host, port: target.port }) }
  }

  async #tunnel(request: http.IncomingMessage, { stream, head }: Tunnelling): Promise<void> {
    stream.on("error", () => stream.destroy())
    try {
      const target = parseTarget(request.url ?? "")
      if (target === undefined || this.#within.has(stream)) throw new SyntaxError("expected a host and a port")
      const way = await this.#wayTo(target)
      stream.write("HTTP/1.1 200 Connection Established\r\n\r\n")
      await this.#carry({ stream, head }, way)
    } catch (error) {
      const text = sayingOf(error)
      const status = statusOf(error)
      stream.end(
        `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ""}\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`
      )
    }
  }

  async #carry({ stream, head }: Tunnelling, way: Way): Promise<void> {
    const { bytes, greeting } = await greetingOf(stream, head)
    if (greeting.kind === "More") return void stream.destroy()
    if (greeting.kind === "Other") {
      // Not TLS: every request in it is judged like one that came without a tunnel.
      this.#within.set(stream, way)
      stream.unshift(bytes)
      this.#server.emit("connection", stream)
      // Reading was stopped when the greeting was whole, and a new listener alone does not start it again.
      return void stream.resume()
    }
    const name = greeting.name === undefined ? undefined : NetworkAddress.parseHost(greeting.name)
    const isAddress = NetworkAddress.parseAddress(way.host) !== undefined
    if (name !== way.host && !(isAddress && greeting.name === undefined)) {
      this.#refuse(way, greeting.name === undefined ? "OtherProtocol" : "OtherHost")
      return void stream.destroy()
    }
    const socket = connect(way)
    socket.once("close", () => stream.destroy())
    stream.once("close", () => socket.destroy())
    socket.write(bytes)
    stream.pipe(socket).pipe(stream)
  }
}

interface Tunnelling {
  readonly stream: Duplex
  readonly head: Buffer
}

/** To the addresses of the way and no others, whatever the name has become meanwhile. */
const connect = ({ host, port, addresses }: Way): net.Socket => {
  const found = addresses.map((address) => ({ address, family: net.isIPv6(address) ? 6 : 4 }))
  const socket = net.connect({
    host,
    port,
    autoSelectFamily: true,
    allowHalfOpen: true,
    lookup: (_, options, done) => {
      const [first = { address: "", family: 4 }] = found
      if (options.all === true) done(null, found)
      else done(null, first.address, first.family)
    }
  })
  const timer = setTimeout(() => socket.destroy(new Error(`${host}:${port} did not answer`)), connectLimit)
  timer.unref()
  socket.once("connect", () => clearTimeout(timer))
  socket.once("close", () => clearTimeout(timer))
  socket.on("error", () => {})
  return socket
}

const greetingOf = (
  stream: Duplex,
  head: Buffer
): Promise<{ readonly bytes: Buffer; readonly greeting: ReturnType<typeof readGreeting> }> =>
  new Promise((resolve) => {
    let bytes = head
    const finish = (): void => {
      stream.off("data", take)
      stream.off("end", finish)
      stream.off("close", finish)
      stream.pause()
      resolve({ bytes, greeting: readGreeting(bytes) })
    }
    const take = (part: Buffer): void => {
      bytes = Buffer.concat([bytes, part])
      if (readGreeting(bytes).kind !== "More") finish()
    }
    if (readGreeting(bytes).kind !== "More") return finish()
    stream.on("data", take)
    stream.once("end", finish)
    stream.once("close", finish)
  })

const withPort = (authority: string): string => (/:\d+$/.test(authority) ? authority : `${authority}:80`)

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host)

/** Of RFC 9110, 7.6.1, and what is between the client and a proxy. */
const ofOneHop = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "upgrade",
  "expect"
])

const passedOn = (headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders => {
  const named = (headers.connection ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => framing.has(name) || (!ofOneHop.has(name) && !named.includes(name)))
  )
}

/** Where a body ends is not the client's to leave out. */
const framing = new Set(["content-length", "transfer-encoding"])

const hasBody = (headers: http.IncomingHttpHeaders): boolean => Object.keys(headers).some((name) => framing.has(name))

const statusOf = (error: unknown): number => (error instanceof Refusal ? 403 : error instanceof SyntaxError ? 400 : 502)

const sayingOf = (error: unknown): string => `${error instanceof Error ? error.message : String(error)}\n`
