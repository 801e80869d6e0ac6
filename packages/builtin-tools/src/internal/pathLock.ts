/**
 * One holder at a time per key, first come first served, within this process.
 *
 * Guarantees: released when the work ends, however it ends; a waiter that is aborted leaves the queue and harms nobody;
 * a key without holder or waiter takes no memory.
 * Does not reach other processes: whoever writes compares versions as well.
 */

const tails = new Map<string, Promise<void>>()

/** Waits for the key, works, and lets go. Rejects with the signal's reason while waiting; the work itself is not cut. */
export const withLock = async <A>(
  key: string,
  { signal, work }: { readonly signal: AbortSignal; readonly work: () => Promise<A> | A }
): Promise<A> => {
  const before = tails.get(key)
  let release = (): void => {}
  const own = new Promise<void>((resolve) => (release = resolve))
  const tail = before === undefined ? own : before.then(() => own)
  tails.set(key, tail)
  try {
    if (before !== undefined) await orAborted(before, signal)
    signal.throwIfAborted()
    return await work()
  } finally {
    release()
    if (tails.get(key) === tail) tails.delete(key)
  }
}

const orAborted = (turn: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"))
    if (signal.aborted) return stop()
    signal.addEventListener("abort", stop, { once: true })
    void turn.then(() => {
      signal.removeEventListener("abort", stop)
      resolve()
    })
  })

/** Keys that are held or waited for: for tests. */
export const heldKeys = (): number => tails.size
