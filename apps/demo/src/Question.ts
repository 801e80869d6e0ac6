/**
 * A question of the model to the person: shows it, takes the answer in words or by the numbers of the options.
 *
 * Guarantees: what comes from the model is made visible; an answer is information and never a permission.
 * Does not answer the runtime: it gives the answer back.
 */
import { AskUser } from "@toolwright/builtin-tools/ask-user"
import type { ResumeTicket } from "@toolwright/runtime-contract"
import { ApprovalText } from "@toolwright/permissions"
import type { Ask } from "./internal/console.js"
import type { Page } from "./Page.js"

export interface QuestionOptions {
  readonly ask: Ask
  readonly screen: Page
  readonly calledOff: AbortSignal
}

/** `later`: it stays open. `undefined`: the turn is cancelled. */
export const askPerson = async (
  ticket: ResumeTicket.ResumeTicket,
  { ask, screen, calledOff }: QuestionOptions
): Promise<Extract<ResumeTicket.ResumeAnswer, { readonly _tag: "ToolResult" }> | "later" | undefined> => {
  const read = AskUser["~standard"].validate(ticket.arguments)
  if (!("value" in read) || read.issues !== undefined) return result("(the question could not be read)")
  const { question, options = [], multi_select } = read.value
  screen.asked(ticket.operationId, "the model has a question")
  screen.detail("asks", question)
  options.forEach(({ label, description }, index) =>
    screen.detail(String(index + 1), description === undefined ? label : `${label}: ${description}`)
  )
  const how = options.length === 0 ? "" : multi_select ? ", or numbers" : ", or a number"
  const line = await ask(`  Your answer${how} (nothing: later) › `, { calledOff, isFresh: true })
  const said = line?.trim()
  if (said === undefined) return undefined
  if (said === "") return "later"
  const chosen = chosenIn(said, { labels: options.map(({ label }) => label), isMany: multi_select })
  return chosen === undefined ? result(said) : result(chosen.join(", "), chosen)
}

/** `undefined` for an answer in other words. */
const chosenIn = (
  said: string,
  { labels, isMany }: { readonly labels: ReadonlyArray<string>; readonly isMany: boolean }
): ReadonlyArray<string> | undefined => {
  const parts = isMany ? said.split(/[\s,]+/) : [said]
  const chosen = parts.map((part) =>
    labels.find((label, index) => String(index + 1) === part || label.toLowerCase() === part.toLowerCase())
  )
  return chosen.every((label) => label !== undefined) ? chosen : undefined
}

const result = (
  answer: string,
  chosen?: ReadonlyArray<string>
): Extract<ResumeTicket.ResumeAnswer, { readonly _tag: "ToolResult" }> => ({
  _tag: "ToolResult",
  content: [{ type: "text", text: ApprovalText.show(answer) }],
  data: chosen === undefined ? { answer } : { answer, chosen: [...chosen] }
})
