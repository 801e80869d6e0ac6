/**
 * Named, typed state beside the transcript, and the commands that change it.
 *
 * Guarantees: a value that is present but does not fit its schema is an error, never a default; staged commands are
 * applied once, at publication, in model order; two `Exclusive` sets of a key in one step are a conflict.
 * Does not store: commands travel in commits, and state is the fold of committed commands.
 */
import type { Static, TSchema } from "typebox"
import { copyJson } from "./internal/plainJson.js"
import type { Json } from "./Json.js"
import { ToolDefinitionError } from "./ToolDefinitionError.js"

/** `Run` state ends with its run, `Thread` state with its thread, `Shared` state belongs to the whole store. */
export type StateScope = "Run" | "Thread" | "Shared"

/**
 * `Disjoint`: the later set replaces. `Commutative`: sets are merged by the key's own function, in model order.
 * `Exclusive`: a second set in one step is a conflict, and none of them is applied.
 */
export type StateMerge = "Disjoint" | "Commutative" | "Exclusive"

export interface StateKey<S extends TSchema = TSchema> {
  readonly name: string
  readonly scope: StateScope
  readonly merge: StateMerge
  readonly schema: S
  /** Absent is this value. Without it, absent is `undefined`. */
  readonly initial?: Static<S>
  /** For `Commutative` keys. Pure; called with the value so far and the one being set. */
  readonly combine?: (current: Static<S>, next: Static<S>) => Static<S>
}

export type StateCommand =
  | {
      readonly _tag: "Set"
      readonly scope: StateScope
      readonly key: string
      readonly merge: StateMerge
      readonly value: Json
    }
  | { readonly _tag: "Remove"; readonly scope: StateScope; readonly key: string; readonly merge: StateMerge }

/**
 * Declares a key. `scope` defaults to `Thread`, `merge` to `Disjoint`. Throws `ToolDefinitionError` for a blank name, an
 * unknown scope or merge, and a `Commutative` key without `combine`.
 */
export const make = <S extends TSchema>(
  options: Pick<StateKey<S>, "name" | "schema" | "initial" | "combine"> & Partial<Pick<StateKey<S>, "scope" | "merge">>
): StateKey<S> => {
  const key: StateKey<S> = Object.freeze({ scope: "Thread", merge: "Disjoint", ...options })
  const isUsable: boolean = isStateKey(key)
  if (isUsable) return key
  throw new ToolDefinitionError({
    reason: "BadStateKeys",
    pointer: "/state",
    expected: "a name, a schema, a known scope and merge, and combine exactly where merge is Commutative",
    received: `name ${String(options.name)}, scope ${String(key.scope)}, merge ${String(key.merge)}`
  })
}

/** Stages a value for a key. Throws `TypeError` for a value that is no JSON; whether it fits its schema is checked later. */
export const set = <S extends TSchema>(key: StateKey<S>, value: Static<S>): StateCommand => {
  const copied = copyJson(value)
  if (copied.ok) return { _tag: "Set", scope: key.scope, key: key.name, merge: key.merge, value: copied.value }
  const [issue] = copied.issues
  const place = issue === undefined || issue.pointer === "" ? "" : ` at ${issue.pointer}`
  throw new TypeError(
    `state ${key.scope}/${key.name}${place}: expected ${issue?.expected ?? "a JSON value"}, received ${issue?.received ?? "another"}`
  )
}

/** Stages the removal of a key. */
export const remove = (key: StateKey): StateCommand => ({
  _tag: "Remove",
  scope: key.scope,
  key: key.name,
  merge: key.merge
})

const scopes: ReadonlyArray<unknown> = ["Run", "Thread", "Shared"]
const merges: ReadonlyArray<unknown> = ["Disjoint", "Commutative", "Exclusive"]

/** True for a declaration that can be used. */
export const isStateKey = (value: unknown): value is StateKey => {
  if (typeof value !== "object" || value === null) return false
  const { name, scope, merge, schema, combine } = {
    name: "",
    scope: "",
    merge: "",
    schema: undefined,
    combine: undefined,
    ...value
  }
  const isNamed = typeof name === "string" && name.trim() !== ""
  const isCombined = (merge === "Commutative") === (typeof combine === "function")
  return (
    isNamed &&
    scopes.includes(scope) &&
    merges.includes(merge) &&
    isCombined &&
    typeof schema === "object" &&
    schema !== null
  )
}

/** Read-only state as of a fixed moment. `get` throws `StateUnreadable` for a present value that does not fit. */
export interface StateView {
  get<S extends TSchema>(key: StateKey<S>): Static<S> | undefined
}

/** A stored value exists but cannot be read as its key says. */
export class StateUnreadable extends Error {
  readonly _tag = "StateUnreadable"
  override readonly name = "StateUnreadable"
  readonly scope: StateScope
  readonly key: string
  constructor(key: { readonly scope: StateScope; readonly name: string }, options?: { readonly cause?: unknown }) {
    super(`state ${key.scope}/${key.name} does not fit its schema`, options)
    this.scope = key.scope
    this.key = key.name
  }
}
