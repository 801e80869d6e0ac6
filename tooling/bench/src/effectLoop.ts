/**
 * The second floor: the same bare loop as one writes it in Effect, with typed failures and a fiber for each call.
 */
import * as Effect from "effect/Effect"
import { bareTools, callBare } from "./bareLoop.js"
import { answers, type Contender, type Scenario, ScenarioModel } from "./scenario.js"

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

/** One call, waited for where there is something to wait for. */
export const asking = (scenario: Scenario): ((call: Call) => Effect.Effect<string, Error>) => {
  const now = bareTools(scenario.tools, answers.now)
  const later = bareTools(scenario.tools, answers.later)
  const failed = (cause: unknown): Error => new Error("call failed", { cause })
  return scenario.answers === "now"
    ? (call) => Effect.try({ try: () => callBare(now, call), catch: failed })
    : (call) => Effect.tryPromise({ try: () => callBare(later, call), catch: failed })
}

export const effectLoop = (scenario: Scenario): Contender => {
  const textOf = asking(scenario)
  const callOne = (call: Call) =>
    Effect.gen(function* () {
      const text = yield* textOf(call)
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
