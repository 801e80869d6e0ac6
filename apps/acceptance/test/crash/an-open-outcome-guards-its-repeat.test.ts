// C043, C089: what may have happened is told once, guards its repeat, and is settled by a person.
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { act, type Table, table } from "./support/terminals.js"

let world: Table
beforeEach(async () => {
  world = await table()
}, 60_000)
afterEach(() => world.closeAll())

/** Leaves the first call of the thread with an outcome that nobody knows, and the model asking for it again. */
const lose = async (): Promise<string> => {
  const first = world.open({ name: "first", steps: [[act(1)]], dieAt: "dispatch.after" })
  expect(await first.ask({ do: "run", threadId: "t" })).toEqual({ refused: "dead SIGKILL" })
  const second = world.open({ name: "second", steps: [[act(1)], [act(1)]], later: 3_600_000 })
  const [recovered] = await second.recover()
  expect(recovered?.disposition).toBe("Awaiting")
  await second.kill()
  return recovered?.tickets[0] ?? ""
}

describe("a call whose outcome is unknown", () => {
  it("[R12] the same call again needs confirmation though the gate allows it, also behind another restart", async () => {
    const ticketId = await lose()
    expect(world.seen()).toEqual(["1/0 attempt 1"])
    const third = world.open({ name: "third", steps: [[act(1)], [act(1)]], later: 3_600_000 })
    expect(await third.recover()).toEqual([])
    const outcome = await third.tell({
      do: "resume",
      ticketId,
      answer: { _tag: "Deny", reason: "it was made" },
      approver: "bob"
    })
    expect(outcome.messages.map((message) => message.split(":")[0])).toEqual([
      "user",
      "assistant",
      "Indeterminate",
      "assistant",
      "NotRun",
      "assistant"
    ])
    expect(world.seen()).toEqual(["1/0 attempt 1"])
  }, 60_000)

  it("[R12] a person who confirms it gets it run once more, as an operation of its own", async () => {
    const ticketId = await lose()
    const third = world.open({ name: "third", steps: [[act(1)], [act(1)]], later: 3_600_000 })
    await third.tell({ do: "resume", ticketId, answer: { _tag: "Allow" }, approver: "bob" })
    expect(world.seen()).toEqual(["1/0 attempt 1", "2/0 attempt 1"])
  }, 60_000)

  it("[R12] `resolve` settles it as a message, never as a second result, and the guard is gone", async () => {
    const first = world.open({ name: "first", steps: [[act(1)]], dieAt: "dispatch.after" })
    await first.ask({ do: "run", threadId: "t" })
    const second = world.open({ name: "second", steps: [[act(1)]], later: 3_600_000 })
    const [recovered] = await second.recover()
    expect(recovered?.disposition).toBe("Ended NaturalEnd")
    await second.kill()
    const third = world.open({ name: "third", steps: [[act(1)], [], [act(1)]], later: 3_600_000 })
    const operationId = await operationOf()
    await third.tell({ do: "resolve", threadId: "t", operationId, happened: "It was made at noon." })
    const { messages } = await third.tell({ do: "view", threadId: "t" })
    expect(messages.map((message) => message.split(":")[0])).toEqual([
      "user",
      "assistant",
      "Indeterminate",
      "assistant",
      "reminder"
    ])
    expect(messages.at(-1)).toContain("It was made at noon.")
    expect(await third.ask({ do: "resolve", threadId: "t", operationId, happened: "Twice." })).toEqual({
      refused: "BadRequest"
    })
    // A later run of the thread may make the same call without a question.
    const again = await third.tell({ do: "run", threadId: "t" })
    expect(again.disposition).toBe("Ended NaturalEnd")
    expect(world.seen()).toEqual(["1/0 attempt 1", "1/0 attempt 1"])
  }, 60_000)

  it("[R7, R8] finished siblings of a batch keep their results; only the one that was running is in doubt (C089)", async () => {
    const steps = [[act(1), act(2), act(3)]]
    const first = world.open({ name: "first", steps, holds: [3] })
    first.ask({ do: "run", threadId: "t" }).catch(() => {})
    await Promise.all([first.entered(1), first.entered(2), first.entered(3)])
    await committed(first, "Completed", 2)
    await first.kill()
    const second = world.open({ name: "second", steps, later: 3_600_000 })
    const [recovered] = await second.recover()
    expect(recovered?.messages.slice(2).map((message) => message.slice(0, 17))).toEqual([
      "Completed: done 1",
      "Completed: done 2",
      "Indeterminate: ac",
      "assistant: Done."
    ])
    expect(world.seen()).toEqual(["1/0 attempt 1", "1/1 attempt 1", "1/2 attempt 1"])
    // C043: the pairs stand before whatever comes next, and are made once.
    const next = await second.tell({ do: "run", threadId: "t" })
    expect(next.messages.slice(4)).toEqual([
      recovered?.messages[4],
      "assistant: Done.",
      "user: Go.",
      "assistant: Done."
    ])
  }, 60_000)
})

const operationOf = async (): Promise<string> => {
  const { outsideOf } = await import("@toolwright/testing")
  return outsideOf(world.folder).seen()[0]?.operationId ?? ""
}

/** Waits until so many calls of the open batch are durable in a phase, as another process sees it. */
const committed = async (terminal: ReturnType<Table["open"]>, phase: string, count: number): Promise<void> => {
  for (;;) {
    const { calls = [] } = await terminal.tell({ do: "view", threadId: "t" })
    if (calls.filter((each) => each === phase).length >= count) return
  }
}
