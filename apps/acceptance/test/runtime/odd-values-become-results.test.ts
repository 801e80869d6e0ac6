import { erase } from "@toolwright/builtin-tools"
import { Runtime } from "@toolwright/runtime"
import {
  ExecutableAgentSnapshot,
  type Message,
  PermissionGate,
  Tool,
  ToolDescriptor
} from "@toolwright/runtime-contract"
import { MemorySpill } from "@toolwright/runtime-contract/memory"
import { ScriptedLlm } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { Type } from "typebox"
import { describe, expect, it } from "vitest"

/** Runs one call of a tool that gives `value`, and hands back what was committed of it. */
const resultOf = async (give: () => unknown, more: object = {}): Promise<Message.ToolMessage> => {
  const tool = Tool.make({
    id: "odd",
    description: "Gives odd values",
    args: Type.Object({}),
    call: give as () => string
  })
  const snapshot = ExecutableAgentSnapshot.builder("agent")
    .model({ provider: "scripted", model: "one" })
    .tool(ToolDescriptor.forTool(tool, "test:odd"))
    .limits({ maxResultCharacters: 4_096 })
    .build()
  const llm = new ScriptedLlm([{ calls: [{ toolId: "odd" }] }, "Done."])
  const runtime = Runtime.make({ llm, gate: PermissionGate.allowAll, tools: [erase(tool)], ...more })
  const { messages, text } = await runtime.run({ snapshot, input: "go", principal: "ada" })
  const results = [...messages].filter((message) => message.role === "tool")
  expect([results.length, text]).toEqual([1, "Done."])
  const [result] = results
  if (result === undefined) throw new Error("no result")
  return result
}

const textOf = (message: Message.ToolMessage): string =>
  message.content.map((block) => (block.type === "text" ? block.text : "")).join("")

describe("odd values become results", () => {
  it("C038 nothing, null, gaps and void each give exactly one result that is not blank and can be stored", async () => {
    const values: ReadonlyArray<() => unknown> = [
      () => undefined,
      () => null,
      () => [{ a: 1, b: undefined }],
      () => Promise.resolve(),
      () => ""
    ]
    const texts: Array<string> = []
    for (const give of values) {
      const result = await resultOf(give)
      expect([result.outcome, result.isError]).toEqual(["Completed", false])
      expect(JSON.parse(JSON.stringify(result))).toEqual(result)
      texts.push(textOf(result))
    }
    expect(texts.every((text) => text.trim() !== "")).toBe(true)
    expect(texts[1]).toBe("null")
    expect(texts[0]).not.toBe(texts[1])
    expect(texts[2]).toBe('[{"a":1}]')
  })

  it("C040 cycles, throwing getters, symbols, functions, maps and NaN are completed once, bounded, and the run goes on", async () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    let reads = 0
    const values: ReadonlyArray<() => unknown> = [
      () => cycle,
      () => ({
        toJSON() {
          reads++
          throw new Error("x")
        }
      }),
      () => ({
        get boom(): string {
          throw new Error("y")
        }
      }),
      () => Symbol("s"),
      () => () => 1,
      () => new Map([["k", 1]]),
      () => ({ v: Number.NaN }),
      () => 10n
    ]
    for (const give of values) {
      const result = await resultOf(give)
      expect(result.outcome).toBe("Completed")
      expect(textOf(result).length).toBeGreaterThan(0)
      expect(textOf(result).length).toBeLessThan(4_097)
      expect(textOf(result)).not.toBe("{}")
    }
    expect(reads).toBeLessThanOrEqual(1)
  })

  it("C046 eight million characters are shown in part, kept once in whole, and say where", async () => {
    const spill = new MemorySpill()
    const result = await resultOf(() => "x".repeat(8_000_000), { spill })
    const shown = textOf(result)
    expect(shown.length).toBeLessThanOrEqual(4_096)
    const reference = /kept as (\S+)\]/u.exec(shown)?.[1] ?? ""
    expect((await Effect.runPromise(spill.get(reference)))?.length).toBe(8_000_000)
    expect(JSON.stringify(result).length).toBeLessThan(10_000)
  })
})
