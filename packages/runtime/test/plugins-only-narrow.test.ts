import { Type } from "@toolwright/runtime-contract/typebox"
import {
  ContextMessages,
  GateOutcome,
  PermissionGate,
  Plugin,
  type RunHook,
  StateKey,
  ToolConcurrency
} from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { RuntimeDefinitionError } from "../src/index.js"
import { call, dropAt, makeWorld, rawTool, snapshotOf } from "./support/world.js"

const principal = "ada"
const note = [rawTool({ id: "note" })]
const mood = StateKey.make({ name: "mood.level", schema: Type.Integer(), scope: "Run" })

const whole: Plugin.CapabilityBound = {
  tools: Plugin.any,
  stateKeys: Plugin.any,
  hooks: Plugin.any,
  phases: ["StepStart", "BeforeInference", "AfterInference", "AfterTool", "StepEnd"],
  gates: Plugin.any,
  guards: Plugin.any,
  actionKinds: Plugin.any,
  constraints: Plugin.any,
  requestContext: true
}

const plugin = (
  id: string,
  contributions: Plugin.PluginContributions,
  manifest: Partial<Plugin.PluginManifest> = {}
): Plugin.Plugin => ({
  manifest: { id, bound: whole, ...manifest },
  contributions
})

const refusal = (
  plugins: ReadonlyArray<Plugin.Plugin>,
  gate: PermissionGate.PermissionGate = PermissionGate.allowAll
) => {
  try {
    makeWorld({ script: [], plugins, gate, tools: () => note })
  } catch (error) {
    if (error instanceof RuntimeDefinitionError) return [error.plugin, error.axis, error.received]
    throw error
  }
  return undefined
}

