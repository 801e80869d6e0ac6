import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A request as it arrived. `closed` settles when its connection does, with whether the answer was complete. */
export interface WireRequest {
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: Record<string, unknown>
  readonly closed: Promise<{ readonly answered: boolean }>
}

export interface WireReply {
  readonly status?: number
  readonly headers?: Record<string, string>
  /** Frames of a stream, written one by one, or a whole body. */
  readonly frames?: ReadonlyArray<string | Uint8Array>
  readonly body?: string
  /** What happens behind the frames. Default: the answer ends. */
  readonly afterwards?: "stall" | "reset"
}

export class WireServer {
  readonly requests: Array<WireRequest> = []
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  readonly #replies: Array<WireReply | ((request: WireRequest) => WireReply)> = []
  #waiting: Array<() => void> = []

  static async start(): Promise<WireServer> {
    const server = new WireServer()
    server.#server.listen(0, "127.0.0.1")
    await once(server.#server, "listening")
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** What the next requests get, in order. */
  reply(...replies: ReadonlyArray<WireReply | ((request: WireRequest) => WireReply)>): this {
    this.#replies.push(...replies)
    return this
  }

  /** Resolves when the request with this number (from 0) has arrived. */
  async request(index: number): Promise<WireRequest> {
    for (;;) {
      const request = this.requests[index]
      if (request !== undefined) return request
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
    if (this.#replies.length > 0) throw new Error(`${this.#replies.length} replies were not asked for`)
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Array<Buffer> = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const request: WireRequest = {
      path: incoming.url ?? "",
      headers: incoming.headers,
      body: JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}") as Record<string, unknown>,
      closed: new Promise((resolve) => response.once("close", () => resolve({ answered: response.writableEnded })))
    }
    this.requests.push(request)
    const next = this.#replies.shift()
    for (const wake of this.#waiting.splice(0)) wake()
    const reply =
      typeof next === "function" ? next(request) : (next ?? { status: 599, body: "no reply was written down" })
    await write(response, reply)
  }
}

const write = async (response: ServerResponse, reply: WireReply): Promise<void> => {
  const type = reply.frames === undefined ? "application/json" : "text/event-stream"
  response.writeHead(reply.status ?? 200, { "content-type": type, ...reply.headers })
  response.flushHeaders()
  response.socket?.setNoDelay(true)
  for (const frame of reply.frames ?? []) await new Promise<void>((resolve) => response.write(frame, () => resolve()))
  if (reply.afterwards === "stall") return
  if (reply.afterwards === "reset") {
    // Behind the turn of the event loop that has written the frames, so that they are not lost with the connection.
    setImmediate(() => response.socket?.resetAndDestroy())
    return
  }
  response.end(reply.body)
}
