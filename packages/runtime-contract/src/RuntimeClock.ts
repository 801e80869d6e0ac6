/**
 * The runtime's only source of time, so that tests hold it in their hand.
 *
 * Guarantees: every deadline, lease and timer of the runtime comes from one clock; a wall clock that is set forward or
 * back neither fires nor holds up what waits for a duration.
 * Does not measure durations of tools: that is tracing's business.
 */

export interface RuntimeClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /**
   * Milliseconds since some moment, by a clock that nobody sets: durations are measured with it. Default: `now`, for a
   * clock that only goes forward.
   */
  readonly elapsed?: () => number
  /** Calls `wake` once, `delay` milliseconds from now or later. The returned function takes it back. */
  readonly after: (delay: number, wake: () => void) => () => void
}

/** How much time has passed, since some moment: for durations. */
export const elapsedOf = (clock: RuntimeClock): number => clock.elapsed?.() ?? clock.now()

/** The longest delay of a Node timer, in milliseconds; a longer one fires at once. */
const longest = 2_147_483_647

/** The system's clock. Its timers do not keep the process alive; the runtime does, while it drives a run. */
export const system: RuntimeClock = Object.freeze({
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (delay: number, wake: () => void): (() => void) => {
    let timer: ReturnType<typeof setTimeout>
    const arm = (left: number): void => {
      timer = setTimeout(() => (left > longest ? arm(left - longest) : wake()), Math.min(Math.max(0, left), longest))
      timer.unref()
    }
    arm(delay)
    return () => clearTimeout(timer)
  }
})