describe("plugins only narrow", () => {
  it("[L6] contributing outside the bound fails the build, and the error names the plugin and the axis", () => {
    const one: ReadonlyArray<readonly [Plugin.PluginContributions, string, string]> = [
      [{ tools: [rawTool({ id: "extra" })] }, "tools", "extra"],
      [{ stateKeys: [mood] }, "stateKeys", "mood.level"],
      [{ gates: [{ id: "g", decide: () => GateOutcome.allow }] }, "gates", "g"],
      [{ guards: [{ id: "end", decide: () => undefined }] }, "guards", "end"],
      [{ actionKinds: ["nightly"] }, "actionKinds", "nightly"],
      [{ constraints: [{ id: "c", narrow: () => ToolConcurrency.Serial }] }, "constraints", "c"],
      [{ hooks: [{ id: "h", stepEnd: () => undefined }] }, "hooks", "h"]
    ]
    for (const [contributions, axis, id] of one)
      expect(refusal([{ manifest: { id: "greedy" }, contributions }])).toEqual(["greedy", axis, id])
    const early: Plugin.CapabilityBound = { hooks: Plugin.exactly("h"), phases: ["StepStart"] }
    expect(
      refusal([
        { manifest: { id: "greedy", bound: early }, contributions: { hooks: [{ id: "h", stepEnd: () => undefined }] } }
      ])
    ).toEqual(["greedy", "phases", "h StepEnd"])
    const inside: Plugin.CapabilityBound = { tools: Plugin.namespace("mood_"), stateKeys: Plugin.exactly("mood.level") }
    const modest = { tools: [rawTool({ id: "mood_set" })], stateKeys: [mood] }
    expect(refusal([{ manifest: { id: "modest", bound: inside }, contributions: modest }])).toBeUndefined()
    expect(
      refusal([{ manifest: { id: "blank", bound: { tools: Plugin.namespace("") } }, contributions: modest }])
    ).toEqual(["blank", "tools", "mood_set"])
  })

  it("[L6] duplicate ids, missing dependencies and circles fail the build", () => {
    const gate = { id: "allow-all", decide: () => GateOutcome.allow }
    expect(refusal([plugin("a", {}), plugin("a", {})])).toEqual(["a", "id", "an id that another plugin has"])
    expect(refusal([plugin("a", {}, { requires: ["b"] })])).toEqual(["a", "requires", "no plugin of that id"])
    expect(
      refusal([
        plugin("a", {}, { requires: ["b"] }),
        plugin("b", {}, { requires: ["c"] }),
        plugin("c", {}, { requires: ["a"] })
      ])
    ).toEqual(["a", "requires", "a > b > c > a"])
    expect(refusal([plugin("a", { tools: note })])).toEqual(["a", "tools", "note"])
    expect(refusal([plugin("a", { actionKinds: ["k"] }), plugin("b", { actionKinds: ["k"] })])).toEqual([
      "b",
      "actionKinds",
      "k"
    ])
    expect(refusal([plugin("a", { gates: [gate] })])).toEqual(["a", "gates", "allow-all"])
  })

  it("[L6] [P2] plugins come by dependency behind the host, only where the snapshot selects them, with its configuration", async () => {
    const seen: Array<string> = []
    const gate = (id: string): PermissionGate.PermissionGate => ({
      id,
      decide: () => (seen.push(id), GateOutcome.allow)
    })
    const hook = (id: string): RunHook.RunHook => ({ id, stepStart: () => void seen.push(`${id} starts`) })
    const last = plugin("last", { gates: [gate("last")], hooks: [hook("last")] }, { requires: ["first"] })
    const first: Plugin.Plugin = {
      manifest: { id: "first", bound: whole },
      configure: (configuration) => ({
        gates: [gate(`first ${JSON.stringify(configuration)}`)],
        hooks: [hook("first")]
      })
    }
    const world = makeWorld({
      script: [{ calls: [call("note")] }, "Done.", "Done."],
      tools: () => note,
      gate: gate("host"),
      plugins: [last, first, plugin("other", { gates: [gate("other")] })]
    })
    await world.runtime.run({
      snapshot: snapshotOf(note, (b) => b.plugin("last").plugin("first", { n: 1 })),
      input: "hi",
      principal
    })
    expect(seen).toEqual([
      "first starts",
      "last starts",
      "host",
      'first {"n":1}',
      "last",
      "first starts",
      "last starts"
    ])
    seen.length = 0
    await world.runtime.run({ snapshot: snapshotOf(note), input: "hi", principal })
    expect(seen).toEqual([])
  })

  it("[L6] a snapshot whose plugins are not here, or refuse their configuration, starts nothing", async () => {
    const needs = plugin("needs", {}, { requires: ["base"] })
    const picky: Plugin.Plugin = {
      manifest: { id: "picky", bound: {} },
      configure: (given) => {
        if (given === undefined) throw new Error("needs a level")
        return { actionKinds: ["x"] }
      }
    }
    const world = makeWorld({ script: [], tools: () => note, plugins: [needs, plugin("base", {}), picky] })
    const start = (select: Parameters<typeof snapshotOf>[1]) =>
      world.runtime.run({ snapshot: snapshotOf(note, select), input: "hi", principal })
    await expect(start((b) => b.plugin("ghost"))).rejects.toThrow("the plugin ghost is not installed")
    await expect(start((b) => b.plugin("needs"))).rejects.toThrow("requires base")
    await expect(start((b) => b.plugin("picky"))).rejects.toThrow("needs a level")
    await expect(start((b) => b.plugin("picky", 1))).rejects.toThrow("actionKinds")
    expect(world.watched.commits).toEqual([])
  })

  it("[P1] [P2] a plugin's gate cannot widen, one that throws blocks, and it schedules only its own kinds of actions", async () => {
    const outcome = async (
      host: GateOutcome.GateOutcome,
      own: () => GateOutcome.GateOutcome,
      kinds: ReadonlyArray<string> = []
    ) => {
      const world = makeWorld({
        script: [{ calls: [call("note")] }, "Done."],
        tools: () => note,
        gate: { id: "host", decide: () => host },
        plugins: [plugin("p", { gates: [{ id: "own", decide: own }], actionKinds: kinds })]
      })
      const end = await world.runtime.run({ snapshot: snapshotOf(note, (b) => b.plugin("p")), input: "hi", principal })
      const message = end.messages.at(2)
      return message?.role === "tool" ? message.outcome : end.tickets[0]?.kind
    }
    expect(await outcome(GateOutcome.block("no"), () => GateOutcome.allow)).toBe("NotRun")
    expect(
      await outcome(GateOutcome.allow, () => {
        throw new Error("oops")
      })
    ).toBe("NotRun")
    expect(await outcome(GateOutcome.allow, () => GateOutcome.schedule(9_000, "nightly"))).toBe("NotRun")
    expect(await outcome(GateOutcome.allow, () => GateOutcome.schedule(9_000, "nightly"), ["nightly"])).toBe("Schedule")
    expect(await outcome(GateOutcome.allow, () => GateOutcome.allow)).toBe("Completed")
  })

  it("[L6] a plugin's tool runs where it is selected, and is unknown elsewhere", async () => {
    const tools = [rawTool({ id: "mood_set" })]
    const world = makeWorld({
      script: [{ calls: [call("mood_set")] }, "Done.", { calls: [call("mood_set")] }, "Done."],
      plugins: [plugin("mood", { tools })]
    })
    const [here, there] = [
      await world.runtime.run({ snapshot: snapshotOf(tools, (b) => b.plugin("mood")), input: "hi", principal }),
      await world.runtime.run({ snapshot: snapshotOf(tools), input: "hi", principal })
    ]
    expect([here.messages.at(2), there.messages.at(2)]).toMatchObject([{ outcome: "Completed" }, { outcome: "NotRun" }])
  })

  it("[L6] [Z4] a plugin's tool is described where the snapshot selects it", async () => {
    const tools = [rawTool({ id: "mood_set" })]
    const world = makeWorld({ script: [], plugins: [plugin("mood", { tools })] })
    const described = await world.runtime.describeTools({ snapshot: snapshotOf(tools, (b) => b.plugin("mood")) })
    expect(described.map(({ id, executable, spec }) => [id, executable, spec?.id])).toEqual([
      ["mood_set", true, "mood_set"]
    ])
  })

  it("[L6] [C1] a constraint only narrows what runs beside what, and one that throws makes the call run alone", async () => {
    const claims = async (narrow: Plugin.ConcurrencyConstraint["narrow"], own: ToolConcurrency.ToolConcurrency) => {
      const tools = [rawTool({ id: "note", concurrency: () => own })]
      const world = makeWorld({
        script: [{ calls: [call("note")] }, "Done."],
        tools: () => tools,
        plugins: [plugin("p", { constraints: [{ id: "c", narrow }] })]
      })
      await world.runtime.run({ snapshot: snapshotOf(tools, (b) => b.plugin("p")), input: "hi", principal })
      return world.watched.commits[1]?.batch?.calls[0]?.claim._tag
    }
    expect(await claims(() => ToolConcurrency.Serial, ToolConcurrency.Parallel)).toBe("Serial")
    expect(await claims(() => ToolConcurrency.Parallel, ToolConcurrency.Serial)).toBe("Serial")
    expect(
      await claims(() => {
        throw new Error("oops")
      }, ToolConcurrency.Parallel)
    ).toBe("Serial")
  })

  it("[L5] [L6] a hook that stages state outside its plugin's keys is a note, and its reaction is dropped whole", async () => {
    const hook: RunHook.RunHook = {
      id: "h",
      afterTool: () => ({ reminders: ["heard"], state: [StateKey.set(mood, 1), ContextMessages.set("h", "x")] })
    }
    const run = async (bound: Plugin.CapabilityBound, stateKeys: ReadonlyArray<StateKey.StateKey>) => {
      const world = makeWorld({
        script: [{ calls: [call("note")] }, "Done."],
        tools: () => note,
        plugins: [{ manifest: { id: "p", bound }, contributions: { hooks: [hook], stateKeys } }]
      })
      await world.runtime.run({ snapshot: snapshotOf(note, (b) => b.plugin("p")), input: "hi", principal })
      const { batch, notes, state } = world.watched.commits[2] ?? {}
      return [
        batch?._tag === "Publish" ? batch.reminders.length : 0,
        notes?.map(({ type }) => type),
        state?.map(({ key }) => key)
      ]
    }
    expect(await run(whole, [mood])).toEqual([1, [], ["mood.level", "ContextMessages"]])
    expect(await run({ ...whole, requestContext: false }, [mood])).toEqual([0, ["HookFailed"], []])
    expect(await run(whole, [])).toEqual([0, ["HookFailed"], []])
  })

  it("[L5] request-only context goes along with this and later requests, is taken back by an empty entry, and never enters the transcript", async () => {
    const hook: RunHook.RunHook = {
      id: "h",
      beforeInference: ({ step }) =>
        step === 1
          ? { state: [ContextMessages.set("weather", "it rains"), ContextMessages.set("clock", "noon")] }
          : step === 3
            ? { state: [ContextMessages.set("weather")] }
            : undefined
    }
    const notes: Array<ReadonlyArray<string>> = []
    const world = makeWorld({
      script: ((request: { readonly step: number; readonly notes: ReadonlyArray<{ readonly source: string }> }) => {
        notes.push(request.notes.map(({ source }) => source))
        return request.step < 4 ? { calls: [call("note")] } : "Done."
      }) as never,
      tools: () => note,
      hooks: [hook]
    })
    const outcome = await world.runtime.run({ snapshot: snapshotOf(note), input: "hi", principal })
    expect(notes).toEqual([["weather", "clock"], ["weather", "clock"], ["clock"], ["clock"]])
    expect(JSON.stringify([...outcome.messages])).not.toContain("rains")
  })

  it("[L5] a run-end guard sends the run on with a committed reminder, a bounded number of times, and one that fails lets it end", async () => {
    const seen: Array<number> = []
    const guards = [
      { id: "fails", decide: () => Promise.reject(new Error("no")) },
      {
        id: "again",
        times: 2,
        decide: ({ sentOn }: { readonly sentOn: number }) => Effect.sync(() => (seen.push(sentOn), "Are you sure?"))
      }
    ]
    const world = makeWorld({ script: ["One.", "Two.", "Three."], guards })
    const outcome = await world.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal })
    expect([outcome.text, seen]).toEqual(["Three.", [0, 1]])
    expect([...outcome.messages].map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "reminder",
      "assistant",
      "reminder",
      "assistant"
    ])
    expect(
      world.watched.commits
        .flatMap(({ notes }) => notes)
        .map((one) => (one.type === "HookFailed" ? [one.hook, one.phase] : one.type))
    ).toEqual([
      ["fails", "RunEnd"],
      ["fails", "RunEnd"],
      ["fails", "RunEnd"]
    ])
  })

  it("[L5] what a guard has sent on is counted over a crash, and no guard prolongs the steps", async () => {
    const guards = [{ id: "again", times: 1, decide: () => "More." }]
    const world = makeWorld({ script: ["One.", "Two.", "Two."], guards, crashPoint: dropAt("steer.afterCommit") })
    await expect(
      world.runtime.run({ snapshot: snapshotOf([]), input: "hi", principal, threadId: "t" })
    ).rejects.toThrow("dropped at steer.afterCommit")
    world.clock.advance(60_000)
    const [recovered] = await world.runtime.recover()
    expect(recovered?.outcome?.text).toBe("Two.")
    const short = makeWorld({ script: ["One."], guards: [{ id: "again", decide: () => "More." }] })
    const outcome = await short.runtime.run({
      snapshot: snapshotOf([], (b) => b.limits({ maxSteps: 1 })),
      input: "hi",
      principal
    })
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
  })
})
