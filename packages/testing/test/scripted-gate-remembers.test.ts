import { Attribution, GateOutcome, PermissionGate, ToolDescriptor } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import { describeConformance, gateConformance, ScriptedGate } from "../src/index.js"

const call = (toolId: string): PermissionGate.GateCall => ({
  runId: "run",
  threadId: "thread",
  step: 1,
  operationId: "run/1/0",
  callId: "call",
  principal: "ada",
  tool: ToolDescriptor.forTool(
    {
      spec: {
        id: toolId,
        description: "a tool",
        inputSchema: { type: "object" },
        kind: "Regular",
        target: "Brain",
        warnings: []
      },
      recovery: "ReplaySafe"
    },
    "custom:test"
  ),
  attribution: Attribution.make(toolId),
  arguments: Object.freeze({ amount: 5 }) as unknown as PermissionGate.GateCall["arguments"],
  digest: "digest",
  now: 0,
  state: { get: () => undefined },
  earlier: []
})

describe("a scripted gate remembers what it was asked", () => {
  it("[P3] decisions come in order, and every question is kept", () => {
    const gate = new ScriptedGate([GateOutcome.allow, GateOutcome.block("no")], { id: "host" })
    const questions = [call("read"), call("pay")]
    expect(questions.map((one) => gate.decide(one))).toEqual([GateOutcome.allow, GateOutcome.block("no")])
    expect([gate.id, gate.calls]).toEqual(["host", questions])
    expect(() => gate.assertDone()).not.toThrow()
  })

  it("[P1] a question behind the end of the script throws, and is told again", () => {
    const gate = new ScriptedGate([])
    const message = "gate scripted: unexpected question 1 about pay (run/1/0)"
    expect(() => gate.decide(call("pay"))).toThrow(message)
    expect(() => gate.assertDone()).toThrow(message)
  })

  it("[P3] decisions that nobody asked for are leftovers", () => {
    expect(() => new ScriptedGate([GateOutcome.allow]).assertDone()).toThrow("1 decisions are left")
  })

  it("[P3] decisions by tool, with one for every other tool, and inherited names are no tools", () => {
    const gate = new ScriptedGate({ read: GateOutcome.allow, "*": GateOutcome.block("no") })
    expect(["read", "pay", "constructor"].map((id) => gate.decide(call(id))._tag)).toEqual(["Allow", "Block", "Block"])
    expect(() => new ScriptedGate({ read: GateOutcome.allow }).decide(call("toString"))).toThrow("unexpected question")
  })

  it("[P1] an error in the script is thrown", () => {
    const broken = new Error("broken")
    expect(() => new ScriptedGate([broken]).decide(call("pay"))).toThrow(broken)
    expect(() => new ScriptedGate(() => broken).decide(call("pay"))).toThrow(broken)
  })

  it("[P3, H7] the deny side is read anew each time", () => {
    const gate = new ScriptedGate({ "*": GateOutcome.allow })
    const first = gate.denies(call("pay"))
    gate.deny("pay", "frozen account")
    const second = gate.denies(call("pay"))
    gate.undeny("pay")
    expect([first, second, gate.denies(call("pay")), gate.denyCalls.length]).toEqual([
      undefined,
      "frozen account",
      undefined,
      3
    ])
  })
})

const byTool = { read: GateOutcome.allow, pay: GateOutcome.requireConfirmation({ reason: "moves money" }) }

describeConformance(
  {
    name: "the scripted gate is a gate",
    checks: gateConformance({ make: () => new ScriptedGate(byTool), calls: { read: call("read"), pay: call("pay") } })
  },
  { describe, it }
)

describeConformance(
  {
    name: "the gate that allows all is a gate",
    checks: gateConformance({ make: () => PermissionGate.allowAll, calls: { pay: call("pay") } })
  },
  { describe, it }
)

describe("the gate suite finds broken gates", () => {
  const failing = async (make: () => PermissionGate.PermissionGate): Promise<ReadonlyArray<string>> => {
    const failed: Array<string> = []
    for (const { run, title } of gateConformance({ make, calls: { pay: call("pay") } }))
      await run().catch(() => failed.push(title))
    return failed
  }

  it("[P1] an answer that is none", async () => {
    const gate = { id: "broken", decide: () => "yes" as unknown as GateOutcome.GateOutcome }
    expect(await failing(() => gate)).toContain("[P1] the answer about pay is a well-formed outcome")
  })

  it("[P3] an answer that changes, and a deny side that denies what is allowed", async () => {
    let count = 0
    const fickle = { id: "fickle", decide: () => (count++ % 2 === 0 ? GateOutcome.allow : GateOutcome.block("no")) }
    expect(await failing(() => fickle)).toContain(
      "[P3] asked again about pay, it answers the same, as recovery needs it"
    )
    const eager = { id: "eager", decide: () => GateOutcome.allow, denies: () => "no" }
    expect(await failing(() => eager)).toEqual(["[P3] its deny side denies pay only where it blocks it"])
  })

  it("[P2] a model that can permit itself", async () => {
    const gullible: PermissionGate.PermissionGate = {
      id: "gullible",
      decide: (one) => (one.arguments["approved"] === true ? GateOutcome.allow : GateOutcome.block("ask first"))
    }
    expect(await failing(() => gullible)).toEqual([
      "[P2] an argument named like a permission does not move the answer about pay"
    ])
  })
})
