import { describe, expect, it } from "vitest"
import type { Json, JsonObject } from "../src/Json.js"
import type { ModelBinding } from "../src/LlmExecutor.js"
import * as Snapshot from "../src/Snapshot.js"
import * as ToolDescriptor from "../src/ToolDescriptor.js"

const model: ModelBinding = { provider: "scripted", model: "one" }

const descriptor = (id: string): ToolDescriptor.ToolDescriptor =>
  ToolDescriptor.forTool(
    {
      spec: {
        id,
        description: "a tool",
        inputSchema: { type: "object" },
        kind: "Regular",
        target: "Brain",
        warnings: []
      },
      recovery: "ReplaySafe"
    },
    "custom:test"
  )

const builder = (): Snapshot.SnapshotBuilder => Snapshot.builder("agent").model(model)

const refusal = (draft: Snapshot.SnapshotBuilder): readonly [string, string] | "built" => {
  try {
    draft.build()
    return "built"
  } catch (thrown) {
    if (thrown instanceof Snapshot.SnapshotError) return [thrown.reason, thrown.place]
    throw thrown
  }
}

describe("snapshots are pinned", () => {
  it("[N1] a snapshot holds what was chosen and the documented defaults", () => {
    const { fingerprint, ...content } = builder().instructions("Be brief.").tool(descriptor("read")).build()
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/)
    expect(content).toEqual({
      agentId: "agent",
      instructions: "Be brief.",
      model,
      fallbacks: [],
      tools: [descriptor("read")],
      plugins: [],
      limits: {
        maxSteps: 16,
        maxCallsPerStep: 128,
        width: 16,
        dispatchRetries: 2,
        commitRetries: 5,
        toolTimeout: 120_000,
        modelTimeout: 600_000,
        grace: 2_000,
        maxResultCharacters: 65_536
      },
      arguments: "strict",
      onIndeterminate: "continue",
      triggerHints: false,
      metadata: {}
    })
  })

  it("[N1] what cannot work is refused with its place, and nothing is half-built", () => {
    const forged = { ...descriptor("read"), description: "another" }
    const repinned = (policy: ToolDescriptor.ToolDescriptor["policy"]) => {
      const bare = { ...descriptor("read"), policy }
      return { ...bare, identity: ToolDescriptor.identityOf(bare, policy) }
    }
    const loop: { [key: string]: Json } = {}
    loop["self"] = loop
    const refusals = [
      Snapshot.builder("  ").model(model),
      Snapshot.builder("agent"),
      Snapshot.builder("agent").model({ provider: "", model: "one" }),
      builder().fallback({ provider: "scripted", model: " " }),
      builder().tool(descriptor("read")).tool(descriptor("read")),
      builder().tool(forged),
      builder().tool(repinned({ mode: "Idempotent", maxAttempts: 3 })),
      builder().tool(repinned({ mode: "ReplaySafe", maxAttempts: 0 })),
      builder().plugin("budget").plugin("budget"),
      builder().plugin(""),
      builder().limits({ maxSteps: 0 }),
      builder().limits({ width: 1.5 }),
      builder().limits({ grace: -1 }),
      builder().limits({ maxStepz: 1 } as object),
      builder().limits({ constructor: 1 } as object),
      builder().output({ type: "object" }, { repairs: -1 }),
      builder().arguments("loose" as "strict"),
      builder().onIndeterminate("retry" as "end"),
      builder().triggerHints("yes" as unknown as boolean),
      builder().metadata({ when: new Date(0) } as unknown as JsonObject),
      builder().metadata(loop),
      builder().plugin("budget", { most: Number.NaN }),
      Snapshot.builder("agent").model({ ...model, settings: { stop: undefined } as unknown as JsonObject }),
      Snapshot.builder("agent").model({ ...model, temprature: 1 } as ModelBinding),
      Snapshot.builder("agent").model({ ...model, setings: {} } as ModelBinding),
      Snapshot.builder("agent").model({ ...model, settings: [] as unknown as JsonObject }),
      builder().instructions(5 as unknown as string),
      builder().tool({ id: "read", invoke: () => "a tool" } as unknown as ToolDescriptor.ToolDescriptor),
      builder().tool(undefined as unknown as ToolDescriptor.ToolDescriptor),
      builder().plugin(5 as unknown as string),
      builder().metadata([] as unknown as JsonObject)
    ].map(refusal)
    expect(refusals).toEqual([
      ["BadAgentId", "agentId"],
      ["EmptyModel", "model"],
      ["EmptyModel", "model"],
      ["EmptyModel", "fallbacks/0"],
      ["DuplicateTool", "tools/read"],
      ["ForgedIdentity", "tools/read"],
      ["BadPolicy", "tools/read"],
      ["BadPolicy", "tools/read"],
      ["BadPlugin", "plugins/budget"],
      ["BadPlugin", "plugins/"],
      ["BadLimit", "limits/maxSteps"],
      ["BadLimit", "limits/width"],
      ["BadLimit", "limits/grace"],
      ["BadLimit", "limits/maxStepz"],
      ["BadLimit", "limits/constructor"],
      ["BadOutput", "output/repairs"],
      ["BadOption", "arguments"],
      ["BadOption", "onIndeterminate"],
      ["BadOption", "triggerHints"],
      ["NotJson", "metadata/when"],
      ["NotJson", "metadata/self"],
      ["NotJson", "plugins/budget/configuration/most"],
      ["NotJson", "model/settings/stop"],
      ["BadOption", "model/temprature"],
      ["BadOption", "model/setings"],
      ["BadOption", "model/settings"],
      ["BadOption", "instructions"],
      ["BadOption", "tools/0"],
      ["BadOption", "tools/0"],
      ["BadPlugin", "plugins/5"],
      ["BadOption", "metadata"]
    ])
  })

  it("[N1] what a method cannot read is refused where it is said", () => {
    const said = (say: () => unknown): unknown => {
      try {
        return say()
      } catch (error) {
        return error instanceof Snapshot.SnapshotError ? error.place : error
      }
    }
    expect(said(() => builder().output({ type: "object" }, { repair: 1 } as object))).toBe("output/repair")
    expect(said(() => builder().output({ type: "object" }, 3 as unknown as object))).toBe("output")
    expect(said(() => builder().tools(descriptor("read") as never))).toBe("tools")
  })

  it("[N1, R4] one attempt is the least that a policy may give", () => {
    const once = ToolDescriptor.withRecovery(descriptor("read"), { mode: "ReplaySafe", maxAttempts: 1 })
    expect(builder().tool(once).build().tools[0]?.policy).toEqual({ mode: "ReplaySafe", maxAttempts: 1 })
  })

  it("[N1] a refusal says what was expected and what came", () => {
    const messageOf = (draft: Snapshot.SnapshotBuilder): string => {
      try {
        draft.build()
        return "built"
      } catch (thrown) {
        return thrown instanceof Error ? thrown.message : String(thrown)
      }
    }
    expect([
      messageOf(Snapshot.builder("agent")),
      messageOf(builder().limits({ maxSteps: 0 })),
      messageOf(builder().metadata({ when: new Date(0) } as unknown as JsonObject))
    ]).toEqual([
      "model: expected provider and model names, got nothing",
      "limits/maxSteps: expected a whole number from 1, got 0",
      "metadata/when: expected a JSON value, got a Date"
    ])
  })

  it("[N1] a limit that is named and undefined is the default", () => {
    const limits = builder()
      .limits({ width: undefined, maxTokens: undefined } as object)
      .build().limits
    expect(limits).toEqual(Snapshot.defaultLimits)
  })

  it("[N1] a builder is a value: a change makes another one", () => {
    const base = builder()
    const one = base.tool(descriptor("read")).build()
    const two = base.tool(descriptor("write")).build()
    expect([base.build().tools.length, one.tools[0]?.id, two.tools[0]?.id]).toEqual([0, "read", "write"])
  })

  it("[N1] a snapshot is frozen, and what the caller does to his own objects later does not reach it", () => {
    const metadata = { team: { name: "a" } }
    const settings = { temperature: 0 }
    const built = Snapshot.builder("agent")
      .model({ ...model, settings })
      .metadata(metadata)
      .build()
    metadata.team.name = "b"
    settings.temperature = 1
    expect([built.metadata, built.model.settings]).toEqual([{ team: { name: "a" } }, { temperature: 0 }])
    expect([built, built.metadata["team"], built.limits, built.tools].map((part) => Object.isFrozen(part))).toEqual([
      true,
      true,
      true,
      true
    ])
    expect(Object.isFrozen(metadata)).toBe(false)
  })

  it("[N1] everything is fingerprinted", () => {
    const base = builder().tool(descriptor("read")).tool(descriptor("write"))
    const all = [
      base,
      base.instructions("other"),
      base.model({ ...model, model: "two" }),
      base.model({ ...model, settings: { temperature: 0 } }),
      base.fallback(model),
      base.tool(descriptor("more")),
      builder().tool(descriptor("write")).tool(descriptor("read")),
      base.plugin("budget"),
      base.plugin("budget", { most: 1 }),
      base.limits({ maxSteps: 2 }),
      base.limits({ maxTokens: 2 }),
      base.arguments("lossless"),
      base.onIndeterminate("end"),
      base.triggerHints(true),
      base.output({ type: "object" }),
      base.output({ type: "object" }, { repairs: 0 }),
      base.metadata({ team: "a" })
    ].map((one) => one.build().fingerprint)
    expect(new Set(all).size).toBe(all.length)
    expect(base.build().fingerprint).toBe(base.build().fingerprint)
  })

  it("[N2] a stored copy is genuine until somebody changes it", () => {
    const built = builder()
      .tool(descriptor("read"))
      .metadata({ a: 1, b: [2] })
      .build()
    const stored = JSON.parse(JSON.stringify(built)) as Snapshot.ExecutableAgentSnapshot
    expect(Snapshot.isGenuine(stored)).toBe(true)
    expect(Snapshot.isGenuine({ ...stored, instructions: "obey" })).toBe(false)
    const [tool] = stored.tools
    expect(Snapshot.isGenuine({ ...stored, tools: [{ ...tool!, capability: "DurableRequest" }] })).toBe(false)
    expect(Snapshot.isGenuine({ ...stored, tools: [{ ...tool!, description: "another" }] })).toBe(false)
  })
})
