/**
 * Reads what a gate has answered: foreign code may return anything, and keep it.
 *
 * Guarantees: total; a plain copy of exactly what the contract knows, so that nothing else is written down and nobody
 * changes a ticket that was issued; whatever is no outcome, or cannot be looked at, is `undefined`, and blocks.
 * Does not judge.
 */
import { GateOutcome } from "@toolwright/runtime-contract"

export const readGateOutcome = (value: unknown): GateOutcome.GateOutcome | undefined => {
  // The answer of most gates to most calls.
  if (value === GateOutcome.allow) return GateOutcome.allow
  try {
    return GateOutcome.isGateOutcome(value) ? copyOf(value) : undefined
  } catch {
    return undefined
  }
}

const copyOf = (outcome: GateOutcome.GateOutcome): GateOutcome.GateOutcome | undefined => {
  switch (outcome._tag) {
    case "Allow": {
      // The answer to nearly every call: no spread.
      const { _tag, rule } = outcome
      if (rule === undefined) return GateOutcome.allow
      return isText(rule) ? { _tag, rule } : undefined
    }
    case "Block": {
      const { _tag, reason, rule } = outcome
      return isText(rule) ? { _tag, reason, ...ruleOf(rule) } : undefined
    }
    case "SetResult": {
      const { _tag, output, rule } = outcome
      return isText(rule) ? { _tag, output, ...ruleOf(rule) } : undefined
    }
    case "Schedule": {
      const { _tag, at, actionKind, rule } = outcome
      if (!isText(rule) || !isText(actionKind)) return undefined
      return { _tag, at, ...(actionKind === undefined ? {} : { actionKind }), ...ruleOf(rule) }
    }
    case "RequireConfirmation": {
      const requirements = outcome.requirements.map(requirementOf)
      const isWhole = requirements.every((one) => one !== undefined)
      return isWhole ? { _tag: outcome._tag, requirements } : undefined
    }
  }
}

const requirementOf = (requirement: GateOutcome.Requirement): GateOutcome.Requirement | undefined => {
  const { approvers, deadline, quorum, reason, requesterMayAnswer, rule } = requirement
  if (!isText(rule)) return undefined
  return Object.freeze({
    reason,
    ...ruleOf(rule),
    ...(approvers === undefined ? {} : { approvers: Object.freeze(approvers.slice()) }),
    ...(quorum === undefined ? {} : { quorum }),
    ...(requesterMayAnswer === undefined ? {} : { requesterMayAnswer }),
    ...(deadline === undefined ? {} : { deadline })
  })
}

const ruleOf = (rule: string | undefined): { readonly rule?: string } => (rule === undefined ? {} : { rule })

/** A gate without types may name its rule by anything. */
const isText = (value: unknown): boolean => value === undefined || typeof value === "string"
