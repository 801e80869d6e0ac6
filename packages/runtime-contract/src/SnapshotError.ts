/**
 * Why a snapshot was not built.
 *
 * Guarantees: names the option, what it takes and what came.
 * Does not describe what cannot run where a snapshot is used: the runtime does.
 */

export type SnapshotErrorReason =
  | "EmptyModel"
  | "DuplicateTool"
  | "ForgedIdentity"
  | "BadLimit"
  | "BadPlugin"
  | "BadOutput"
  | "BadAgentId"
  | "BadPolicy"
  | "BadOption"
  /** JSON would change the value or lose a part of it. */
  | "NotJson"

/** `build` refused. `place` is the option, `expected` what it takes. */
export class SnapshotError extends Error {
  readonly _tag = "SnapshotError"
  override readonly name = "SnapshotError"
  readonly reason: SnapshotErrorReason
  readonly place: string
  readonly expected: string
  constructor(failure: {
    readonly reason: SnapshotErrorReason
    readonly place: string
    readonly expected: string
    readonly received: string
  }) {
    super(`${failure.place}: expected ${failure.expected}, got ${failure.received}`)
    this.reason = failure.reason
    this.place = failure.place
    this.expected = failure.expected
  }
}
