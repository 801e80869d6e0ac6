import { type PermissionGate, type ThreadStore, ToolBatch } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { EffectRecorder, forwarding, type Script, TestClock } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { ask, call, dropAt, makeWorld, settle, snapshotOf } from "./support/world.js"

type View = ThreadStore.ThreadView
type Call = ToolBatch.BatchCall

/** A store that hands out what it has without looking at it. */
const trusting =
  (damage: (view: View) => View) =>
  (inner: ThreadStore.ThreadStore): ThreadStore.ThreadStore =>
    forwarding(inner, {
      load: (threadId) => Effect.map(inner.load(threadId), (view) => (view === undefined ? undefined : damage(view)))
    })

const onCall =
  (change: (call: Call) => Partial<Call>) =>
  (view: View): View => {
    if (view.batch === undefined) throw new Error("no batch is open")
    const calls = view.batch.calls.map((one) => ({ ...one, ...change(one) }))
    return { ...view, batch: { ...view.batch, calls } }
  }

const onTicket =
  (
    change: (
      view: View
    ) => ReadonlyArray<View["tickets"] extends ReadonlyMap<infer K, infer V> ? readonly [K, V] : never>
  ) =>
  (view: View): View => ({ ...view, tickets: new Map(change(view)) })

const ofAny: Readonly<Record<string, (view: View) => View>> = {
  "no calls": (view) => ({ ...view, batch: view.batch === undefined ? undefined : { ...view.batch, calls: [] } }),
  "another run": (view) => ({
    ...view,
    batch: view.batch === undefined ? undefined : { ...view.batch, runId: "other" }
  }),
  "another step": (view) => ({ ...view, batch: view.batch === undefined ? undefined : { ...view.batch, step: 2 } }),
  "another place": onCall(() => ({ position: 1 })),
  "another operation": onCall(() => ({ operationId: "other" })),
  "other arguments": onCall(() => ({ arguments: { amount: 1_000_000 } })),
  "another digest": onCall(() => ({ digest: ToolBatch.digestOf({ amount: 1_000_000 }) })),
  "attempts that nobody made": onCall(({ attempts }) => ({ attempts: attempts + 1 })),
  "no attempt allowed": onCall(({ recovery }) => ({ recovery: { ...recovery, maxAttempts: 0 } })),
  "an edit that was half made": onCall(() => ({ proposal: -1 }))
}

const ofRunning: Readonly<Record<string, (view: View) => View>> = {
  ...ofAny,
  "a running call that asks to be run": onCall(() => ({ phase: ToolBatch.Requested })),
  "entered with other arguments": onCall(() => ({ entered: "0".repeat(64) })),
  "an approval of what is running": onCall(({ digest }) => ({ phase: { _tag: "Approved", digest, by: ["ada"] } }))
}

const ofWaiting: Readonly<Record<string, (view: View) => View>> = {
  ...ofAny,
  "a wait without a ticket": onTicket(() => []),
  "a ticket that shows other arguments": onTicket(({ tickets }) =>
    [...tickets].map(
      ([id, state]) => [id, { ...state, ticket: { ...state.ticket, arguments: { amount: 1 } } }] as const
    )
  ),
  "a ticket for another operation": onTicket(({ tickets }) =>
    [...tickets].map(([id, state]) => [id, { ...state, ticket: { ...state.ticket, operationId: "other" } }] as const)
  )
}

const gates = {
  running: { id: "allow", decide: () => ({ _tag: "Allow" }) },
  waiting: { id: "ask", decide: () => ask() }
} satisfies Record<string, PermissionGate.PermissionGate>

const script: Script = (request) =>
  request.messages.at(-1)?.role === "tool" ? "Done." : { calls: [call("act", { amount: 12 })] }

