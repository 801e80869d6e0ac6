/**
 * What remembered approvals say of a call: which of them would answer what the policy asks, and why the others would not.
 *
 * Guarantees: by the same rules as the runtime's (`Grant` in the contract): only of its gate, tool and principal, in its
 * scope, until it expires, for no quorum above one, and nothing but an ask is answered.
 * Does not look grants up: whoever asks hands them in, as the runtime lists them.
 */
import { type GateOutcome, Grant, type Json, ToolBatch } from "@toolwright/runtime-contract"

/** The grants in store, and what is known of the call beyond its arguments. */
export interface Remembered {
  /** As `runtime.grants({ threadId, principal })` gives them. */
  readonly grants: ReadonlyArray<Grant.Grant>
  /** For whom the run acts. */
  readonly principal: string
  /** Milliseconds since the epoch. Default: now, by the system's clock. */
  readonly now?: number
  /** Full identity of the tool. Default: that of each grant. */
  readonly toolIdentity?: string
  /** Default: the place of each grant of a thread or of a run. */
  readonly threadId?: string
  readonly runId?: string
}

export interface GrantOpinion {
  readonly grantId: string
  /** `run r1`, `thread t1` or `workspace /ws`. */
  readonly scope: string
  /** Its rule, as it was shown to whoever gave it. */
  readonly text: string
  /** It would answer something that the policy asks about this call. */
  readonly answers: boolean
  readonly why: string
}

export interface Asking {
  readonly gate: string
  readonly workspace: string
  readonly call: { readonly toolId: string; readonly arguments: Json.JsonObject }
  /** What the policy asks; empty where it asks nothing. */
  readonly requirements: ReadonlyArray<GateOutcome.Requirement>
  /** Whether a rule of the gate's language covers the call. */
  readonly covers: (pattern: string) => boolean
}

export interface Heard {
  readonly opinions: ReadonlyArray<GrantOpinion>
  /** The grants that together answer all that is asked; `undefined` where something is left. */
  readonly answering: ReadonlyArray<Grant.Grant> | undefined
}

export const hearGrants = (asking: Asking, remembered: Remembered): Heard => {
  const { requirements } = asking
  const heard = remembered.grants
    .filter(({ gate, toolId }) => gate === asking.gate && toolId === asking.call.toolId)
    .map((grant) => ({ grant, problem: problemOf(grant, { asking, remembered }) }))
  const speaking = heard.flatMap(({ grant, problem }) => (problem === undefined ? [grant] : []))
  const answers = requirements.map((requirement) => speaking.find((grant) => Grant.mayAnswer(grant, requirement)))
  const used = new Set(answers)
  const isAnswered = requirements.length > 0 && !used.has(undefined)
  return {
    opinions: heard.map(({ grant, problem }) => ({
      grantId: grant.id,
      scope: placeOf(grant.scope),
      text: grant.text,
      answers: used.has(grant),
      why: problem ?? (used.has(grant) ? "it covers the call" : unused(requirements))
    })),
    answering: isAnswered ? [...used].flatMap((grant) => (grant === undefined ? [] : [grant])) : undefined
  }
}

const unused = (requirements: ReadonlyArray<GateOutcome.Requirement>): string =>
  requirements.length === 0 ? "nothing is asked" : "whoever gave it could not answer this alone, or another grant does"

const placeOf = (scope: Grant.GrantScope): string => {
  switch (scope._tag) {
    case "Run":
      return `run ${scope.runId}`
    case "Thread":
      return `thread ${scope.threadId}`
    case "Workspace":
      return `workspace ${scope.workspace}`
  }
}

const problemOf = (
  grant: Grant.Grant,
  { asking, remembered }: { readonly asking: Asking; readonly remembered: Remembered }
): string | undefined => {
  const { match } = grant
  const { now = Date.now(), principal, toolIdentity = grant.toolIdentity } = remembered
  if (grant.principal !== principal) return `it is for ${grant.principal}`
  if (grant.toolIdentity !== toolIdentity) return "it is for another form of the tool"
  if (grant.expiresAt !== undefined && now >= grant.expiresAt) return "it has expired"
  if (!isInScope(grant.scope, { asking, remembered })) return "it is for another place"
  const isCovered =
    match._tag === "Exact" ? match.digest === ToolBatch.digestOf(asking.call.arguments) : asking.covers(match.pattern)
  return isCovered ? undefined : "it does not cover the call"
}

const isInScope = (
  scope: Grant.GrantScope,
  { asking, remembered }: { readonly asking: Asking; readonly remembered: Remembered }
): boolean => {
  switch (scope._tag) {
    case "Run":
      return remembered.runId === undefined || remembered.runId === scope.runId
    case "Thread":
      return remembered.threadId === undefined || remembered.threadId === scope.threadId
    case "Workspace":
      return scope.workspace === asking.workspace
  }
}
