/**
 * Which tools are delegations, and to what. Known by the tool object, not by a name.
 */
import type { ExecutableAgentSnapshot, GateOutcome, RawTool } from "@toolwright/runtime-contract"

export interface Delegated {
  readonly snapshot: ExecutableAgentSnapshot.ExecutableAgentSnapshot
  readonly narrowing: GateOutcome.RunNarrowing
  readonly maxDepth: number
}

export const delegations = new WeakMap<RawTool.RawTool, Delegated>()

/** Thread and run of the child of an operation. */
export const childThreadOf = (operationId: string): string => `${operationId}/child`
export const childRunOf = (operationId: string): string => `${operationId}/child-run`
