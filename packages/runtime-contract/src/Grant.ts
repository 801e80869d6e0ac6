/**
 * A remembered approval, as the runtime keeps it: a rule that answers one gate's confirmations for one tool and principal.
 *
 * Guarantees: answers only what the gate that offered it asks; serves no quorum above one, and only where whoever gave it
 * could have answered alone; of another tool identity, principal, thread or run it says nothing; it expires.
 * Does not read patterns: the gate that offered it does, through its `remember` port.
 */
import type { Requirement } from "./GateOutcome.js"
import { type Json, isJsonObject } from "./Json.js"
import type { GateCall } from "./PermissionGate.js"
import { isSamePerson } from "./ResumeTicket.js"

/** `Workspace`: every thread of the principal in this store whose gate names the same workspace. */
export type GrantScope =
  | { readonly _tag: "Run"; readonly runId: string }
  | { readonly _tag: "Thread"; readonly threadId: string }
  | { readonly _tag: "Workspace"; readonly workspace: string }

/** `Exact`: the digest of the arguments. `Pattern`: a rule of the gate, written by the approver. */
export type GrantMatch =
  | { readonly _tag: "Exact"; readonly digest: string }
  | { readonly _tag: "Pattern"; readonly pattern: string }

/** Everything of a grant but who gives it: what is shown before it is stored. */
export interface GrantProposal {
  readonly version: 1
  /** The gate whose confirmations it answers. */
  readonly gate: string
  readonly toolId: string
  readonly toolIdentity: string
  readonly principal: string
  readonly scope: GrantScope
  readonly match: GrantMatch
  /** The rule as it is shown; secret members are hidden in it. */
  readonly text: string
  /** Milliseconds since the epoch, the runtime's clock. */
  readonly expiresAt?: number
}

export interface Grant extends GrantProposal {
  readonly id: string
  readonly grantedBy: string
  readonly grantedAt: number
}

/** True where the grant may speak for this call at all. `workspace` is that of the gate. */
export const isInForce = (
  grant: Grant,
  { call, gate, workspace }: { readonly call: GateCall; readonly gate: string; readonly workspace: string }
): boolean =>
  grant.gate === gate &&
  grant.toolId === call.tool.id &&
  grant.toolIdentity === call.tool.identity &&
  grant.principal === call.principal &&
  (grant.expiresAt === undefined || call.now < grant.expiresAt) &&
  isInScope(grant.scope, { call, workspace })

const isInScope = (
  scope: GrantScope,
  { call, workspace }: { readonly call: GateCall; readonly workspace: string }
): boolean => {
  switch (scope._tag) {
    case "Run":
      return scope.runId === call.runId
    case "Thread":
      return scope.threadId === call.threadId
    case "Workspace":
      return scope.workspace === workspace
  }
}

/** True where whoever gave the grant could have met this requirement alone. */
export const mayAnswer = (grant: Grant, requirement: Requirement): boolean =>
  requirement.gate === grant.gate &&
  (requirement.quorum ?? 1) <= 1 &&
  (requirement.approvers === undefined || requirement.approvers.includes(grant.grantedBy)) &&
  (requirement.requesterMayAnswer !== false || !isSamePerson(grant.grantedBy, grant.principal))

/** Name of the state key, in each scope, under which grants lie by id. `null` stands for a revoked one. */
export const stateName = "toolwright/grants"

/** The grants in a stored value; ids of revoked ones apart. A value that is none throws `TypeError`: nothing is skipped. */
export const readAll = (
  value: Json | undefined
): { readonly grants: ReadonlyArray<Grant>; readonly revoked: ReadonlyArray<string> } => {
  if (value === undefined) return { grants: [], revoked: [] }
  if (!isJsonObject(value)) throw new TypeError("stored grants are no object")
  const grants: Array<Grant> = []
  const revoked: Array<string> = []
  for (const [id, one] of Object.entries(value)) {
    if (one === null) revoked.push(id)
    else if (isGrant(one)) grants.push(one)
    else throw new TypeError(`stored grant ${id} cannot be read`)
  }
  return { grants, revoked }
}

const isGrant = (value: unknown): value is Grant => {
  if (typeof value !== "object" || value === null) return false
  const { version, id, gate, toolId, toolIdentity, principal, scope, match, text, grantedBy, grantedAt, expiresAt } =
    value as Readonly<Record<string, unknown>>
  const texts = [id, gate, toolId, toolIdentity, principal, text, grantedBy]
  return (
    version === 1 &&
    texts.every((one) => typeof one === "string") &&
    Number.isFinite(grantedAt) &&
    (expiresAt === undefined || Number.isFinite(expiresAt)) &&
    isScope(scope) &&
    isMatch(match)
  )
}

const isScope = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return false
  const { _tag, runId, threadId, workspace } = value as Readonly<Record<string, unknown>>
  if (_tag === "Run") return typeof runId === "string"
  if (_tag === "Thread") return typeof threadId === "string"
  return _tag === "Workspace" && typeof workspace === "string"
}

const isMatch = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return false
  const { _tag, digest, pattern } = value as Readonly<Record<string, unknown>>
  return _tag === "Exact" ? typeof digest === "string" : _tag === "Pattern" && typeof pattern === "string"
}
