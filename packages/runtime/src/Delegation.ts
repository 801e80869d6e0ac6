/**
 * A tool that hands its work to another agent, as a child run (L9).
 *
 * Guarantees: the child's id comes from the operation that asked, so a crash finds the same child again; it inherits the
 * narrowing, the policy and the gates of its parent and has no grants of its own; its tickets name the inner call and are
 * answered through the same runtime; the parent's call waits, and cancelling the parent cancels the child.
 * Does not run outside a runtime: what it does is done by the engine.
 */
import {
  Attribution,
  type ExecutableAgentSnapshot,
  type GateOutcome,
  Json,
  type RawTool,
  ToolConcurrency,
  ToolError
} from "@toolwright/runtime-contract"
import { delegations } from "./internal/delegations.js"

export interface DelegationOptions {
  /** The tool's id, `[A-Za-z0-9_-]{1,64}`. */
  readonly id: string
  /** What the model is told of it. */
  readonly description: string
  /** What the child runs. Part of the tool's identity: another snapshot is another tool. */
  readonly snapshot: ExecutableAgentSnapshot.ExecutableAgentSnapshot
  /** Narrows the child further than its parent. Default: as the parent. */
  readonly narrowing?: GateOutcome.RunNarrowing
  /** How deep children may lie below the first run. Default 4. */
  readonly maxDepth?: number
}

const defaultDepth = 4

const inputSchema: Json.JsonObject = Json.deepFreeze({
  type: "object",
  properties: { input: { type: "string", description: "What the agent is to do, with everything it has to know" } },
  required: ["input"],
  additionalProperties: false
})

/** An executable tool; show it to a model with `ToolDescriptor.forTool(tool, prefix)`. Its claim is `Parallel`. */
export const tool = (options: DelegationOptions): RawTool.RawTool => {
  const { id, description, snapshot, narrowing = "Configured", maxDepth = defaultDepth } = options
  const spec: RawTool.ToolSpec = Object.freeze({
    id,
    description,
    version: snapshot.fingerprint,
    inputSchema,
    kind: "Regular",
    target: "Brain",
    warnings: Object.freeze([])
  })
  const raw: RawTool.RawTool = Object.freeze({
    spec: () => spec,
    recovery: "DurableRequest" as const,
    attribution: Attribution.make(id, { role: "agent" }),
    stateKeys: [],
    concurrency: () => ToolConcurrency.Parallel,
    invoke: () => {
      throw ToolError.execution(`${id} runs another agent, which only a runtime can do`)
    }
  })
  delegations.set(raw, { snapshot, narrowing, maxDepth })
  return raw
}
