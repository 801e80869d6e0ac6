/**
 * Messages over a byte stream: four bytes of length, big-endian, then that many bytes of JSON. With the highest bit of the
 * length set, four bytes of a channel's number and plain bytes instead.
 *
 * Guarantees: frames come out whole and in order however the bytes arrive; a frame that is too long or no JSON is an error.
 * Does not know what messages mean. Depends on nothing, for it is loaded in the box.
 */

/** Bytes of one frame. */
const largestFrame = 64 * 1024 * 1024
/** Bytes of one frame of plain bytes, with its number. */
const largestData = 1024 * 1024
const dataMark = 0x8000_0000

export const encodeFrame = (message: unknown): Buffer => {
  const text = JSON.stringify(message)
  const length = Buffer.byteLength(text)
  if (length > largestFrame) throw new RangeError(`a message of ${length} bytes is too long for the sandbox`)
  const frame = Buffer.allocUnsafe(4 + length)
  frame.writeUInt32BE(length, 0)
  frame.write(text, 4)
  return frame
}

/** Bytes of one channel, at most 1 MiB less four. */
export const encodeData = (channel: number, bytes: Uint8Array): Buffer => {
  const frame = Buffer.allocUnsafe(8 + bytes.length)
  frame.writeUInt32BE((dataMark | (4 + bytes.length)) >>> 0, 0)
  frame.writeUInt32BE(channel, 4)
  frame.set(bytes, 8)
  return frame
}

export interface FrameTakers {
  readonly message: (message: unknown) => void
  /** Without it, plain bytes are an error. */
  readonly data?: (channel: number, bytes: Buffer) => void
}

/** Takes bytes, gives messages and plain bytes on. Throws for bytes that are no frames. */
export class FrameReader {
  readonly #takers: FrameTakers
  #parts: Array<Buffer> = []
  #size = 0

  constructor(takers: FrameTakers) {
    this.#takers = takers
  }

  push(part: Buffer): void {
    this.#parts.push(part)
    this.#size += part.length
    // Joined only when a whole frame is there, so a long one costs no more than its length.
    while (this.#size >= 4) {
      const head = this.#head()
      const isData = head >= dataMark
      const length = isData ? head - dataMark : head
      if (length > (isData ? largestData : largestFrame) || (isData && length < 4))
        throw new RangeError(`a frame of ${length} bytes`)
      if (this.#size < 4 + length) return
      const all = this.#parts.length === 1 && this.#parts[0] !== undefined ? this.#parts[0] : Buffer.concat(this.#parts)
      const rest = all.subarray(4 + length)
      this.#parts = rest.length === 0 ? [] : [rest]
      this.#size = rest.length
      if (isData) this.#takeData(all.subarray(4, 4 + length))
      else this.#takers.message(JSON.parse(all.toString("utf8", 4, 4 + length)))
    }
  }

  #takeData(frame: Buffer): void {
    if (this.#takers.data === undefined) throw new TypeError("plain bytes that nobody asked for")
    this.#takers.data(frame.readUInt32BE(0), frame.subarray(4))
  }

  #head(): number {
    const [first] = this.#parts
    if (first !== undefined && first.length >= 4) return first.readUInt32BE(0)
    const all = Buffer.concat(this.#parts)
    this.#parts = [all]
    return all.readUInt32BE(0)
  }
}
