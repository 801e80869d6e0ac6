// Adapters and hooks are foreign code: whatever they pass on, the run goes on, and its thread can be read again.
import { type RunHook, StateKey } from "@toolwright/runtime-contract"
import { decodeCommit, encodeCommit } from "@toolwright/runtime-contract/records"
import { Type } from "@toolwright/runtime-contract/typebox"
import { describe, expect, it } from "vitest"
import { call, makeWorld, rawTool, snapshotOf, text, type WatchedStore } from "./support/world.js"

const cyclic: Record<string, unknown> = {}
cyclic["self"] = cyclic

/** Throws for a commit that a store on disk could not give back. */
const readAgain = ({ commits }: WatchedStore): void => {
  const snapshot = commits[0]?.start?.snapshot
  for (const commit of commits) decodeCommit(encodeCommit(commit), { position: commit.id, snapshot: () => snapshot })
}

const finish = { type: "finish", stop: "endTurn" }

/** One turn of these events, as an adapter without types would send them. */
const saying = async (...events: ReadonlyArray<unknown>) => {
  const world = makeWorld({ script: [{ events: events as never }] })
  const outcome = await world.runtime.run({ snapshot: snapshotOf([]), input: "go", principal: "ada" })
  readAgain(world.watched)
  return outcome
}

const odd: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> = [
  ["a usage without figures", [{ type: "usage", usage: {} }, finish]],
  ["a usage of nothing", [{ type: "usage", usage: null }, finish]],
  ["a usage that is no number", [{ type: "usage", usage: { inputTokens: Number.NaN, outputTokens: -1 } }, finish]],
  ["a reason to stop that nobody knows", [{ type: "finish", stop: "tired" }]],
  ["no reason to stop", [{ type: "finish" }]],
  ["a part that is none", [{ type: "part" }, finish]],
  ["a part of an unknown kind", [{ type: "part", part: { type: "smoke", cyclic } }, finish]],
  ["a file without data", [{ type: "part", part: { type: "file", mediaType: 5 } }, finish]],
  ["a call among the parts", [{ type: "part", part: { type: "toolCall", callId: "c", toolId: "t" } }, finish]],
  ["metadata in a circle", [{ type: "text", text: "", providerMetadata: cyclic }, finish]],
  ["metadata that is a text", [{ type: "text", text: "", providerMetadata: "opaque" }, finish]],
  ["an attempt of an unknown model", [{ type: "attempt", attempt: "x", model: { provider: 5 }, reason: {} }, finish]]
]

describe("what a model sends", () => {
  it.each(odd)("[L7] %s is left out, and the thread can be read again", async (_, events) => {
    const outcome = await saying({ type: "text", text: "before" }, ...events.slice(0, -1), ...events.slice(-1))
    expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
  })

  it("[L7] what the contract knows of a usage counts, and nothing else of it is written down", async () => {
    const usage = { inputTokens: 1.5, outputTokens: 2, reasoningTokens: 1, cachedInputTokens: "9", totalTokens: 4 }
    const outcome = await saying({ type: "text", text: "hi" }, { type: "usage", usage }, finish)
    expect(outcome.usage).toEqual({ inputTokens: 2, outputTokens: 2, reasoningTokens: 1 })
  })

  it("[L7] metadata is kept as JSON keeps it", async () => {
    const providerMetadata = { at: new Date(0), none: undefined, signature: "s" }
    const outcome = await saying({ type: "text", text: "hi", providerMetadata }, finish)
    expect(outcome.messages.at(-1)).toMatchObject({
      content: [{ type: "text", text: "hi", providerMetadata: { at: "1970-01-01T00:00:00.000Z", signature: "s" } }]
    })
  })
})

const counter = StateKey.make({ name: "count", scope: "Run", merge: "Disjoint", schema: Type.Unknown() })
const set = (value: unknown, more: object = {}): object => ({
  state: [{ _tag: "Set", scope: "Run", key: "count", merge: "Disjoint", value, ...more }]
})

const hooked = async (hook: Omit<RunHook.RunHook, "id">) => {
  const world = makeWorld({
    script: [{ calls: [call("look")] }, "done"],
    hooks: [{ id: "odd", ...hook }],
    stateKeys: [counter],
    tools: () => [rawTool({ id: "look" }, text("seen"))]
  })
  const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "go", principal: "ada" })
  readAgain(world.watched)
  const notes = world.watched.commits.flatMap((commit) => commit.notes.map(({ type }) => type))
  const sets = world.watched.commits.flatMap((commit) => commit.state.filter(({ key }) => key === "count"))
  return { outcome, notes, sets }
}

const reactions: ReadonlyArray<readonly [string, unknown]> = [
  ["a command that is none", { state: [null] }],
  ["a command without a place", { state: [{}] }],
  ["a scope that nobody knows", set(1, { scope: "World" })],
  ["a value in a circle", set(cyclic)],
  ["a value that is a function", set(() => 1)],
  [
    "a getter that throws",
    {
      get state(): never {
        throw new Error("never")
      }
    }
  ]
]

describe("what a hook answers", () => {
  it.each(reactions)("[L5] %s costs the reaction, and the run goes on", async (_, reaction) => {
    const { outcome, notes, sets } = await hooked({ afterTool: () => reaction as RunHook.HookReaction })
    expect(outcome.text).toBe("done")
    expect([notes.includes("HookFailed"), sets]).toEqual([true, []])
  })

  it("[D1] nothing but the command is written down, and what the hook keeps may change", async () => {
    const kept = { seen: 1 }
    const { sets } = await hooked({
      afterTool: () => set(kept, { forged: true }) as RunHook.HookReaction,
      stepEnd: () => void (kept.seen = 2)
    })
    expect(sets).toEqual([{ _tag: "Set", scope: "Run", key: "count", merge: "Disjoint", value: { seen: 1 } }])
  })

  it("[L5] an error whose message is no text is a note like any other", async () => {
    const error = Object.assign(new Error("x"), { message: 5 })
    const { outcome, notes } = await hooked({
      afterTool: () => {
        throw error
      }
    })
    expect([outcome.text, notes.includes("HookFailed")]).toEqual(["done", true])
  })
})
