// C038, C040, C091, C094, C098: what a tool gave is what is on disk, once, whatever it gave and however often the store
// had to be asked.
import { erase } from "@toolwright/builtin-tools"
import { Message, PermissionGate, type RawTool, type ThreadStore, Tool } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"
import { type RunOutcome, Runtime } from "@toolwright/runtime"
import { FileSpill } from "@toolwright/store-sqlite"
import { FaultyStore, type ScriptedFault } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { scriptOf, snapshotOf } from "../../scenarios/agent.js"
import { type Scratch, scratch } from "../store-sqlite/database.js"

let world: Scratch
beforeEach(() => {
  world = scratch()
})
afterEach(() => world.remove())

class Account {
  readonly owner = "ada"
  greet(): string {
    return "hello"
  }
}

let calls = 0
const giving = (give: () => unknown): RawTool.RawTool =>
  erase(
    Tool.make({
      id: "act",
      description: "Gives something",
      args: Type.Object({}),
      call: () => {
        calls++
        return give() as string
      }
    })
  )

const runOn = async (
  store: ThreadStore.ThreadStore,
  { more = {}, tool }: { readonly tool: RawTool.RawTool; readonly more?: Partial<Parameters<typeof Runtime.make>[0]> }
): Promise<RunOutcome> => {
  calls = 0
  const llm = scriptOf([[{ toolId: "act", arguments: {} }]])
  const runtime = Runtime.make({ llm, gate: PermissionGate.allowAll, tools: [tool], store, ...more })
  try {
    return await runtime.run({ snapshot: snapshotOf([tool]), input: "Go.", principal: "ada", threadId: "t" })
  } finally {
    await runtime.close()
  }
}

const reopened = async (): Promise<ReadonlyArray<Message.Message>> => {
  await world.closeAll()
  return (await Effect.runPromise((await world.open()).load("t")))?.messages.toArray() ?? []
}

const hostile = (): unknown => {
  const self: { self?: unknown } = {}
  self.self = self
  return self
}

const values: ReadonlyArray<readonly [string, () => unknown]> = [
  ["nothing", () => undefined],
  ["null", () => null],
  ["an empty text", () => ""],
  ["a date", () => new Date(0)],
  ["a map", () => new Map([[1, 2]])],
  ["an undefined member", () => ({ a: undefined, b: [undefined, 1] })],
  ["bytes", () => new Uint8Array([1, 2])],
  ["minus zero", () => -0],
  ["not a number", () => ({ v: Number.NaN })],
  ["half a surrogate pair", () => "\ud83d"],
  ["an instance", () => new Account()],
  ["a cycle", hostile],
  ["a symbol", () => Symbol("s")],
  ["a function", () => () => 1],
  ["a big integer", () => 10n ** 30n],
  [
    "a toJSON that throws",
    () => ({
      toJSON: () => {
        throw new Error("x")
      }
    })
  ],
  [
    "a getter that throws",
    () => ({
      get boom() {
        throw new Error("y")
      }
    })
  ]
]

describe("what a tool gave", () => {
  it.each(values)("[T10, D4] %s is the same before and behind a restart, and told once", async (_, give) => {
    const { messages } = await runOn(await world.open(), { tool: giving(give) })
    const result = messages.at(2)
    expect(result).toMatchObject({ role: "tool", outcome: "Completed" })
    expect(result?.role === "tool" && Message.textOf(result.content).length > 0).toBe(true)
    expect(await reopened()).toEqual(messages.toArray())
    expect(calls).toBe(1)
  })

  it("[T10] is read when it is returned: later changes of the object change nothing", async () => {
    const object = { v: 1 }
    const { messages } = await runOn(await world.open(), {
      tool: giving(() => (queueMicrotask(() => (object.v = 2)), object))
    })
    expect(messages.at(2)).toMatchObject({ content: [{ type: "text", text: '{"v":1}' }] })
    expect(await reopened()).toEqual(messages.toArray())
  })

  it.each([1_000_000, 5_000_000, 80_000_000])(
    "[T10] %i characters are cut for the model, kept once in full, and the tool is not run again",
    async (size) => {
      const spill = new FileSpill.FileSpill({ folder: `${world.folder}/outputs` })
      const { disposition, messages } = await runOn(await world.open(), {
        tool: giving(() => "x".repeat(size)),
        more: { spill }
      })
      expect(disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
      const result = messages.at(2)
      const told = result?.role === "tool" ? Message.textOf(result.content) : ""
      expect(told.length).toBeLessThanOrEqual(65_536 + 1_000)
      expect(await reopened()).toEqual(messages.toArray())
      expect(calls).toBe(1)
    },
    60_000
  )
})

describe("a store that has to be asked again", () => {
  const failing = async (
    faults: ReadonlyArray<ScriptedFault>,
    recovery: "NonRecoverable" | "ReplaySafe" = "NonRecoverable"
  ) => {
    const faulty = new FaultyStore(await world.open(), { plan: faults })
    const tool = erase(
      Tool.make({ id: "act", description: "Counts", args: Type.Object({}), recovery, call: () => `call ${++calls}` })
    )
    return { faulty, tool }
  }

  it("[D2] loses the reply to the outcome: it is sent again under its id, written once, and the tool not run again", async () => {
    const { faulty, tool } = await failing([{ operation: "commit", index: 2, fault: { _tag: "crashAfter" } }])
    const { messages } = await runOn(faulty, { tool })
    faulty.assertDone()
    expect(messages.toArray(2)).toMatchObject([{ role: "tool", content: [{ text: "call 1" }] }, { role: "assistant" }])
    expect(await reopened()).toEqual(messages.toArray())
    expect(calls).toBe(1)
  })

  it("[D2, R8] never takes the outcome: the run stops, nothing is repeated, and the next process tells what may have happened first", async () => {
    const faults = Array.from({ length: 6 }, (_, index): ScriptedFault => ({
      operation: "commit",
      index: index + 2,
      fault: { _tag: "crashBefore" }
    }))
    const { faulty, tool } = await failing(faults)
    await expect(runOn(faulty, { tool, more: { limits: { commitRetries: 1 } } })).rejects.toMatchObject({
      reason: { _tag: "CommitUnknown" }
    })
    const store = await world.open()
    const asked: Array<ReadonlyArray<string>> = []
    const script = scriptOf([[{ toolId: "act", arguments: {} }]])
    const llm: typeof script = {
      ...script,
      stream: (request, context) => {
        asked.push([...request.messages].map(({ role }) => role))
        return script.stream(request, context)
      }
    }
    const runtime = Runtime.make({ llm, gate: PermissionGate.allowAll, tools: [tool], store })
    const [recovered] = await runtime.recover()
    await runtime.close()
    expect(recovered?.outcome?.messages.at(2)).toMatchObject({ role: "tool", outcome: "Indeterminate" })
    // The model is asked with the result in its place, and not before.
    expect(asked).toEqual([["user", "assistant", "tool"]])
    expect(calls).toBe(1)
  })
})
