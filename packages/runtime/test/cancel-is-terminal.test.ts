import { type RawTool, ToolOutput } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { ask, call, makeWorld, rawTool, settle, snapshotOf } from "./support/world.js"

const principal = "ada"
const limits = { grace: 100, toolTimeout: 1_000 }

/** A tool that says when it was entered, and whose call is in the test's hand. */
const heldTool = (id: string, more: object = {}) => {
  let entered: () => void = () => undefined
  const whenEntered = new Promise<void>((resolve) => (entered = resolve))
  const signals: Array<AbortSignal> = []
  const settlers: Array<{ readonly resolve: (text: string) => void; readonly reject: (error: Error) => void }> = []
  const tool = rawTool({ id, ...more }, ({ callId }, context) => {
    signals.push(context.signal)
    return new Promise<ToolOutput.ToolOutput>((resolve, reject) => {
      settlers.push({ resolve: (text) => resolve(ToolOutput.ok(callId, text)), reject })
      entered()
    })
  })
  return { tool, whenEntered, signals, settlers }
}

const started = async (held: ReturnType<typeof heldTool>, tools: ReadonlyArray<RawTool.RawTool> = []) => {
  const all = [held.tool, ...tools]
  const world = makeWorld({ script: [{ calls: all.map((tool) => call(tool.spec().id)) }, "Done."], tools: () => all })
  const snapshot = snapshotOf(all, (builder) => builder.limits(limits))
  const running = world.runtime.run({ snapshot, input: "hi", principal, threadId: "t" })
  await held.whenEntered
  await settle()
  return { ...world, running, snapshot }
}

