import { type RawTool, ToolError, ToolOperation, ToolOutput } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { type PlainTool, call, makeWorld, rawTool, settle, snapshotOf } from "./support/world.js"

const principal = "ada"

const runOne = async (tool: RawTool.RawTool, executors?: object) => {
  const world = makeWorld({
    script: [{ calls: [call(tool.spec().id)] }, "Done."],
    tools: () => [tool],
    ...executors
  })
  const outcome = await world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
  const message = outcome.messages.at(2)
  return { ...world, outcome, message, result: message?.role === "tool" ? message : undefined }
}

const textOf = (message: { readonly content: ReadonlyArray<unknown> } | undefined): string => {
  const [block] = message?.content ?? []
  return typeof block === "object" && block !== null && "text" in block ? String(block.text) : ""
}

const given: PlainTool = { id: "act" }

describe("tools cannot break the run", () => {
  it("[E1] every way to fail becomes one result that the model sees, and the run goes on", async () => {
    const ways: ReadonlyArray<readonly [string, () => unknown, RegExp]> = [
      [
        "a sync throw",
        () => {
          throw new Error("boom")
        },
        /^boom\nIt may have had an effect/u
      ],
      ["a rejection", () => Promise.reject(new Error("boom")), /^boom\n/u],
      ["a failing Effect", () => Effect.fail(ToolError.execution("boom")), /^boom\n/u],
      ["an Effect that dies", () => Effect.die(new Error("boom")), /^boom\n/u],
      ["an Effect that interrupts itself", () => Effect.interrupt, /^act was interrupted\n/u],
      [
        "a thrown text",
        () => {
          throw "boom" as unknown as Error
        },
        /^boom\n/u
      ],
      [
        "a thrown nothing",
        () => {
          throw undefined as unknown as Error
        },
        /^the tool failed without a message\n/u
      ],
      [
        "an empty message",
        () => {
          throw new Error("")
        },
        /^Error\n/u
      ]
    ]
    for (const [name, way, expected] of ways) {
      const { outcome, result } = await runOne(rawTool(given, way))
      expect([name, result?.outcome, result?.isError], name).toEqual([name, "Completed", true])
      expect(textOf(result), name).toMatch(expected)
      expect(outcome.disposition, name).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
    }
  })

  it("[E4] a replay-safe tool that fails is not told to have had an effect", async () => {
    const { result } = await runOne(
      rawTool({ ...given, recovery: "ReplaySafe" }, () => Promise.reject(new Error("boom")))
    )
    expect(textOf(result)).toBe("boom")
  })

  it("[E4] a semantic refusal by the tool is a completed call whose text is the refusal", async () => {
    const { result } = await runOne(
      rawTool(given, () => {
        throw ToolError.invalidArguments("city: name the city")
      })
    )
    expect([result?.outcome, textOf(result)]).toEqual(["Completed", "city: name the city"])
  })

  it("[T9] what is no output is a completed call with an unreadable output", async () => {
    const oddities: ReadonlyArray<unknown> = [
      7,
      null,
      "text",
      {},
      { content: "x", isError: false },
      { content: [{ type: "video" }], isError: false },
      { content: [{ type: "text", text: 7 }], isError: false, state: [] },
      { content: [], isError: false, data: 1n, state: [] },
      { content: [], isError: false, data: { at: new Date(0) }, state: [] },
      Promise.resolve(7),
      {
        get content(): never {
          throw new Error("trap")
        }
      }
    ]
    for (const odd of oddities) {
      const { result } = await runOne(rawTool(given, () => (odd === undefined ? null : odd)))
      expect([result?.outcome, result?.isError]).toEqual(["Completed", true])
      expect(textOf(result)).toContain("its output could not be read")
    }
  })

  it("[T11] state under an undeclared key is an error result, and none of it is kept", async () => {
    const tool = rawTool(given, ({ callId }) =>
      ToolOutput.withState(ToolOutput.ok(callId, "ok"), [
        { _tag: "Set", scope: "Run", key: "other", merge: "Disjoint", value: 1 }
      ])
    )
    const { result, memory, outcome } = await runOne(tool)
    expect(textOf(result)).toContain("staged the state other, which it does not declare")
    const view = await Effect.runPromise(memory.load(outcome.threadId))
    expect([...(view?.state ?? [])]).toEqual([])
  })

  it("[E4] unavailable thrown from inside a call proves nothing", async () => {
    const { result } = await runOne(
      rawTool(given, () => {
        throw ToolError.unavailableBeforeDispatch("not sent")
      })
    )
    expect([result?.outcome, textOf(result)]).toEqual(["Completed", "not sent\nIt may have had an effect."])
  })

  it("[E4] an executor's proof is tried again in the same attempt, and then the call is not run", async () => {
    let tries = 0
    const tool = rawTool({ ...given, target: "Sandbox" })
    const Sandbox: RawTool.ToolExecutor = {
      recovery: () => "NonRecoverable",
      concurrency: () => ({ _tag: "Parallel" }),
      invoke: (_call, { operation }) => {
        tries++
        expect(operation.attempt).toBe(1)
        throw ToolError.unavailableBeforeDispatch("no hand")
      }
    }
    const world = makeWorld({
      script: [{ calls: [call("act")] }, "Done."],
      tools: () => [tool],
      executors: { Sandbox }
    })
    const running = world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    for (let turn = 0; turn < 3; turn++) {
      await settle()
      world.clock.advance(1_000)
    }
    const outcome = await running
    expect(tries).toBe(3)
    expect(outcome.messages.at(2)).toMatchObject({ outcome: "NotRun", isError: true })
  })

  it("[T13] a sandbox tool without a sandbox is refused, and never run in place", async () => {
    let ran = 0
    const { result } = await runOne(rawTool({ ...given, target: "Sandbox" }, () => void ran++))
    expect([ran, result?.outcome, textOf(result)]).toEqual([
      0,
      "NotRun",
      "tool act runs in a sandbox, and there is none here"
    ])
  })

  it("[E4] what an executor sent and lost follows its recovery policy", async () => {
    const lossy = (recovery: "NonRecoverable" | "ReplaySafe", losses: number) => {
      let sent = 0
      const tool = rawTool({ ...given, target: "Sandbox", recovery })
      const attempts: Array<number> = []
      const Sandbox: RawTool.ToolExecutor = {
        recovery: () => recovery,
        concurrency: () => ({ _tag: "Parallel" }),
        invoke: ({ callId }, { operation }) => {
          attempts.push(operation.attempt)
          if (sent++ < losses) throw ToolError.execution("connection reset")
          return ToolOutput.ok(callId, "made it")
        }
      }
      return { tool, attempts, options: { executors: { Sandbox } } }
    }
    const never = lossy("NonRecoverable", 1)
    const once = await runOne(never.tool, never.options)
    expect([never.attempts, once.result?.outcome]).toEqual([[1], "Indeterminate"])

    const safe = lossy("ReplaySafe", 1)
    const again = await runOne(safe.tool, safe.options)
    expect([safe.attempts, again.result?.outcome, textOf(again.result)]).toEqual([[1, 2], "Completed", "made it"])

    const hopeless = lossy("ReplaySafe", 9)
    const spent = await runOne(hopeless.tool, hopeless.options)
    expect([hopeless.attempts, spent.result?.outcome]).toEqual([[1, 2, 3], "Indeterminate"])
  })

  it("[E4] an executor beside the runtime proves what it did not send, and only passes on what the tool said", async () => {
    let tries = 0
    const around = (tool: RawTool.RawTool): RawTool.ToolExecutor => ({
      recovery: () => tool.recovery,
      concurrency: () => ({ _tag: "Parallel" }),
      invoke: (one, context) => {
        if (tries++ === 0) throw ToolError.unavailableBeforeDispatch("not yet")
        return tool.invoke(one, context)
      }
    })
    const tool = rawTool(given, () => {
      throw ToolError.execution("boom")
    })
    const world = makeWorld({
      script: [{ calls: [call("act")] }, "Done."],
      tools: () => [tool],
      executors: { Brain: around(tool) }
    })
    const running = world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    await settle()
    world.clock.advance(1_000)
    const outcome = await running
    expect([tries, outcome.messages.at(2)]).toMatchObject([2, { outcome: "Completed", isError: true }])
  })

  it("[E1] each call has exactly one result, in model order, however they end", async () => {
    const tools = [
      rawTool({ id: "ok" }, ({ callId }) => Promise.resolve(ToolOutput.ok(callId, "fine"))),
      rawTool({ id: "bad" }, () => Promise.reject(new Error("no")))
    ]
    const world = makeWorld({
      script: [{ calls: [call("bad"), call("ghost"), call("ok"), call("bad")] }, "Done."],
      tools: () => tools
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal })
    const results = [...outcome.messages].filter((message) => message.role === "tool")
    expect(results.map((result) => [result.toolId, result.outcome])).toEqual([
      ["bad", "Completed"],
      ["ghost", "NotRun"],
      ["ok", "Completed"],
      ["bad", "Completed"]
    ])
  })

  it("[R1] an Effect tool reads its operation, a plain one is handed it, and outside there is none", async () => {
    const seen: Array<unknown> = []
    const tools = [
      rawTool({ id: "effectful" }, ({ callId }) =>
        Effect.gen(function* () {
          seen.push(yield* ToolOperation.current)
          return ToolOutput.ok(callId, "read")
        })
      ),
      rawTool({ id: "plain" }, (_call, { operation }) => void seen.push(operation))
    ]
    const world = makeWorld({ script: [{ calls: [call("effectful"), call("plain")] }, "Done."], tools: () => tools })
    const { runId, threadId } = await world.runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal })
    const same = { runId, threadId, attempt: 1, epoch: 1, principal }
    expect(seen).toMatchObject([
      { ...same, operationId: `${runId}/1/0` },
      { ...same, operationId: `${runId}/1/1` }
    ])
    expect(
      await Effect.runPromise(
        Effect.gen(function* () {
          return yield* ToolOperation.current
        })
      )
    ).toBeUndefined()
  })
})
