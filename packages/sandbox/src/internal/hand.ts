/**
 * One hand, as whoever places calls in it sees it.
 *
 * Guarantees: every call that was sent is settled once: answered, or lost with the hand.
 * Does not say what a hand is: `HandProcess` is the one there is.
 */
import type { Asked, InstalledTool } from "./messages.js"

/** What becomes of a call that was sent. */
export type Settled =
  | { readonly type: "result"; readonly output: unknown }
  | { readonly type: "reconciled"; readonly answer: unknown }
  | {
      readonly type: "failed"
      readonly reason: string
      readonly message: string
      readonly issues: ReadonlyArray<unknown>
    }
  /** The hand ended first. */
  | { readonly type: "lost"; readonly why: string }

export interface Pending {
  readonly settle: (settled: Settled) => void
  readonly progress: (text: string) => void
}

export interface Hand {
  /** When the last call ended, on the monotonic clock. */
  readonly idleSince: number
  /** Its tools, when it is ready. Rejects where it cannot start. */
  readonly started: Promise<ReadonlyArray<InstalledTool>>
  readonly ended: Promise<void>
  /** Nothing can be sent any more. */
  readonly isOver: boolean
  readonly pid: number | undefined
  readonly busy: number
  /** What it printed last, for whoever looks for a cause. */
  readonly printed: string
  /** `undefined` where nothing was sent. Throws `RangeError` for a call that is too long to be sent. */
  readonly send: (asked: Omit<Asked, "id">, pending: Pending) => number | undefined
  readonly cancel: (id: number, reason: string) => void
  readonly isPending: (id: number) => boolean
  /** Ends it and everything in it. */
  readonly kill: (why: string) => void
}