/** A run that stopped inside its call, or that waits for permission; then another runtime over what a store claims it is. */
const found = async (standing: "running" | "waiting", damage: (view: View) => View) => {
  const clock = new TestClock(1_000)
  const memory = new MemoryThreadStore({ now: clock.now })
  const recorder = new EffectRecorder()
  const common = {
    memory,
    clock,
    recorder,
    gate: gates[standing],
    tools: (recording: EffectRecorder) => [recording.tool({ id: "act", recovery: "ReplaySafe" })],
    leaseTtl: 1_000,
    script
  }
  const first = makeWorld({ ...common, ...(standing === "running" ? { crashPoint: dropAt("dispatch.before") } : {}) })
  const snapshot = snapshotOf(first.tools)
  await first.runtime.run({ snapshot, input: "hi", principal: "ada", threadId: "t" }).catch(() => undefined)
  await settle()
  clock.advance(1_000)
  const before = await Effect.runPromise(memory.load("t"))
  const second = makeWorld({ ...common, store: trusting(damage) })
  return { ...second, memory, before, recorder }
}

const unreadable = (view: View | undefined) => ({ _tag: "Unreadable", position: `thread t revision ${view?.revision}` })

const reasonOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => "accepted",
    (error: { readonly reason: unknown }) => error.reason
  )

/** Nothing was run and nothing was written. */
const isUntouched = async ({ memory, before, recorder, watched }: Awaited<ReturnType<typeof found>>) => {
  const after = await Effect.runPromise(memory.load("t"))
  expect([after?.revision, after?.batch, recorder.effects, watched.commits]).toEqual([
    before?.revision,
    before?.batch,
    [],
    []
  ])
}

describe("a thread whose open batch breaks an invariant", () => {
  it.each(Object.entries(ofRunning))("[R8, R11] is not recovered: %s", async (_, damage) => {
    const world = await found("running", damage)
    const recovered = await world.runtime.recover()
    expect(recovered.map(({ error, outcome }) => [error?.reason, outcome])).toEqual([
      [unreadable(world.before), undefined]
    ])
    await isUntouched(world)
  })

  it.each(Object.entries(ofRunning))("[L1, R11] is told and left by work: %s", async (_, damage) => {
    const world = await found("running", damage)
    const stop = new AbortController()
    const told: Array<unknown> = []
    await world.runtime.work({
      signal: stop.signal,
      onRecovered: ({ error }) => {
        told.push(error?.reason)
        stop.abort()
      }
    })
    expect(told).toEqual([unreadable(world.before)])
    await isUntouched(world)
  })

  it.each(Object.entries(ofWaiting))("[H3, R11] takes no approval: %s", async (_, damage) => {
    const world = await found("waiting", damage)
    const [ticketId] = [...(world.before?.tickets.keys() ?? [])]
    const answering = world.runtime.resume(ticketId ?? "", { _tag: "Allow" }, { approver: "ada" })
    expect(await reasonOf(answering)).toEqual(unreadable(world.before))
    expect(await Effect.runPromise(world.memory.inbox("t"))).toEqual([])
    await isUntouched(world)
  })

  it.each(Object.entries(ofWaiting))("[R10, R11] is not driven under a take-over: %s", async (_, damage) => {
    const world = await found("waiting", damage)
    expect(await reasonOf(world.runtime.recover({ threadId: "t", takeOver: true }))).toEqual(unreadable(world.before))
    await isUntouched(world)
  })

  it("[R8] goes on where nothing is broken", async () => {
    const world = await found("running", (view) => view)
    const [recovered] = await world.runtime.recover()
    expect([recovered?.error, world.recorder.effects.length]).toEqual([undefined, 1])
  })

  it("[R11, R12] is refused as well when an unresolved outcome guards something else than it says", async () => {
    const world = await found("running", (view) => {
      const [one] = view.batch?.calls ?? []
      if (one === undefined) throw new Error("no call is open")
      const open = { operationId: "earlier", runId: "earlier", call: one, since: 1 }
      return { ...view, openOutcomes: new Map([["earlier", open]]) }
    })
    const recovered = await world.runtime.recover()
    expect(recovered.map(({ error }) => error?.reason)).toEqual([unreadable(world.before)])
    await isUntouched(world)
  })
})
