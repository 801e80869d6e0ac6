/**
 * The digest by which a call's arguments are known: what is decided on, what is stored and what runs are compared by it.
 *
 * Guarantees: equal arguments have equal digests, however their text was laid out.
 */
import { canonicalJson, type JsonObject, sha256Hex } from "../Json.js"

const label = "toolwright/arguments/1\u0000"

/** SHA-256 (64 hex digits) over the canonical JSON of the arguments. */
export const digestOf = (args: JsonObject): string => digestOfCanonical(canonicalJson(args))

/** The same, for a text that is known to be the canonical one. */
export const digestOfCanonical = (text: string): string => sha256Hex(label + text)
