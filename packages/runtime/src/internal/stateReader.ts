/**
 * State as gates, hooks and tools read it: as of the start of the step, checked against the key that reads it.
 *
 * Guarantees: absent is the key's initial value; present and unfit throws `StateUnreadable`, never a default (D1).
 * Does not change anything: commands are staged and applied at publication.
 */
import { type Json, type StateKey, StateUnreadable, ThreadStore } from "@toolwright/runtime-contract"
import type { Static, TSchema } from "@toolwright/runtime-contract/typebox"
import type { ActiveRun } from "./activeRun.js"
import { checkFor } from "./valueChecks.js"

class StateReader implements StateKey.StateView {
  readonly #own: ReadonlyMap<string, Json.Json>
  readonly #shared: ReadonlyMap<string, Json.Json>
  constructor(own: ReadonlyMap<string, Json.Json>, shared: ReadonlyMap<string, Json.Json>) {
    this.#own = own
    this.#shared = shared
    // Gates, hooks and tools of a step share it.
    Object.freeze(this)
  }

  get<S extends TSchema>(key: StateKey.StateKey<S>): Static<S> | undefined {
    const values = key.scope === "Shared" ? this.#shared : this.#own
    const value = values.get(ThreadStore.stateKeyOf(key.scope, key.name))
    if (value === undefined) return key.initial
    checkState(key, value)
    // Checked against the key's own schema just now.
    return value as Static<S>
  }
}

/** Throws `StateUnreadable` for a value that its key cannot read. */
const checkState = (key: StateKey.StateKey, value: Json.Json): void => {
  let issues: ReadonlyArray<unknown>
  try {
    issues = checkFor(key.schema)(value)
  } catch (cause) {
    throw new StateUnreadable(key, { cause })
  }
  if (issues.length > 0) throw new StateUnreadable(key, { cause: issues })
}

/** One view per step. The state is copied only where there is some: a tool that outlives its step still sees this one. */
export const stateView = (run: ActiveRun): StateKey.StateView =>
  (run.view ??= new StateReader(run.fold.state.size === 0 ? noState : new Map(run.fold.state), run.shared))

const noState: ReadonlyMap<string, Json.Json> = new Map()
