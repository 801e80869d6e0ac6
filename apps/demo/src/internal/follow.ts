/**
 * Follows a run that another drives, fact by fact, until it rests.
 *
 * Guarantees: each fact once and in order; who leaves early leaves nothing behind.
 * Does not drive anything.
 */
import type { PromiseRuntime } from "@toolwright/runtime"
import type { RunEvent } from "@toolwright/runtime-contract"

export interface Following {
  readonly threadId: string
  /** Number of the first fact wanted. */
  readonly from: number
  readonly show: (event: RunEvent.RunEvent) => void
}

export interface Follower {
  /** The run rests, or nobody follows it any more. */
  readonly done: Promise<void>
  readonly leave: () => void
}

export const follow = (runtime: PromiseRuntime, { threadId, from, show }: Following): Follower => {
  const events = runtime.watch({ threadId, from })
  const read = async (): Promise<void> => {
    for await (const event of events) {
      show(event)
      if (event._tag === "Fact" && (event.fact.type === "RunEnded" || event.fact.type === "RunAwaiting")) return
    }
  }
  return { done: read(), leave: () => void events.return?.() }
}
