import { type RawTool, ToolError, ToolOutput } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import { call, makeWorld, rawTool, settle, snapshotOf } from "./support/world.js"

const limits = { grace: 100, toolTimeout: 1_000, dispatchRetries: 0 }
const serial = { concurrency: () => ({ _tag: "Serial" as const }) }

type Reconcile = NonNullable<RawTool.RawTool["reconcile"]>

/** A tool that hears no signal, beside one that conflicts with it. */
const deaf = async (reconcile: Reconcile, more: Partial<Parameters<typeof rawTool>[0]> = {}) => {
  const settlers: Array<(text: string) => void> = []
  const entries: Array<string> = []
  const tool = rawTool({ id: "deaf", more: { reconcile }, ...serial, ...more }, ({ callId }, { operation }) => {
    entries.push(`deaf ${operation.attempt}`)
    return new Promise((resolve) => settlers.push((text) => resolve(ToolOutput.ok(callId, text))))
  })
  const next = rawTool({ id: "next", ...serial }, () => void entries.push("next"))
  const script = [{ calls: [call("deaf"), call("next")] }, "Done."]
  const world = makeWorld({ script, tools: () => [tool, next] })
  const snapshot = snapshotOf(world.tools, (builder) => builder.limits(limits))
  const running = world.runtime.run({ snapshot, input: "hi", principal: "ada", threadId: "t" })
  await settle()
  return { ...world, running, entries, settlers }
}

type Deaf = Awaited<ReturnType<typeof deaf>>

const pass = async ({ clock }: Deaf, milliseconds: number): Promise<void> => {
  clock.advance(milliseconds)
  await settle()
}

/** The signal, then the grace. */
const outlast = async (world: Deaf): Promise<void> => {
  await pass(world, limits.toolTimeout)
  await pass(world, limits.grace)
}

const resultsOf = async ({ running }: Deaf): Promise<ReadonlyArray<unknown>> =>
  (await running).messages
    .toArray()
    .flatMap((message) =>
      message.role === "tool"
        ? [[message.outcome, message.content[0]?.type === "text" ? message.content[0].text : ""]]
        : []
    )

const happened: RawTool.Reconciliation = { _tag: "Happened", output: ToolOutput.ok("other", "it did") }
const lost = [
  "Indeterminate",
  "deaf timed out after 1000 ms; it did not stop. Its outcome is unknown: it may have happened. Do not assume either, and check before repeating it."
]
const notRun = ["NotRun", "next was not run: an earlier outcome is unknown"]

