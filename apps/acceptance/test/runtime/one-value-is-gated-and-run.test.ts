import { erase } from "@toolwright/builtin-tools"
import { Runtime } from "@toolwright/runtime"
import { ExecutableAgentSnapshot, GateOutcome, type RawTool, Tool, ToolDescriptor } from "@toolwright/runtime-contract"
import { ScriptedGate, ScriptedLlm } from "@toolwright/testing"
import { Type } from "typebox"
import { describe, expect, it } from "vitest"

const call = async (tool: RawTool.RawTool, texts: ReadonlyArray<string>) => {
  const { id } = tool.spec()
  const snapshot = ExecutableAgentSnapshot.builder("agent")
    .model({ provider: "scripted", model: "one" })
    .tool(ToolDescriptor.forTool(tool, "test:one"))
    .build()
  const llm = new ScriptedLlm([{ calls: texts.map((text) => ({ toolId: id, arguments: text })) }, "Done."])
  const gate = new ScriptedGate({ "*": GateOutcome.allow })
  const runtime = Runtime.make({ llm, gate, tools: [tool] })
  const { messages } = await runtime.run({ snapshot, input: "go", principal: "ada" })
  return { gate, results: [...messages].filter((message) => message.role === "tool") }
}

describe("one value is gated and run", () => {
  it("C010 a key that is named twice is refused before any gate is asked, however deep it lies", async () => {
    const ran: Array<unknown> = []
    const write = Tool.make({
      id: "write",
      description: "Writes a file",
      args: Type.Object({
        path: Type.String(),
        body: Type.String(),
        deep: Type.Optional(Type.Object({ a: Type.String() }))
      }),
      call: (args) => {
        ran.push(args)
        return "written"
      }
    })
    const { gate, results } = await call(erase(write), [
      '{"path":"notes/ok.txt","body":"x","path":"../../outside.txt"}',
      '{"path":"a","body":"x","deep":{"a":"1","\\u0061":"2"}}'
    ])
    expect([gate.calls.length, ran.length]).toEqual([0, 0])
    expect(results.map((result) => result.outcome)).toEqual(["NotRun", "NotRun"])
  })

  it("C011 a key named __proto__ is data: it is refused by a closed schema and changes no prototype", async () => {
    const seen: Array<unknown> = []
    const open = Tool.make({
      id: "open",
      description: "Takes anything",
      args: Type.Object({ p: Type.String() }, { additionalProperties: true }),
      call: (args) => {
        seen.push("admin" in args, Object.keys(args))
        return "ok"
      }
    })
    await call(erase(open), ['{"__proto__":{"admin":true},"p":"a"}'])
    expect(seen).toEqual([false, ["__proto__", "p"]])
    expect("admin" in {}).toBe(false)
    const closed = Tool.make({
      id: "closed",
      description: "Takes p",
      args: Type.Object({ p: Type.String() }),
      call: () => "ok"
    })
    const { results } = await call(erase(closed), [
      '{"__proto__":{"admin":true},"p":"a"}',
      '{"p":"a","constructor":{"prototype":{"admin":true}}}'
    ])
    expect(results.map((result) => result.outcome)).toEqual(["NotRun", "NotRun"])
  })

  it("C025 a default is filled only in the branch that holds, and no other value changes its kind", async () => {
    const seen: Array<unknown> = []
    const tool = Tool.make({
      id: "branch",
      description: "Takes one of several",
      args: Type.Object({
        u: Type.Union([Type.Object({ k: Type.Literal("a"), n: Type.Number({ default: 3 }) }), Type.Null()]),
        v: Type.Union([Type.String(), Type.Number()])
      }),
      call: (args) => {
        seen.push(args)
        return "ok"
      }
    })
    const { gate, results } = await call(erase(tool), [
      '{"u":{"k":"a"},"v":42}',
      '{"u":{"k":"a","stray":1},"v":"42"}',
      '{"u":null,"v":0}'
    ])
    expect(results.map((result) => result.outcome)).toEqual(["Completed", "NotRun", "Completed"])
    expect(seen).toEqual([
      { u: { k: "a", n: 3 }, v: 42 },
      { u: null, v: 0 }
    ])
    expect(gate.calls.map((one) => one.arguments)).toEqual(seen)
  })

  it("C005 null at an optional member is absent for the gate, the digest and the call alike", async () => {
    const seen: Array<unknown> = []
    const history = Tool.make({
      id: "history",
      description: "Reads history",
      args: Type.Object({
        who: Type.String(),
        since: Type.Optional(Type.String()),
        until: Type.Optional(Type.Union([Type.String(), Type.Null()]))
      }),
      call: (args) => {
        seen.push(args)
        return "ok"
      }
    })
    const { gate, results } = await call(erase(history), [
      '{"who":"u1","since":null,"until":null}',
      '{"who":"u1","until":null}',
      '{"who":null}'
    ])
    expect(results.map((result) => result.outcome)).toEqual(["Completed", "Completed", "NotRun"])
    expect(seen).toEqual([
      { who: "u1", until: null },
      { who: "u1", until: null }
    ])
    expect(gate.calls[0]?.digest).toBe(gate.calls[1]?.digest)
  })
})
