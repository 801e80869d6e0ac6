import { erase } from "@toolwright/builtin-tools"
import { Runtime } from "@toolwright/runtime"
import {
  ExecutableAgentSnapshot,
  PermissionGate,
  Tool,
  ToolDescriptor,
  type ToolRecovery
} from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"
import type { SqliteDriver } from "@toolwright/store-sqlite"
import { ScriptedLlm, TestClock } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { driver, type Scratch, scratch } from "../store-sqlite/database.js"

let world: Scratch
beforeEach(() => {
  world = scratch()
})
afterEach(() => world.remove())

/** A disk of so many pages of 4 KiB. */
const disk = (pages: number): SqliteDriver.SqliteDriver => ({
  name: driver.name,
  open: (path) => {
    const connection = driver.open(path)
    connection.exec(`PRAGMA max_page_count = ${pages}`)
    return connection
  }
})

/** A tool whose result needs 60 KB, in a run that asks for it once. */
const agent = (recovery: ToolRecovery.ToolRecoveryCapability, entries: Array<number>) => {
  const tool = erase(
    Tool.make({
      id: "act",
      description: "Does something with a long result",
      args: Type.Object({}),
      recovery,
      call: () => {
        entries.push(entries.length + 1)
        return "x".repeat(60_000)
      }
    })
  )
  const snapshot = ExecutableAgentSnapshot.builder("agent")
    .model({ provider: "scripted", model: "one" })
    .tools([ToolDescriptor.forTool(tool, "test:full")])
    .limits({ commitRetries: 0 })
    .build()
  const llm = new ScriptedLlm(({ messages }) =>
    messages.at(-1)?.role === "tool" ? "Done." : { calls: [{ toolId: "act", arguments: {} }] }
  )
  return { tool, snapshot, llm }
}

describe("a disk that is full in the middle of a run", () => {
  it.each([
    ["NonRecoverable", "Indeterminate", 1],
    ["ReplaySafe", "Completed", 2]
  ] as const)(
    "[R8, D4, E2] %s: what was acknowledged stays, and with room again the call is %s behind %i entries",
    async (recovery, outcome, expected) => {
      const clock = new TestClock(1_000)
      const entries: Array<number> = []
      const { llm, snapshot, tool } = agent(recovery, entries)
      const open = async (pages: number) => {
        const store = await world.open({ driver: disk(pages), now: clock.now })
        return Runtime.make({ llm, gate: PermissionGate.allowAll, tools: [tool], store, clock, leaseTtl: 1_000 })
      }
      const tight = await open(40)
      const stopped = await tight.run({ snapshot, input: "Go.", principal: "ada", threadId: "t" }).then(
        () => "ended",
        (error: { readonly reason: { readonly _tag: string } }) => error.reason._tag
      )
      expect([stopped, entries.length]).toEqual(["CommitUnknown", 1])
      await world.closeAll()
      clock.advance(1_000)
      const roomy = await open(4_000)
      const [recovered] = await roomy.recover()
      expect([recovered?.error, recovered?.outcome?.messages.at(2), entries.length]).toMatchObject([
        undefined,
        { outcome },
        expected
      ])
      await roomy.close()
    }
  )

  it("[D4, E2] a file that is being made has no half of it, and is made when there is room", async () => {
    const failure = await world.open({ driver: disk(3) }).then(
      () => "opened",
      (error: { readonly reason: { readonly _tag: string } }) => error.reason._tag
    )
    expect(failure).toBe("Unavailable")
    const store = await world.open()
    expect(await Effect.runPromise(store.list({}))).toEqual([])
  })
})
