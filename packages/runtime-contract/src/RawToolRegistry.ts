/**
 * The second decision: which tools are executable here, by id.
 *
 * Guarantees: an id registered twice, even with the same object, is ambiguous for good and fails closed; unknown and
 * ambiguous are told apart; inherited names (`constructor`, `__proto__`) find nothing.
 * Does not decide visibility or permission.
 */
import type { InvocationContext, RawTool, ToolCall, ToolExecutor } from "./RawTool.js"
import { ToolError } from "./ToolError.js"
import { Serial } from "./ToolConcurrency.js"

export type Lookup =
  | { readonly _tag: "Found"; readonly tool: RawTool }
  | { readonly _tag: "Unknown" }
  | { readonly _tag: "Ambiguous" }

const unknown: Lookup = Object.freeze({ _tag: "Unknown" })
const ambiguous: Lookup = Object.freeze({ _tag: "Ambiguous" })

export class RawToolRegistry implements ToolExecutor {
  readonly #entries = new Map<string, Lookup>()

  constructor(tools: Iterable<RawTool> = []) {
    for (const tool of tools) this.register(tool)
  }

  /** False when the id is, from now on or already, ambiguous. */
  register(tool: RawTool): boolean {
    const { id } = tool.spec()
    const isNew = !this.#entries.has(id)
    this.#entries.set(id, isNew ? { _tag: "Found", tool } : ambiguous)
    return isNew
  }

  lookup(toolId: string): Lookup {
    return this.#entries.get(toolId) ?? unknown
  }

  /** The ids, ambiguous ones included, in order of registration. */
  ids(): ReadonlyArray<string> {
    return [...this.#entries.keys()]
  }

  recovery(toolId: string): RawTool["recovery"] {
    const found = this.lookup(toolId)
    return found._tag === "Found" ? found.tool.recovery : "NonRecoverable"
  }

  concurrency(toolId: string, args: ToolCall["arguments"]): ReturnType<RawTool["concurrency"]> {
    const found = this.lookup(toolId)
    return found._tag === "Found" ? found.tool.concurrency(args) : Serial
  }

  reconcile(call: ToolCall, operation: InvocationContext["operation"]): ReturnType<NonNullable<RawTool["reconcile"]>> {
    const found = this.lookup(call.toolId)
    return found._tag === "Found" && found.tool.reconcile !== undefined
      ? found.tool.reconcile(call, operation)
      : { _tag: "Unknown" }
  }

  /** Throws `ToolError` (`Unknown`) for an id without a unique implementation. */
  invoke(call: ToolCall, context: InvocationContext): ReturnType<RawTool["invoke"]> {
    const found = this.lookup(call.toolId)
    if (found._tag === "Found") return found.tool.invoke(call, context)
    throw ToolError.unknown(call.toolId, found._tag === "Ambiguous" ? "Ambiguous" : "NotRegistered")
  }
}
