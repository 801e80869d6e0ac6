/**
 * A third floor, for orientation: the Effect loop with everything taken out of it that Effect lets one take out
 * (`fnUntraced`, no typed failure of the model, one call without a fiber). No limit is measured against it.
 */
import * as Effect from "effect/Effect"
import { asking, type Call, collect } from "./effectLoop.js"
import { type Contender, type Scenario, ScenarioModel } from "./scenario.js"

export const leanEffectLoop = (scenario: Scenario): Contender => {
  const textOf = asking(scenario)
  const callOne = Effect.fnUntraced(function* (call: Call) {
    const text = yield* textOf(call)
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
