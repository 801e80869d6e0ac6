import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { EffectRecorder, FaultyStore, forwarding, ScriptedLlm, TestClock } from "@toolwright/testing"
import { PermissionGate } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { Runtime } from "../src/index.js"
import { call, makeWorld, settle, snapshotOf } from "./support/world.js"

const principal = "ada"
const note = (recorder: EffectRecorder) => [recorder.tool({ id: "note" })]

/** Lets time pass until the promise settles. */
const passing = async <A>(clock: TestClock, promise: Promise<A>): Promise<A> => {
  let isOver = false
  const done = promise.finally(() => (isOver = true))
  done.catch(() => undefined)
  for (let turn = 0; turn < 400 && !isOver; turn++) {
    await settle()
    clock.advance(100)
  }
  return done
}

describe("an unanswered commit stops nothing twice", () => {
  it("[D2] a lost reply is sent again under the same id, and counts once", async () => {
    for (const fault of ["crashAfter", "crashBefore", "reject"] as const)
      for (const index of [0, 1, 2, 3]) {
        const world = makeWorld({
          script: [{ calls: [call("note")] }, "Done."],
          tools: note,
          store: (inner) => new FaultyStore(inner, { plan: [{ operation: "commit", index, fault: { _tag: fault } }] })
        })
        const outcome = await passing(
          world.clock,
          world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal })
        )
        expect([fault, index, outcome.text, world.recorder.effects.length]).toEqual([fault, index, "Done.", 1])
        expect(outcome.messages.length).toBe(4)
      }
  })

  it("[D2] a store that never answers ends the call with CommitUnknown after the last try, and nothing that depends on it ran", async () => {
    const faulty = (inner: MemoryThreadStore) =>
      new FaultyStore(inner, {
        plan: ({ operation, index }) => (operation === "commit" && index >= 1 ? { _tag: "hang" } : undefined)
      })
    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    const store = faulty(memory)
    const recorder = new EffectRecorder()
    const tools = note(recorder)
    const runtime = Runtime.make({
      llm: new ScriptedLlm([{ calls: [call("note")] }]),
      gate: PermissionGate.allowAll,
      tools,
      clock,
      store,
      storeTimeout: 200,
      leaseTtl: 1_000_000
    })
    const snapshot = snapshotOf(tools, (builder) => builder.limits({ commitRetries: 2 }))
    await expect(
      passing(clock, runtime.run({ snapshot, input: "hi", principal, threadId: "t" }))
    ).rejects.toMatchObject({
      _tag: "RunError",
      reason: { _tag: "CommitUnknown" }
    })
    expect(recorder.effects).toEqual([])
    expect(store.log.filter(({ operation }) => operation === "commit").length).toBe(4)
    expect(clock.pending).toBe(0)
  })

  it("[R10] an owner that is fenced commits nothing more, and its tools are interrupted", async () => {
    const world = makeWorld({ script: [{ calls: [call("note")] }, "Never."], tools: note })
    const release = world.recorder.hold("note")
    const running = world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal, threadId: "t" })
    await world.recorder.whenEntered(1)
    await Effect.runPromise(world.memory.claim({ threadId: "t", owner: "thief", ttl: 60_000, takeOver: true }))
    release()
    await expect(running).rejects.toMatchObject({ reason: { _tag: "Fenced" } })
    expect(world.watched.summary).toEqual(["start", "Open 0:Executing"])
    expect(world.clock.pending).toBe(0)
  })

  it("[R10] the lease is renewed while a tool works, and a fenced renewal stops the run before its tool is done", async () => {
    let signal: AbortSignal | undefined
    const world = makeWorld({
      script: [{ calls: [call("note")] }],
      leaseTtl: 1_000,
      tools: (recorder) => [
        recorder.tool({
          id: "note",
          answer: (_call, context) => ((signal = context.signal), new Promise<string>(() => undefined))
        })
      ]
    })
    const running = world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal, threadId: "t" })
    running.catch(() => undefined)
    await world.recorder.whenEntered(1)
    await settle()
    for (let turn = 0; turn < 10; turn++) {
      world.clock.advance(400)
      await settle()
    }
    await expect(
      Effect.runPromise(world.memory.claim({ threadId: "t", owner: "thief", ttl: 1 }))
    ).rejects.toMatchObject({
      reason: { _tag: "ThreadBusy" }
    })
    await Effect.runPromise(world.memory.claim({ threadId: "t", owner: "thief", ttl: 60_000, takeOver: true }))
    world.clock.advance(600)
    await expect(running).rejects.toMatchObject({ reason: { _tag: "Fenced" } })
    expect(signal?.aborted).toBe(true)
  })

  it("[R10] an owner that cannot renew stops when its lease runs out, by its own clock", async () => {
    const world = makeWorld({
      script: [{ stall: "untilAborted" }],
      leaseTtl: 1_000,
      store: (inner) =>
        new FaultyStore(inner, { plan: ({ operation }) => (operation === "renew" ? { _tag: "hang" } : undefined) })
    })
    const running = world.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
    running.catch(() => undefined)
    await settle()
    world.clock.advance(1_000)
    await expect(running).rejects.toMatchObject({ reason: { _tag: "LeaseLost" } })
  })

  it("[R10] a lease that merely ran out is renewed, and the commit goes through", async () => {
    const world = makeWorld({
      script: ["Done."],
      leaseTtl: 1_000,
      store: (inner) => {
        let isStale = true
        return new FaultyStore(inner, {
          plan: ({ operation, index }) => {
            if (operation === "commit" && index === 1 && isStale) {
              isStale = false
              world.clock.advance(999)
            }
            return undefined
          }
        })
      }
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
    expect(outcome.text).toBe("Done.")
  })

  it("[E2] a thread that another owner works on is busy, and stays untouched", async () => {
    const world = makeWorld({ script: [] })
    await Effect.runPromise(world.memory.claim({ threadId: "t", owner: "other", ttl: 60_000 }))
    await expect(
      world.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal, threadId: "t" })
    ).rejects.toMatchObject({
      reason: { _tag: "ThreadBusy", by: "Owner" }
    })
    expect(world.watched.commits).toEqual([])
  })

  it("[R10] a long history may take longer to load than a question may go unanswered, and its lease is kept meanwhile", async () => {
    const reached: Array<string> = []
    for (const [delay, expected] of [
      [11_000, "Done."],
      [39_000, "StoreUnavailable"]
    ] as const) {
      let isSlow = false
      const clock = new TestClock(1_000)
      const store = new MemoryThreadStore({ now: clock.now })
      const slow = forwarding(store, {
        load: (threadId) =>
          isSlow
            ? Effect.andThen(
                Effect.callback<void>((resume) => void clock.after(delay, () => resume(Effect.void))),
                store.load(threadId)
              )
            : store.load(threadId)
      })
      const runtime = Runtime.make({
        llm: new ScriptedLlm(["Well.", ...(expected === "Done." ? ["Done."] : [])]),
        gate: PermissionGate.allowAll,
        tools: [],
        clock,
        store: slow,
        storeTimeout: 1_000,
        leaseTtl: 2_000
      })
      const snapshot = snapshotOf([])
      await runtime.run({ snapshot, input: "hello", principal, threadId: "thread" })
      isSlow = true
      const settled = await passing(
        clock,
        runtime.run({ snapshot, input: "hi", principal, threadId: "thread" }).then(
          (outcome) => outcome.text,
          (error: { readonly reason: { readonly _tag: string } }) => error.reason._tag
        )
      )
      reached.push(settled)
    }
    expect(reached).toEqual(["Done.", "StoreUnavailable"])
  })

  it("[E2] a store that dies in any operation costs the call a typed error, never the process", async () => {
    for (const operation of ["claim", "load", "commit", "release", "inbox"] as const) {
      let isBroken = false
      const world = makeWorld({
        script: ["Well.", "Done."],
        store: (inner) => {
          // Others can reach it, so that the inbox is looked at.
          const { isProcessLocal: _, subscribe: __, ...whole } = forwarding(inner)
          const sound = whole[operation] as (...given: ReadonlyArray<unknown>) => unknown
          const broken = (...given: ReadonlyArray<unknown>): unknown =>
            isBroken ? Effect.die(new Error(`${operation} is broken`)) : sound(...given)
          return { ...whole, [operation]: broken } as never
        }
      })
      const snapshot = snapshotOf([], (builder) => builder.limits({ commitRetries: 1 }))
      // The second owner of a thread has something to load.
      await world.runtime.run({ snapshot, input: "hello", principal, threadId: "thread" })
      isBroken = true
      const settled = await passing(
        world.clock,
        world.runtime.run({ snapshot, input: "hi", principal, threadId: "thread" }).then(
          (outcome) => outcome.text,
          (error: { readonly reason: { readonly _tag: string } }) => error.reason._tag
        )
      )
      expect([operation, settled]).toEqual([
        operation,
        operation === "commit" ? "CommitUnknown" : operation === "release" ? "Done." : "StoreUnavailable"
      ])
      expect(world.clock.pending).toBe(0)
    }
  })
})
