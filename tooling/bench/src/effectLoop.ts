/**
 * The second floor: the same bare loop, written in Effect, with a fiber for each of several calls.
 */
import * as Effect from "effect/Effect"
import { bareTools, callBare } from "./bareLoop.js"
import { type Contender, type Scenario, ScenarioModel } from "./scenario.js"

interface Call {
  readonly callId?: string
  readonly toolId: string
  readonly arguments: unknown
}

const collect = async (model: ScenarioModel): Promise<ReadonlyArray<Call>> => {
  const calls: Array<Call> = []
  for await (const event of model.stream()) if (event.type === "toolCall") calls.push(event)
  return calls
}

export const effectLoop = (scenario: Scenario): Contender => {
  const tools = bareTools(scenario.tools)
  const callOne = Effect.fnUntraced(function* (call: Call) {
    const text = yield* Effect.try({
      try: () => callBare(tools, call),
      catch: (cause) => new Error("call failed", { cause })
    })
    return { role: "tool", callId: call.callId, text }
  })
  const loop = Effect.fnUntraced(function* (work: Scenario) {
    const model = new ScenarioModel(work)
    const messages: Array<unknown> = []
    for (;;) {
      const calls = yield* Effect.promise(() => collect(model))
      messages.push({ role: "assistant", calls })
      if (calls.length === 0) return
      const [first] = calls
      if (calls.length === 1 && first !== undefined) {
        messages.push(yield* callOne(first))
        continue
      }
      for (const result of yield* Effect.forEach(calls, callOne, { concurrency: "unbounded" })) messages.push(result)
    }
  })
  return { run: (work) => Effect.runPromise(loop(work)) }
}
