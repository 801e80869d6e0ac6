import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { type FaultPlan, FaultyStore, seeded, type StoreFault, storeConformance, TestClock } from "../src/index.js"
import { Story, tagOf, value } from "../src/internal/storeStory.js"

const world = (plan: FaultPlan) => {
  const clock = new TestClock(1_000)
  const memory = new MemoryThreadStore({ now: clock.now })
  return { clock, memory, store: new FaultyStore(memory, { plan, clock }) }
}

const onCommit = (fault: StoreFault, index = 1): FaultPlan => [{ operation: "commit", index, fault }]

describe("faults are what they say", () => {
  it("[D2] a rejected commit is not done, and the store says so", async () => {
    const { memory, store } = world(onCommit({ _tag: "reject" }))
    const story = await Story.begin(store)
    expect(await tagOf(store.commit(story.next()))).toBe("Unavailable")
    expect((await value(memory.load("thread")))?.revision).toBe(1)
    store.assertDone()
  })

  it("[D2] a crash before the commit leaves nothing, a crash after it leaves the commit, and both are silent", async () => {
    for (const [fault, revision] of [
      ["crashBefore", 1],
      ["crashAfter", 2]
    ] as const) {
      const { memory, store } = world(onCommit({ _tag: fault }))
      const story = await Story.begin(store)
      const made = story.next()
      expect(await tagOf(store.commit(made))).toBe("Unanswered")
      expect((await value(memory.load("thread")))?.revision).toBe(revision)
      expect((await value(store.commit(made))).revision).toBe(2)
    }
  })

  it("[D2] a lost reply hides a refusal too", async () => {
    const { store } = world(onCommit({ _tag: "crashAfter" }))
    const story = await Story.begin(store)
    expect(await tagOf(store.commit(story.next({ expectedRevision: 9 })))).toBe("Unanswered")
  })

  it("[L3] a hanging operation is not done and never answered, but can be given up", async () => {
    const { memory, store } = world(onCommit({ _tag: "hang" }))
    const story = await Story.begin(store)
    const fiber = Effect.runFork(store.commit(story.next()))
    fiber.interruptUnsafe()
    expect((await value(memory.load("thread")))?.revision).toBe(1)
  })

  it("[D2] a delayed operation is done when its time has come", async () => {
    const { clock, memory, store } = world(onCommit({ _tag: "delay", milliseconds: 50 }))
    const story = await Story.begin(store)
    const committed = value(store.commit(story.next()))
    await clock.whenPending()
    expect((await value(memory.load("thread")))?.revision).toBe(1)
    clock.advance(50)
    expect((await committed).revision).toBe(2)
  })

  it("[D2] faults that nobody came to are told", () => {
    const { store } = world(onCommit({ _tag: "reject" }, 7))
    expect(() => store.assertDone()).toThrow("the fault reject for commit 7 was never met")
  })

  it("[D2] the log tells every operation and its fault", async () => {
    const { store } = world(({ count }) => (count === 1 ? { _tag: "reject" } : undefined))
    await value(store.load("a"))
    await tagOf(store.load("b"))
    await value(store.shared())
    expect(store.log.map((one) => [one.operation, one.index, one.threadId, one.fault?._tag])).toEqual([
      ["load", 0, "a", undefined],
      ["load", 1, "b", "reject"],
      ["shared", 0, undefined, undefined]
    ])
  })

  it("[D2] the same seed gives the same faults, at about its rate", async () => {
    const faults: ReadonlyArray<StoreFault> = [{ _tag: "reject" }, { _tag: "crashBefore" }]
    const drawn = async (seed: number) => {
      const { store } = world({ seed, rate: 0.3, faults })
      for (let index = 0; index < 500; index++) await tagOf(store.load("t"))
      return store.log.map((one) => one.fault?._tag)
    }
    const [first, again, other] = [await drawn(1), await drawn(1), await drawn(2)]
    expect(first).toEqual(again)
    expect(first).not.toEqual(other)
    const count = first.filter((tag) => tag !== undefined).length
    expect(count).toBeGreaterThan(100)
    expect(count).toBeLessThan(200)
    expect(new Set(first)).toEqual(new Set([undefined, "reject", "crashBefore"]))
  })

  it("[D2] faults are drawn for the named operations only", async () => {
    const { store } = world({ seed: 1, rate: 1, faults: [{ _tag: "reject" }], operations: ["load"] })
    expect([await tagOf(store.load("t")), await tagOf(store.shared())]).toEqual(["Unavailable", "accepted"])
  })

  it("[D2] numbers of a seed are spread over the whole interval", () => {
    const draw = seeded(42)
    const tenths = new Set(Array.from({ length: 200 }, () => Math.floor(draw() * 10)))
    expect([...tenths].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it("[D2] without faults it is the store behind it", async () => {
    const checks = storeConformance({
      open: ({ now }) => ({ store: new FaultyStore(new MemoryThreadStore({ now }), { plan: [] }) })
    })
    const failed: Array<string> = []
    for (const { run, title } of checks) await run().catch(() => failed.push(title))
    expect(failed).toEqual([])
  })
})
