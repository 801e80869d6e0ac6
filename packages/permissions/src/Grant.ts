/**
 * What an approver remembers: the rule for exactly the call on a ticket, or a wider one that the approver wrote.
 *
 * Guarantees: shown in full before it is stored; covers exactly the approved call unless the approver writes it wider, and
 * never another tool or another principal; not offered where one approver is not enough.
 * Does not store or look up: a gate hands both to the runtime, which keeps, lists and revokes (`Grant` in the contract).
 */
import { type Grant, type Json, type ResumeTicket, ToolBatch } from "@toolwright/runtime-contract"
import * as ApprovalText from "./ApprovalText.js"
import * as Policy from "./Policy.js"
import * as RulePattern from "./RulePattern.js"

/** Why a grant cannot be offered or stored. */
export class GrantRefused extends Error {
  readonly _tag = "GrantRefused"
  override readonly name = "GrantRefused"
  readonly reason: "NoGate" | "Quorum" | "Arguments" | "OtherTool" | "Pattern" | "NotCovered"
  constructor(refusal: {
    readonly reason: GrantRefused["reason"]
    readonly message: string
    readonly cause?: unknown
  }) {
    super(refusal.message, { cause: refusal.cause })
    this.reason = refusal.reason
  }
}

export interface PreviewOptions {
  readonly scope: Grant.GrantScope
  /** Default: the first gate that asks on the ticket. */
  readonly gate?: string
  /** The tool's input schema, whose `secret` members are hidden in the text. */
  readonly schema?: Json.JsonObject
  /** Milliseconds since the epoch. Default: it does not expire. */
  readonly expiresAt?: number
}

/**
 * The narrowest grant for the call on a ticket: these arguments and no others. Throws `GrantRefused` where the ticket asks
 * for more than one approver, or its arguments do not have its digest.
 */
export const preview = (ticket: ResumeTicket.ResumeTicket, options: PreviewOptions): Grant.GrantProposal => {
  const gate = options.gate ?? ticket.requirements.find((requirement) => requirement.gate !== undefined)?.gate
  if (ticket.kind !== "Permission" || gate === undefined)
    throw new GrantRefused({ reason: "NoGate", message: `ticket ${ticket.id} names no gate that asks` })
  if (ticket.requirements.some((requirement) => requirement.gate === gate && (requirement.quorum ?? 1) > 1))
    throw new GrantRefused({ reason: "Quorum", message: `ticket ${ticket.id} needs more than one approver each time` })
  if (ToolBatch.digestOf(ticket.arguments) !== ticket.digest)
    throw new GrantRefused({
      reason: "Arguments",
      message: `the arguments of ticket ${ticket.id} do not have its digest`
    })
  return {
    version: 1,
    gate,
    toolId: ticket.toolId,
    toolIdentity: ticket.toolIdentity,
    principal: ticket.principal,
    scope: options.scope,
    match: { _tag: "Exact", digest: ticket.digest },
    text: exactText(ticket, options.schema),
    ...(options.expiresAt === undefined ? {} : { expiresAt: options.expiresAt })
  }
}

const exactText = (
  { toolId, arguments: args }: ResumeTicket.ResumeTicket,
  schema: Json.JsonObject | undefined
): string =>
  ApprovalText.show(
    RulePattern.print({
      tool: toolId,
      conditions: [{ field: [], operator: "=", value: ApprovalText.hideSecrets(args, schema) }]
    })
  )

export interface Widening {
  /** A rule's pattern for the same tool, such as `write(path ~ "src/**")`. */
  readonly pattern: string
  /** The call that is being approved; the pattern must cover it. */
  readonly ticket: ResumeTicket.ResumeTicket
  /** In which the pattern is read. */
  readonly environment: Policy.Environment
  /** The policy that asked; what it allows of a command beside the rule is covered too. */
  readonly policy?: Policy.Policy
}

/** The same grant, as wide as the approver wrote it. Throws `GrantRefused` for another tool, or where it misses the call. */
export const widen = (
  proposal: Grant.GrantProposal,
  { pattern, ticket, environment, policy }: Widening
): Grant.GrantProposal => {
  const parsed = parse(pattern)
  if (parsed.tool !== proposal.toolId)
    throw new GrantRefused({
      reason: "OtherTool",
      message: `the rule must name ${proposal.toolId}, not ${parsed.tool}`
    })
  const compiled = Policy.compile({ rules: [], ...policy }, environment)
  const { behavior } = compiled.decide({ toolId: ticket.toolId, arguments: ticket.arguments }, [
    { grantId: "new", pattern }
  ])
  if (behavior !== "allow")
    throw new GrantRefused({ reason: "NotCovered", message: `${pattern} does not cover the call itself` })
  const printed = RulePattern.print(parsed)
  return { ...proposal, match: { _tag: "Pattern", pattern: printed }, text: ApprovalText.show(printed) }
}

const parse = (pattern: string): RulePattern.RulePattern => {
  try {
    return RulePattern.parse(pattern)
  } catch (cause) {
    throw new GrantRefused({
      reason: "Pattern",
      message: cause instanceof Error ? cause.message : String(cause),
      cause
    })
  }
}
