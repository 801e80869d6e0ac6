import { ToolConcurrency, ToolOutput } from "@toolwright/runtime-contract"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { call, makeWorld, rawTool, snapshotOf } from "./support/world.js"

const principal = "ada"

interface Planned {
  readonly claim: ToolConcurrency.ToolConcurrency
  /** Turns of the event loop that the call takes. */
  readonly turns: number
}

const claim: fc.Arbitrary<ToolConcurrency.ToolConcurrency> = fc.oneof(
  fc.constant(ToolConcurrency.Serial),
  fc.constant(ToolConcurrency.Parallel),
  fc
    .array(
      fc.record({
        access: fc.constantFrom("Read" as const, "Write" as const),
        namespace: fc.constant("file"),
        key: fc.constantFrom("a", "b")
      }),
      { minLength: 1, maxLength: 2 }
    )
    .map((claims) => ToolConcurrency.Resources(claims))
)

const planned: fc.Arbitrary<Planned> = fc.record({ claim, turns: fc.nat(3) })

describe("nothing overtakes a conflict", () => {
  it("[C1] [C2] conflicting calls never overlap, run in model order, at most width at once, and are published in model order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(planned, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        async (calls, width) => {
          const running = new Set<number>()
          const finished: Array<number> = []
          const wrong: Array<string> = []
          const tool = rawTool(
            { id: "act", concurrency: (args) => calls[Number(args["n"])]?.claim ?? ToolConcurrency.Serial },
            async ({ callId, arguments: args }) => {
              const n = Number(args["n"])
              const own = calls[n]
              if (own === undefined) throw new Error("no such call")
              for (const other of running)
                if (ToolConcurrency.conflicts(calls[other]?.claim ?? own.claim, own.claim))
                  wrong.push(`${n} beside ${other}`)
              for (let before = 0; before < n; before++)
                if (
                  !finished.includes(before) &&
                  ToolConcurrency.conflicts(calls[before]?.claim ?? own.claim, own.claim)
                )
                  wrong.push(`${n} before ${before}`)
              running.add(n)
              if (running.size > width) wrong.push(`${running.size} at once`)
              for (let turn = 0; turn < own.turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
              running.delete(n)
              finished.push(n)
              return ToolOutput.ok(callId, String(n))
            }
          )
          const world = makeWorld({
            script: [{ calls: calls.map((_, n) => call("act", { n })) }, "Done."],
            tools: () => [tool]
          })
          const outcome = await world.runtime.run({
            snapshot: snapshotOf([tool], (builder) => builder.limits({ width })),
            input: "hi",
            principal
          })
          const results = [...outcome.messages].flatMap((message) => (message.role === "tool" ? message.content : []))
          expect(wrong).toEqual([])
          expect(results).toEqual(calls.map((_, n) => ({ type: "text", text: String(n) })))
        }
      ),
      { numRuns: 60 }
    )
  })

  it("[C1] a tool that cannot say what it touches runs alone", async () => {
    let running = 0
    let most = 0
    const tool = rawTool(
      {
        id: "act",
        concurrency: () => {
          throw new Error("no idea")
        }
      },
      async ({ callId }) => {
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => setImmediate(resolve))
        running--
        return ToolOutput.ok(callId, "done")
      }
    )
    const world = makeWorld({
      script: [{ calls: [call("act"), call("act"), call("act")] }, "Done."],
      tools: () => [tool]
    })
    await world.runtime.run({ snapshot: snapshotOf([tool]), input: "hi", principal })
    expect(most).toBe(1)
  })

  it("[C2] a waiting call blocks only those that conflict with it", async () => {
    const file = (key: string) => () => ToolConcurrency.Resources([{ access: "Write", namespace: "file", key }])
    const world = makeWorld({
      script: [{ calls: [call("asked"), call("same"), call("other")] }],
      tools: (recorder) => [
        recorder.tool({ id: "asked", concurrency: file("a")() }),
        recorder.tool({ id: "same", concurrency: file("a")() }),
        recorder.tool({ id: "other", concurrency: file("b")() })
      ],
      gate: {
        id: "some",
        decide: ({ tool }) =>
          tool.id === "asked" ? { _tag: "RequireConfirmation", requirements: [{ reason: "?" }] } : { _tag: "Allow" }
      }
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "hi", principal })
    expect(world.recorder.effects.map(({ toolId }) => toolId)).toEqual(["other"])
    expect(outcome.disposition._tag).toBe("Awaiting")
  })
})
