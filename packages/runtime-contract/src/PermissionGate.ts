/**
 * The port of the third decision: may this call happen?
 *
 * Guarantees asked of a gate: pure, so that it can be asked again after a crash; it sees frozen, parsed arguments.
 * Guarantees given: a gate that throws, rejects or answers nonsense blocks. A gate cannot widen what another narrowed.
 */
import type { Attribution } from "./Attribution.js"
import type { GateOutcome } from "./GateOutcome.js"
import { allow } from "./GateOutcome.js"
import type { GrantProposal, GrantScope } from "./Grant.js"
import type { JsonObject } from "./Json.js"
import type { Eventual } from "./RawTool.js"
import type { ResumeTicket } from "./ResumeTicket.js"
import type { StateView } from "./StateKey.js"
import type { ParsedArguments } from "./ToolArgs.js"
import type { ToolDescriptor } from "./ToolDescriptor.js"

/** What is known of an earlier call of the same batch when a gate is asked. Never a result. */
export interface EarlierCall {
  readonly operationId: string
  readonly toolId: string
  readonly arguments: ParsedArguments | undefined
  readonly standing: "Refused" | "Set" | "Waiting" | "AboutToRun"
}

export interface GateCall {
  readonly runId: string
  readonly threadId: string
  readonly step: number
  readonly operationId: string
  readonly callId: string
  readonly principal: string
  readonly tool: ToolDescriptor
  readonly attribution: Attribution
  readonly arguments: ParsedArguments
  /** Digest of the canonical arguments, as it will stand on a ticket. */
  readonly digest: string
  /** The runtime's clock, milliseconds since the epoch. */
  readonly now: number
  readonly state: StateView
  readonly earlier: ReadonlyArray<EarlierCall>
}

export interface PermissionGate {
  readonly id: string
  readonly decide: (call: GateCall) => Eventual<GateOutcome, unknown>
  /**
   * The deny side alone, read anew before every entry into the tool: the reason why the call may not run now, or
   * `undefined`. It may only deny what `decide` would deny.
   */
  readonly denies?: (call: GateCall) => Eventual<string | undefined, unknown>
  /** There where approvals of what this gate asks may be remembered. */
  readonly remember?: RememberPort
}

/** How a gate lets its confirmations be remembered (H7). The runtime stores, looks up, lists and revokes. */
export interface RememberPort {
  /** Where `Workspace` grants hold. */
  readonly workspace: string
  /**
   * The grant that would be stored, shown in full: exactly this call, or the rule as the approver wrote it. Throws for a
   * rule that names another tool or misses the call.
   */
  readonly preview: (request: RememberRequest) => Eventual<GrantProposal, unknown>
  /** Does a `Pattern` grant cover the whole call? Asked only of grants in force; throwing is no. */
  readonly covers: (pattern: string, call: GateCall) => Eventual<boolean, unknown>
}

export interface RememberRequest {
  readonly ticket: ResumeTicket
  readonly scope: GrantScope
  /** The tool's input schema, whose `secret` members are hidden in the text. */
  readonly schema: JsonObject | undefined
  /** A wider rule, in the gate's own language. */
  readonly rule?: string
  readonly expiresAt?: number
}

/** Allows every call. For people who mean it: a runtime without a gate does not build. */
export const allowAll: PermissionGate = Object.freeze({ id: "allow-all", decide: () => allow })
