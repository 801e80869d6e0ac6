/**
 * How a conformance check of a store is written: a title, and a story on a store of its own that is closed in the end.
 */
import type { ThreadStore } from "@toolwright/runtime-contract"
import type { ConformanceCheck } from "../Conformance.js"
import type { StoreUnderTest, StoreSubject } from "../StoreConformance.js"
import { TestClock } from "../TestClock.js"

/** What a check is told in. */
export interface World extends StoreUnderTest {
  readonly store: ThreadStore.ThreadStore
  /** The clock of leases. It starts at 1,000. */
  readonly clock: TestClock
}

export type Check = (title: string, tell: (world: World) => Promise<void>) => ConformanceCheck

export const checkOn =
  (subject: StoreSubject): Check =>
  (title, tell) => ({
    title,
    run: async () => {
      const clock = new TestClock(1_000)
      const opened = await subject.open({ now: clock.now })
      try {
        await tell({ ...opened, clock })
      } finally {
        await opened.close?.()
      }
    }
  })
