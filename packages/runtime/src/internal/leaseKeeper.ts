/**
 * Keeps the lease of a run alive, and looks into its inbox, for as long as it is driven here (R10).
 *
 * Guarantees: renewed at half of its length, by a clock that nobody sets; an owner that is fenced, or cannot renew until
 * the lease runs out, stops its run at once; nothing is left armed behind `stop`.
 * Does not claim or release.
 */
import { StoreError, type ThreadStore } from "@toolwright/runtime-contract"
import { fromStore, RunError } from "../RunError.js"
import type { ActiveRun } from "./activeRun.js"
import { placeOf } from "./committing.js"
import type { Deadline } from "./deadlines.js"
import { beginEffect, isSettled, type Settled, type Started } from "./settle.js"

export class LeaseKeeper {
  readonly #run: ActiveRun
  #renewal: Deadline | undefined
  #expiry: Deadline | undefined
  #poll: Deadline | undefined
  #unsubscribe: (() => void) | undefined
  #asking: Started<ThreadStore.Lease> | undefined
  #isStopped = false
  /** When the lease that we have runs out. */
  #until = 0

  constructor(run: ActiveRun) {
    this.#run = run
  }

  /** `since`: when the claim was sent, as deadlines count; a lease is believed no longer than counted from there. */
  start(since: number): void {
    this.#isStopped = false
    this.#expect(since)
    this.#listen()
  }

  stop(): void {
    this.#isStopped = true
    this.#renewal?.cancel()
    this.#expiry?.cancel()
    this.#poll?.cancel()
    this.#asking?.interrupt()
    try {
      this.#unsubscribe?.()
    } catch {
      // A store that cannot be told to be silent is simply no longer heard.
    }
    this.#unsubscribe = undefined
  }

  #expect(since: number): void {
    const { deadlines, engine } = this.#run
    this.#renewal?.cancel()
    this.#expiry?.cancel()
    this.#expiry = undefined
    this.#until = since + engine.leaseTtl
    this.#renewal = deadlines.add(since + engine.leaseTtl / 2, () => this.#renew())
  }

  #renew(): void {
    const { lease, engine } = this.#run
    if (this.#isStopped || lease === undefined) return
    // Most runs are over before their first renewal: the end of the lease is watched from there on.
    this.#expiry ??= this.#run.deadlines.add(this.#until, () => this.#lost(undefined))
    const since = this.#run.deadlines.now()
    const renewed = beginEffect(engine.services, engine.store.renew(lease, engine.leaseTtl))
    if (isSettled(renewed)) return this.#renewed(renewed, since)
    this.#asking = renewed
    renewed.onSettled((settled) => this.#renewed(settled, since))
  }

  #renewed(settled: Settled<ThreadStore.Lease>, since: number): void {
    this.#asking = undefined
    if (this.#isStopped) return
    if (settled.ok) {
      this.#run.lease = settled.value
      this.#expect(since)
      return
    }
    if (isFinal(settled.error)) return this.#lost(settled.error)
    // Not answered: asked again until the lease runs out.
    this.#renewal = this.#run.deadlines.after(this.#run.engine.leaseTtl / 10, () => this.#renew())
  }

  #lost(error: unknown): void {
    if (this.#isStopped) return
    const lost = new RunError({
      reason: { _tag: "LeaseLost" },
      message: "the lease could not be renewed in time",
      ...placeOf(this.#run)
    })
    this.#run.stop(error === undefined ? lost : fromStore(error, placeOf(this.#run)))
  }

  #listen(): void {
    const { engine, threadId } = this.#run
    this.#unsubscribe = engine.store.subscribe?.(threadId, this.#heard)
    // Nobody outside this process can leave anything there, and what is left in it is told.
    if (this.#unsubscribe !== undefined && engine.store.isProcessLocal === true) return
    const poll = (): void => {
      this.#heard()
      this.#poll = this.#run.deadlines.after(engine.signalPoll, poll)
    }
    this.#poll = this.#run.deadlines.after(engine.signalPoll, poll)
  }

  readonly #heard = (): void => this.#run.hear()
}

const isFinal = (error: unknown): boolean =>
  error instanceof StoreError && error.reason._tag !== "Unanswered" && error.reason._tag !== "Unavailable"
