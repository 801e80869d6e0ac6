import { Type } from "@toolwright/runtime-contract/typebox"
import { type RunHook, type StateKey, ToolOutput } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { call, dropAt, makeWorld, rawTool, settle, snapshotOf } from "./support/world.js"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { EffectRecorder, TestClock } from "@toolwright/testing"

const principal = "ada"
const note = (recorder: EffectRecorder) => [recorder.tool({ id: "note" })]
const count: StateKey.StateKey = { name: "count", scope: "Run", merge: "Disjoint", schema: Type.Integer() }
const set = (key: StateKey.StateKey, value: number): StateKey.StateCommand => ({
  _tag: "Set",
  scope: key.scope,
  key: key.name,
  merge: key.merge,
  value
})

const stateOf = async (memory: MemoryThreadStore, threadId: string) =>
  Object.fromEntries((await Effect.runPromise(memory.load(threadId)))?.state ?? [])

describe("hooks look on", () => {
  it("[L5] phases come in their order, and AfterTool for every call in model order at publication", async () => {
    const seen: Array<string> = []
    const hook: RunHook.RunHook = {
      id: "log",
      stepStart: ({ step }) => void seen.push(`start ${step}`),
      beforeInference: ({ request }) => void seen.push(`before ${request.step}`),
      afterInference: ({ message }) => void seen.push(`after ${message.step}`),
      afterTool: ({ call: { toolId }, outcome }) => Effect.sync(() => void seen.push(`${toolId} ${outcome}`)),
      stepEnd: ({ step }) => Promise.resolve().then(() => void seen.push(`end ${step}`))
    }
    const world = makeWorld({ script: [{ calls: [call("note"), call("ghost")] }, "Done."], tools: note, hooks: [hook] })
    await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal })
    expect(seen).toEqual([
      "start 1",
      "before 1",
      "after 1",
      "note Completed",
      "ghost NotRun",
      "end 1",
      "start 2",
      "before 2",
      "after 2"
    ])
    expect(world.watched.summary.length).toBe(4)
  })

  it("[L5] a hook that throws, rejects, does not answer or answers nonsense is a note, and its reaction is dropped whole", async () => {
    const bad: ReadonlyArray<RunHook.RunHook> = [
      {
        id: "throws",
        stepStart: () => {
          throw new Error("no")
        }
      },
      { id: "rejects", beforeInference: () => Promise.reject(new Error("no")) },
      { id: "nonsense", afterTool: () => ({ reminders: [7], state: [] }) as never },
      { id: "silent", stepEnd: () => new Promise(() => undefined) }
    ]
    const world = makeWorld({ script: [{ calls: [call("note")] }, "Done."], tools: note, hooks: bad })
    const running = world.runtime.run({
      snapshot: snapshotOf(world.tools, (builder) => builder.limits({ toolTimeout: 100 })),
      input: "hi",
      principal
    })
    await settle()
    world.clock.advance(100)
    expect((await running).text).toBe("Done.")
    const failed = world.watched.commits
      .flatMap((commit) => commit.notes)
      .flatMap((one) => (one.type === "HookFailed" ? [[one.hook, one.phase]] : []))
    expect(failed).toEqual([
      ["throws", "StepStart"],
      ["rejects", "BeforeInference"],
      ["nonsense", "AfterTool"],
      ["silent", "StepEnd"],
      ["throws", "StepStart"],
      ["rejects", "BeforeInference"]
    ])
  })

  it("[L5] BeforeInference narrows the tools of one request and chooses what of history is sent, and never widens", async () => {
    const narrow: RunHook.RunHook = {
      id: "narrow",
      beforeInference: ({ step }) => (step === 2 ? { tools: ["note", "other"], lastMessages: 1 } : undefined)
    }
    const world = makeWorld({
      script: [
        { calls: [call("note"), call("more")] },
        {
          calls: [call("more"), call("note")],
          expect: { toolChoice: { toolIds: ["note"] }, tools: ["note", "more"], messages: 3 }
        },
        "Done."
      ],
      tools: (recorder) => [recorder.tool({ id: "note" }), recorder.tool({ id: "more" })],
      hooks: [narrow]
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal })
    world.llm.assertDone()
    expect(world.recorder.effects.map(({ toolId }) => toolId)).toEqual(["note", "more", "note"])
    expect(outcome.messages.at(5)).toMatchObject({ toolId: "more", outcome: "NotRun" })
    expect(outcome.messages.length).toBe(8)
  })

  it("[L5] a reminder is committed directly behind the result it is about", async () => {
    const hook: RunHook.RunHook = {
      id: "remind",
      afterTool: ({ call: { toolId } }) => (toolId === "note" ? { reminders: ["mind the gap"] } : undefined)
    }
    const world = makeWorld({ script: [{ calls: [call("note"), call("ghost")] }, "Done."], tools: note, hooks: [hook] })
    const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal })
    expect([...outcome.messages].map((message) => (message.role === "reminder" ? message.text : message.role))).toEqual(
      ["user", "assistant", "tool", "mind the gap", "tool", "assistant"]
    )
  })

  it("[D1] what hooks and calls stage is applied once, at publication, in model order", async () => {
    const tool = rawTool({ id: "note", more: { stateKeys: [count] } }, ({ callId, arguments: args }) =>
      ToolOutput.withState(ToolOutput.ok(callId, "ok"), [set(count, Number(args["n"]))])
    )
    const hook: RunHook.RunHook = { id: "stage", stepStart: () => ({ state: [set(count, 1)] }) }
    const seen: Array<unknown> = []
    const watching: RunHook.RunHook = {
      id: "watch",
      afterTool: ({ state }) => void seen.push(state.get(count)),
      stepStart: ({ state }) => void seen.push(state.get(count))
    }
    const world = makeWorld({
      script: [{ calls: [call("note", { n: 2 }), call("note", { n: 3 })] }, "Done."],
      tools: () => [tool],
      hooks: [watching, hook],
      stateKeys: [count]
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    expect(seen).toEqual([undefined, undefined, undefined, 3])
    expect(world.watched.commits[2]?.state).toMatchObject([{ key: "count", value: 3 }, { key: "toolwright/ledger" }])
    expect((await stateOf(world.memory, outcome.threadId))["Run:count"]).toBe(1)
  })

  it("[D1] two exclusive sets of a key conflict: results are published, none is applied, and the run ends", async () => {
    const exclusive: StateKey.StateKey = { ...count, name: "only", merge: "Exclusive" }
    const tool = rawTool({ id: "note", more: { stateKeys: [exclusive, count] } }, ({ callId }) =>
      ToolOutput.withState(ToolOutput.ok(callId, "ok"), [set(exclusive, 1), set(count, 5)])
    )
    const world = makeWorld({ script: [{ calls: [call("note"), call("note")] }], tools: () => [tool] })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    expect(outcome.disposition).toMatchObject({ cause: { _tag: "Error", failure: { reason: "StateConflict" } } })
    expect([...outcome.messages].filter(({ role }) => role === "tool").length).toBe(2)
    expect(await stateOf(world.memory, outcome.threadId)).toEqual({ "Run:count": 5 })
  })

  it("[D1] a commutative key is folded by its own function, and shared state survives a race between threads", async () => {
    const total: StateKey.StateKey = {
      name: "total",
      scope: "Shared",
      merge: "Commutative",
      schema: Type.Integer(),
      initial: 0,
      combine: (left, right) => Number(left) + Number(right)
    }
    const tool = rawTool({ id: "note", more: { stateKeys: [total] } }, ({ callId, arguments: args }) =>
      ToolOutput.withState(ToolOutput.ok(callId, "ok"), [set(total, Number(args["n"]))])
    )
    const script = (request: { readonly messages: { at: (index: number) => { readonly role: string } | undefined } }) =>
      request.messages.at(-1)?.role === "tool" ? "Done." : { calls: [call("note", { n: 1 }), call("note", { n: 2 })] }
    const world = makeWorld({ script: script as never, tools: () => [tool] })
    await Promise.all(
      Array.from({ length: 8 }, () => world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal }))
    )
    const shared = await Effect.runPromise(world.memory.shared())
    expect(shared.state.get("Shared:total")).toBe(24)
  })

  it("[D1] what hooks staged before a crash is applied at publication after it", async () => {
    const clock = new TestClock(1_000)
    const memory = new MemoryThreadStore({ now: clock.now })
    const recorder = new EffectRecorder()
    const hook: RunHook.RunHook = {
      id: "stage",
      stepStart: ({ step }) => (step === 1 ? { state: [set(count, 7)] } : undefined)
    }
    const common = { clock, memory, recorder, tools: note, hooks: [hook], leaseTtl: 1_000 }
    const first = makeWorld({ ...common, script: [{ calls: [call("note")] }], crashPoint: dropAt("dispatch.after") })
    await first.runtime
      .run({ snapshot: snapshotOf(first.tools), input: "hi", principal, threadId: "t" })
      .catch(() => undefined)
    expect((await stateOf(memory, "t"))["Run:count"]).toBeUndefined()
    clock.advance(1_000)
    await makeWorld({ ...common, script: ["Done."] }).runtime.recover()
    expect((await stateOf(memory, "t"))["Run:count"]).toBe(7)
  })

  it("[D1] a stored value that its key cannot read is an error, never a default", async () => {
    const tool = rawTool({ id: "note", more: { stateKeys: [count] } }, ({ callId }, { operation }) =>
      ToolOutput.ok(callId, String(operation.state.get(count)))
    )
    const world = makeWorld({
      script: [{ calls: [call("note")] }, "Done."],
      tools: () => [tool],
      hooks: [
        {
          id: "bad",
          stepStart: ({ step }) => (step === 1 ? { state: [{ ...set(count, 1), value: "seven" } as never] } : undefined)
        }
      ]
    })
    const script = [{ calls: [call("note")] }, { calls: [call("note")] }, "Done."]
    const again = makeWorld({
      script,
      tools: () => [tool],
      hooks: [
        {
          id: "bad",
          stepStart: ({ step }) => (step === 1 ? { state: [{ ...set(count, 1), value: "seven" } as never] } : undefined)
        }
      ]
    })
    await world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    const outcome = await again.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    expect(outcome.messages.at(2)).toMatchObject({ isError: false, content: [{ text: "undefined" }] })
    expect(outcome.messages.at(4)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("does not fit its schema") as string }]
    })
  })
})
