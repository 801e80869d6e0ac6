/**
 * A wait, written down: exactly which call of which run waits for what, and who may answer.
 *
 * Guarantees: plain data without live handles; holding a ticket is no authority. `decide` is the one pure rule by which
 * every store accepts or refuses an answer inside its transaction, so of many racing answers exactly one wins.
 * Does not run anything: an accepted answer is a signal that the owner of the thread acts on.
 */
import type { GateOutcome, Requirement } from "./GateOutcome.js"
import type { Json, JsonObject } from "./Json.js"
import type { ContentBlock } from "./Message.js"

/** `Permission`: a gate wants confirmation. `Client`: the result comes from outside. */
export type WaitKind = "Permission" | "Client" | "Schedule" | "Input" | "Delegation" | "Pause"

export interface ResumeTicket {
  readonly id: string
  readonly kind: WaitKind
  readonly runId: string
  readonly threadId: string
  readonly principal: string
  readonly snapshotFingerprint: string
  readonly operationId: string
  readonly callId: string
  readonly toolId: string
  /** Full identity of the descriptor that was asked about. */
  readonly toolIdentity: string
  /** The frozen arguments that will run. */
  readonly arguments: JsonObject
  /** Digest of their canonical form. */
  readonly digest: string
  /** 0 for what the model asked; one more for each accepted edit. */
  readonly proposal: number
  readonly requirements: ReadonlyArray<Requirement>
  /** The earliest of the requirements' deadlines; milliseconds since the epoch. */
  readonly deadline?: number
  /** For `Schedule`: not before this moment. */
  readonly dueAt?: number
  readonly issuedAt: number
}

export type ResumeAnswer =
  | { readonly _tag: "Allow"; readonly note?: string }
  | { readonly _tag: "Deny"; readonly reason?: string }
  | { readonly _tag: "Edit"; readonly arguments: Json }
  | {
      readonly _tag: "ToolResult"
      readonly content: ReadonlyArray<ContentBlock>
      readonly data?: Json
      readonly isError?: boolean
    }
  | { readonly _tag: "Input"; readonly text: string }
  | { readonly _tag: "Continue" }
  /** Made by the runtime's clock, never by a person. */
  | { readonly _tag: "Due" }
  | { readonly _tag: "Expire" }

/** Every kind of answer there is. */
export const answerTags: ReadonlyArray<ResumeAnswer["_tag"]> = [
  "Allow",
  "Deny",
  "Edit",
  "ToolResult",
  "Input",
  "Continue",
  "Due",
  "Expire"
]

/** What the answerer believes to be answering; each given field must match. */
export interface TicketExpectation {
  readonly runId?: string
  readonly threadId?: string
  readonly snapshotFingerprint?: string
  readonly digest?: string
  readonly toolIdentity?: string
}

export interface TicketAnswer {
  readonly ticketId: string
  readonly answer: ResumeAnswer
  /** The host vouches for this name. */
  readonly approver: string
  readonly at: number
  readonly expect?: TicketExpectation
}

/** How a ticket was used up. */
export type TicketDecision =
  | { readonly _tag: "Allowed"; readonly by: ReadonlyArray<string>; readonly note?: string }
  | { readonly _tag: "Denied"; readonly by: string; readonly reason: string; readonly expired: boolean }
  | { readonly _tag: "Edited"; readonly by: string; readonly arguments: Json }
  | { readonly _tag: "Answered"; readonly by: string; readonly answer: ResumeAnswer }
  /** The run ended, or something newer replaced the wait. */
  | { readonly _tag: "Void"; readonly reason: string }

export interface TicketState {
  readonly ticket: ResumeTicket
  /** Eligible approvers who have allowed so far, each once. */
  readonly allowedBy: ReadonlyArray<string>
  readonly decision?: TicketDecision
}

