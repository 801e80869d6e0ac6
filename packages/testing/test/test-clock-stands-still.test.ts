import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { TestClock } from "../src/index.js"

describe("a test clock stands still until it is moved", () => {
  it("[L1] timers fire in the order of their moments, each seeing its own moment", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 20 }), fc.nat(60), (delays, duration) => {
        const clock = new TestClock(1_000)
        const fired: Array<readonly [number, number]> = []
        for (const [index, delay] of delays.entries()) clock.after(delay, () => fired.push([clock.now(), index]))
        clock.advance(duration)
        const expected = delays
          .map((delay, index) => [1_000 + delay, index] as const)
          .filter(([at]) => at <= 1_000 + duration)
          .toSorted(([left, i], [right, j]) => left - right || i - j)
        expect(fired).toEqual(expected)
        expect([clock.now(), clock.pending]).toEqual([1_000 + duration, delays.length - expected.length])
      })
    )
  })

  it("[L1] a timer that is armed by another fires in the same move when it is due", () => {
    const clock = new TestClock()
    const fired: Array<number> = []
    clock.after(10, () => clock.after(5, () => fired.push(clock.now())))
    clock.advance(14)
    expect(fired).toEqual([])
    clock.advance(1)
    expect(fired).toEqual([15])
  })

  it("[L1] a timer that was taken back never fires", () => {
    const clock = new TestClock()
    const fired: Array<string> = []
    const cancel = clock.after(10, () => fired.push("first"))
    clock.after(10, () => fired.push("second"))
    cancel()
    cancel()
    clock.advance(10)
    expect([fired, clock.pending, clock.next]).toEqual([["second"], 0, undefined])
  })

  it("[L1] a clock moves forward only", () => {
    const clock = new TestClock(5)
    expect(() => clock.advance(-1)).toThrow("a clock moves forward")
    expect(() => clock.advance(Number.NaN)).toThrow("a clock moves forward")
    expect(() => clock.advanceTo(4)).toThrow("a clock moves forward")
    expect(clock.now()).toBe(5)
  })

  it("[L1] it moves to the next timer when asked", () => {
    const clock = new TestClock()
    const fired: Array<number> = []
    for (const delay of [7, 3, 3]) clock.after(delay, () => fired.push(delay))
    expect([clock.advanceToNext(), [...fired], clock.now()]).toEqual([true, [3, 3], 3])
    expect([clock.advanceToNext(), clock.advanceToNext(), clock.now()]).toEqual([true, false, 7])
  })

  it("[L1] whoever waits for timers is woken by them", async () => {
    const clock = new TestClock()
    const two = clock.whenPending(2).then(() => clock.pending)
    clock.after(1, () => undefined)
    clock.after(1, () => undefined)
    expect(await two).toBe(2)
    await clock.whenPending(2)
  })
})
