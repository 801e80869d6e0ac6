/**
 * Messages over a byte stream: four bytes of length, big-endian, then that many bytes of JSON.
 *
 * Guarantees: frames come out whole and in order however the bytes arrive; a frame that is too long or no JSON is an error.
 * Does not know what messages mean. Depends on nothing, for it is loaded in the box.
 */

/** Bytes of one frame. */
const largestFrame = 64 * 1024 * 1024

export const encodeFrame = (message: unknown): Buffer => {
  const text = JSON.stringify(message)
  const length = Buffer.byteLength(text)
  if (length > largestFrame) throw new RangeError(`a message of ${length} bytes is too long for the sandbox`)
  const frame = Buffer.allocUnsafe(4 + length)
  frame.writeUInt32BE(length, 0)
  frame.write(text, 4)
  return frame
}

/** Takes bytes, gives messages to `take`. Throws for bytes that are no frames. */
export class FrameReader {
  readonly #take: (message: unknown) => void
  #parts: Array<Buffer> = []
  #size = 0

  constructor(take: (message: unknown) => void) {
    this.#take = take
  }

  push(part: Buffer): void {
    this.#parts.push(part)
    this.#size += part.length
    // Joined only when a whole frame is there, so a long one costs no more than its length.
    while (this.#size >= 4) {
      const length = this.#length()
      if (length > largestFrame) throw new RangeError(`a frame of ${length} bytes`)
      if (this.#size < 4 + length) return
      const all = this.#parts.length === 1 && this.#parts[0] !== undefined ? this.#parts[0] : Buffer.concat(this.#parts)
      const rest = all.subarray(4 + length)
      this.#parts = rest.length === 0 ? [] : [rest]
      this.#size = rest.length
      const message: unknown = JSON.parse(all.toString("utf8", 4, 4 + length))
      this.#take(message)
    }
  }

  #length(): number {
    const [first] = this.#parts
    if (first !== undefined && first.length >= 4) return first.readUInt32BE(0)
    const all = Buffer.concat(this.#parts)
    this.#parts = [all]
    return all.readUInt32BE(0)
  }
}
