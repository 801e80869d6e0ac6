import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { act, type Table, table } from "./support/terminals.js"

let world: Table
beforeEach(async () => {
  world = await table()
}, 60_000)
afterEach(() => world.closeAll())

describe("a second terminal on the file of a live run", () => {
  it("[R8, R10] finds nothing to recover, and disturbs nothing", async () => {
    const first = world.open({ name: "first", steps: [[act(1)]], holds: [1] })
    const running = first.tell({ do: "run", threadId: "t" })
    await first.entered(1)
    const second = world.open({ name: "second", steps: [[act(1)]] })
    expect(await second.recover()).toEqual([])
    expect(await second.ask({ do: "run", threadId: "t" })).toEqual({ refused: "ThreadBusy" })
    world.go(1)
    expect((await running).messages).toEqual([
      "user: Go.",
      "assistant: calls call-1-1",
      "Completed: done 1",
      "assistant: Done."
    ])
  }, 60_000)

  it("[L8, D3] cancels it: the running call is told to stop, and the run ends in its own process", async () => {
    const first = world.open({ name: "first", steps: [[act(1)]], holds: [1] })
    const running = first.tell({ do: "run", threadId: "t" })
    await first.entered(1)
    const second = world.open({ name: "second", steps: [] })
    await second.tell({ do: "cancel", threadId: "t" })
    expect((await running).disposition).toBe("Ended Cancelled")
    expect((await second.tell({ do: "view", threadId: "t" })).messages.slice(0, 2)).toEqual([
      "user: Go.",
      "assistant: calls call-1-1"
    ])
    expect(world.seen()).toEqual(["1/0 attempt 1"])
  }, 60_000)

  it("[L8] steers it: the message stands behind the results of the open step", async () => {
    const first = world.open({ name: "first", steps: [[act(1)]], holds: [1] })
    const running = first.tell({ do: "run", threadId: "t" })
    await first.entered(1)
    const second = world.open({ name: "second", steps: [] })
    expect((await second.tell({ do: "steer", threadId: "t", input: "In metres." })).disposition).toBe("Running")
    world.go(1)
    expect((await running).messages).toEqual([
      "user: Go.",
      "assistant: calls call-1-1",
      "Completed: done 1",
      "user: In metres.",
      "assistant: Done."
    ])
  }, 60_000)

  it("[H6, H2] answers one of its tickets while a sibling is at work in the first, and the first runs what was allowed", async () => {
    const steps = [[act(1), act(2)]]
    const first = world.open({ name: "first", decision: "ask", steps, holds: [1] })
    const waiting = await first.tell({ do: "run", threadId: "t" })
    const [one = "", two = ""] = waiting.tickets
    const running = first.tell({ do: "resume", ticketId: one, answer: { _tag: "Allow" }, approver: "bob" })
    await first.entered(1)
    const second = world.open({ name: "second", decision: "ask", steps })
    const answered = await second.tell({ do: "resume", ticketId: two, answer: { _tag: "Allow" }, approver: "cyd" })
    expect(answered.disposition).toBe("Running")
    await first.entered(2)
    world.go(1)
    expect((await running).messages).toEqual([
      "user: Go.",
      "assistant: calls call-1-1, calls call-1-2",
      "Completed: done 1",
      "Completed: done 2",
      "assistant: Done."
    ])
    expect(world.seen()).toEqual(["1/0 attempt 1", "1/1 attempt 1"])
  }, 60_000)
})
