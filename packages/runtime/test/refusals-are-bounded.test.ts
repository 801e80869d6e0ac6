import { SystemThread } from "@toolwright/runtime-contract"
import { FaultyStore } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { Runtime } from "../src/index.js"
import { ask, call, makeWorld, settle, snapshotOf } from "./support/world.js"

const day = SystemThread.ofRefusals(1_000)
const allow = { _tag: "Allow" } as const

const waiting = async (more: object = {}) => {
  const world = makeWorld({
    script: [{ calls: [call("note")] }, "Done."],
    tools: (recorder) => [recorder.tool({ id: "note" })],
    gate: { id: "asks", decide: () => ask() },
    ...more
  })
  const [ticket] = (
    await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal: "ada", threadId: "t" })
  ).tickets
  if (ticket === undefined) throw new Error("no ticket")
  const { memory, runtime } = world
  const refuse = (ticketId: string, approver: string) =>
    runtime.resume(ticketId, { _tag: "Continue" }, { approver }).catch(() => undefined)
  const recorded = async (threadId: string) =>
    (await Effect.runPromise(memory.tail({ threadId, from: 1, limit: 10_000 }))).filter(
      ({ fact }) => fact.type === "Decided" && fact.record.type === "Refusal"
    ).length
  return { ...world, ticket, refuse, recorded }
}

describe("refused answers cannot fill a store", () => {
  it("[P8] of one ticket sixty-four are recorded in its thread and the rest in that of the day, which takes a thousand", async () => {
    const { memory, recorded, refuse, runtime, ticket } = await waiting()
    for (let index = 0; index < 70; index++) await refuse(ticket.id, `a${index}`)
    expect([await recorded("t"), await recorded(day)]).toEqual([64, 6])
    for (let index = 0; index < 1_010; index++) await refuse(`made-up-${index}`, "eve")
    expect(await recorded(day)).toBe(1_000)
    expect(await runtime.verifyAudit({ threadId: day })).toMatchObject({ records: 1_000, open: 0, flaws: [] })
    expect((await Effect.runPromise(memory.load(day)))?.inbox).toEqual([])
  })

  it("[P8] the same attempt again and again is one record, however often and on however many tickets", async () => {
    const { recorded, refuse, watched } = await waiting()
    for (let index = 0; index < 20; index++) await refuse("made-up", "eve")
    const commits = watched.commits.length
    for (let index = 0; index < 20; index++) await refuse("made-up", "eve")
    expect([await recorded(day), watched.commits.length - commits]).toEqual([1, 0])
  })

  it("[P8] a day whose thread was begun and not ended by a process that died is gone on with", async () => {
    const { llm, tools, clock, memory, recorded, refuse } = await waiting()
    let commits = 0
    const store = new FaultyStore(memory, {
      plan: ({ operation, threadId }) =>
        operation === "commit" && threadId === day && ++commits > 1 ? { _tag: "hang" } : undefined
    })
    const gate = { id: "asks", decide: () => ask() }
    const dying = Runtime.make({ llm, tools, clock, store, gate, leaseTtl: 50, storeTimeout: 1e9 })
    void dying.resume("made-up", allow, { approver: "mallory" }).catch(() => undefined)
    await settle()
    expect((await Effect.runPromise(memory.load(day)))?.disposition?._tag).toBe("Running")
    clock.advance(100)
    await refuse("made-up", "eve")
    expect(await recorded(day)).toBe(1)
    expect((await Effect.runPromise(memory.load(day)))?.disposition?._tag).toBe("Ended")
  })

  it("[P8] what is refused behind the last look of a drive is recorded when the drive is over", async () => {
    const { clock, memory, recorded, recorder, runtime, ticket, refuse } = await waiting()
    const release = recorder.hold("note")
    const running = runtime.resume(ticket.id, allow, { approver: "bob" })
    await recorder.whenEntered(1)
    await refuse(ticket.id, "eve")
    expect(await recorded("t")).toBe(0)
    release()
    expect((await running).text).toBe("Done.")
    await settle()
    expect([await recorded("t"), clock.now()]).toEqual([1, 1_000])
    expect((await Effect.runPromise(memory.load("t")))?.inbox).toEqual([])
  })
})
