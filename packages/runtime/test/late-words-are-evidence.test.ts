// C100: a tool that ignores its cancel may still do what it was about to do. Nobody is told that it was stopped.
import { ToolOutput } from "@toolwright/runtime-contract"
import { expect, it } from "vitest"
import { call, makeWorld, rawTool, settle, snapshotOf } from "./support/world.js"

const limits = { grace: 100, toolTimeout: 1_000 }

/** A tool that writes and answers when it likes, whatever it is told. */
const deaf = () => {
  const written: Array<string> = []
  const fates: Array<(isGood: boolean) => void> = []
  const tool = rawTool({ id: "deaf" }, ({ callId }) => {
    return new Promise<ToolOutput.ToolOutput>((resolve, reject) => {
      fates.push((isGood) => {
        written.push("written")
        if (isGood) resolve(ToolOutput.ok(callId, "the late text"))
        else reject(new Error("the late error"))
      })
    })
  })
  return { tool, written, fates }
}

const cancelled = async () => {
  const held = deaf()
  const world = makeWorld({ script: [{ calls: [call("deaf")] }, "Next."], tools: () => [held.tool] })
  const snapshot = snapshotOf([held.tool], (builder) => builder.limits(limits))
  const start = { snapshot, principal: "ada", threadId: "t" }
  const running = world.runtime.run({ ...start, input: "hi" })
  await settle()
  running.cancel()
  await settle()
  world.clock.advance(limits.grace)
  return { ...world, ...held, start, outcome: await running }
}

it.each([
  ["completed", true],
  ["failed", false]
] as const)(
  "[L3] the caller has its end after the grace with the outcome unknown, and a tool that %s later is noted and given to no model",
  async (summary, isGood) => {
    const world = await cancelled()
    expect(world.written).toEqual([])
    expect(world.outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "Cancelled" } })
    expect(world.outcome.messages.at(2)).toMatchObject({ outcome: "Indeterminate", isError: true })
    const before = [...world.outcome.messages]
    world.fates[0]?.(isGood)
    await settle()
    expect(world.written).toEqual(["written"])
    // Evidence goes down with what the thread commits next, and the history stays as it was.
    const next = await world.runtime.run({ ...world.start, input: "and now?" })
    const notes = world.watched.commits.flatMap((commit) => commit.notes).filter(({ type }) => type === "LateResult")
    expect(notes).toEqual([
      { type: "LateResult", operationId: expect.stringContaining("/1/0") as string, attempt: 1, summary }
    ])
    expect([...next.messages].slice(0, before.length)).toEqual(before)
    expect(JSON.stringify([...next.messages])).not.toContain("the late")
    expect([...next.messages].filter((message) => message.role === "tool").length).toBe(1)
  }
)
