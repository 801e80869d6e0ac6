/**
 * A store that misbehaves on demand: it refuses, waits, loses requests or loses replies, by a script or by a seed.
 *
 * Guarantees: whatever it does not do is not done, whatever it does is done by the store behind it; the same seed gives
 * the same faults; every operation is in the log with what became of it.
 * Does not damage data: the conformance suite takes damage from the adapter.
 */
import { type RuntimeClock, StoreRules, type StoreError, type ThreadStore } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"

export type StoreOperation = Exclude<keyof ThreadStore.ThreadStore, "subscribe" | "isProcessLocal">

/**
 * `reject`: not done, and the store says so. `crashBefore`: not done, and nobody says so. `crashAfter`: done, and the
 * reply is lost. `hang`: not done, and no answer ever comes. `delay`: done so many milliseconds later.
 */
export type StoreFault =
  | { readonly _tag: "reject" | "crashBefore" | "crashAfter" | "hang" }
  | { readonly _tag: "delay"; readonly milliseconds: number }

export interface StoreCall {
  readonly operation: StoreOperation
  /** How many calls of this operation came before, from 0. */
  readonly index: number
  /** Of all operations, from 0. */
  readonly count: number
  readonly threadId: string | undefined
}

export interface ScriptedFault {
  readonly operation: StoreOperation
  /** Which call of this operation, from 0. */
  readonly index: number
  readonly fault: StoreFault
}

/** Faults by script, by a function, or drawn from a seed at a rate between 0 and 1. */
export type FaultPlan =
  | ReadonlyArray<ScriptedFault>
  | ((call: StoreCall) => StoreFault | undefined)
  | {
      readonly seed: number
      readonly rate: number
      readonly faults: ReadonlyArray<StoreFault>
      /** Default: all. */
      readonly operations?: ReadonlyArray<StoreOperation>
    }

export interface LoggedCall extends StoreCall {
  readonly fault: StoreFault | undefined
}

export class FaultyStore implements ThreadStore.ThreadStore {
  readonly #store: ThreadStore.ThreadStore
  readonly #faultOf: (call: StoreCall) => StoreFault | undefined
  readonly #clock: RuntimeClock.RuntimeClock | undefined
  readonly #log: Array<LoggedCall> = []
  readonly #counts = new Map<StoreOperation, number>()
  readonly #left: Set<ScriptedFault>

  /** `clock` is needed for delays. */
  constructor(
    store: ThreadStore.ThreadStore,
    options: { readonly plan: FaultPlan; readonly clock?: RuntimeClock.RuntimeClock }
  ) {
    this.#store = store
    this.#clock = options.clock
    this.#left = new Set(isScript(options.plan) ? options.plan : [])
    this.#faultOf = this.#follow(options.plan)
    if (store.subscribe !== undefined) this.subscribe = store.subscribe
    if (store.isProcessLocal === true) this.isProcessLocal = true
  }

  /** Every operation so far, in order. */
  get log(): ReadonlyArray<LoggedCall> {
    return this.#log
  }

  /** Throws when scripted faults are left that nobody came to. */
  assertDone(): void {
    const [fault] = this.#left
    if (fault !== undefined)
      throw new Error(`the fault ${fault.fault._tag} for ${fault.operation} ${fault.index} was never met`)
  }

  readonly commit: ThreadStore.ThreadStore["commit"] = (commit) =>
    this.#faulty({ operation: "commit", threadId: commit.threadId }, this.#store.commit(commit))

  readonly load: ThreadStore.ThreadStore["load"] = (threadId) =>
    this.#faulty({ operation: "load", threadId }, this.#store.load(threadId))

  readonly tail: ThreadStore.ThreadStore["tail"] = (request) =>
    this.#faulty({ operation: "tail", threadId: request.threadId }, this.#store.tail(request))

  readonly claim: ThreadStore.ThreadStore["claim"] = (request) =>
    this.#faulty({ operation: "claim", threadId: request.threadId }, this.#store.claim(request))

