import { describe, expect, it } from "vitest"
import * as Attribution from "../src/Attribution.js"
import type { RawTool, ToolCall } from "../src/RawTool.js"
import { RawToolRegistry } from "../src/RawToolRegistry.js"
import { Parallel, Serial } from "../src/ToolConcurrency.js"
import { isToolError, ToolError } from "../src/ToolError.js"
import * as ToolOutput from "../src/ToolOutput.js"

const tool = (id: string, text = "done"): RawTool => {
  const spec = Object.freeze({
    id,
    description: "a tool",
    inputSchema: { type: "object" },
    kind: "Regular" as const,
    target: "Brain" as const,
    warnings: []
  })
  return {
    spec: () => spec,
    recovery: "ReplaySafe",
    attribution: Attribution.make(id),
    stateKeys: [],
    concurrency: () => Parallel,
    invoke: (call) => ToolOutput.ok(call.callId, text)
  }
}

// The registry never looks at arguments; only the parser makes parsed ones.
const calling = (toolId: string): ToolCall => ({ callId: "call", toolId, arguments: {} as ToolCall["arguments"] })
const context = {} as Parameters<RawTool["invoke"]>[1]

const thrownBy = (registry: RawToolRegistry, toolId: string): unknown => {
  try {
    return registry.invoke(calling(toolId), context)
  } catch (thrown) {
    return thrown
  }
}

describe("registration fails closed", () => {
  it("[T12] an id that is registered twice is ambiguous for good, also with the same object", () => {
    const pay = tool("pay")
    const registry = new RawToolRegistry()
    expect([registry.register(pay), registry.register(pay), registry.register(pay)]).toEqual([true, false, false])
    expect(registry.lookup("pay")).toEqual({ _tag: "Ambiguous" })
  })

  it("[T12] an ambiguous id takes no neighbour down", () => {
    const registry = new RawToolRegistry([tool("pay"), tool("read", "text"), tool("pay")])
    expect(registry.lookup("read")._tag).toBe("Found")
    expect(thrownBy(registry, "read")).toEqual(ToolOutput.ok("call", "text"))
    expect(registry.ids()).toEqual(["pay", "read"])
  })

  it("[T12, E1] unknown and ambiguous are told apart, and both refuse to run", () => {
    const registry = new RawToolRegistry([tool("pay"), tool("pay")])
    const reasons = ["pay", "gone"].map((id) => {
      const thrown = thrownBy(registry, id)
      return isToolError(thrown) ? thrown.reason : thrown
    })
    expect(reasons).toEqual([
      { _tag: "Unknown", toolId: "pay", why: "Ambiguous" },
      { _tag: "Unknown", toolId: "gone", why: "NotRegistered" }
    ])
  })

  it("[T12] inherited names find nothing", () => {
    const registry = new RawToolRegistry([tool("pay")])
    const names = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf", ""]
    expect(names.map((name) => registry.lookup(name)._tag)).toEqual(names.map(() => "Unknown"))
    expect(thrownBy(registry, "constructor")).toBeInstanceOf(ToolError)
  })

  it("[T12] inherited names may be registered like any other", () => {
    const registry = new RawToolRegistry([tool("constructor"), tool("__proto__")])
    expect([registry.lookup("constructor")._tag, registry.lookup("__proto__")._tag]).toEqual(["Found", "Found"])
  })

  it("[T12, C1] what has no unique implementation promises nothing and runs alone", () => {
    const registry = new RawToolRegistry([tool("read"), tool("pay"), tool("pay")])
    const args = calling("read").arguments
    const claims = ["read", "pay", "gone"].map((id) => [registry.recovery(id), registry.concurrency(id, args)])
    expect(claims).toEqual([
      ["ReplaySafe", Parallel],
      ["NonRecoverable", Serial],
      ["NonRecoverable", Serial]
    ])
  })

  it("[R5] a tool that cannot reconcile knows nothing", () => {
    const asks: RawTool = { ...tool("ask"), reconcile: () => ({ _tag: "NotSent" }) }
    const registry = new RawToolRegistry([asks, tool("mute")])
    const operation = {} as Parameters<NonNullable<RawTool["reconcile"]>>[1]
    expect(["ask", "mute", "gone"].map((id) => registry.reconcile(calling(id), operation))).toEqual([
      { _tag: "NotSent" },
      { _tag: "Unknown" },
      { _tag: "Unknown" }
    ])
  })
})
