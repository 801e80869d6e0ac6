/**
 * Why a call is allowed, asked about or denied: which rule decided, and what each other rule said.
 *
 * Guarantees: the gate's own explanation, the same as its decision; nothing runs, nothing is stored, nobody is asked.
 * Does not explain a model: of a request it takes the calls that the offline model would ask for first.
 */
import { ApprovalText, Certainty, type PermissionGate, type Policy, type RuleSet } from "@toolwright/permissions"
import { type Json, type RawTool, ToolArgs, Transcript } from "@toolwright/runtime-contract"
import { remember } from "./internal/exchanges.js"
import { planTurn } from "./internal/planTurn.js"
import type { Screen } from "./Screen.js"

export interface Explaining {
  readonly gate: PermissionGate.PolicyGate
  readonly tools: ReadonlyArray<RawTool.RawTool>
  readonly screen: Screen
  /** What was allowed from now on, here and now. */
  readonly remembered: () => Promise<PermissionGate.Remembered>
}

/** `text`: a request, or a tool's id with its arguments as JSON. */
export const explain = async (text: string, explaining: Explaining): Promise<void> => {
  const calls = readCalls(text, explaining.tools)
  if (calls.length === 0) explaining.screen.note("That asks for no call, so there is nothing to decide.")
  for (const call of calls) await explainCall(call, explaining)
}

/** A call that may never be made. Arguments as a model would send them: text, or a value. */
interface ImaginedCall {
  readonly toolId: string
  readonly arguments: string | Json.JsonObject
  /** Where its relative paths start, absolute; default the folder. */
  readonly directory?: string | undefined
}

const readCalls = (text: string, tools: ReadonlyArray<RawTool.RawTool>): ReadonlyArray<ImaginedCall> => {
  const [toolId = "", json = ""] = text.trim().split(/\s+(.*)/s)
  if (json.startsWith("{") || tools.some((tool) => tool.spec().id === text.trim())) return [{ toolId, arguments: json }]
  const asked = new Transcript([{ role: "user", id: "explain/input", content: [{ type: "text", text }] }])
  return planTurn(remember(asked), { mayCall: true, hasFolder: tools.some((tool) => tool.spec().id === "read") }).calls
}

/** What the gate says of one call. It is judged as it would be: parsed and normalised. */
export const explainCall = async (
  call: ImaginedCall,
  { gate, tools, screen, remembered }: Explaining
): Promise<void> => {
  const spec = tools.find((tool) => tool.spec().id === call.toolId)?.spec()
  const given = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments)
  screen.note(ApprovalText.showLine(`${call.toolId} ${given}`), "bold")
  if (spec === undefined) return screen.note("not run: there is no such tool, so no rule is asked", "red")
  const parsed = ToolArgs.parseToolArgs(spec, call.arguments)
  if (!parsed.ok) {
    const why = ApprovalText.show(parsed.error.message)
    return screen.note(`not run: the arguments do not fit, so no rule is asked\n${why}`, "red")
  }
  const place = call.directory === undefined ? {} : { directory: call.directory }
  const asked = { toolId: call.toolId, arguments: parsed.value, ...place }
  const { decision, opinions, grants } = await gate.explain(asked, await remembered())
  screen.note(`${decision.behavior}: decided by ${ApprovalText.showLine(decision.rule)}`, inks[decision.behavior])
  screen.note(`because ${ApprovalText.showLine(decision.reason)}`)
  for (const each of opinions) {
    // Each part of a command is judged by itself, and a list without its part would contradict the next one.
    if (opinions.length > 1) screen.note(ApprovalText.showLine(`of ${each.about}:`))
    for (const line of opinionLines(each)) screen.note(line)
  }
  for (const { scope, text, why } of grants)
    screen.note(`- ${ApprovalText.showLine(`remembered in ${scope}: ${text}: ${why}`)}`)
}

const inks: Readonly<Record<RuleSet.Behavior, "green" | "yellow" | "red">> = {
  allow: "green",
  ask: "yellow",
  deny: "red"
}

const opinionLines = ({ opinions }: Policy.Explanation["opinions"][number]): ReadonlyArray<string> => {
  const named = opinions.filter(({ names }) => names)
  const others = opinions.length - named.length
  return [
    ...named.map((opinion) => `- ${ApprovalText.showLine(opinionText(opinion))}`),
    ...(others === 0 ? [] : [`- ${others} of ${opinions.length} rules name another tool`])
  ]
}

const opinionText = ({ rule, certainty, conditions }: RuleSet.Opinion): string => {
  const failing = conditions.find((each) => each.certainty === certainty)
  const which = failing === undefined || certainty === Certainty.Surely ? "" : ` (${failing.text})`
  return `${rule.behavior} ${rule.pattern}: ${Certainty.describe(certainty)}${which}`
}
