/**
 * Bytes of a file as text, and back in the form they had.
 *
 * Guarantees: what is text is decoded without loss, with its byte order mark and line ends remembered; anything else is
 * called binary and never half decoded.
 * Does not guess national encodings: UTF-8 and UTF-16 with a mark, nothing else.
 */
import * as crypto from "node:crypto"

export interface FileText {
  /** Line ends as `\n` where the file is consistently `\r\n`; else as they are. */
  readonly text: string
  readonly encoding: "utf-8" | "utf-16le" | "utf-16be"
  readonly mark: boolean
  readonly lineEnd: "\n" | "\r\n"
}

/** `undefined` for what is no text. */
export const decode = (bytes: Buffer): FileText | undefined => {
  const encoding = encodingOf(bytes)
  if (encoding === "utf-8" && bytes.subarray(0, 8192).includes(0)) return undefined
  let whole: string
  try {
    whole = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
  const mark = whole.startsWith("\ufeff")
  const body = mark ? whole.slice(1) : whole
  // A carriage return before such an end would be lost on the way back.
  const isWindows = body.includes("\r\n") && !/(?<!\r)\n|\r\r\n/.test(body)
  return { text: isWindows ? body.replaceAll("\r\n", "\n") : body, encoding, mark, lineEnd: isWindows ? "\r\n" : "\n" }
}

const encodingOf = (bytes: Buffer): FileText["encoding"] => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le"
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8"
}

/** The bytes of a new text in the form of an old one. */
export const encodeLike = (text: string, like: Pick<FileText, "encoding" | "mark" | "lineEnd">): Buffer => {
  const ends = like.lineEnd === "\r\n" ? text.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n") : text
  const whole = like.mark ? `\ufeff${ends}` : ends
  if (like.encoding === "utf-8") return Buffer.from(whole, "utf8")
  const little = Buffer.from(whole, "utf16le")
  return like.encoding === "utf-16le" ? little : little.swap16()
}

/** What tells two contents of a file apart: 128 bits of SHA-256. */
export const versionOf = (bytes: Buffer): string => crypto.createHash("sha256").update(bytes).digest("hex").slice(0, 32)

const images: ReadonlyArray<readonly [mediaType: string, head: ReadonlyArray<number | undefined>]> = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", [0x52, 0x49, 0x46, 0x46, undefined, undefined, undefined, undefined, 0x57, 0x45, 0x42, 0x50]]
]

/** By its first bytes, not by its name. The formats that models take. */
export const imageTypeOf = (bytes: Buffer): string | undefined =>
  images.find(([, head]) => head.every((byte, at) => byte === undefined || bytes[at] === byte))?.[0]