describe("cancel is terminal", () => {
  it("[L1] cancelling ends the run with a value, never with a rejection", async () => {
    const world = makeWorld({ script: [{ stall: "untilAborted" }] })
    const running = world.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
    await settle()
    running.cancel()
    const outcome = await running
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
    expect(world.watched.summary).toEqual(["start", "nothing > Ended Cancelled"])
    expect(world.clock.pending).toBe(0)
  })

  it("[L3] an aborted signal of the caller cancels, also when it was aborted before", async () => {
    for (const isEarly of [true, false]) {
      const controller = new AbortController()
      if (isEarly) controller.abort()
      const world = makeWorld({ script: [{ stall: "deaf" }] })
      const running = world.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal, signal: controller.signal })
      await settle()
      controller.abort()
      expect((await running).disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
    }
  })

  it("[L3] a tool that honours the signal has completed, and the run ends without waiting for the grace", async () => {
    const held = heldTool("slow")
    const { running, settlers, signals, watched } = { ...(await started(held)), ...held }
    running.cancel()
    await settle()
    expect(signals[0]?.aborted).toBe(true)
    settlers[0]?.reject(new Error("aborted"))
    const outcome = await running
    expect(outcome.messages.at(2)).toMatchObject({ outcome: "Completed", isError: true })
    expect(JSON.stringify(outcome.messages.at(2))).toContain("slow was cancelled\\nIt may have had an effect.")
    expect(watched.summary.at(-1)).toBe("Publish 0:Completed > Ended Cancelled")
  })

  it("[L3] a tool that is deaf is given up after the grace, in every mode, and told as possibly happened", async () => {
    for (const recovery of ["NonRecoverable", "ReplaySafe", "Idempotent", "DurableRequest"] as const) {
      const held = heldTool("deaf", { recovery })
      const { running, clock } = await started(held)
      running.cancel()
      await settle()
      clock.advance(limits.grace)
      const outcome = await running
      expect(outcome.messages.at(2)).toMatchObject({ outcome: "Indeterminate", isError: true })
      expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
      expect(clock.pending).toBe(0)
    }
  })

  it("[R9] ending a run tells requested and waiting calls as not run, and each call has one result", async () => {
    const held = heldTool("busy", { concurrency: () => ({ _tag: "Serial" }) })
    const waiting = rawTool({ id: "waiting" })
    const world = makeWorld({
      script: [{ calls: [call("busy"), call("waiting"), call("asked")] }],
      tools: () => [held.tool, waiting, rawTool({ id: "asked" })],
      gate: { id: "some", decide: ({ tool }) => (tool.id === "asked" ? ask() : { _tag: "Allow" }) }
    })
    const snapshot = snapshotOf(world.tools, (builder) => builder.limits(limits))
    const running = world.runtime.run({ snapshot, input: "hi", principal, threadId: "t" })
    await held.whenEntered
    await settle()
    await Promise.all([
      world.runtime.stop({ threadId: "t", reason: "enough" }),
      settle().then(() => world.clock.advance(100))
    ])
    const outcome = await running
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "Stopped", reason: "enough" } })
    expect([...outcome.messages].flatMap((message) => (message.role === "tool" ? [message.outcome] : []))).toEqual([
      "Indeterminate",
      "NotRun",
      "NotRun"
    ])
  })

  it("[L8] cancel while the run awaits people ends it from the caller's process, and its tickets are void", async () => {
    const world = makeWorld({
      script: [{ calls: [call("asked")] }],
      tools: () => [rawTool({ id: "asked" })],
      gate: { id: "a", decide: () => ask() }
    })
    const waiting = await world.runtime.run({
      snapshot: snapshotOf(world.tools),
      input: "hi",
      principal,
      threadId: "t"
    })
    const outcome = await world.runtime.cancel({ threadId: "t", by: "eve" })
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
    expect(outcome.messages.at(2)).toMatchObject({ outcome: "NotRun" })
    await expect(
      world.runtime.resume(waiting.tickets[0]?.id ?? "", { _tag: "Allow" }, { approver: "bob" })
    ).rejects.toMatchObject({ reason: "NotWaiting" })
  })

  it("[L3] a tool that runs too long is told to stop, and its siblings are not", async () => {
    const slow = heldTool("slow")
    const world = await started(slow, [rawTool({ id: "quick" })])
    world.clock.advance(limits.toolTimeout)
    await settle()
    expect(slow.signals[0]?.aborted).toBe(true)
    slow.settlers[0]?.reject(new Error("stopped"))
    const outcome = await world.running
    expect(
      [...outcome.messages].flatMap((message) => (message.role === "tool" ? [JSON.stringify(message.content)] : []))
    ).toEqual([
      expect.stringContaining("slow timed out after 1000 ms") as string,
      expect.stringContaining("done") as string
    ])
    expect(outcome.text).toBe("Done.")
  })

  it("[L3] what a tool says within the grace stands", async () => {
    const slow = heldTool("slow")
    const world = await started(slow)
    world.clock.advance(limits.toolTimeout)
    slow.settlers[0]?.resolve("just in time")
    const outcome = await world.running
    expect(outcome.messages.at(2)).toMatchObject({
      outcome: "Completed",
      isError: false,
      content: [{ text: "just in time" }]
    })
  })

  it("[L3] an Effect tool is interrupted, and one that cannot be is given up after the grace", async () => {
    const cleaned: Array<string> = []
    const gentle = rawTool({ id: "gentle" }, () =>
      Effect.onInterrupt(Effect.never, () => Effect.sync(() => void cleaned.push("gentle")))
    )
    const stubborn = rawTool({ id: "stubborn" }, () => Effect.uninterruptible(Effect.never))
    const world = makeWorld({
      script: [{ calls: [call("gentle"), call("stubborn")] }, "Done."],
      tools: () => [gentle, stubborn]
    })
    const running = world.runtime.run({
      snapshot: snapshotOf(world.tools, (builder) => builder.limits(limits)),
      input: "hi",
      principal
    })
    await settle()
    world.clock.advance(limits.toolTimeout)
    await settle()
    world.clock.advance(limits.grace)
    const outcome = await running
    expect(cleaned).toEqual(["gentle"])
    expect([...outcome.messages].flatMap((message) => (message.role === "tool" ? [message.outcome] : []))).toEqual([
      "Completed",
      "Indeterminate"
    ])
  })

  it("[L3] a given-up call keeps its claim: a conflicting call waits for it, and is not run when its own limit is over", async () => {
    const file = () => ({ _tag: "Resources", claims: [{ access: "Write", namespace: "file", key: "a" }] }) as const
    const first = heldTool("first", { concurrency: file })
    const second = rawTool({ id: "second", concurrency: file })
    const world = makeWorld({
      script: [{ calls: [call("first")] }, { calls: [call("second")] }, { calls: [call("second")] }, "Done."],
      tools: () => [first.tool, second]
    })
    const snapshot = snapshotOf(world.tools, (builder) => builder.limits(limits))
    const running = world.runtime.run({ snapshot, input: "hi", principal })
    await first.whenEntered
    for (const wait of [limits.toolTimeout, limits.grace, limits.toolTimeout]) {
      await settle()
      world.clock.advance(wait)
    }
    await settle()
    first.settlers[0]?.resolve("late")
    const outcome = await running
    const results = [...outcome.messages].flatMap((message) =>
      message.role === "tool" ? [[message.toolId, message.outcome]] : []
    )
    expect(results).toEqual([
      ["first", "Indeterminate"],
      ["second", "NotRun"],
      ["second", "Completed"]
    ])
    const late = world.watched.commits.flatMap((commit) => commit.notes).filter((note) => note.type === "LateResult")
    expect(late).toMatchObject([{ type: "LateResult", attempt: 1, summary: "completed" }])
    expect(JSON.stringify([...outcome.messages])).not.toContain('"late"')
  })

  it("[R12] conflicting later calls of a batch are not run behind an unknown outcome, and others are", async () => {
    const file = (key: string) => () =>
      ({ _tag: "Resources", claims: [{ access: "Write", namespace: "file", key }] }) as const
    const first = heldTool("first", { concurrency: file("a") })
    const world = await started(first, [
      rawTool({ id: "same", concurrency: file("a") }),
      rawTool({ id: "other", concurrency: file("b") })
    ])
    for (const wait of [limits.toolTimeout, limits.grace]) {
      await settle()
      world.clock.advance(wait)
    }
    const outcome = await world.running
    const results = [...outcome.messages].flatMap((message) => (message.role === "tool" ? [message.outcome] : []))
    expect(results).toEqual(["Indeterminate", "NotRun", "Completed"])
    expect(JSON.stringify(outcome.messages.at(3))).toContain("an earlier outcome is unknown")
  })

  it("[R12] a snapshot may end its run at an unknown outcome", async () => {
    const first = heldTool("first")
    const world = makeWorld({ script: [{ calls: [call("first")] }], tools: () => [first.tool] })
    const snapshot = snapshotOf(world.tools, (builder) => builder.limits(limits).onIndeterminate("end"))
    const running = world.runtime.run({ snapshot, input: "hi", principal })
    await first.whenEntered
    for (const wait of [limits.toolTimeout, limits.grace]) {
      await settle()
      world.clock.advance(wait)
    }
    expect((await running).disposition).toEqual({ _tag: "Ended", cause: { _tag: "Indeterminate" } })
  })

  it("[L3] cancelling during a gate's answer drops the turn, and nothing runs", async () => {
    const world = makeWorld({
      script: [{ calls: [call("note")] }],
      tools: (recorder) => [recorder.tool({ id: "note" })],
      gate: { id: "slow", decide: () => new Promise(() => undefined) }
    })
    const running = world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal })
    await settle()
    running.cancel()
    const outcome = await running
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
    expect([outcome.messages.length, world.recorder.effects.length, world.clock.pending]).toEqual([1, 0, 0])
  })
})
