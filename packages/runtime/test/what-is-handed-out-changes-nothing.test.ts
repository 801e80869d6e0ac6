// What a run hands to models, hooks, listeners and hosts is what is committed: whoever changes it changes nothing.
import { GateOutcome, type PermissionGate, type RunEvent, ToolOutput } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { ask, call, makeWorld, rawTool, snapshotOf } from "./support/world.js"

/** Every object within, each once. Instances of classes guard their own members. */
const within = (value: unknown, seen: Set<object>): Set<object> => {
  if (typeof value !== "object" || value === null || seen.has(value)) return seen
  const proto: unknown = Object.getPrototypeOf(value)
  if (proto !== Object.prototype && !Array.isArray(value)) return seen
  seen.add(value)
  for (const member of Object.values(value)) within(member, seen)
  return seen
}

/** Changes every member of everything that was handed out, as careless code would. */
const vandalise = (value: unknown): void => {
  for (const one of within(value, new Set()))
    for (const key of Reflect.ownKeys(one)) {
      Reflect.set(one, key, "changed")
      Reflect.deleteProperty(one, key)
    }
}

type Spoil = "nobody" | "model" | "listener" | "hook" | "host"

const story = async (spoiler: Spoil) => {
  const spoil = (who: Spoil, ...given: ReadonlyArray<unknown>): void => {
    if (who === spoiler) for (const one of given) vandalise(one)
  }
  const principals: Array<string> = []
  const gate: PermissionGate.PermissionGate = {
    id: "gate",
    decide: ({ principal, tool }) => {
      principals.push(principal)
      return tool.id === "mail" ? ask() : GateOutcome.allow
    }
  }
  const world = makeWorld({
    script: ({ messages, step }) => {
      spoil("model", ...messages)
      return step === 1 ? { calls: [call("look", { at: { x: [1] } }), call("mail", { to: ["bob"] })] } : "Done."
    },
    tools: () => [
      rawTool({ id: "look" }, (given) => ({ ...ToolOutput.ok(given.callId, "seen"), data: { seen: [1] } })),
      rawTool({ id: "mail" })
    ],
    gate,
    hooks: [{ id: "hook", afterTool: ({ call: done, output, messages }) => spoil("hook", done, output, ...messages) }]
  })
  // There only where it spoils: what is frozen for a listener would protect the others.
  const listening =
    spoiler === "listener"
      ? { onEvent: (event: RunEvent.RunEvent) => event._tag === "Fact" && spoil("listener", event.fact) }
      : {}
  const given = { snapshot: snapshotOf(world.tools), input: "go", principal: "ada", threadId: "t" }
  const waiting = await world.runtime.run({ ...given, ...listening })
  const [ticket] = waiting.tickets
  const found = Effect.runSync(world.memory.load("t"))
  spoil("host", waiting.disposition, ...waiting.tickets, ...waiting.messages, found?.run)
  const ended = await world.runtime.resume(ticket?.id ?? "", { _tag: "Allow" }, { approver: "bob", ...listening })
  spoil("host", ended.disposition, ...ended.messages)
  const view = Effect.runSync(world.memory.load("t"))
  const facts = Effect.runSync(world.memory.tail({ threadId: "t", from: 1 }))
  const report = await world.runtime.verifyAudit({ threadId: "t" })
  const ids = /id-\d+-/gu
  const shown = {
    principals,
    messages: [...(view?.messages ?? [])],
    disposition: view?.disposition,
    facts,
    run: view?.run
  }
  return { flaws: report.flaws, shown: JSON.parse(JSON.stringify(shown).replaceAll(ids, "id-")) as unknown }
}

describe("what is handed out", () => {
  it.each<Spoil>(["model", "listener", "hook", "host"])(
    "[D2] may be changed by a %s, and nothing is",
    async (spoiler) => {
      const expected = await story("nobody")
      const actual = await story(spoiler)
      const masked = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(/[0-9a-f]{64}/gu, "#"))
      expect(masked(actual)).toEqual(masked(expected))
    }
  )
})
