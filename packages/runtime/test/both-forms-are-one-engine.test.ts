import { PermissionGate, ToolOutput } from "@toolwright/runtime-contract"
import { ScriptedLlm } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe, expect, it } from "vitest"
import { Runtime, RuntimeDefinitionError, type RuntimeOptions } from "../src/index.js"
import { ask, call, makeWorld, rawTool, settle, snapshotOf, text } from "./support/world.js"

const principal = "ada"
const note = rawTool({ id: "note" }, text("noted"))

/** A foreign promise that settles at once, and twice. */
const thenable = (value: unknown): object =>
  // oxlint-disable-next-line unicorn/no-thenable -- a thenable is what this is about
  Object.defineProperty({}, "then", { value: (resolve: (value: unknown) => void) => (resolve(value), resolve(7)) })

describe("both forms are one engine", () => {
  it("[L1] the Effect service drives a run, and is closed with its scope", async () => {
    const llm = new ScriptedLlm([{ calls: [call("note")] }, "Done."])
    const layer = Runtime.layer({ llm, gate: PermissionGate.allowAll, tools: [note] })
    const program = Effect.gen(function* () {
      const runtime = yield* Runtime
      const outcome = yield* runtime.run({ snapshot: snapshotOf([note]), input: "hi", principal })
      return [outcome.text, runtime] as const
    })
    const [said, runtime] = await Effect.runPromise(Effect.provide(program, layer))
    expect(said).toBe("Done.")
    const after = await Effect.runPromise(
      Effect.flip(runtime.run({ snapshot: snapshotOf([note]), input: "hi", principal }))
    )
    expect(after.reason).toEqual({ _tag: "Closed" })
  })

  it("[P1] options that cannot work fail the layer with the same error that make throws", async () => {
    const bad: ReadonlyArray<readonly [object, string]> = [
      [{ llm: new ScriptedLlm([]), tools: [] }, "gate"],
      [{ llm: new ScriptedLlm([]), tools: [], gate: [] }, "gate"],
      [{ llm: new ScriptedLlm([]), tools: [], gate: { id: "x" } }, "gate"],
      [{ llm: {}, tools: [], gate: PermissionGate.allowAll }, "llm"],
      [{ llm: new ScriptedLlm([]), tools: [7], gate: PermissionGate.allowAll }, "tools/0"],
      [{ llm: new ScriptedLlm([]), tools: [], gate: PermissionGate.allowAll, store: {} }, "store"],
      [{ llm: new ScriptedLlm([]), tools: [], gate: PermissionGate.allowAll, leaseTtl: 0 }, "leaseTtl"],
      [{ llm: new ScriptedLlm([]), tools: [], gate: PermissionGate.allowAll, limits: { steps: 3 } }, "limits/steps"],
      [{ llm: new ScriptedLlm([]), tools: [], gate: PermissionGate.allowAll, hooks: [{}] }, "hooks/0"]
    ]
    for (const [options, option] of bad) {
      expect(() => Runtime.make(options as RuntimeOptions)).toThrow(RuntimeDefinitionError)
      const failed = await Effect.runPromise(
        Effect.flip(
          Effect.provide(
            Effect.gen(function* () {
              return yield* Runtime
            }),
            Runtime.layer(options as RuntimeOptions)
          )
        )
      )
      expect(failed).toMatchObject({ _tag: "RuntimeDefinitionError", option })
    }
  })

  it("[L1] an option that does not exist makes no runtime: it is told with the one that was meant", () => {
    const parts = { llm: new ScriptedLlm([]), tools: [], gate: PermissionGate.allowAll }
    expect(() => Runtime.make(Object.assign({ limit: { width: 1 } }, parts))).toThrow(
      "Runtime.make: limit: expected limits, received an unknown option"
    )
    expect(() => Runtime.make(Object.assign({ verbose: true }, parts))).toThrow(
      /^Runtime\.make: verbose: expected one of llm, gate, tools, .*, received an unknown option$/
    )
  })

  it("[L1] interrupting an Effect caller cancels the run and waits for its end, within the grace", async () => {
    const world = makeWorld({
      script: [{ calls: [call("slow")] }],
      tools: (recorder) => [recorder.tool({ id: "slow" })]
    })
    world.recorder.hold("slow")
    const snapshot = snapshotOf(world.tools, (builder) => builder.limits({ grace: 100 }))
    const fiber = Effect.runFork(world.runtime.effect.run({ snapshot, input: "hi", principal, threadId: "t" }))
    await world.recorder.whenEntered(1)
    await settle()
    let isOver = false
    const interrupted = Effect.runPromise(Fiber.interrupt(fiber)).then(() => (isOver = true))
    await settle()
    expect(isOver).toBe(false)
    world.clock.advance(100)
    await interrupted
    expect(world.watched.summary.at(-1)).toBe("Publish 0:Indeterminate > Ended Cancelled")
  })

  it("[T2] Effect and Promise tools, gates and hooks meet in one run", async () => {
    const seen: Array<string> = []
    const tools = [
      rawTool({ id: "effectful" }, (one) => Effect.succeed(text("e")(one))),
      rawTool({ id: "later" }, (one) => Effect.promise(() => Promise.resolve(text("l")(one)))),
      rawTool({ id: "promised" }, (one) => Promise.resolve(text("p")(one))),
      rawTool({ id: "plain" }, text("s")),
      rawTool({ id: "thenable" }, (one) => thenable(text("t")(one)))
    ]
    const world = makeWorld({
      script: [{ calls: tools.map((tool) => call(tool.spec().id)) }, "Done."],
      tools: () => tools,
      gate: [
        { id: "effect", decide: () => Effect.succeed({ _tag: "Allow" }) },
        { id: "promise", decide: () => Promise.resolve({ _tag: "Allow" }) },
        { id: "slow effect", decide: () => Effect.promise(() => Promise.resolve({ _tag: "Allow" as const })) }
      ],
      hooks: [{ id: "hook", afterTool: ({ output }) => Effect.sync(() => void seen.push(ToolOutput.text(output))) }]
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal })
    expect(seen).toEqual(["e", "l", "p", "s", "t"])
    expect(outcome.text).toBe("Done.")
  })

  it("[L1] resuming through the Effect form fails with the ticket's own error", async () => {
    const world = makeWorld({
      script: [{ calls: [call("note")] }, "Done."],
      tools: () => [note],
      gate: { id: "a", decide: () => ask() }
    })
    const { tickets } = await world.runtime.run({ snapshot: snapshotOf([note]), input: "hi", principal })
    const { effect } = world.runtime
    const refused = await Effect.runPromise(Effect.flip(effect.resume("none", { _tag: "Allow" }, { approver: "bob" })))
    expect(refused).toMatchObject({ _tag: "TicketRefused", reason: "NotWaiting" })
    const outcome = await Effect.runPromise(effect.resume(tickets[0]?.id ?? "", { _tag: "Allow" }, { approver: "bob" }))
    expect(outcome.text).toBe("Done.")
  })
})
