/**
 * Why a runtime could not be made.
 *
 * Guarantees: thrown by `Runtime.make` and failed by `Runtime.layer` before anything is started; names the option and
 * what was expected there.
 * Does not describe a run: that is `RunError`.
 */
import * as Data from "effect/Data"

export class RuntimeDefinitionError extends Data.TaggedError("RuntimeDefinitionError")<{
  readonly option: string
  readonly expected: string
  readonly received: string
  /** The plugin that cannot be, and on which axis of its manifest. */
  readonly plugin?: string
  readonly axis?: string
}> {
  override get message(): string {
    return `Runtime.make: ${this.option}: expected ${this.expected}, received ${this.received}`
  }
}