export type TicketRefusalReason =
  | "NotWaiting"
  | "RunMismatch"
  | "ThreadMismatch"
  | "SnapshotMismatch"
  | "DigestMismatch"
  | "ToolMismatch"
  | "AnswerKindMismatch"
  | "NotEligible"
  | "AlreadyCounted"
  | "AlreadyDecided"
  | "Expired"
  | "NotDue"
  /** Said by the owner, who knows what is installed: the answer would run what the snapshot did not pin (N2). */
  | "ToolChanged"
  /** Said by the owner as well: the edit or the result does not fit the tool's schema. `detail` says where. */
  | "InvalidArguments"

/** Why an answer was refused. The ticket is as it was. */
export class TicketRefused extends Error {
  readonly _tag = "TicketRefused"
  override readonly name = "TicketRefused"
  readonly ticketId: string
  readonly reason: TicketRefusalReason
  /** For `AlreadyDecided`: how. */
  readonly decision: TicketDecision | undefined
  constructor(refusal: {
    readonly ticketId: string
    readonly reason: TicketRefusalReason
    readonly decision?: TicketDecision
    readonly detail?: string
  }) {
    const detail = refusal.detail === undefined ? "" : `: ${refusal.detail}`
    super(`answer to ticket ${refusal.ticketId} refused: ${refusal.reason}${detail}`)
    this.ticketId = refusal.ticketId
    this.reason = refusal.reason
    this.decision = refusal.decision
  }
}

export type TicketVerdict =
  | { readonly _tag: "Refused"; readonly reason: TicketRefusalReason; readonly decision?: TicketDecision }
  /** Counted, but the quorum is not complete. */
  | { readonly _tag: "Counted"; readonly state: TicketState }
  /** Used up by this answer. */
  | { readonly _tag: "Decided"; readonly state: TicketState; readonly decision: TicketDecision }

/** The id of the ticket for the `proposal`-th form of an operation. Derived, so that a repeat is the same ticket. */
// oxlint-disable-next-line max-params -- three coordinates, in the order in which they are written
export const idOf = (operationId: string, kind: WaitKind, proposal: number): string =>
  `${operationId}:${kind}:${proposal}`

const accepts: Readonly<Record<WaitKind, ReadonlyArray<ResumeAnswer["_tag"]>>> = {
  Permission: ["Allow", "Deny", "Edit", "Expire"],
  Client: ["ToolResult", "Deny", "Expire"],
  Schedule: ["Due", "Deny", "Expire"],
  Input: ["Input", "Deny", "Expire"],
  Delegation: ["ToolResult", "Expire"],
  Pause: ["Continue", "Input"]
}

/** Checks one answer against the state of its ticket. Pure and total: stores call it inside their transaction. */
export const decide = (state: TicketState, given: TicketAnswer): TicketVerdict => {
  const refusal = refusalOf(state, given)
  if (refusal !== undefined) return { _tag: "Refused", reason: refusal, ...decisionOf(state) }
  const { answer, approver } = given
  switch (answer._tag) {
    case "Deny":
      return decided(state, { _tag: "Denied", by: approver, reason: answer.reason ?? "denied", expired: false })
    case "Expire":
      return decided(state, { _tag: "Denied", by: "clock", reason: "nobody answered in time", expired: true })
    case "Edit":
      return decided(state, { _tag: "Edited", by: approver, arguments: answer.arguments })
    case "Allow": {
      const allowedBy = [...state.allowedBy, approver]
      const next: TicketState = { ticket: state.ticket, allowedBy }
      if (!isComplete(state.ticket, allowedBy)) return { _tag: "Counted", state: next }
      return decided(next, {
        _tag: "Allowed",
        by: allowedBy,
        ...(answer.note === undefined ? {} : { note: answer.note })
      })
    }
    case "ToolResult":
    case "Input":
    case "Continue":
    case "Due":
      return decided(state, { _tag: "Answered", by: approver, answer })
  }
}

