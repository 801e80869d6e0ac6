import * as Effect from "effect/Effect"
import type { Spill, SpillRange } from "../Spill.js"

/** Keeps full outputs in this process. For tests, and for runs that are not meant to outlive it. */
export class MemorySpill implements Spill {
  readonly #texts = new Map<string, string>()

  readonly put = (operationId: string, text: string): Effect.Effect<string> =>
    Effect.sync(() => {
      const reference = `spill:${operationId}`
      if (!this.#texts.has(reference)) this.#texts.set(reference, text)
      return reference
    })

  readonly get = (reference: string, range?: SpillRange): Effect.Effect<string | undefined> =>
    Effect.sync(() => {
      const text = this.#texts.get(reference)
      return range === undefined ? text : text?.slice(range.start, range.end)
    })
}
