// C052, C053, C055, C062, C065: what a person decides counts once, whichever process is there to hear it.
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { act, type Answered, type Table, table } from "./support/terminals.js"

let world: Table
beforeEach(async () => {
  world = await table()
}, 60_000)
afterEach(() => world.closeAll())

const allow = { _tag: "Allow" } as const

describe("a run that waits for a person", () => {
  it("[H1, H2] is answered and goes on in another process, with the first long gone (C065)", async () => {
    const first = world.open({ name: "first", decision: "ask", steps: [[act(1)]] })
    const waiting = await first.tell({ do: "run", threadId: "t" })
    expect(waiting).toEqual({
      disposition: "Awaiting",
      text: "",
      tickets: [expect.stringContaining("Permission")],
      messages: ["user: Go.", "assistant: calls call-1-1"]
    })
    await first.kill()
    // Two days later, and nobody has to recover anything first.
    const second = world.open({ name: "second", decision: "ask", steps: [[act(1)]], later: 172_800_000 })
    expect(await second.recover()).toEqual([])
    const outcome = await second.tell({
      do: "resume",
      ticketId: waiting.tickets[0] ?? "",
      answer: allow,
      approver: "bob"
    })
    expect(outcome.messages).toEqual([
      "user: Go.",
      "assistant: calls call-1-1",
      "Completed: done 1",
      "assistant: Done."
    ])
    expect(world.seen()).toEqual(["1/0 attempt 1"])
  }, 60_000)

  it("[H4, P3] a decision holds though the policy that asked is gone or would ask anew (C052)", async () => {
    const counts: Array<ReadonlyArray<string>> = []
    for (const answer of [allow, { _tag: "Deny", reason: "no" } as const]) {
      const threadId = answer._tag
      const first = world.open({ name: "first", decision: "ask", steps: [[act(1)]] })
      const [ticketId = ""] = (await first.tell({ do: "run", threadId })).tickets
      await first.kill()
      // The gate of the second process allows everything: that is no reason to run what somebody declined.
      const second = world.open({ name: "second", decision: "allow", steps: [[act(1)]] })
      const { messages } = await second.tell({ do: "resume", ticketId, answer, approver: "bob" })
      counts.push([...world.seen(), messages[2] ?? ""])
      await second.kill()
    }
    expect(counts).toEqual([
      ["1/0 attempt 1", "Completed: done 1"],
      ["1/0 attempt 1", expect.stringMatching(/^NotRun: .*no/)]
    ])
  }, 60_000)

  it("[H6, R8] a sibling that has finished is not run again when the other is answered elsewhere (C055)", async () => {
    const steps = [[act(1), act(2)]]
    const first = world.open({ name: "first", decision: "ask", steps })
    const [one = "", two = ""] = (await first.tell({ do: "run", threadId: "t" })).tickets
    await first.tell({ do: "resume", ticketId: one, answer: allow, approver: "bob" })
    await first.kill()
    const second = world.open({ name: "second", decision: "ask", steps })
    const outcome = await second.tell({ do: "resume", ticketId: two, answer: allow, approver: "bob" })
    expect(outcome.messages.slice(2)).toEqual(["Completed: done 1", "Completed: done 2", "assistant: Done."])
    expect(world.seen()).toEqual(["1/0 attempt 1", "1/1 attempt 1"])
  }, 60_000)

  it("[H3] late, unknown and mismatched answers are refused, and the wait stays (C053)", async () => {
    const steps = [[act(1)], [act(2)]]
    const first = world.open({ name: "first", decision: "ask", steps })
    const [a = ""] = (await first.tell({ do: "run", threadId: "t" })).tickets
    const [b = ""] = (await first.tell({ do: "resume", ticketId: a, answer: { _tag: "Deny" }, approver: "bob" }))
      .tickets
    const second = world.open({ name: "second", decision: "ask", steps })
    const refusals: ReadonlyArray<Answered> = [
      await second.ask({ do: "resume", ticketId: a, answer: allow, approver: "bob" }),
      await second.ask({ do: "resume", ticketId: "unknown", answer: allow, approver: "bob" }),
      await second.ask({
        do: "resume",
        ticketId: b,
        answer: allow,
        approver: "bob",
        expect: { digest: "of another call" }
      })
    ]
    expect(refusals).toEqual([{ refused: "AlreadyDecided" }, { refused: "NotWaiting" }, { refused: "DigestMismatch" }])
    expect(world.seen()).toEqual([])
    const outcome = await second.tell({ do: "resume", ticketId: b, answer: allow, approver: "bob" })
    expect(outcome.messages.slice(4)).toEqual(["Completed: done 2", "assistant: Done."])
    expect(world.seen()).toEqual(["2/0 attempt 1"])
  }, 60_000)

  it("[H3] of twenty racing answers from two processes one wins, and the call runs once (C062)", async () => {
    const first = world.open({ name: "first", decision: "ask", steps: [[act(1)]] })
    const second = world.open({ name: "second", decision: "ask", steps: [[act(1)]] })
    const [ticketId = ""] = (await first.tell({ do: "run", threadId: "t" })).tickets
    await second.ready
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? first : second).ask({
          do: "resume",
          ticketId,
          answer: index % 4 < 2 ? allow : { _tag: "Deny" },
          approver: `p${index}`
        })
      )
    )
    const refused = answers.flatMap((answered) => ("refused" in answered ? [answered.refused] : []))
    expect(refused.length).toBe(19)
    expect([...new Set(refused)].filter((reason) => reason !== "AlreadyDecided" && reason !== "NotWaiting")).toEqual([])
    expect(world.seen().length).toBeLessThanOrEqual(1)
    const view = await second.tell({ do: "view", threadId: "t" })
    expect(view.messages.filter((message) => /^(Completed|NotRun|Indeterminate)/.test(message)).length).toBe(1)
    expect(view.messages[2]?.startsWith("Completed")).toBe(world.seen().length === 1)
  }, 60_000)

  it("[H4] an approval is never stranded: its process dies before the call, and the next start runs it once (C062)", async () => {
    const seen: Array<ReadonlyArray<string>> = []
    for (const dieAt of ["signal.accepted", "approve.beforeCommit", "approve.afterCommit"]) {
      const first = world.open({ name: "first", decision: "ask", steps: [[act(1)]], dieAt })
      const [ticketId = ""] = (await first.tell({ do: "run", threadId: dieAt })).tickets
      expect(await first.ask({ do: "resume", ticketId, answer: allow, approver: "bob" })).toEqual({
        refused: "dead SIGKILL"
      })
      const second = world.open({ name: "second", decision: "ask", steps: [[act(1)]], later: 3_600_000 })
      const [recovered] = await second.recover()
      expect([dieAt, recovered?.messages.slice(2)]).toEqual([dieAt, ["Completed: done 1", "assistant: Done."]])
      seen.push(world.seen())
      await second.kill()
    }
    expect(seen.map((each) => each.length)).toEqual([1, 2, 3])
  }, 60_000)
})
