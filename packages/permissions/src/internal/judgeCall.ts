/**
 * Judges one call by a policy: what the rules say of it and of its parts, then what the mode makes of an ask.
 *
 * Guarantees: nothing here turns a deny into anything else; of many findings the strictest decides.
 */
import type { Json } from "@toolwright/runtime-contract"
import type { Decision, Explanation } from "../Policy.js"
import * as RuleSet from "../RuleSet.js"
import { valuesAt } from "./fieldValues.js"
import { findingOf, type FirmFinding, type Judge, type JudgedCall, judgeSubject, subjectFor } from "./judge.js"
import { commandFindings } from "./judgeCommand.js"

export const judgeCall = (judge: Judge, call: JudgedCall): Decision => {
  const tool = judge.tool(call.toolId)
  const subject = subjectFor(judge, call)
  const lines = tool.commands.length === 0 ? [] : tool.commands.flatMap((field) => valuesAt(call.arguments, field))
  const commands = lines.filter((line): line is Json.Json => line !== undefined)
  const findings =
    commands.length === 0
      ? [judgeSubject(judge, { call, subject, toolId: call.toolId, about: call.toolId })]
      : commands.flatMap((line) => commandFindings(judge, { call, subject, line }))
  return inMode(judge, { call, findings })
}

/** What `judgeCall` says of every call of the tool without grants; `undefined` where the arguments have a say in it. */
export const alwaysJudged = (judge: Judge, toolId: string): Decision | undefined => {
  const { commands, profile } = judge.tool(toolId)
  const verdict = RuleSet.always(judge.rules, toolId)
  if (commands.length > 0 || verdict === undefined) return undefined
  if (verdict.behavior === "ask" && judge.policy.mode === "acceptEdits" && profile.effect === "edit") return undefined
  const { findings, ...decision } = inMode(judge, {
    call: { toolId },
    findings: [findingOf(verdict, { about: toolId })]
  })
  return Object.freeze({ ...decision, findings: Object.freeze(findings) })
}

const inMode = (
  judge: Judge,
  { call, findings }: { readonly call: Pick<JudgedCall, "toolId">; readonly findings: ReadonlyArray<FirmFinding> }
): Decision => {
  const { mode } = judge.policy
  const { effect } = judge.tool(call.toolId).profile
  if (mode === "plan" && effect !== "read" && effect !== "network")
    return strictest([
      ...findings,
      { about: call.toolId, behavior: "deny", rule: "mode: plan", reason: "plan mode: nothing that writes" }
    ])
  if (mode !== "bypass") return strictest(findings)
  return strictest(
    findings.map((finding) =>
      finding.behavior === "ask" && finding.firm !== true
        ? { about: finding.about, behavior: "allow", rule: "mode: bypass", reason: "bypass mode: nothing denies it" }
        : finding
    )
  )
}

const rank: Readonly<Record<RuleSet.Behavior, number>> = { deny: 2, ask: 1, allow: 0 }

const nothingJudged: FirmFinding = {
  about: "the call",
  behavior: "ask",
  rule: "default: ask",
  reason: "there was nothing to judge"
}

const strictest = (findings: ReadonlyArray<FirmFinding>): Decision => {
  let found: FirmFinding | undefined
  for (const next of findings) if (found === undefined || rank[next.behavior] > rank[found.behavior]) found = next
  const { behavior, rule, reason, source } = found ?? nothingJudged
  return source === undefined ? { behavior, rule, reason, findings } : { behavior, rule, reason, source, findings }
}

export const explainCall = (judge: Judge, call: JudgedCall): Explanation => {
  const subject = subjectFor(judge, call)
  const parts = judge
    .tool(call.toolId)
    .commands.flatMap((field) =>
      valuesAt(call.arguments, field).flatMap((line) =>
        typeof line === "string" && judge.shell !== undefined ? judge.shell(line).parts : []
      )
    )
  const subjects =
    parts.length === 0
      ? [{ about: call.toolId, call: subject }]
      : parts.map((part) => ({ about: part.exact, call: subject.withPart(part) }))
  return {
    decision: judgeCall(judge, call),
    opinions: subjects.map(({ about, call: asked }) => ({
      about,
      opinions: RuleSet.explain(judge.rules, { toolId: call.toolId, call: asked }).opinions
    }))
  }
}
