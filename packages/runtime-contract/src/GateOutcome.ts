/**
 * What a gate can say of one call, and how several answers become one.
 *
 * Guarantees: the strictest answer holds (Block > RequireConfirmation > Schedule > SetResult > Allow); combining never
 * widens (laws are property tests); all confirmations of a call become one that carries every requirement.
 * Does not ask gates: the engine does, once per call.
 */
import { isSamePerson } from "./ResumeTicket.js"
import type { ToolOutput } from "./ToolOutput.js"

export interface Allow {
  readonly _tag: "Allow"
  /** The rule that decided, for the audit. */
  readonly rule?: string
}

/** The call is not run; this is its result. The output's `callId` is replaced by the call's own. */
export interface SetResult {
  readonly _tag: "SetResult"
  readonly output: ToolOutput
  readonly rule?: string
}

/** Run it later: not before `at` (milliseconds since the epoch, the runtime's clock). */
export interface Schedule {
  readonly _tag: "Schedule"
  readonly at: number
  readonly actionKind?: string
  readonly rule?: string
}

/** One thing that somebody must confirm. */
export interface Requirement {
  /** The gate that asks; filled in by the engine. */
  readonly gate?: string
  /** What the approver is told. */
  readonly reason: string
  readonly rule?: string
  /** Who may answer; absent is anybody the host vouches for. */
  readonly approvers?: ReadonlyArray<string>
  /** How many of them must allow. Default 1. */
  readonly quorum?: number
  /** May the principal of the run answer for itself? Default true. */
  readonly requesterMayAnswer?: boolean
  /** Milliseconds since the epoch, the runtime's clock. After it the call counts as denied. */
  readonly deadline?: number
}

export interface RequireConfirmation {
  readonly _tag: "RequireConfirmation"
  readonly requirements: ReadonlyArray<Requirement>
}

export interface Block {
  readonly _tag: "Block"
  readonly reason: string
  readonly rule?: string
}

export type GateOutcome = Allow | SetResult | Schedule | RequireConfirmation | Block

export const allow: Allow = Object.freeze({ _tag: "Allow" })
export const allowBy = (rule: string): Allow => ({ _tag: "Allow", rule })
export const block = (reason: string, rule?: string): Block =>
  rule === undefined ? { _tag: "Block", reason } : { _tag: "Block", reason, rule }
export const setResult = (output: ToolOutput): SetResult => ({ _tag: "SetResult", output })
export const schedule = (at: number, actionKind?: string): Schedule =>
  actionKind === undefined ? { _tag: "Schedule", at } : { _tag: "Schedule", at, actionKind }
export const requireConfirmation = (
  ...requirements: readonly [Requirement, ...Array<Requirement>]
): RequireConfirmation => ({
  _tag: "RequireConfirmation",
  requirements
})

const strictness: Readonly<Record<GateOutcome["_tag"], number>> = {
  Allow: 0,
  SetResult: 1,
  Schedule: 2,
  RequireConfirmation: 3,
  Block: 4
}

/**
 * The stricter of two answers. Of equals the first holds, except: confirmations unite (the same requirement stands once),
 * and the later schedule holds.
 */
export const stricter = (left: GateOutcome, right: GateOutcome): GateOutcome => {
  if (left._tag === "RequireConfirmation" && right._tag === "RequireConfirmation")
    return { _tag: "RequireConfirmation", requirements: united(left.requirements, right.requirements) }
  if (left._tag === "Schedule" && right._tag === "Schedule") return right.at > left.at ? right : left
  return strictness[right._tag] > strictness[left._tag] ? right : left
}

const united = (left: ReadonlyArray<Requirement>, right: ReadonlyArray<Requirement>): ReadonlyArray<Requirement> => {
  const byText = new Map<string, Requirement>()
  for (const requirement of [...left, ...right]) {
    const text = textOf(requirement)
    if (!byText.has(text)) byText.set(text, requirement)
  }
  return [...byText.values()]
}

const textOf = (r: Requirement): string =>
  JSON.stringify([r.gate, r.reason, r.rule, r.approvers, r.quorum, r.requesterMayAnswer, r.deadline])

/** How far a single run is narrowed, whatever the gates say. */
export type RunNarrowing = "Configured" | "Unattended" | "DenyAll"

/** Applies the narrowing of the run. `Unattended` turns a confirmation into a block: nobody is there to give it. */
export const narrow = (outcome: GateOutcome, narrowing: RunNarrowing): GateOutcome => {
  if (narrowing === "DenyAll") return stricter(block("this run may not call tools"), outcome)
  if (narrowing === "Unattended" && outcome._tag === "RequireConfirmation")
    return block("needs approval; nobody can give it", outcome.requirements[0]?.rule)
  return outcome
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((item) => typeof item === "string")

/** One person may be listed under several spellings, and counts once. */
const personsAmong = (names: ReadonlyArray<string>): number =>
  names.filter((name, index) => names.findIndex((other) => isSamePerson(name, other)) === index).length

const isRequirement = (value: unknown): boolean => {
  if (!isRecord(value) || typeof value["reason"] !== "string") return false
  const { approvers, deadline, quorum = 1, requesterMayAnswer } = value
  if (typeof quorum !== "number" || !Number.isInteger(quorum) || quorum < 1) return false
  if (deadline !== undefined && !Number.isFinite(deadline)) return false
  if (requesterMayAnswer !== undefined && typeof requesterMayAnswer !== "boolean") return false
  // Fewer approvers than the quorum could never allow, and nobody would be told why the call waits.
  return approvers === undefined || (isTexts(approvers) && personsAmong(approvers) >= quorum)
}

const isOutput = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value["isError"] === "boolean" &&
  Array.isArray(value["state"]) &&
  Array.isArray(value["content"]) &&
  value["content"].every((block) => isRecord(block) && typeof block["type"] === "string")

/** True for a well-formed outcome. A gate that answers anything else is read as blocking. */
export const isGateOutcome = (value: unknown): value is GateOutcome => {
  if (!isRecord(value)) return false
  switch (value["_tag"]) {
    case "Allow":
      return true
    case "Block":
      return typeof value["reason"] === "string"
    case "Schedule":
      return Number.isFinite(value["at"])
    case "SetResult":
      return isOutput(value["output"])
    case "RequireConfirmation":
      return (
        Array.isArray(value["requirements"]) &&
        value["requirements"].length > 0 &&
        value["requirements"].every(isRequirement)
      )
    default:
      return false
  }
}
