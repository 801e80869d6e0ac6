// What a model or a tool throws is foreign: whatever it is, the run ends in a value, and nothing escapes into the process.
import {
  LlmError,
  type LlmExecutor,
  PermissionGate,
  type RunEvent,
  ToolError,
  type ToolOutput
} from "@toolwright/runtime-contract"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Runtime } from "../src/index.js"
import { call, makeWorld, rawTool, snapshotOf } from "./support/world.js"

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const changed = <A extends object>(error: A, members: Record<string, unknown>): A => Object.assign(error, members)

const unreadable = Object.defineProperty(new Error(), "message", {
  get: () => {
    throw new Error("not to be read")
  }
})

const timeout = (): LlmError => new LlmError({ reason: "timeout", message: "slow" })
const execution = (): ToolError => ToolError.execution("broken")

const escaped: Array<unknown> = []
const note = (error: unknown): void => void escaped.push(error)
beforeEach(() => {
  escaped.length = 0
  process.on("unhandledRejection", note)
})
afterEach(() => {
  process.off("unhandledRejection", note)
})

const asked = async (llm: LlmExecutor.LlmExecutor) => {
  const events: Array<RunEvent.RunEvent> = []
  const runtime = Runtime.make({ llm, gate: PermissionGate.allowAll, tools: [] })
  const onEvent = (event: RunEvent.RunEvent): void => void events.push(event)
  const outcome = await runtime.run({ snapshot: snapshotOf([]), input: "go", principal: "ada", onEvent })
  return { outcome, events }
}

const streaming = (next: () => Promise<IteratorResult<LlmExecutor.LlmEvent>>): LlmExecutor.LlmExecutor => ({
  stream: () => ({ [Symbol.asyncIterator]: () => ({ next }) })
})

const failed = (detail: string) => ({
  _tag: "Ended",
  cause: { _tag: "Error", failure: { reason: "Inference", detail } }
})

const modelErrors: ReadonlyArray<readonly [string, unknown, string]> = [
  ["a symbol for a message", changed(timeout(), { message: Symbol("m") }), "provider: the model failed"],
  ["an object for a message", changed(timeout(), { message: { a: 1 } }), "provider: the model failed"],
  ["half a character in its message", changed(timeout(), { message: "\ud800" }), "provider: \ufffd"],
  ["a symbol for a reason", changed(timeout(), { reason: Symbol("r") }), "provider: slow"],
  ["a reason that nobody knows", changed(timeout(), { reason: "tired" }), "provider: slow"],
  ["a symbol in place of words", changed(new Error("x"), { message: Symbol("m") }), "provider: the model failed"],
  ["a message that throws", unreadable, "provider: the model failed with an unreadable error"],
  ["no way to look at it", revoked(), "provider: the model failed with an unreadable error"]
]

describe("an error of a model", () => {
  it.each(modelErrors)("[L7] with %s ends the run and does not leave it", async (_, error, detail) => {
    const late = await asked(streaming(() => Promise.reject(error)))
    expect(late.outcome.disposition).toEqual(failed(detail))
    const early = await asked({
      stream: () => {
        throw error
      }
    })
    expect(early.outcome.disposition).toEqual(failed(detail))
    expect(escaped).toEqual([])
  })
})

describe("a delta", () => {
  it("[L4] shows only texts, as the turn keeps only texts", async () => {
    const events: ReadonlyArray<unknown> = [
      { type: "text", text: Symbol("t") },
      { type: "reasoning", text: 5 },
      { type: "toolCallDelta", key: "k", argumentsText: {} },
      { type: "text", text: "hi" },
      { type: "finish", stop: "endTurn" }
    ]
    const left = events.values()
    const { events: seen } = await asked(
      streaming(() => Promise.resolve(left.next() as IteratorResult<LlmExecutor.LlmEvent>))
    )
    const shown = seen.flatMap((event) => (event._tag === "Delta" ? [event.delta] : []))
    expect(shown).toMatchObject([{ type: "TextDelta", text: "hi", step: 1, attempt: 1 }])
  })
})

const toolErrors: ReadonlyArray<readonly [string, unknown]> = [
  ["a symbol for a message", changed(execution(), { message: Symbol("m") })],
  ["no reason", changed(execution(), { reason: undefined })],
  ["a reason that nobody knows", changed(execution(), { reason: { _tag: "Tired" } })],
  ["only the mark of one", { [Symbol.for("@toolwright/ToolError")]: true }],
  ["no way to look at it", revoked()]
]

describe("an error of a tool", () => {
  it.each(toolErrors)("[E1] with %s is a result that the model reads", async (_, error) => {
    for (const fail of [() => Promise.reject(error), () => thrown(error)]) {
      const world = makeWorld({
        script: [{ calls: [call("look")] }, "done"],
        tools: () => [rawTool({ id: "look" }, fail)]
      })
      const outcome = await world.runtime.run({ snapshot: snapshotOf(world.tools), input: "go", principal: "ada" })
      expect(outcome.disposition).toEqual({ _tag: "Ended", cause: { _tag: "NaturalEnd" } })
      expect([...outcome.messages].find(({ role }) => role === "tool")).toMatchObject({ isError: true })
    }
    expect(escaped).toEqual([])
  })
})

const thrown = (error: unknown): ToolOutput.ToolOutput => {
  throw error
}