/**
 * Two spellings of one name: they differ in case, in white space around or between, in Unicode form, or in characters that
 * nobody sees. Whoever must not count twice, or not at all, does not count under another spelling either.
 */
export const isSamePerson = (left: string, right: string): boolean =>
  left === right || foldName(left) === foldName(right)

const foldName = (name: string): string =>
  name
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKC")

/** Who counts for a requirement: its approvers where it names some, without the requester where that is excluded. */
// oxlint-disable-next-line max-params -- asked for each approver of each requirement
export const isEligible = (ticket: ResumeTicket, requirement: Requirement, approver: string): boolean =>
  (requirement.approvers === undefined || requirement.approvers.includes(approver)) &&
  (requirement.requesterMayAnswer !== false || !isSamePerson(approver, ticket.principal))

/** True when every requirement has its quorum. One approver may serve several requirements, each once. */
export const isComplete = (ticket: ResumeTicket, allowedBy: ReadonlyArray<string>): boolean =>
  ticket.requirements.every(
    (requirement) =>
      allowedBy.filter((approver) => isEligible(ticket, requirement, approver)).length >= (requirement.quorum ?? 1)
  )

/** The earliest deadline among the requirements. */
export const deadlineOf = (outcome: GateOutcome): number | undefined => {
  if (outcome._tag !== "RequireConfirmation") return undefined
  const deadlines = outcome.requirements.flatMap((r) => (r.deadline === undefined ? [] : [r.deadline]))
  return deadlines.length === 0 ? undefined : Math.min(...deadlines)
}

const decided = (state: TicketState, decision: TicketDecision): TicketVerdict => ({
  _tag: "Decided",
  state: { ticket: state.ticket, allowedBy: state.allowedBy, decision },
  decision
})

const decisionOf = (state: TicketState): { readonly decision?: TicketDecision } =>
  state.decision === undefined ? {} : { decision: state.decision }

const refusalOf = (state: TicketState, given: TicketAnswer): TicketRefusalReason | undefined => {
  const { ticket } = state
  const expect = given.expect ?? {}
  if (expect.runId !== undefined && expect.runId !== ticket.runId) return "RunMismatch"
  if (expect.threadId !== undefined && expect.threadId !== ticket.threadId) return "ThreadMismatch"
  if (expect.snapshotFingerprint !== undefined && expect.snapshotFingerprint !== ticket.snapshotFingerprint)
    return "SnapshotMismatch"
  if (expect.toolIdentity !== undefined && expect.toolIdentity !== ticket.toolIdentity) return "ToolMismatch"
  if (expect.digest !== undefined && expect.digest !== ticket.digest) return "DigestMismatch"
  if (state.decision !== undefined) return state.decision._tag === "Void" ? "NotWaiting" : "AlreadyDecided"
  if (!accepts[ticket.kind].includes(given.answer._tag)) return "AnswerKindMismatch"
  return timeRefusal(ticket, given) ?? approverRefusal(state, given)
}

const timeRefusal = (ticket: ResumeTicket, { answer, at }: TicketAnswer): TicketRefusalReason | undefined => {
  const isPast = ticket.deadline !== undefined && at >= ticket.deadline
  if (answer._tag === "Expire") return isPast ? undefined : "NotDue"
  if (answer._tag === "Due") return ticket.dueAt !== undefined && at >= ticket.dueAt ? undefined : "NotDue"
  return isPast ? "Expired" : undefined
}

const approverRefusal = (state: TicketState, { answer, approver }: TicketAnswer): TicketRefusalReason | undefined => {
  if (answer._tag === "Expire" || answer._tag === "Due" || state.ticket.requirements.length === 0) return undefined
  if (!state.ticket.requirements.some((requirement) => isEligible(state.ticket, requirement, approver)))
    return "NotEligible"
  const isCounted = answer._tag === "Allow" && state.allowedBy.some((one) => isSamePerson(one, approver))
  return isCounted ? "AlreadyCounted" : undefined
}
