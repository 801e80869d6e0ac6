import { GateOutcome, type PermissionGate, ToolOutput } from "@toolwright/runtime-contract"
import { ScriptedGate } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { ask, call, makeWorld, rawTool, settle, snapshotOf } from "./support/world.js"

const principal = "ada"
const note = (recorder: Parameters<NonNullable<Parameters<typeof makeWorld>[0]["tools"]>>[0]) => [
  recorder.tool({ id: "note" })
]

const runWith = async (
  gate: PermissionGate.PermissionGate | ReadonlyArray<PermissionGate.PermissionGate>,
  more: object = {}
) => {
  const world = makeWorld({ script: [{ calls: [call("note", { n: 1 })] }, "Done."], tools: note, gate })
  const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal, ...more })
  const message = outcome.messages.at(2)
  return {
    ...world,
    outcome,
    result: message?.role === "tool" ? message : undefined,
    ran: world.recorder.effects.length
  }
}

const gate = (id: string, decide: PermissionGate.PermissionGate["decide"]): PermissionGate.PermissionGate => ({
  id,
  decide
})

describe("gates decide once", () => {
  it("[P1] a gate that throws, rejects, dies or answers nonsense blocks", async () => {
    const broken: ReadonlyArray<() => unknown> = [
      () => {
        throw new Error("boom")
      },
      () => Promise.reject(new Error("boom")),
      () => Effect.die("boom"),
      () => undefined,
      () => ({ _tag: "Maybe" }),
      () => ({ _tag: "RequireConfirmation", requirements: [] }),
      () => true
    ]
    for (const decide of broken) {
      const { ran, result } = await runWith(gate("broken", decide as never))
      expect([ran, result?.outcome]).toEqual([0, "NotRun"])
      expect(JSON.stringify(result?.content)).toContain("note was blocked: the permission gate failed")
    }
  })

  it("[P1] a gate that never answers blocks at the time limit of a call", async () => {
    const world = makeWorld({
      script: [{ calls: [call("note")] }, "Done."],
      tools: note,
      gate: gate("silent", () => new Promise(() => undefined))
    })
    const running = world.runtime.run({
      snapshot: snapshotOf(world.tools, (builder) => builder.limits({ toolTimeout: 100 })),
      input: "hi",
      principal
    })
    await settle()
    world.clock.advance(100)
    const outcome = await running
    expect(world.recorder.effects).toEqual([])
    expect(outcome.messages.at(2)).toMatchObject({ outcome: "NotRun" })
  })

  it("[P2] all gates are asked, and the strictest answer holds wherever it stands", async () => {
    const strict = new ScriptedGate([GateOutcome.block("no")], { id: "strict" })
    const lax = new ScriptedGate([GateOutcome.allow], { id: "lax" })
    const { ran, watched } = await runWith([lax, strict])
    expect(ran).toBe(0)
    strict.assertDone()
    lax.assertDone()
    expect(watched.commits[1]?.audit).toMatchObject([
      { type: "Decision", outcome: "Block", by: "strict", toolId: "note", detail: "no" }
    ])
  })

  it("[P2] several confirmations become one ticket that carries every requirement, and the earliest deadline wins", async () => {
    const one = gate("one", () => GateOutcome.requireConfirmation({ reason: "a", deadline: 9_000 }))
    const two = gate("two", () =>
      Promise.resolve(GateOutcome.requireConfirmation({ reason: "b", deadline: 5_000, quorum: 2 }))
    )
    const { outcome } = await runWith([one, two])
    expect(outcome.tickets.length).toBe(1)
    expect(outcome.tickets[0]?.requirements.map(({ gate: by, reason }) => [by, reason])).toEqual([
      ["one", "a"],
      ["two", "b"]
    ])
    expect(outcome.tickets[0]?.deadline).toBe(5_000)
  })

  it("[P2] unattended, a confirmation is a block that says why", async () => {
    const { ran, result, outcome } = await runWith(
      gate("asks", () => ask()),
      { narrowing: "Unattended" }
    )
    expect(ran).toBe(0)
    expect(JSON.stringify(result?.content)).toContain("needs approval; nobody can give it")
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
  })

  it("[P2] DenyAll runs no tool, whatever the gates say", async () => {
    const { ran, result } = await runWith(
      gate("all", () => GateOutcome.allow),
      { narrowing: "DenyAll" }
    )
    expect([ran, result?.outcome]).toEqual([0, "NotRun"])
  })

  it("[P2] the run's own policy narrows and never widens", async () => {
    const denied = await runWith(
      gate("host", () => GateOutcome.allow),
      { policy: gate("own", () => GateOutcome.block("not in this run")) }
    )
    expect(denied.ran).toBe(0)
    const widened = await runWith(
      gate("host", () => GateOutcome.block("no")),
      { policy: gate("own", () => GateOutcome.allow) }
    )
    expect(widened.ran).toBe(0)
  })

  it("[P2] an argument named approved means nothing", async () => {
    const world = makeWorld({
      script: [{ calls: [call("note", { approved: true })] }],
      tools: note,
      gate: gate("asks", () => ask())
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal })
    expect(world.recorder.effects).toEqual([])
    expect(outcome.disposition._tag).toBe("Awaiting")
  })

  it("[P3] each gate is asked once per call, in model order, with frozen arguments and what is known of earlier calls", async () => {
    const scripted = new ScriptedGate({
      note: GateOutcome.allow,
      set: GateOutcome.setResult(ToolOutput.ok("", "set")),
      wait: ask(),
      stop: GateOutcome.block("no")
    })
    const tools = ["note", "set", "wait", "stop"].map((id) => rawTool({ id }))
    const world = makeWorld({
      script: [{ calls: [call("ghost"), call("set"), call("wait"), call("stop"), call("note", { deep: { a: [1] } })] }],
      tools: () => tools,
      gate: scripted
    })
    await world.runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal })
    expect(scripted.calls.map((one) => one.tool.id)).toEqual(["set", "wait", "stop", "note"])
    const last = scripted.calls[3]
    expect(last?.earlier.map((one) => [one.toolId, one.standing])).toEqual([
      ["ghost", "Refused"],
      ["set", "Set"],
      ["wait", "Waiting"],
      ["stop", "Refused"]
    ])
    expect(scripted.calls.map((one) => one.earlier.length)).toEqual([1, 2, 3, 4])
    expect(Object.isFrozen(last?.arguments)).toBe(true)
    expect(Object.isFrozen(last?.arguments["deep"])).toBe(true)
    expect(last?.attribution).toEqual({ role: "tool", alias: "note", provenance: "Extension" })
    expect(last?.principal).toBe(principal)
  })

  it("[P3] a set result completes the call without entering the tool", async () => {
    const { ran, result } = await runWith(
      gate("sets", () => GateOutcome.setResult(ToolOutput.ok("other", "from the gate")))
    )
    expect([ran, result?.outcome, result?.content]).toEqual([0, "Completed", [{ type: "text", text: "from the gate" }]])
  })

  it("[P3] the deny side is read anew before a call that was decided earlier, and not before one that starts at once", async () => {
    const scripted = new ScriptedGate({ "*": GateOutcome.allow })
    const world = makeWorld({
      script: [{ calls: [call("note"), call("note")] }, "Done."],
      tools: (recorder) => [recorder.tool({ id: "note", concurrency: { _tag: "Serial" } })],
      gate: scripted
    })
    const release = world.recorder.hold("note")
    const running = world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal })
    await world.recorder.whenEntered(1)
    expect(scripted.denyCalls.length).toBe(0)
    scripted.deny("note", "no longer")
    release()
    const outcome = await running
    expect(scripted.denyCalls.length).toBe(1)
    expect(world.recorder.effects.length).toBe(1)
    expect(outcome.messages.at(3)).toMatchObject({
      outcome: "NotRun",
      content: [{ text: "note was denied: no longer" }]
    })
  })

  it("[R12] a repeat of a call whose outcome is unknown needs confirmation, and is blocked when unattended", async () => {
    const world = makeWorld({
      script: [
        { calls: [call("pay", { n: 1 })] },
        "Maybe.",
        { calls: [call("pay", { n: 1 }), call("pay", { n: 2 })] },
        { calls: [call("pay", { n: 1 })] },
        "No."
      ],
      tools: (recorder) => [
        recorder.tool({
          id: "pay",
          answer: ({ arguments: args }) => (args["n"] === 1 ? new Promise(() => undefined) : "paid")
        })
      ]
    })
    const snapshot = snapshotOf(world.tools, (builder) => builder.limits({ toolTimeout: 100, grace: 10 }))
    const first = world.runtime.run({ snapshot, input: "pay", principal, threadId: "t" })
    await world.recorder.whenEntered(1)
    await settle()
    world.clock.advance(100)
    await settle()
    world.clock.advance(10)
    expect((await first).messages.at(2)).toMatchObject({ outcome: "Indeterminate" })
    const second = await world.runtime.run({ snapshot, input: "again", principal, threadId: "t" })
    expect(world.recorder.effects.map((effect) => effect.arguments)).toEqual([{ n: 1 }, { n: 2 }])
    expect(second.tickets.map((ticket) => ticket.requirements[0]?.reason)).toEqual([
      expect.stringContaining("may already have happened") as string
    ])
    await world.runtime.cancel({ threadId: "t" })
    const third = await world.runtime.run({
      snapshot,
      input: "again",
      principal,
      threadId: "t",
      narrowing: "Unattended"
    })
    expect(world.recorder.effects.length).toBe(2)
    expect(third.text).toBe("No.")
  })
})
