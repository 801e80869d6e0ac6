/**
 * What the simulated people, models, gates and tools do: drawn from the seed, by thread and step.
 *
 * Guarantees: models and gates are functions of what they are asked, so any owner can go on with any run; an entry into a
 * tool is recorded before the tool does anything.
 * Does not know owners or stores.
 */
import {
  Attribution,
  ExecutableAgentSnapshot,
  GateOutcome,
  type Json,
  type PermissionGate,
  type RawTool,
  type RuntimeClock,
  ToolConcurrency,
  ToolDescriptor,
  ToolError,
  ToolOutput,
  type ToolRecovery
} from "@toolwright/runtime-contract"
import { ScriptedLlm, type ScriptedTurn } from "../ScriptedLlm.js"
import type { SeenEffect } from "./crashLaws.js"
import type { Draw } from "./simulationDraw.js"

const capabilities: Readonly<Record<string, ToolRecovery.ToolRecoveryCapability>> = {
  never: "NonRecoverable",
  replay: "ReplaySafe",
  idempotent: "Idempotent",
  durable: "DurableRequest",
  alone: "NonRecoverable"
}

const toolIds = Object.keys(capabilities)

export const mayRepeat = (toolId: string): boolean => (capabilities[toolId] ?? "NonRecoverable") !== "NonRecoverable"

/** Arguments are few, so that the same call comes again. */
const argumentCount = 3

export const modelOf = (draw: Draw): ScriptedLlm =>
  new ScriptedLlm((request) => {
    const { threadId } = request
    const taken = request.messages.toArray().filter(({ role }) => role === "assistant").length
    const steps = 1 + draw.below(3, `${threadId} steps`)
    if (draw.fault(0.02, `${threadId} model fails in step ${taken + 1}`)) return { error: "provider" }
    return taken >= steps ? "Done." : turnOf(draw, `${threadId} step ${taken + 1}`, taken + 1)
  })

const turnOf = (draw: Draw, name: string, step: number): ScriptedTurn => ({
  calls: Array.from({ length: 1 + draw.below(3, `${name} calls`) }, (_, position) => ({
    callId: `call-${step}-${position}`,
    toolId: toolIds[draw.below(toolIds.length, `${name} tool ${position}`)] ?? "never",
    arguments: { n: draw.below(argumentCount, `${name} argument ${position}`) }
  }))
})

/** What the gate says of a call: a pure function of tool and arguments. */
export const decisionOf = (
  draw: Draw,
  call: { readonly toolId: string; readonly arguments: Json.JsonObject }
): "allow" | "ask" | "deny" => {
  const drawn = draw.number(`gate ${call.toolId} ${JSON.stringify(call.arguments)}`)
  return drawn < 0.6 ? "allow" : drawn < 0.9 ? "ask" : "deny"
}

export const gateOf = (draw: Draw): PermissionGate.PermissionGate => ({
  id: "simulated",
  decide: ({ arguments: args, tool }) => {
    const decision = decisionOf(draw, { toolId: tool.id, arguments: args })
    if (decision === "deny") return GateOutcome.block("not allowed")
    return decision === "ask" ? GateOutcome.requireConfirmation({ reason: "somebody must say yes" }) : GateOutcome.allow
  },
  denies: ({ arguments: args, tool }) =>
    decisionOf(draw, { toolId: tool.id, arguments: args }) === "deny" ? "not allowed" : undefined
})

export interface ToolWorld {
  readonly draw: Draw
  readonly clock: RuntimeClock.RuntimeClock
  /** The outside world: shared by all owners. */
  readonly effects: Array<SeenEffect>
}

export const toolsOf = (world: ToolWorld): ReadonlyArray<RawTool.RawTool> => toolIds.map((id) => toolOf(world, id))

const toolOf = (world: ToolWorld, id: string): RawTool.RawTool => {
  const recovery = capabilities[id] ?? "NonRecoverable"
  const spec: RawTool.ToolSpec = Object.freeze({
    id,
    description: `acts, and may be ${recovery}`,
    inputSchema: {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false
    },
    kind: "Regular",
    target: "Brain",
    warnings: []
  })
  const seen = (operationId: string): boolean => world.effects.some((effect) => effect.operationId === operationId)
  return {
    spec: () => spec,
    recovery,
    attribution: Attribution.make(id),
    stateKeys: [],
    concurrency: () => (id === "alone" ? ToolConcurrency.Serial : ToolConcurrency.Parallel),
    ...(recovery === "DurableRequest"
      ? {
          reconcile: (call, operation) =>
            seen(operation.operationId)
              ? { _tag: "Happened", output: ToolOutput.ok(call.callId, "done before") }
              : { _tag: "NotSent" }
        }
      : {}),
    invoke: (call, context) => invoke(world, { call, context })
  }
}

const invoke = (
  { clock, draw, effects }: ToolWorld,
  { call, context }: { readonly call: RawTool.ToolCall; readonly context: RawTool.InvocationContext }
): ToolOutput.ToolOutput | Promise<ToolOutput.ToolOutput> => {
  const { attempt, operationId, threadId } = context.operation
  effects.push({ toolId: call.toolId, threadId, operationId, attempt, arguments: call.arguments })
  // Not by run id: that changes with what happened before.
  const name = `${threadId} ${operationId.split("/").slice(1).join("/")} attempt ${attempt}`
  const drawn = draw.number(`tool ${name}`)
  if (drawn < 0.3) return ToolOutput.ok(call.callId, "done at once")
  if (drawn < 0.4) throw ToolError.execution("failed at once")
  const isDeaf = draw.fault(0.04, `${name} is deaf`)
  const duration = 10 + draw.below(3_000, `duration ${name}`)
  const answer = new Promise<ToolOutput.ToolOutput>((resolve, reject) => {
    if (isDeaf) return
    clock.after(duration, () => resolve(ToolOutput.ok(call.callId, `done in ${duration} ms`)))
    context.signal.addEventListener("abort", () => reject(ToolError.execution("was told to stop")), { once: true })
  })
  // Nobody listens to a call whose process is dead.
  answer.catch(() => {})
  return answer
}

export const snapshotOf = (tools: ReadonlyArray<RawTool.RawTool>): ExecutableAgentSnapshot.ExecutableAgentSnapshot =>
  ExecutableAgentSnapshot.builder("simulated")
    .model({ provider: "scripted", model: "one" })
    .tools(tools.map((tool) => ToolDescriptor.forTool(tool, "simulation")))
    .limits({ toolTimeout: 5_000, grace: 500, commitRetries: 3, maxSteps: 8 })
    .build()
