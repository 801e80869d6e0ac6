/**
 * A signal as it will be read back, before it is put into an inbox: what hosts pass on from outside may be anything.
 *
 * Guarantees: what cannot be written down and read again is refused before it counts, and changes nothing; what is sent
 * is a copy, so nobody changes an answer that was accepted.
 * Does not ask whether anything waits for the signal: the store does.
 */
import type { ThreadStore } from "@toolwright/runtime-contract"
import { decodeSignal, encodeSignal } from "@toolwright/runtime-contract/records"
import { badRequest, type RunError } from "../RunError.js"

export type ReadSignal =
  | { readonly ok: true; readonly signal: ThreadStore.Signal }
  | { readonly ok: false; readonly error: RunError }

export const readSignal = (given: ThreadStore.Signal): ReadSignal => {
  try {
    return { ok: true, signal: decodeSignal(encodeSignal(given), { position: "" }) }
  } catch {
    const option = given.body._tag === "Answer" ? "answer" : "request"
    return { ok: false, error: badRequest(option, "what can be written down and read again") }
  }
}
