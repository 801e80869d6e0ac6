// C098: that a process went away is never stored as what a call came to.
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { act, type Table, table } from "./support/terminals.js"

let world: Table
beforeEach(async () => {
  world = await table()
}, 60_000)
afterEach(() => world.closeAll())

describe("SIGTERM and close", () => {
  it("[L8] a call that finishes within the grace is committed, and the next process goes on behind it", async () => {
    const steps = [[act(1)], [act(2)]]
    const first = world.open({ name: "first", steps, holds: [1], grace: 30_000 })
    const running = first.ask({ do: "run", threadId: "t" })
    await first.entered(1)
    first.signal("SIGTERM")
    world.go(1)
    expect(await running).toEqual({ refused: "Closed" })
    expect(await first.ended).toEqual({ code: 0, signal: null, wasClosed: true })
    // The lease was given back: nobody has to wait for it.
    const second = world.open({ name: "second", steps })
    const [recovered] = await second.recover()
    expect(recovered?.messages).toEqual([
      "user: Go.",
      "assistant: calls call-1-1",
      "Completed: done 1",
      "assistant: calls call-2-1",
      "Completed: done 2",
      "assistant: Done."
    ])
    expect(world.seen()).toEqual(["1/0 attempt 1", "2/0 attempt 1"])
  }, 60_000)

  it("[L8, R8] a call that outlasts the grace is neither a result nor a cancel: the next process reads the table", async () => {
    const first = world.open({ name: "first", steps: [[act(1)]], holds: [1], grace: 1 })
    const running = first.ask({ do: "run", threadId: "t" })
    await first.entered(1)
    first.signal("SIGTERM")
    expect(await running).toEqual({ refused: "Closed" })
    expect(await first.ended).toEqual({ code: 0, signal: null, wasClosed: true })
    const second = world.open({ name: "second", steps: [[act(1)]] })
    expect((await second.tell({ do: "view", threadId: "t" })).disposition).toBe("Running")
    const [recovered] = await second.recover()
    expect([recovered?.disposition, recovered?.messages[2]]).toEqual([
      "Ended NaturalEnd",
      expect.stringContaining("Indeterminate: act was running when its process was lost")
    ])
    expect(world.seen()).toEqual(["1/0 attempt 1"])
  }, 60_000)

  it("[L8] a repeatable call that outlasts the grace is waited for again, and can succeed", async () => {
    const first = world.open({ name: "first", recovery: "ReplaySafe", steps: [[act(1)]], holds: [1], grace: 1 })
    const running = first.ask({ do: "run", threadId: "t" })
    await first.entered(1)
    first.signal("SIGTERM")
    expect(await running).toEqual({ refused: "Closed" })
    await first.ended
    const second = world.open({ name: "second", recovery: "ReplaySafe", steps: [[act(1)]] })
    const [recovered] = await second.recover()
    expect(recovered?.messages.slice(2)).toEqual(["Completed: done 1", "assistant: Done."])
    expect(world.seen()).toEqual(["1/0 attempt 1", "1/0 attempt 2"])
  }, 60_000)
})
