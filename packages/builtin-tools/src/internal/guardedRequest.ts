/**
 * One HTTP GET that goes only where it was checked to go.
 *
 * Guarantees: the name is resolved once, every address it has is judged, and the connection goes to one of those and no
 * other; a body is bounded after decompression; it ends with its signal, whatever resolver and server do; nothing of it
 * stays open.
 * Does not follow redirects: whoever asks checks each hop anew.
 */
import * as dns from "node:dns/promises"
import * as http from "node:http"
import * as https from "node:https"
import type { Readable } from "node:stream"
import * as zlib from "node:zlib"
import { NetworkAddress } from "@toolwright/runtime-contract"

export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

/** All addresses of a name. */
export type Resolve = (host: string) => Promise<ReadonlyArray<ResolvedAddress>>

export const resolveWithSystem: Resolve = async (host) => {
  const found = await dns.lookup(host, { all: true, verbatim: true })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

export interface GuardedOptions {
  readonly resolve: Resolve
  /** Ranges that may be reached although they are not public. */
  readonly allowed: ReadonlyArray<NetworkAddress.AddressRange>
  /** Asked about every address of the host before anything is sent; throws where it may not be reached. */
  readonly check: (address: string) => void
  /** Bytes after decompression. */
  readonly mostBytes: number
  readonly signal: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
  /** The body went on. */
  readonly isCut: boolean
}

/** Why nothing was sent. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused"
}

/** Rejects with `RequestRefused`, with what the network says, or with the signal's reason. */
export const guardedGet = async (target: NetworkAddress.NetworkTarget, options: GuardedOptions): Promise<Answer> => {
  if (target.scheme !== "http" && target.scheme !== "https") throw new RequestRefused("only http and https are fetched")
  if (target.credentials) throw new RequestRefused("a URL with a user name or password is not fetched")
  const addresses = await checkedAddresses(target, options)
  options.signal.throwIfAborted()
  const response = await send(target, { addresses, signal: options.signal })
  try {
    return { status: response.statusCode ?? 0, headers: response.headers, ...(await readBody(response, options)) }
  } finally {
    response.destroy()
  }
}

const checkedAddresses = async (
  target: NetworkAddress.NetworkTarget,
  { resolve, allowed, check, signal }: GuardedOptions
): Promise<Addresses> => {
  const found =
    target.address === undefined ? await untilAborted(resolve(target.host), signal) : [literal(target.address)]
  const [first, ...others] = found
  if (first === undefined) throw new RequestRefused(`${target.host} has no address`)
  // One bad address among good ones is how a name is made to lead inside.
  for (const { address } of found) {
    const parsed = NetworkAddress.parseAddress(address)
    const isAllowed = parsed !== undefined && allowed.some((range) => NetworkAddress.contains(range, parsed))
    if (parsed === undefined || (!isAllowed && NetworkAddress.scopeOf(parsed) !== "Global"))
      throw new RequestRefused(`${target.host} leads to an address that is not public`)
    check(NetworkAddress.print(parsed))
  }
  return [first, ...others]
}

type Addresses = readonly [first: ResolvedAddress, ...others: ReadonlyArray<ResolvedAddress>]

/** A resolver takes no signal and may take any time. */
const untilAborted = <A>(work: Promise<A>, signal: AbortSignal): Promise<A> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener("abort", abort, { once: true })
    if (signal.aborted) abort()
    const done = (): void => signal.removeEventListener("abort", abort)
    work.then(resolve, reject).finally(done)
  })

const literal = (address: NetworkAddress.Address): ResolvedAddress => ({
  address: NetworkAddress.print(address),
  family: address.family
})

interface Sending {
  readonly addresses: Addresses
  readonly signal: AbortSignal
}

const send = (
  { url, scheme }: NetworkAddress.NetworkTarget,
  { addresses, signal }: Sending
): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    const client = scheme === "https" ? https : http
    const request = client.request(url, {
      method: "GET",
      agent: false,
      signal,
      maxHeaderSize: 32_768,
      headers: {
        accept: "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5",
        "accept-encoding": "gzip, br",
        "user-agent": "toolwright-web-fetch/0.1"
      },
      lookup: (_host, options, found) => {
        // All were judged, so where one cannot be reached the next may.
        if (typeof options === "object" && options.all === true)
          found(
            null,
            addresses.map((one) => ({ ...one }))
          )
        else found(null, addresses[0].address, addresses[0].family)
      }
    })
    request.once("response", resolve)
    request.once("error", reject)
    request.once("upgrade", (_, socket) => {
      socket.destroy()
      reject(new Error("the server changed to a protocol that was not asked for"))
    })
    // Not each end of a connection is an error for the client.
    request.once("close", () => reject(new Error("the connection was closed without an answer")))
    request.end()
  })

const readBody = async (
  response: http.IncomingMessage,
  { mostBytes }: GuardedOptions
): Promise<Pick<Answer, "body" | "isCut">> => {
  const parts: Array<Buffer> = []
  let size = 0
  const stream = decompressed(response)
  for await (const part of stream) {
    if (!Buffer.isBuffer(part)) continue
    parts.push(part)
    size += part.length
    if (size > mostBytes) return { body: Buffer.concat(parts).subarray(0, mostBytes), isCut: true }
  }
  return { body: Buffer.concat(parts), isCut: false }
}

const unpackers: Readonly<Record<string, () => zlib.Gunzip | zlib.Inflate | zlib.BrotliDecompress>> = {
  gzip: () => zlib.createGunzip(),
  "x-gzip": () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress()
}

/** Bytes in a form that was not asked for would be shown as text that nobody wrote. */
const decompressed = (response: http.IncomingMessage): Readable => {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "identity"
  if (encoding === "identity" || encoding === "") return response
  const through = Object.hasOwn(unpackers, encoding) ? unpackers[encoding]?.() : undefined
  if (through === undefined)
    throw new Error(`expected content-encoding gzip, br or none, received ${JSON.stringify(encoding).slice(0, 100)}`)
  response.once("error", (error) => through.destroy(error))
  return response.pipe(through)
}
