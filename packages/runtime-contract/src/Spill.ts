/**
 * Where the full text of an output goes when only a part of it is shown to the model.
 *
 * Guarantees asked: `put` is idempotent per operation id; a reference stays readable.
 * Does not decide what is too long: the output policy of the runtime does.
 */
import type * as Effect from "effect/Effect"

export interface SpillRange {
  /** UTF-16 code units, from 0. */
  readonly start: number
  readonly end: number
}

export class SpillFailed extends Error {
  readonly _tag = "SpillFailed"
  override readonly name = "SpillFailed"
}

export interface Spill {
  readonly put: (operationId: string, text: string) => Effect.Effect<string, SpillFailed>
  /** `undefined` for an unknown reference. Without `range` the whole text. */
  readonly get: (reference: string, range?: SpillRange) => Effect.Effect<string | undefined, SpillFailed>
}
