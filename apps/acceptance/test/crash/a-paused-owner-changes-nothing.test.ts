// C095: at most one process writes; one that was paused past its lease and goes on changes nothing.
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { act, type Table, table } from "./support/terminals.js"

let world: Table
beforeEach(async () => {
  world = await table()
}, 60_000)
afterEach(() => world.closeAll())

describe("an owner that is stopped, replaced and continued", () => {
  it("[R10] its late commit is refused, and the late result of its tool changes nothing", async () => {
    const first = world.open({ name: "first", steps: [[act(1)]], holds: [1] })
    const running = first.ask({ do: "run", threadId: "t" })
    await first.entered(1)
    first.signal("SIGSTOP")
    const second = world.open({ name: "second", steps: [[act(1)]] })
    expect(await second.recover()).toEqual([])
    const [taken] = (await second.tell({ do: "takeOver", threadId: "t" })) as unknown as ReadonlyArray<unknown>
    const lost = expect.stringContaining("Indeterminate: act was running when its process was lost") as string
    expect(taken).toEqual({
      disposition: "Ended NaturalEnd",
      text: "Done.",
      tickets: [],
      messages: ["user: Go.", "assistant: calls call-1-1", lost, "assistant: Done."]
    })
    const before = await second.tell({ do: "view", threadId: "t" })
    world.go(1)
    first.signal("SIGCONT")
    expect(await running).toEqual({ refused: "Fenced" })
    expect(await second.tell({ do: "view", threadId: "t" })).toEqual(before)
    expect(world.seen()).toEqual(["1/0 attempt 1"])
  }, 60_000)

  it("[R10, R4] a replayable call is entered by the new owner under the same operation, and only its result counts", async () => {
    const first = world.open({ name: "first", recovery: "Idempotent", steps: [[act(1)]], holds: [1] })
    const running = first.ask({ do: "run", threadId: "t" })
    await first.entered(1)
    first.signal("SIGSTOP")
    const second = world.open({ name: "second", recovery: "Idempotent", steps: [[act(1)]] })
    await second.tell({ do: "takeOver", threadId: "t" })
    const before = await second.tell({ do: "view", threadId: "t" })
    expect(before.messages).toEqual(["user: Go.", "assistant: calls call-1-1", "Completed: done 1", "assistant: Done."])
    world.go(1)
    first.signal("SIGCONT")
    expect(await running).toEqual({ refused: "Fenced" })
    expect(await second.tell({ do: "view", threadId: "t" })).toEqual(before)
    expect(world.seen()).toEqual(["1/0 attempt 1", "1/0 attempt 2"])
  }, 60_000)

  it("[R10] paused past its lease, it learns of its loss before its next effect", async () => {
    const first = world.open({ name: "first", steps: [[act(1)], [act(2)]], holds: [1] })
    const running = first.ask({ do: "run", threadId: "t" })
    await first.entered(1)
    first.signal("SIGSTOP")
    // By the clock of this process the lease of the other ran out an hour ago; nobody has to ask for the thread by name.
    const second = world.open({ name: "second", steps: [[act(1)], [act(2)]], later: 3_600_000 })
    const [recovered] = await second.recover()
    expect(recovered?.disposition).toBe("Ended NaturalEnd")
    world.go(1)
    first.signal("SIGCONT")
    expect(await running).toEqual({ refused: "Fenced" })
    expect(world.seen()).toEqual(["1/0 attempt 1", "2/0 attempt 1"])
  }, 60_000)
})
