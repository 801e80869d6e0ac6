/**
 * The second floor: the same bare loop as one writes it in Effect, with typed failures and a fiber for each call.
 */
import * as Effect from "effect/Effect"
import { bareTools, callBare } from "./bareLoop.js"
import { type Contender, type Scenario, ScenarioModel } from "./scenario.js"

export interface Call {
  readonly callId?: string
  readonly toolId: string
  readonly arguments: unknown
}

export const collect = async (model: ScenarioModel): Promise<ReadonlyArray<Call>> => {
  const calls: Array<Call> = []
  for await (const event of model.stream()) if (event.type === "toolCall") calls.push(event)
  return calls
}

export const effectLoop = (scenario: Scenario): Contender => {
  const tools = bareTools(scenario.tools)
  const callOne = (call: Call) =>
    Effect.gen(function* () {
      const text = yield* Effect.try({
        try: () => callBare(tools, call),
        catch: (cause) => new Error("call failed", { cause })
      })
      return { role: "tool", callId: call.callId, text }
    })
  const loop = (work: Scenario) =>
    Effect.gen(function* () {
      const model = new ScenarioModel(work)
      const messages: Array<unknown> = []
      for (;;) {
        const calls = yield* Effect.tryPromise({
          try: () => collect(model),
          catch: (cause) => new Error("the model failed", { cause })
        })
        messages.push({ role: "assistant", calls })
        if (calls.length === 0) return
        for (const result of yield* Effect.forEach(calls, callOne, { concurrency: "unbounded" })) messages.push(result)
      }
    })
  return { run: (work) => Effect.runPromise(loop(work)) }
}
