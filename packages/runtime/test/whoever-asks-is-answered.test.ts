// Every question comes to an answer, whenever it is asked: cancels between two runs, readers that ask twice or too late.
import { type ThreadStore, StoreRules } from "@toolwright/runtime-contract"
import { forwarding } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { RunError } from "../src/index.js"
import { ask, call, makeWorld, rawTool, settle, snapshotOf } from "./support/world.js"

const askGate = { id: "asks", decide: () => ask() }

/** Lets a test act while the store is at one of its methods. */
const during =
  (act: { commit?: () => void; release?: () => void }) =>
  (inner: ThreadStore.ThreadStore): ThreadStore.ThreadStore => {
    const later = <A, E>(meanwhile: (() => void) | undefined, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.andThen(
        Effect.promise(async () => {
          meanwhile?.()
          await settle()
        }),
        effect
      )
    return forwarding(inner, {
      commit: (commit) => later(act.commit, inner.commit(commit)),
      release: (lease) => later(act.release, inner.release(lease))
    })
  }

const tools = () => [rawTool({ id: "mail" })]
const cancelled = { _tag: "Ended", cause: { _tag: "Cancelled" } }

describe("cancels", () => {
  it("[L1] one that is said while a run comes to rest ends it", async () => {
    const act: { release?: () => void } = {}
    const world = makeWorld({ script: [{ calls: [call("mail")] }], gate: askGate, tools, store: during(act) })
    const running = world.runtime.run({ snapshot: snapshotOf(world.tools), input: "go", principal: "ada" })
    act.release = running.cancel
    expect((await running).disposition).toEqual(cancelled)
  })

  it("[L1] one that is said while a run starts on a thread that has had another ends it", async () => {
    const act: { commit?: () => void } = {}
    const world = makeWorld({ script: ["first", "second"], store: during(act) })
    const options = { snapshot: snapshotOf([]), input: "go", principal: "ada", threadId: "t" }
    await world.runtime.run(options)
    const stopping = new AbortController()
    act.commit = () => stopping.abort()
    const second = await world.runtime.run({ ...options, signal: stopping.signal })
    expect(second.disposition).toEqual(cancelled)
  })

  it("[L8] one for an earlier run does not end the run that is starting", async () => {
    const act: { commit?: () => void } = {}
    const world = makeWorld({ script: ["first", "second"], store: during(act) })
    const options = { snapshot: snapshotOf([]), input: "go", principal: "ada", threadId: "t" }
    const first = await world.runtime.run(options)
    const refused: Array<unknown> = []
    act.commit = () => {
      delete act.commit
      const { runId } = first
      world.runtime.cancel({ threadId: "t", runId }).catch((error: unknown) => refused.push(error))
    }
    const second = await world.runtime.run(options)
    expect(second.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
    await settle()
    expect(refused).toMatchObject([{ name: "RunError", reason: { _tag: "NotOpen" } }])
  })
})

describe("rests", () => {
  it("[L1] a run that another owner takes up while it comes to rest gives its tickets", async () => {
    const act: { release?: () => void } = {}
    const world = makeWorld({
      script: [{ calls: [call("mail")] }],
      gate: askGate,
      tools,
      store: (inner) => {
        const slow = during(act)(inner)
        return forwarding(slow, {
          release: (lease) =>
            Effect.tap(slow.release(lease), () =>
              Effect.andThen(
                Effect.ignore(inner.claim({ threadId: lease.threadId, owner: "another", ttl: 60_000 })),
                Effect.ignore(inner.signal(pauseOf(lease.threadId, running.runId)))
              )
            )
        })
      }
    })
    const running = world.runtime.run({ snapshot: snapshotOf(world.tools), input: "go", principal: "ada" })
    const outcome = await running
    expect([outcome.disposition._tag, outcome.tickets.length]).toEqual(["Awaiting", 1])
  })
})

const pauseOf = (threadId: string, runId: string): ThreadStore.Signal => ({
  id: "pause",
  threadId,
  runId,
  at: 1_000,
  body: { _tag: "Pause", by: "bob" }
})

describe("readers", () => {
  const watched = () => {
    const world = makeWorld({ script: ["hello"] })
    const events = world.runtime.watch({ threadId: "t" })
    return {
      ...world,
      events,
      run: () => world.runtime.run({ snapshot: snapshotOf([]), input: "go", principal: "ada", threadId: "t" })
    }
  }

  it("[L4] a reader that asks three times at once gets three events, in their order", async () => {
    const { events, run } = watched()
    const asked = [events.next(), events.next(), events.next()]
    await run()
    const given = await Promise.all(asked)
    expect(given).toMatchObject([
      { value: { _tag: "Fact", number: 1 } },
      { value: { _tag: "Fact", number: 2 } },
      { value: { _tag: "Delta" } }
    ])
  })

  it("[L4] a reader that leaves gets nothing more, however often it has asked", async () => {
    const { events } = watched()
    const asked = [events.next(), events.next()]
    await events.return?.()
    const done = { done: true, value: undefined }
    expect([...(await Promise.all(asked)), await events.next()]).toEqual([done, done, done])
  })

  it("[L8] a thread that is watched when the runtime has closed has nothing to tell", async () => {
    const { runtime, clock } = watched()
    await runtime.close()
    expect(await runtime.watch({ threadId: "t" }).next()).toEqual({ done: true, value: undefined })
    expect(clock.pending).toBe(0)
  })

  it("[L3] a reader whose thread cannot be read is told once, and leaves no timer behind", async () => {
    const reason = { _tag: "Unreadable", position: "here" } as const
    const world = makeWorld({
      script: [],
      store: (inner) =>
        forwarding(inner, { tail: ({ threadId }) => Effect.fail(StoreRules.storeError(threadId, { reason })) })
    })
    const events = world.runtime.watch({ threadId: "t", from: 1 })
    await expect(events.next()).rejects.toMatchObject({ reason })
    expect([await events.next(), world.clock.pending]).toEqual([{ done: true, value: undefined }, 0])
  })

  it("[L4] a listener that rejects later disturbs nobody", async () => {
    const strays: Array<unknown> = []
    const stray = (error: unknown): void => void strays.push(error)
    process.on("unhandledRejection", stray)
    const world = makeWorld({ script: ["hello"] })
    const onEvent = (): Promise<void> => Promise.reject(new Error("late"))
    // oxlint-disable-next-line typescript/no-misused-promises -- the slip that is tested
    const outcome = await world.runtime.run({ snapshot: snapshotOf([]), input: "go", principal: "ada", onEvent })
    await settle()
    process.off("unhandledRejection", stray)
    expect([outcome.text, strays]).toEqual(["hello", []])
  })
})

describe("options", () => {
  const good = { snapshot: snapshotOf([]), input: "go", principal: "ada" }
  const bad: ReadonlyArray<readonly [string, unknown]> = [
    ["options", null],
    ["threadId", { ...good, threadId: 5 }],
    ["onEvent", { ...good, onEvent: 5 }],
    ["signal", { ...good, signal: {} }],
    ["policy", { ...good, policy: 5 }],
    ["policy", { ...good, policy: { decide: () => ask() } }],
    ["snapshot", { ...good, snapshot: {} }]
  ]
  it.each(bad)("[L1] %s of the wrong kind start nothing: %j", async (option, options) => {
    const world = makeWorld({ script: [] })
    const error = await world.runtime.run(options as never).then(
      () => undefined,
      (thrown: unknown) => thrown
    )
    expect(error).toBeInstanceOf(RunError)
    expect(error).toMatchObject({ reason: { _tag: "BadRequest", option } })
    expect(world.watched.commits).toEqual([])
  })
})
