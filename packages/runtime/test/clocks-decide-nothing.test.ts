// C095: a lease is judged by the store's clock alone, durations by a clock that nobody sets, and who may write by the epoch.
import { RuntimeClock, type RuntimeClock as Clocks } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { EffectRecorder, FaultyStore, type Script, TestClock } from "@toolwright/testing"
import { describe, expect, it } from "vitest"
import { Runtime } from "../src/index.js"
import { call, makeWorld, rawTool, settle, snapshotOf } from "./support/world.js"

const hour = 3_600_000
const leaseTtl = 1_000

/** The time that passes, and wall clocks that show it wrongly. */
class Wall implements Clocks.RuntimeClock {
  readonly time: TestClock
  offset = 0
  constructor(time: TestClock) {
    this.time = time
  }
  readonly now = (): number => this.time.now() + this.offset
  readonly elapsed = (): number => this.time.now()
  readonly after = (delay: number, wake: () => void): (() => void) => this.time.after(delay, wake)
}

const script: Script = (request) => (request.messages.at(-1)?.role === "tool" ? "Done." : { calls: [call("act")] })

/** One owner in the middle of a call, over a store with a clock of its own. */
const owner = async (given: { readonly store?: (inner: MemoryThreadStore) => FaultyStore } = {}) => {
  const time = new TestClock(10 * hour)
  const memory = new MemoryThreadStore({ now: time.now })
  const recorder = new EffectRecorder()
  const release = recorder.hold("act")
  const wall = new Wall(time)
  const faulty = given.store?.(memory)
  const world = makeWorld({
    script,
    memory,
    recorder,
    leaseTtl,
    clock: wall as unknown as TestClock,
    tools: (recording) => [recording.tool({ id: "act" })],
    ...(faulty === undefined ? {} : { store: () => faulty })
  })
  const snapshot = snapshotOf(world.tools, (builder) => builder.limits({ toolTimeout: hour, grace: 100 }))
  const running = world.runtime.run({ snapshot, input: "hi", principal: "ada", threadId: "t" })
  const outcome = running.then(
    ({ text: said }) => said,
    (error: { readonly reason: { readonly _tag: string } }) => error.reason._tag
  )
  await recorder.whenEntered(1)
  await settle()
  return { ...world, time, wall, release, outcome, faulty, snapshot }
}

type Owner = Awaited<ReturnType<typeof owner>>

const other = ({ memory, clock, tools }: Owner, wall: Clocks.RuntimeClock = clock) =>
  Runtime.make({
    llm: makeWorld({ script }).llm,
    gate: { id: "allow", decide: () => ({ _tag: "Allow" }) },
    tools,
    store: memory,
    clock: wall,
    leaseTtl
  })

/** So much time, in steps that an owner needs to renew. */
const pass = async (time: TestClock, milliseconds: number): Promise<void> => {
  for (let left = milliseconds; left > 0; left -= 100) {
    time.advance(Math.min(100, left))
    await settle()
  }
}

describe("clocks decide nothing", () => {
  it("[R10] a process whose clock is ten minutes ahead takes no live thread: the store's clock judges the lease", async () => {
    const first = await owner()
    const ahead = new Wall(first.time)
    ahead.offset = 600_000
    const [seen] = await other(first, ahead).recover()
    expect([seen?.why, seen?.error?.reason]).toEqual(["LeaseExpired", { _tag: "ThreadBusy", by: "Owner" }])
    first.release()
    expect(await first.outcome).toBe("Done.")
    expect(first.recorder.effects.length).toBe(1)
  })

  it("[R10] an owner whose clock is set back an hour renews in time, and its run goes on", async () => {
    const first = await owner()
    first.wall.offset = -hour
    await pass(first.time, 10 * leaseTtl)
    expect(await other(first, first.time).recover()).toEqual([])
    first.release()
    expect(await first.outcome).toBe("Done.")
  })

  it("[R10] an owner whose clock is set forward an hour keeps its lease, and its run goes on", async () => {
    const first = await owner()
    first.wall.offset = hour
    await pass(first.time, 10 * leaseTtl)
    expect(await other(first, first.time).recover()).toEqual([])
    first.release()
    expect(await first.outcome).toBe("Done.")
  })

  it("[L3] the time limit of a tool is so much time, whatever the wall clock shows meanwhile", async () => {
    for (const offset of [-hour, hour]) {
      const time = new TestClock(10 * hour)
      const wall = new Wall(time)
      const tool = rawTool({ id: "act" }, () => new Promise(() => undefined))
      const world = makeWorld({ script, clock: wall as unknown as TestClock, tools: () => [tool] })
      const snapshot = snapshotOf(world.tools, (builder) => builder.limits({ toolTimeout: 500, grace: 100 }))
      const running = world.runtime.run({ snapshot, input: "hi", principal: "ada" })
      await settle()
      wall.offset = offset
      await pass(time, 400)
      expect(world.watched.commits.length).toBe(2)
      await pass(time, 200)
      expect((await running).messages.at(2)).toMatchObject({ outcome: "Indeterminate" })
    }
  })

  it("[R10] a heartbeat that fails three times is repeated, and costs nothing while the lease lasts", async () => {
    const first = await owner({
      store: (inner) =>
        new FaultyStore(inner, {
          plan: [0, 1, 2].map((index) => ({ operation: "renew" as const, index, fault: { _tag: "reject" as const } }))
        })
    })
    await pass(first.time, 3 * leaseTtl)
    first.faulty?.assertDone()
    first.release()
    expect(await first.outcome).toBe("Done.")
  })

  it("[R10] a heartbeat that fails until the lease is over stops the owner before its next effect", async () => {
    const first = await owner({
      store: (inner) =>
        new FaultyStore(inner, { plan: ({ operation }) => (operation === "renew" ? { _tag: "reject" } : undefined) })
    })
    await pass(first.time, leaseTtl)
    expect(await first.outcome).toBe("LeaseLost")
    const [taken] = await other(first, first.time).recover()
    expect(taken?.outcome?.messages.at(2)).toMatchObject({ outcome: "Indeterminate" })
    first.release()
    await settle()
    expect(first.recorder.effects.length).toBe(1)
  })

  it("[R10] an owner that believes in its lease while another has the thread is refused by the epoch", async () => {
    const first = await owner()
    // Taken over by name under a live lease: the first one learns of it by its next write only.
    const [taken] = await other(first).recover({ threadId: "t", takeOver: true })
    const before = first.watched.commits.length
    first.release()
    expect([taken?.error, await first.outcome]).toEqual([undefined, "Fenced"])
    expect(first.watched.commits.length).toBe(before)
  })

  it("[L3] the system's clock measures durations by a clock that nobody sets", () => {
    const before = RuntimeClock.elapsedOf(RuntimeClock.system)
    expect(RuntimeClock.elapsedOf(RuntimeClock.system) - before).toBeLessThan(1_000)
    expect(Math.abs(RuntimeClock.system.now() - before)).toBeGreaterThan(hour)
    expect(RuntimeClock.elapsedOf({ now: () => 7, after: () => () => undefined })).toBe(7)
  })
})