describe("a call that does not stop when it is asked to", () => {
  it("[R5, L3] is adopted when the outside world knows that it happened, and its claim is held until it settles", async () => {
    const world = await deaf(() => Promise.resolve(happened))
    await outlast(world)
    expect(world.entries).toEqual(["deaf 1"])
    world.settlers[0]?.("late")
    expect(await resultsOf(world)).toEqual([
      ["Completed", "it did"],
      ["Completed", "done"]
    ])
    expect(world.entries).toEqual(["deaf 1", "next"])
    expect(world.clock.pending).toBe(0)
  })

  it.each([
    ["NotSent", () => ({ _tag: "NotSent" })],
    ["Unknown", () => ({ _tag: "Unknown" })],
    ["a value that is no answer", () => ({ _tag: "Maybe" })],
    ["a rejection", () => Promise.reject(new Error("no"))],
    [
      "a throw",
      () => {
        throw new Error("no")
      }
    ]
  ])("[R5, L3] stays possibly happened in every mode after %s, and is never entered again", async (_, reconcile) => {
    for (const recovery of ["NonRecoverable", "ReplaySafe", "Idempotent", "DurableRequest"] as const) {
      const world = await deaf(reconcile as Reconcile, { recovery })
      await outlast(world)
      expect(await resultsOf(world)).toEqual([lost, notRun])
      expect(world.entries).toEqual(["deaf 1"])
      expect(world.clock.pending).toBe(0)
    }
  })

  it("[R5, L3] is given up after the grace once more when the outside world does not answer either", async () => {
    const world = await deaf(() => new Promise(() => undefined))
    await outlast(world)
    await pass(world, limits.grace - 1)
    expect(world.watched.summary.at(-1)).toBe("Open 0:Executing 1:Requested")
    await pass(world, 1)
    expect(await resultsOf(world)).toEqual([lost, notRun])
    expect(world.clock.pending).toBe(0)
  })

  it("[R5, L3] is asked after again while it is in progress elsewhere, for as long as the grace", async () => {
    let asked = 0
    const world = await deaf(() => (++asked < 3 ? { _tag: "InProgress", retryAfter: 40 } : happened))
    await outlast(world)
    await pass(world, 40)
    await pass(world, 40)
    world.settlers[0]?.("late")
    expect((await resultsOf(world))[0]).toEqual(["Completed", "it did"])
    expect(asked).toBe(3)
  })

  it("[R5, L3] is asked after when its run is cancelled, and the run ends within twice the grace", async () => {
    for (const [reconcile, expected] of [
      [() => happened, "Completed"],
      [() => new Promise<never>(() => undefined), "Indeterminate"]
    ] as const) {
      const world = await deaf(reconcile)
      world.running.cancel()
      await settle()
      await pass(world, limits.grace)
      await pass(world, limits.grace)
      const outcome = await world.running
      expect([outcome.disposition, outcome.messages.at(2)]).toMatchObject([
        { _tag: "Ended", cause: { _tag: "Cancelled" } },
        { outcome: expected }
      ])
      expect(world.clock.pending).toBe(0)
    }
  })

  it("[R5, L4] what it says itself while it is asked after is late: evidence, and no result", async () => {
    const world = await deaf(() => new Promise(() => undefined))
    await outlast(world)
    world.settlers[0]?.("late")
    await settle()
    await pass(world, limits.grace)
    expect(await resultsOf(world)).toEqual([lost, notRun])
    expect(world.watched.commits.flatMap(({ notes }) => notes.map(({ type }) => type))).toContain("LateResult")
  })

  it("[R5, E4] a repeat that its executor could not send is asked after as well: the attempt before it may have arrived", async () => {
    const clockAt = { at: 0 }
    const reconcile: Reconcile = () => (++clockAt.at === 1 ? { _tag: "NotSent" } : happened)
    const tool = rawTool({ id: "act", target: "Sandbox", recovery: "DurableRequest", more: { reconcile } })
    let entries = 0
    const executor = {
      recovery: () => "DurableRequest" as const,
      concurrency: serial.concurrency,
      reconcile,
      invoke: () => {
        if (++entries === 1) throw ToolError.execution("the connection was lost")
        throw ToolError.unavailableBeforeDispatch("no connection")
      }
    }
    const world = makeWorld({
      script: [{ calls: [call("act")] }, "Done."],
      tools: () => [tool],
      executors: { Sandbox: executor }
    })
    const snapshot = snapshotOf(world.tools, (builder) => builder.limits(limits))
    const outcome = await world.runtime.run({ snapshot, input: "hi", principal: "ada" })
    expect(outcome.messages.at(2)).toMatchObject({ outcome: "Completed", content: [{ text: "it did" }] })
    expect(entries).toBe(2)
  })

  it("[R5] where an executor can be asked, it is, and not the tool of this process", async () => {
    const asked: Array<string> = []
    const reconcile: Reconcile = () => (asked.push("tool"), { _tag: "Unknown" })
    const tool = rawTool({ id: "act", target: "Sandbox", more: { reconcile } })
    const executor = {
      recovery: () => "NonRecoverable" as const,
      concurrency: serial.concurrency,
      reconcile: (): RawTool.Reconciliation => (asked.push("executor"), happened),
      invoke: () => {
        throw ToolError.execution("the connection was lost")
      }
    }
    const world = makeWorld({
      script: [{ calls: [call("act")] }, "Done."],
      tools: () => [tool],
      executors: { Sandbox: executor }
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal: "ada" })
    expect(outcome.messages.at(2)).toMatchObject({ outcome: "Completed", content: [{ text: "it did" }] })
    expect(asked).toEqual(["executor"])
  })
})
