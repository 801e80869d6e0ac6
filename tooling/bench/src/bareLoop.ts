/**
 * The floor: JSON.parse, one compiled validator a tool, a direct call, a push. No gate, no commit, no recovery.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { answers, type Args, argsSchema, type Contender, type Scenario, ScenarioModel, toolId } from "./scenario.js"

export interface BareTool<A> {
  readonly validate: ValidateFunction<Args>
  readonly call: (args: Args) => A
}

export const bareTools = <A>(count: number, call: (args: Args) => A): ReadonlyMap<string, BareTool<A>> => {
  const ajv = new Ajv2020({ strict: true })
  const validate = ajv.compile<Args>({ ...argsSchema, additionalProperties: false })
  return new Map(Array.from({ length: count }, (_, index) => [toolId(index), { validate, call }]))
}

export const callBare = <A>(
  tools: ReadonlyMap<string, BareTool<A>>,
  call: { readonly toolId: string; readonly arguments: unknown }
): A => {
  const tool = tools.get(call.toolId)
  if (tool === undefined) throw new Error("unknown tool")
  const args: unknown = JSON.parse(String(call.arguments))
  if (!tool.validate(args)) throw new Error("invalid arguments")
  return tool.call(args)
}

export const bareLoop = (scenario: Scenario): Contender => {
  const now = bareTools(scenario.tools, answers.now)
  const later = bareTools(scenario.tools, answers.later)
  return {
    run: async (work) => {
      const model = new ScenarioModel(work)
      const messages: Array<unknown> = []
      for (;;) {
        const calls = []
        for await (const event of model.stream()) if (event.type === "toolCall") calls.push(event)
        messages.push({ role: "assistant", calls })
        if (calls.length === 0) return
        const texts =
          work.answers === "now"
            ? calls.map((call) => callBare(now, call))
            : await Promise.all(calls.map((call) => callBare(later, call)))
        for (const [index, call] of calls.entries())
          messages.push({ role: "tool", callId: call.callId, text: texts[index] })
      }
    }
  }
}
