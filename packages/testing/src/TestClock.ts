/**
 * A clock that stands still until a test moves it.
 *
 * Guarantees: timers fire in the order of their moments, each seeing its own moment as now; a timer armed by another
 * fires in the same `advance` when it is due; nothing fires by itself.
 * Does not wait: what a timer sets going in promises or fibers runs when the test next awaits.
 */
import type { RuntimeClock } from "@toolwright/runtime-contract"

interface Timer {
  readonly at: number
  readonly sequence: number
  readonly wake: () => void
}

interface Watcher {
  readonly count: number
  readonly resolve: () => void
}

export class TestClock implements RuntimeClock.RuntimeClock {
  #now: number
  #sequence = 0
  readonly #timers = new Set<Timer>()
  readonly #watchers = new Set<Watcher>()

  /** `start` in milliseconds since the epoch. */
  constructor(start = 0) {
    this.#now = start
  }

  readonly now = (): number => this.#now

  readonly after = (delay: number, wake: () => void): (() => void) => {
    const timer: Timer = { at: this.#now + Math.max(0, delay), sequence: this.#sequence++, wake }
    this.#timers.add(timer)
    for (const watcher of this.#watchers) {
      if (this.#timers.size < watcher.count) continue
      this.#watchers.delete(watcher)
      watcher.resolve()
    }
    return () => {
      this.#timers.delete(timer)
    }
  }

  /** Timers that are armed and have not fired. */
  get pending(): number {
    return this.#timers.size
  }

  /** The moment of the next timer. */
  get next(): number | undefined {
    return this.#earliest()?.at
  }

  /** Moves the clock by `duration` milliseconds and fires what becomes due on the way. */
  advance(duration: number): void {
    if (!(duration >= 0)) throw new RangeError(`a clock moves forward: expected milliseconds from 0, got ${duration}`)
    this.advanceTo(this.#now + duration)
  }

  /** Moves the clock to a moment that is not past, and fires what becomes due on the way. */
  advanceTo(moment: number): void {
    if (!(moment >= this.#now)) throw new RangeError(`a clock moves forward: it is ${this.#now}, got ${moment}`)
    for (let timer = this.#earliest(); timer !== undefined && timer.at <= moment; timer = this.#earliest()) {
      this.#timers.delete(timer)
      this.#now = timer.at
      timer.wake()
    }
    this.#now = moment
  }

  /** Moves to the next timer and fires all of its moment. False when there is none. */
  advanceToNext(): boolean {
    const { next } = this
    if (next === undefined) return false
    this.advanceTo(next)
    return true
  }

  /** Resolves as soon as at least `count` timers (default 1) are pending: the moment to `advance`. */
  whenPending(count = 1): Promise<void> {
    if (this.#timers.size >= count) return Promise.resolve()
    return new Promise((resolve) => {
      this.#watchers.add({ count, resolve })
    })
  }

  #earliest(): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers)
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.sequence < first.sequence))
        first = timer
    return first
  }
}
