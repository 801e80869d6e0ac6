/**
 * Many two-way byte streams over the one connection between a hand and its parent.
 *
 * Guarantees: each end holds at most one window of a stream that the other side does not read, and says so when the other
 * sends beyond it; the number of streams is bounded; a stream that one side gave up ends on the other.
 * Does not know what flows. Depends on nothing but Node, for it is loaded in the box.
 */
import { Duplex } from "node:stream"
import type { TunnelMessage } from "./messages.js"

/** Bytes that may be on the way in one direction of a stream, and in one frame. */
const windowSize = 256 * 1024
const largestPart = 64 * 1024
/** Streams at once. */
const mostTunnels = 128

export interface TunnelOptions {
  readonly send: (message: TunnelMessage) => void
  readonly sendData: (id: number, bytes: Buffer) => void
  /** Takes a stream that the other side opened. Without it, that is an error. */
  readonly opened?: (stream: Duplex) => void
}

export class Tunnels {
  readonly #options: TunnelOptions
  readonly #open = new Map<number, Tunnel>()
  #nextId = 1

  constructor(options: TunnelOptions) {
    this.#options = options
  }

  /** `undefined` where there are too many. */
  open(): Duplex | undefined {
    if (this.#open.size >= mostTunnels) return undefined
    const id = this.#nextId++
    this.#options.send({ type: "tunnel", id, act: "open" })
    return this.#add(id)
  }

  /** Throws for what the other side must not say. What concerns a stream that has ended is let pass. */
  take(message: object): void {
    const { id, act, bytes } = { id: undefined, act: undefined, bytes: undefined, ...message }
    if (typeof id !== "number" || !Number.isSafeInteger(id) || id < 1 || id > 0xffff_ffff)
      throw new TypeError("a stream without number")
    if (act === "open") return this.#openedByOther(id)
    const tunnel = this.#open.get(id)
    if (act === "end") tunnel?.takeEnd()
    else if (act === "reset") tunnel?.takeReset()
    else if (act === "credit" && typeof bytes === "number" && bytes > 0) tunnel?.takeCredit(bytes)
    else throw new TypeError("an unknown act of a stream")
  }

  takeData(id: number, bytes: Buffer): void {
    this.#open.get(id)?.takeData(bytes)
  }

  closeAll(): void {
    for (const tunnel of this.#open.values()) tunnel.destroy()
  }

  #openedByOther(id: number): void {
    const { opened } = this.#options
    if (opened === undefined || id < this.#nextId || this.#open.size >= mostTunnels)
      throw new RangeError("a stream that must not be opened")
    this.#nextId = id + 1
    opened(this.#add(id))
  }

  #add(id: number): Tunnel {
    const tunnel = new Tunnel({ id, ...this.#options })
    this.#open.set(id, tunnel)
    // Its end may have no reader; an error of one stream is nobody else's.
    tunnel.on("error", () => {})
    tunnel.once("close", () => this.#open.delete(id))
    return tunnel
  }
}

interface Waiting {
  bytes: Buffer
  readonly done: (error?: Error | null) => void
}

class Tunnel extends Duplex {
  readonly #id: number
  readonly #options: TunnelOptions
  #credit = windowSize
  #waiting: Waiting | undefined
  /** Bytes that came and were not granted again. */
  #taken = 0
  /** Of these, what the reader has been given. */
  #owed = 0
  #isOver = false

  constructor({ id, ...options }: TunnelOptions & { readonly id: number }) {
    super({ allowHalfOpen: true, highWaterMark: largestPart })
    this.#id = id
    this.#options = options
  }

  takeData(bytes: Buffer): void {
    this.#taken += bytes.length
    if (this.#taken > windowSize) throw new RangeError("more of a stream than its window")
    if (this.destroyed || this.readableEnded) return
    this.#owed += bytes.length
    // A copy: the frame that it came in is part of a larger read.
    if (this.push(Buffer.from(bytes))) this.#grant()
  }

  takeEnd(): void {
    if (!this.destroyed) this.push(null)
  }

  takeReset(): void {
    this.#isOver = true
    this.destroy()
  }

  takeCredit(bytes: number): void {
    this.#credit = Math.min(windowSize, this.#credit + bytes)
    this.#flush()
  }

  override _read(): void {
    this.#grant()
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: Waiting["done"]): void {
    this.#waiting = { bytes, done }
    this.#flush()
  }

  override _final(done: Waiting["done"]): void {
    this.#say("end")
    done()
  }

  override _destroy(error: Error | null, done: Waiting["done"]): void {
    const isFinished = this.readableEnded && this.writableFinished
    if (!isFinished && !this.#isOver) this.#say("reset")
    this.#waiting?.done(error ?? new Error("the stream was given up"))
    this.#waiting = undefined
    done(error)
  }

  #grant(): void {
    if (this.#owed === 0 || this.destroyed) return
    this.#taken -= this.#owed
    this.#options.send({ type: "tunnel", id: this.#id, act: "credit", bytes: this.#owed })
    this.#owed = 0
  }

  #flush(): void {
    const waiting = this.#waiting
    if (waiting === undefined) return
    while (waiting.bytes.length > 0 && this.#credit > 0) {
      const part = waiting.bytes.subarray(0, Math.min(this.#credit, largestPart))
      this.#credit -= part.length
      this.#options.sendData(this.#id, part)
      waiting.bytes = waiting.bytes.subarray(part.length)
    }
    if (waiting.bytes.length > 0) return
    this.#waiting = undefined
    waiting.done()
  }

  #say(act: "end" | "reset"): void {
    this.#options.send({ type: "tunnel", id: this.#id, act })
  }
}
