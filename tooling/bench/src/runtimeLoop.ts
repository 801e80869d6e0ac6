/**
 * The runtime over the same model and the same tools: gate, kernel, four decisions, commits to the memory store.
 */
import { erase } from "@toolwright/builtin-tools"
import * as Permissions from "@toolwright/permissions"
import { Runtime } from "@toolwright/runtime"
import {
  ExecutableAgentSnapshot,
  type LlmExecutor,
  type PermissionGate,
  Tool,
  ToolDescriptor
} from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import * as Effect from "effect/Effect"
import { answers, argsSchema, type Contender, type Scenario, ScenarioModel, toolId } from "./scenario.js"

/** A model of its own for each run, as each run has its own place in the script. */
class PerRun implements LlmExecutor.LlmExecutor {
  readonly #models = new Map<string, ScenarioModel>()
  readonly #scenario: Scenario
  constructor(scenario: Scenario) {
    this.#scenario = scenario
  }
  readonly stream = (request: LlmExecutor.LlmRequest): AsyncIterable<LlmExecutor.LlmEvent> => {
    const known = this.#models.get(request.runId)
    if (known !== undefined) return known.stream()
    const model = new ScenarioModel(this.#scenario)
    this.#models.set(request.runId, model)
    return model.stream()
  }
  forget(runId: string): void {
    this.#models.delete(runId)
  }
}

const allowsTools = Permissions.PermissionGate.make({ allow: ["tool_*"] })

export const runtimeLoop = (scenario: Scenario, gate: PermissionGate.PermissionGate = allowsTools): Contender => {
  const tools = Array.from({ length: scenario.registered }, (_, index) =>
    Tool.make({
      id: toolId(index),
      description: "Tells how many dry days are coming",
      args: argsSchema,
      recovery: "ReplaySafe",
      call: answers[scenario.answers]
    })
  )
  const snapshot = ExecutableAgentSnapshot.builder("bench")
    .instructions("Answer.")
    .model({ provider: "bench", model: "scenario" })
    .tools(tools.slice(0, scenario.tools).map((tool) => ToolDescriptor.forTool(tool, "bench")))
    .limits({ maxSteps: scenario.steps + 2, width: 256, maxCallsPerStep: 256 })
    .build()
  const store = new MemoryThreadStore()
  const llm = new PerRun(scenario)
  const runtime = Runtime.make({ llm, gate, tools: tools.map((tool) => erase(tool)), store })
  const over: Array<string> = []
  return {
    run: async () => {
      const outcome = await runtime.run({ snapshot, input: "go", principal: "bench" })
      if (outcome.disposition._tag !== "Ended" || outcome.disposition.cause._tag !== "NaturalEnd")
        throw new Error(`the run did not end well: ${JSON.stringify(outcome.disposition)}`)
      llm.forget(outcome.runId)
      over.push(outcome.threadId)
    },
    // A store keeps its threads; what the runtime itself holds on to is to be seen.
    clear: () => {
      for (const threadId of over.splice(0)) Effect.runSync(store.delete(threadId))
    }
  }
}
