/**
 * A gate that answers what a test wrote down, and remembers what it was asked.
 *
 * Guarantees: answers in order, or by tool id; a question that the script does not expect throws, which blocks the call,
 * and is told again by `assertDone`.
 * Does not decide by itself: rules belong to the permissions package.
 */
import type { GateOutcome, PermissionGate } from "@toolwright/runtime-contract"

/** An `Error` is thrown. */
export type ScriptedDecision = GateOutcome.GateOutcome | Error

/** In the order of the questions; or by tool id, `"*"` for every other; or a function. */
export type GateScript =
  | ReadonlyArray<ScriptedDecision>
  | { readonly [toolId: string]: ScriptedDecision }
  | ((call: PermissionGate.GateCall) => ScriptedDecision)

export class ScriptedGate implements PermissionGate.PermissionGate {
  readonly id: string
  readonly #script: GateScript
  readonly #calls: Array<PermissionGate.GateCall> = []
  readonly #denyCalls: Array<PermissionGate.GateCall> = []
  readonly #denied = new Map<string, string>()
  readonly #failures: Array<string> = []

  /** `id` as it stands in audits and on tickets; default `scripted`. */
  constructor(script: GateScript, options: { readonly id?: string } = {}) {
    this.id = options.id ?? "scripted"
    this.#script = script
  }

  /** What `decide` was asked, in order. */
  get calls(): ReadonlyArray<PermissionGate.GateCall> {
    return this.#calls
  }

  /** What `denies` was asked, in order. */
  get denyCalls(): ReadonlyArray<PermissionGate.GateCall> {
    return this.#denyCalls
  }

  readonly decide = (call: PermissionGate.GateCall): GateOutcome.GateOutcome => {
    const index = this.#calls.length
    this.#calls.push(call)
    const decision = this.#decisionOf(call, index)
    if (decision === undefined) {
      const message = `gate ${this.id}: unexpected question ${index + 1} about ${call.tool.id} (${call.operationId})`
      this.#failures.push(message)
      throw new Error(message)
    }
    if (decision instanceof Error) throw decision
    return decision
  }

  readonly denies = (call: PermissionGate.GateCall): string | undefined => {
    this.#denyCalls.push(call)
    return this.#denied.get(call.tool.id)
  }

  /** From now on the deny side forbids the tool. */
  deny(toolId: string, reason = "denied by the script"): void {
    this.#denied.set(toolId, reason)
  }

  /** Takes `deny` back. */
  undeny(toolId: string): void {
    this.#denied.delete(toolId)
  }

  /** Throws when a question was unexpected or decisions are left over. */
  assertDone(): void {
    const [failure] = this.#failures
    if (failure !== undefined) throw new Error(failure)
    const left = isOrdered(this.#script) ? this.#script.length - this.#calls.length : 0
    if (left > 0) throw new Error(`gate ${this.id}: ${left} decisions are left that nobody asked for`)
  }

  #decisionOf(call: PermissionGate.GateCall, index: number): ScriptedDecision | undefined {
    const script = this.#script
    if (typeof script === "function") return script(call)
    if (isOrdered(script)) return script[index]
    const key = Object.hasOwn(script, call.tool.id) ? call.tool.id : "*"
    return Object.hasOwn(script, key) ? script[key] : undefined
  }
}

const isOrdered = (script: GateScript): script is ReadonlyArray<ScriptedDecision> => Array.isArray(script)
