/**
 * Merges what a step has staged into what its publication applies (D1). Pure.
 *
 * Guarantees: commands are merged in the order given; two sets of an exclusive key are a conflict, and then no set of that
 * key is applied; a commutative key is folded by its own function from the value it has.
 * Does not read or write a store.
 */
import { type Json, type StateKey, ThreadStore } from "@toolwright/runtime-contract"

export interface Merged {
  readonly commands: ReadonlyArray<StateKey.StateCommand>
  /** Keys, as `scope:name`, that were set more than once though exclusive, or that nobody here can merge. */
  readonly conflicts: ReadonlyArray<string>
}

export interface MergeGiven {
  readonly staged: ReadonlyArray<StateKey.StateCommand>
  readonly current: (place: string) => Json.Json | undefined
  readonly keyOf: (place: string) => StateKey.StateKey | undefined
}

const nothing: Merged = Object.freeze({ commands: Object.freeze([]), conflicts: Object.freeze([]) })

export const mergeState = ({ staged, current, keyOf }: MergeGiven): Merged => {
  if (staged.length === 0) return nothing
  const merged = new Map<string, StateKey.StateCommand>()
  const exclusive = new Set<string>()
  const conflicts = new Set<string>()
  for (const command of staged) {
    const place = ThreadStore.stateKeyOf(command.scope, command.key)
    if (command.merge === "Exclusive") {
      if (exclusive.has(place)) conflicts.add(place)
      exclusive.add(place)
    }
    const before = merged.get(place)
    const next =
      command.merge === "Commutative" && command._tag === "Set"
        ? combined(command, { place, before, current, keyOf })
        : command
    if (next === undefined) conflicts.add(place)
    else merged.set(place, next)
  }
  for (const place of conflicts) merged.delete(place)
  return { commands: [...merged.values()], conflicts: [...conflicts] }
}

type SetCommand = Extract<StateKey.StateCommand, { readonly _tag: "Set" }>

interface Combining extends Omit<MergeGiven, "staged"> {
  readonly place: string
  readonly before: StateKey.StateCommand | undefined
}

/** `undefined` where the key's function is not known here, or fails: then nothing is guessed. */
const combined = (command: SetCommand, { place, before, current, keyOf }: Combining): SetCommand | undefined => {
  const key = keyOf(place)
  if (key?.combine === undefined) return undefined
  const value = before === undefined ? current(place) : before._tag === "Set" ? before.value : undefined
  const start: unknown = value ?? key.initial
  if (start === undefined) return command
  try {
    // A key's function is typed by its own schema; here it is known only as a key.
    const next: unknown = key.combine(start, command.value)
    return { ...command, value: next as Json.Json }
  } catch {
    return undefined
  }
}
