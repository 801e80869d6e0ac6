import * as crypto from "node:crypto"
import { sha256Hex } from "../Json.js"

/** SHA-256 of texts in pieces, over their UTF-8 form. A surrogate pair must not be parted between two pieces. */
export interface StreamSha256 {
  readonly update: (text: string) => void
  /** The digest behind a last piece, as 64 hexadecimal digits. */
  readonly digest: (text: string) => string
}

/** What comes in one piece costs no more than `sha256Hex`. */
export const streamSha256 = (): StreamSha256 => {
  let hash: crypto.Hash | undefined
  return {
    update: (text) => {
      hash ??= crypto.createHash("sha256")
      hash.update(text)
    },
    digest: (text) => (hash === undefined ? sha256Hex(text) : hash.update(text).digest("hex"))
  }
}
