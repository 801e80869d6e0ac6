import { TestClock } from "@toolwright/testing"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { DeadlineSet } from "../src/internal/deadlines.js"

type Action =
  | { readonly _tag: "Add"; readonly delay: number; readonly again: number | undefined }
  | { readonly _tag: "Cancel"; readonly index: number }
  | { readonly _tag: "Advance"; readonly by: number }

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      _tag: fc.constant("Add" as const),
      delay: fc.nat(50),
      again: fc.option(fc.nat(50), { nil: undefined })
    })
  },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("Cancel" as const), index: fc.nat(200) }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("Advance" as const), by: fc.nat(60) }) }
)

describe("deadlines fire once", () => {
  it("[L3] at their moment, in order, never when cancelled, and no timer is armed when nothing waits", () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 120 }), (actions) => {
        const clock = new TestClock()
        const set = new DeadlineSet(clock)
        const entries: Array<{
          readonly at: number
          fired: number | undefined
          cancelled: boolean
          cancel: () => void
        }> = []
        const add = (delay: number, again: number | undefined): void => {
          const entry = {
            at: clock.now() + delay,
            fired: undefined as number | undefined,
            cancelled: false,
            cancel: () => {}
          }
          entries.push(entry)
          const deadline = set.after(delay, () => {
            expect([entry.fired, entry.cancelled]).toEqual([undefined, false])
            entry.fired = clock.now()
            if (again !== undefined) add(again, undefined)
          })
          entry.cancel = () => {
            if (entry.fired === undefined) entry.cancelled = true
            deadline.cancel()
            deadline.cancel()
          }
        }
        for (const one of actions) {
          if (one._tag === "Add") add(one.delay, one.again)
          else if (one._tag === "Cancel") entries[one.index % Math.max(1, entries.length)]?.cancel()
          else clock.advance(one.by)
          const kept = entries.filter((entry) => !entry.cancelled)
          const fired = kept.map((entry) => entry.fired)
          const due = kept.map(({ at }) => (at <= clock.now() ? at : undefined))
          expect(fired).toEqual(one._tag === "Advance" ? due : fired)
          const live = entries.filter((entry) => !entry.cancelled && entry.fired === undefined).length
          expect(set.size).toBe(live)
          expect(clock.pending).toBe(live === 0 ? 0 : 1)
        }
      }),
      { numRuns: 300 }
    )
  })

  it("[L3] thousands of cancelled deadlines hold no memory of what they would have woken", () => {
    const clock = new TestClock()
    const set = new DeadlineSet(clock)
    const kept = set.after(1_000, () => {})
    for (let count = 0; count < 10_000; count++) set.after(500, () => {}).cancel()
    expect(set.size).toBe(1)
    expect(clock.pending).toBe(1)
    kept.cancel()
    expect(clock.pending).toBe(0)
  })
})
