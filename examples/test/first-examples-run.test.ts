import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { erase } from "@toolwright/builtin-tools"
import { PermissionGate } from "@toolwright/permissions"
import { Runtime } from "@toolwright/runtime"
import { ExecutableAgentSnapshot, Tool, ToolDescriptor } from "@toolwright/runtime-contract"
import { SqliteThreadStore } from "@toolwright/store-sqlite"
import { ScriptedLlm } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { afterEach, expect, it, vi } from "vitest"
import { audit } from "../audit.js"
import { GetWeather } from "../first-tool.js"
import { waiting } from "../kept-threads.js"

afterEach(() => vi.restoreAllMocks())

const printed = async (example: () => Promise<unknown>): Promise<ReadonlyArray<unknown>> => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {})
  await example()
  return log.mock.calls.map(([line]: ReadonlyArray<unknown>) => line)
}

it("[T2] the first run prints what was said and done", async () => {
  expect(await printed(() => import("../first-answer.js"))).toEqual([
    'get_weather: {"city":"Lisbon","celsius":21}',
    "It is 21 degrees in Lisbon."
  ])
})

it("[P4] the first policy says what it does", async () => {
  expect(await printed(() => import("../first-policy.js"))).toEqual([
    'write src/a.ts: allow, allow write(path ~ "src/**")',
    'write src/.env: deny, deny *(path ~ ".env")',
    "write README.md: ask, default: ask"
  ])
})

it("[T11] the tools of the box and one of one's own are erased alike", async () => {
  const { tools } = await import("../boxed-tools.js")
  expect(tools.map((tool) => tool.spec().id)).toEqual(["shout", "calculate", "current_time"])
})

it("[L7] a scripted run holds, and a model of a provider package is a model", async () => {
  await import("../scripted-run.js")
  const { llm } = await import("../provided-model.js")
  expect(typeof llm.stream).toBe("function")
})

it("[H3] a file says who asked what, which rule decided, what ran, and what waits", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-example-"))
  const path = join(folder, "threads.db")
  try {
    await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const store = yield* SqliteThreadStore.scoped({ path })
          const runtime = Runtime.make({
            llm: new ScriptedLlm([{ calls: [{ toolId: "get_weather", arguments: { city: "Oslo" } }] }, "12."]),
            gate: PermissionGate.make({ allow: ["get_weather"] }),
            tools: [erase(Tool.implement(GetWeather, ({ city }) => ({ city, celsius: 12 })))],
            store
          })
          const snapshot = ExecutableAgentSnapshot.builder("weather-agent")
            .model({ provider: "scripted", model: "one" })
            .tool(ToolDescriptor.forTool(GetWeather, "custom:weather"))
            .build()
          const input = "How warm is it in Oslo?"
          yield* runtime.effect.run({ snapshot, input, principal: "ada", threadId: "t" })
          yield* runtime.effect.close()
        })
      )
    )
    const lines = await audit(path, "t")
    expect(lines.map((line) => line.replace(/\S+Z/, "AT"))).toEqual([
      "1 AT a run for ada",
      "4 AT get_weather 6df7edc91b30: Decision Allow by permissions, rule allow get_weather",
      "5 AT get_weather: Executing",
      "6 AT get_weather: Completed"
    ])
    expect(await waiting(path)).toEqual([])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
