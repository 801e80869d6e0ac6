/**
 * All moments that one runtime waits for, behind one timer on its clock.
 *
 * Guarantees: a deadline fires once, at its moment or later, never after it was cancelled; no timer is armed while
 * nothing waits. Cancelling costs nothing: the entry is dropped when it comes up. Moments are those of `now` here, which
 * nobody sets: they are no dates.
 * Does not measure: durations belong to tracing.
 */
import { RuntimeClock as Clocks, type RuntimeClock } from "@toolwright/runtime-contract"

export interface Deadline {
  readonly at: number
  readonly cancel: () => void
}

class Entry implements Deadline {
  readonly at: number
  wake: (() => void) | undefined
  readonly #set: DeadlineSet
  constructor(set: DeadlineSet, at: number, wake: () => void) {
    this.#set = set
    this.at = at
    this.wake = wake
  }
  cancel(): void {
    if (this.wake === undefined) return
    this.wake = undefined
    this.#set.dropped()
  }
}

export class DeadlineSet {
  readonly clock: RuntimeClock.RuntimeClock
  /** By the clock that nobody sets. */
  readonly now: () => number
  /** A binary heap by moment; cancelled entries stay until they come up or outnumber the others. */
  #heap: Array<Entry> = []
  #live = 0
  #armed: { readonly at: number; readonly disarm: () => void } | undefined

  constructor(clock: RuntimeClock.RuntimeClock) {
    this.clock = clock
    this.now = () => Clocks.elapsedOf(clock)
  }

  get size(): number {
    return this.#live
  }

  /** Calls `wake` once, when `now` has reached `at`. `wake` must not throw. */
  add(at: number, wake: () => void): Deadline {
    const entry = new Entry(this, at, wake)
    this.#live++
    this.#push(entry)
    if (this.#armed === undefined || at < this.#armed.at) this.#arm(at)
    return entry
  }

  /** `add`, counted from now. */
  after(delay: number, wake: () => void): Deadline {
    return this.add(this.now() + delay, wake)
  }

  dropped(): void {
    this.#live--
    if (this.#live === 0) {
      this.#heap = []
      this.#disarm()
    } else if (this.#heap.length > 64 && this.#heap.length > this.#live * 2) this.#compact()
  }

  #arm(at: number): void {
    this.#disarm()
    const disarm = this.clock.after(Math.max(0, at - this.now()), () => this.#fire())
    this.#armed = { at, disarm }
  }

  #disarm(): void {
    this.#armed?.disarm()
    this.#armed = undefined
  }

  #fire(): void {
    this.#armed = undefined
    const now = this.now()
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (first.wake !== undefined && first.at > now) break
      this.#pop()
      const { wake } = first
      if (wake === undefined) continue
      first.wake = undefined
      this.#live--
      wake()
    }
    const next = this.#heap[0]
    if (this.#live === 0) this.#heap = []
    // What a wake has added may have armed the timer for later than what waits already.
    else if (next !== undefined && next.at < this.#armedFor()) this.#arm(next.at)
  }

  /** When the timer goes off. A method: the compiler does not see that a wake may arm it. */
  #armedFor(): number {
    return this.#armed?.at ?? Number.POSITIVE_INFINITY
  }

  #compact(): void {
    const live = this.#heap.filter((entry) => entry.wake !== undefined)
    this.#heap = live.toSorted((left, right) => left.at - right.at)
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let index = heap.length
    heap.push(entry)
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent]
      if (above === undefined || above.at <= entry.at) break
      heap[index] = above
      index = parent
    }
    heap[index] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      const right = left + 1
      const leftEntry = heap[left]
      const rightEntry = heap[right]
      const isRight = rightEntry !== undefined && leftEntry !== undefined && rightEntry.at < leftEntry.at
      const child = isRight ? rightEntry : leftEntry
      if (child === undefined || child.at >= last.at) break
      heap[index] = child
      index = isRight ? right : left
    }
    heap[index] = last
  }
}
