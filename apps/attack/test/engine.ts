import { Runtime } from "@toolwright/runtime"
import {
  ExecutableAgentSnapshot,
  type Json,
  type Message,
  PermissionGate,
  ToolDescriptor
} from "@toolwright/runtime-contract"
import { ScriptedLlm } from "@toolwright/testing"
import type { World } from "./world.js"

export interface ScriptedCall {
  readonly toolId: string
  readonly args: Json.JsonObject
}

/** One run over the world's sandbox that makes these calls, one a step. */
export const runOnce = async (
  world: World,
  calls: ReadonlyArray<ScriptedCall>
): Promise<{ readonly results: ReadonlyArray<string>; readonly end: string }> => {
  const llm = new ScriptedLlm([...calls.map(({ toolId, args }) => ({ calls: [{ toolId, arguments: args }] })), "done"])
  const builder = world.tools.reduce(
    (made, tool) => made.tool(ToolDescriptor.forTool({ spec: tool.spec(), recovery: tool.recovery }, "box")),
    ExecutableAgentSnapshot.builder("attack").instructions("Work.").model({ provider: "scripted", model: "one" })
  )
  const runtime = Runtime.make({
    llm,
    gate: PermissionGate.allowAll,
    tools: [...world.tools],
    executors: { Sandbox: world.sandbox }
  })
  const { messages, disposition } = await runtime.run({ snapshot: builder.build(), input: "go", principal: "p" })
  await runtime.close({ grace: 100 })
  const results = [...messages].flatMap((message) => (message.role === "tool" ? [textOf(message)] : []))
  return { results, end: disposition._tag === "Ended" ? disposition.cause._tag : disposition._tag }
}

const textOf = ({ content }: Extract<Message.Message, { role: "tool" }>): string =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
