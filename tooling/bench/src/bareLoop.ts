/**
 * The floor: JSON.parse, one compiled validator a tool, a direct call, a push. No gate, no commit, no recovery.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import { answer, argsSchema, type Contender, type Scenario, ScenarioModel, toolId } from "./scenario.js"

export interface BareTool {
  readonly validate: ValidateFunction<{ readonly city: string; readonly days: number }>
  readonly call: typeof answer
}

export const bareTools = (count: number): ReadonlyMap<string, BareTool> => {
  const ajv = new Ajv2020({ strict: true })
  const validate = ajv.compile<{ readonly city: string; readonly days: number }>({
    ...argsSchema,
    additionalProperties: false
  })
  return new Map(Array.from({ length: count }, (_, index) => [toolId(index), { validate, call: answer }]))
}

export const callBare = (
  tools: ReadonlyMap<string, BareTool>,
  call: { readonly toolId: string; readonly arguments: unknown }
): string => {
  const tool = tools.get(call.toolId)
  if (tool === undefined) throw new Error("unknown tool")
  const args: unknown = JSON.parse(String(call.arguments))
  if (!tool.validate(args)) throw new Error("invalid arguments")
  return tool.call(args)
}

export const bareLoop = (scenario: Scenario): Contender => {
  const tools = bareTools(scenario.tools)
  return {
    run: async (work) => {
      const model = new ScenarioModel(work)
      const messages: Array<unknown> = []
      for (;;) {
        const calls = []
        for await (const event of model.stream()) if (event.type === "toolCall") calls.push(event)
        messages.push({ role: "assistant", calls })
        if (calls.length === 0) return
        for (const call of calls) messages.push({ role: "tool", callId: call.callId, text: callBare(tools, call) })
      }
    }
  }
}
