import { PermissionGate, ToolOutput } from "@toolwright/runtime-contract"
import { ScriptedLlm } from "@toolwright/testing"
import { getEventListeners } from "node:events"
import { describe, expect, it } from "vitest"
import { Runtime } from "../src/index.js"
import { ask, call, makeWorld, rawTool, settle, snapshotOf, text } from "./support/world.js"

const principal = "ada"

describe("nothing is left behind", () => {
  it("[L3] after ends of every kind no timer is armed, no listener stays on a signal, and no run is at work", async () => {
    const endings: ReadonlyArray<readonly [string, ConstructorParameters<typeof ScriptedLlm>[0]]> = [
      ["natural", ["Done."]],
      ["tools", [{ calls: [call("note"), call("later"), call("bad")] }, "Done."]],
      ["failed", [{ error: "network" }]],
      ["asked", [{ calls: [call("asked")] }]]
    ]
    for (const [name, script] of endings) {
      const controller = new AbortController()
      const world = makeWorld({
        script,
        tools: () => [
          rawTool({ id: "note" }, text("x")),
          rawTool({ id: "later" }, ({ callId }) => Promise.resolve(ToolOutput.ok(callId, "x"))),
          rawTool({ id: "bad" }, () => Promise.reject(new Error("no"))),
          rawTool({ id: "asked" })
        ],
        gate: { id: "some", decide: ({ tool }) => (tool.id === "asked" ? ask() : { _tag: "Allow" }) }
      })
      await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal, signal: controller.signal })
      expect([name, world.clock.pending, getEventListeners(controller.signal, "abort").length]).toEqual([name, 0, 0])
    }
  })

  it("[L3] on the system's clock a finished run keeps no handle of the process", async () => {
    const before = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length
    const runtime = Runtime.make({
      llm: new ScriptedLlm([{ calls: [call("note")] }, "Done."]),
      gate: PermissionGate.allowAll,
      tools: [rawTool({ id: "note" })]
    })
    await runtime.run({ snapshot: snapshotOf([rawTool({ id: "note" })]), input: "hi", principal })
    await runtime.close()
    expect(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length).toBe(before)
  })

  it("[L3] a model's stream is closed when it is given up, and may end by itself when it is not", async () => {
    const ends: Array<string> = []
    const stream = async function* (kind: string) {
      try {
        yield { type: "text", text: "a" } as const
        if (kind === "stall") await new Promise<void>((resolve) => setImmediate(resolve))
        yield { type: "finish", stop: "endTurn" } as const
        ends.push(`${kind} to its end`)
      } finally {
        ends.push(`${kind} closed`)
      }
    }
    for (const kind of ["whole", "stall"]) {
      const runtime = Runtime.make({ llm: { stream: () => stream(kind) }, gate: PermissionGate.allowAll, tools: [] })
      const running = runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
      if (kind === "stall") queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => running.cancel())))
      await running
      await settle()
    }
    expect(ends).toEqual(["whole to its end", "whole closed", "stall closed"])
  })

  it("[L3] a thousand runs leave nothing in the runtime", async () => {
    const world = makeWorld({
      script: (request) => (request.messages.at(-1)?.role === "tool" ? "Done." : { calls: [call("note")] }),
      tools: () => [rawTool({ id: "note" })]
    })
    const snapshot = snapshotOf(world.tools)
    const outcomes = await Promise.all(
      Array.from({ length: 1_000 }, () => world.runtime.run({ snapshot, input: "hi", principal }))
    )
    expect(outcomes.every(({ text: said }) => said === "Done.")).toBe(true)
    expect(world.clock.pending).toBe(0)
  })
})
