// C104: a cancel that another process asked for reaches the tool within a bound, and one rule decides what a race comes to.
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { act, type Table, table, type Told } from "./support/terminals.js"

let world: Table
beforeEach(async () => {
  world = await table()
}, 60_000)
afterEach(() => world.closeAll())

/** What the runtime promises without being told otherwise, and what the machine may add to it. */
const signalPoll = 500
const bound = 2_000

const resultsOf = ({ messages }: Told): ReadonlyArray<string> =>
  messages.filter((message) => /^(Completed|NotRun|Indeterminate): /.test(message))

describe("a cancel from another process", () => {
  it("[L3, L8, D3] gives the tool its signal within two seconds of being accepted, and the run ends as cancelled", async () => {
    const first = world.open({ name: "first", steps: [[act(1)]], holds: [1], listens: true, signalPoll })
    const running = first.tell({ do: "run", threadId: "t" })
    await first.entered(1)
    const second = world.open({ name: "second", steps: [] })
    await second.ready
    const asked = performance.now()
    const accepted = second.tell({ do: "cancel", threadId: "t" })
    expect(await first.signalled).toBe(1)
    expect(performance.now() - asked).toBeLessThan(bound)
    const ended = await running
    await accepted
    const stored = await second.tell({ do: "view", threadId: "t" })
    expect([ended.disposition, stored.disposition]).toEqual(["Ended Cancelled", "Ended Cancelled"])
    expect(resultsOf(ended)).toEqual([expect.stringContaining("act was cancelled")])
  }, 60_000)

  it("[L2, D2] that races the end of the run leaves one end, the same for everybody, and it stays", async () => {
    for (let round = 1; round <= 4; round++) {
      const threadId = `t${round}`
      const first = world.open({ name: `first${round}`, steps: [[act(round)]], holds: [round] })
      const running = first.tell({ do: "run", threadId })
      await first.entered(round)
      const second = world.open({ name: `second${round}`, steps: [] })
      await second.ready
      // Whoever is first: the call that may go on, or the cancel.
      const cancelling = second.ask({ do: "cancel", threadId })
      if (round % 2 === 0) await cancelling.then(() => world.go(round))
      else world.go(round)
      const [ended] = await Promise.all([running, cancelling])
      const stored = await second.tell({ do: "view", threadId })
      expect([stored.disposition, stored.messages]).toEqual([ended.disposition, ended.messages])
      expect(["Ended Cancelled", "Ended NaturalEnd"]).toContain(ended.disposition)
      expect(resultsOf(stored).length).toBe(1)
      // A late cancel is told how it ended, and changes nothing.
      await second.ask({ do: "cancel", threadId })
      const after = await second.tell({ do: "view", threadId })
      expect([after.disposition, after.messages]).toEqual([ended.disposition, ended.messages])
      await Promise.all([first.kill(), second.kill()])
    }
  }, 60_000)
})
