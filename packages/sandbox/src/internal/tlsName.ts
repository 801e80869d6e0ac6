/**
 * The host name at the beginning of a TLS connection, in the clear by RFC 6066 and RFC 8446.
 *
 * Guarantees: total; reads only what is there, and says when more is needed.
 * Does not check anything else of the handshake, and does not see a name that is encrypted behind another one.
 */

export type Greeting =
  | { readonly kind: "More" }
  /** Not TLS, or broken. */
  | { readonly kind: "Other" }
  /** `name` is absent where the client sends none. */
  | { readonly kind: "Tls"; readonly name: string | undefined }

/** Bytes after which a greeting that is not whole is taken for none. */
const longest = 64 * 1024

const more: Greeting = { kind: "More" }
const other: Greeting = { kind: "Other" }

export const readGreeting = (bytes: Buffer): Greeting => {
  if (bytes.length === 0) return more
  if (bytes[0] !== 22) return other
  const hello = handshake(bytes)
  if (hello === undefined) return bytes.length > longest ? other : more
  try {
    return { kind: "Tls", name: nameOf(new Fields(hello)) }
  } catch {
    return other
  }
}

/** The first handshake message, which may lie in several records. `undefined` while it is not whole. */
const handshake = (bytes: Buffer): Buffer | undefined => {
  const parts: Array<Buffer> = []
  for (let at = 0; at + 5 <= bytes.length && bytes[at] === 22;) {
    const length = bytes.readUInt16BE(at + 3)
    parts.push(bytes.subarray(at + 5, at + 5 + length))
    at += 5 + length
  }
  const all = Buffer.concat(parts)
  if (all.length < 4) return undefined
  const length = all.readUIntBE(1, 3)
  return all.length < 4 + length ? undefined : all.subarray(0, 4 + length)
}

class Fields {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isDone(): boolean {
    return this.#at >= this.#bytes.length
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError("beyond the end")
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  number(size: number): number {
    return this.take(size).readUIntBE(0, size)
  }

  /** A field whose length stands before it in `size` bytes. */
  sized(size: number): Buffer {
    return this.take(this.number(size))
  }
}

const nameOf = (hello: Fields): string | undefined => {
  if (hello.number(1) !== 1) throw new TypeError("no client's greeting")
  hello.take(3 + 2 + 32)
  hello.sized(1)
  hello.sized(2)
  hello.sized(1)
  if (hello.isDone) return undefined
  const extensions = new Fields(hello.sized(2))
  while (!extensions.isDone) {
    const type = extensions.number(2)
    const content = extensions.sized(2)
    if (type === 0) return firstName(new Fields(new Fields(content).sized(2)))
  }
  return undefined
}

const firstName = (names: Fields): string | undefined => {
  while (!names.isDone) {
    const type = names.number(1)
    const name = names.sized(2)
    if (type === 0) return name.toString("latin1")
  }
  return undefined
}