  readonly renew: ThreadStore.ThreadStore["renew"] = (lease, ttl) =>
    this.#faulty({ operation: "renew", threadId: lease.threadId }, this.#store.renew(lease, ttl))

  readonly release: ThreadStore.ThreadStore["release"] = (lease) =>
    this.#faulty({ operation: "release", threadId: lease.threadId }, this.#store.release(lease))

  readonly signal: ThreadStore.ThreadStore["signal"] = (signal) =>
    this.#faulty({ operation: "signal", threadId: signal.threadId }, this.#store.signal(signal))

  readonly inbox: ThreadStore.ThreadStore["inbox"] = (threadId) =>
    this.#faulty({ operation: "inbox", threadId }, this.#store.inbox(threadId))

  readonly ticket: ThreadStore.ThreadStore["ticket"] = (ticketId) =>
    this.#faulty({ operation: "ticket" }, this.#store.ticket(ticketId))

  readonly due: ThreadStore.ThreadStore["due"] = (now, limit) =>
    this.#faulty({ operation: "due" }, this.#store.due(now, limit))

  readonly list: ThreadStore.ThreadStore["list"] = (request) =>
    this.#faulty({ operation: "list" }, this.#store.list(request))

  readonly delete: ThreadStore.ThreadStore["delete"] = (threadId) =>
    this.#faulty({ operation: "delete", threadId }, this.#store.delete(threadId))

  readonly shared: ThreadStore.ThreadStore["shared"] = () => this.#faulty({ operation: "shared" }, this.#store.shared())

  readonly isProcessLocal?: true
  readonly subscribe?: NonNullable<ThreadStore.ThreadStore["subscribe"]>

  #faulty<A, E>(
    asked: { readonly operation: StoreOperation; readonly threadId?: string },
    act: Effect.Effect<A, E>
  ): Effect.Effect<A, E | StoreError> {
    return Effect.suspend((): Effect.Effect<A, E | StoreError> => {
      const { operation, threadId } = asked
      const index = this.#counts.get(operation) ?? 0
      this.#counts.set(operation, index + 1)
      const call: StoreCall = { operation, index, count: this.#log.length, threadId }
      const fault = this.#faultOf(call)
      this.#log.push({ ...call, fault })
      const fail = (_tag: "Unavailable" | "Unanswered"): Effect.Effect<never, StoreError> =>
        Effect.fail(StoreRules.storeError(threadId ?? "", { reason: { _tag } }))
      switch (fault?._tag) {
        case undefined:
          return act
        case "reject":
          return fail("Unavailable")
        case "crashBefore":
          return fail("Unanswered")
        case "crashAfter":
          return Effect.andThen(Effect.exit(act), fail("Unanswered"))
        case "hang":
          return Effect.never
        case "delay":
          return Effect.andThen(this.#wait(fault.milliseconds), act)
      }
    })
  }

  #wait(milliseconds: number): Effect.Effect<void> {
    const clock = this.#clock
    if (clock === undefined) return Effect.die(new Error("a store that delays needs a clock"))
    return Effect.callback<void>((resume) => {
      const cancel = clock.after(milliseconds, () => resume(Effect.void))
      return Effect.sync(cancel)
    })
  }

  #follow(plan: FaultPlan): (call: StoreCall) => StoreFault | undefined {
    if (typeof plan === "function") return plan
    if (isScript(plan))
      return (call) => {
        for (const one of this.#left) {
          if (one.operation !== call.operation || one.index !== call.index) continue
          this.#left.delete(one)
          return one.fault
        }
        return undefined
      }
    const draw = seeded(plan.seed)
    return ({ operation }) => {
      // Drawn for every call, so that which operations may fail does not change where the others do.
      const [chance, which] = [draw(), draw()]
      if (chance >= plan.rate || plan.operations?.includes(operation) === false) return undefined
      return plan.faults[Math.floor(which * plan.faults.length)]
    }
  }
}

const isScript = (plan: FaultPlan): plan is ReadonlyArray<ScriptedFault> => Array.isArray(plan)

/** Numbers from 0 to 1, the same for the same seed (the mulberry32 generator). */
export const seeded = (seed: number): (() => number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
