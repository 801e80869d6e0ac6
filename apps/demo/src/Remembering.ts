/**
 * "Allow this from now on": shows the rule that would be stored, lets it be narrowed or widened, and asks whether to.
 *
 * Guarantees: the rule is shown in full, as it will be stored, before anybody says yes; a rule that misses the call or names
 * another tool is refused with its reason.
 * Does not store: the runtime does, together with the answer.
 */
import { ApprovalText, type PermissionGate } from "@toolwright/permissions"
import type { PromiseRuntime, ResumeOptions } from "@toolwright/runtime"
import type { Grant, ResumeTicket } from "@toolwright/runtime-contract"
import type { Ask } from "./internal/console.js"
import type { Screen } from "./Screen.js"

export type Remember = NonNullable<ResumeOptions["remember"]>

export interface RememberingOptions {
  readonly runtime: PromiseRuntime
  readonly screen: Screen
  readonly ask: Ask
  readonly calledOff: AbortSignal
}

/** `undefined`: nothing is to be remembered. */
export const askToRemember = async (
  ticket: ResumeTicket.ResumeTicket,
  options: RememberingOptions
): Promise<Remember | undefined> => {
  const { ask, calledOff, screen } = options
  let wanted: Remember = { scope: "workspace" }
  for (;;) {
    const proposal = await preview(ticket, { wanted, options })
    if (proposal === undefined && wanted.rule === undefined) return undefined
    if (proposal === undefined) wanted = { scope: wanted.scope }
    else {
      show(proposal, screen)
      const question = "  Remember this rule? [y]es, this [t]hread only, [w]ider, [n]o › "
      const said = (await ask(question, { calledOff, isFresh: true }))?.trim().toLowerCase()
      if (said === undefined || said.startsWith("n")) return undefined
      if (said.startsWith("y")) return { ...wanted, shown: proposal.text }
      if (said.startsWith("t")) wanted = { ...wanted, scope: "thread" }
      if (said.startsWith("w")) wanted = { ...wanted, ...(await askRule(proposal, options)) }
    }
  }
}

const preview = async (
  { id }: ResumeTicket.ResumeTicket,
  { wanted, options }: { readonly wanted: Remember; readonly options: RememberingOptions }
): Promise<Grant.GrantProposal | undefined> => {
  try {
    return await options.runtime.previewGrant({ ticketId: id, ...wanted })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    options.screen.note(`That cannot be remembered: ${ApprovalText.show(why)}`, "red")
    return undefined
  }
}

const askRule = async (
  { text, toolId }: Grant.GrantProposal,
  { ask, calledOff }: RememberingOptions
): Promise<Partial<Remember>> => {
  const rule = (await ask(`  Rule, such as ${toolId} › `, { prefill: text, calledOff, isFresh: true }))?.trim()
  return rule === undefined || rule === "" ? {} : { rule }
}

const where = ({ scope }: Grant.GrantProposal): string =>
  scope._tag === "Workspace" ? `every thread, in ${scope.workspace}` : "this thread"

const show = (proposal: Grant.GrantProposal, screen: Screen): void => {
  screen.note("From now on this would be allowed without asking:", "yellow")
  screen.detail("rule", proposal.text)
  screen.detail("for", proposal.principal)
  screen.detail("in", where(proposal))
}

/** What an explanation has to know of it. */
export const rememberedFor = async (
  { principal, threadId }: { readonly principal: string; readonly threadId: string | undefined },
  runtime: PromiseRuntime
): Promise<PermissionGate.Remembered> => {
  const place = threadId === undefined ? {} : { threadId }
  return { principal, grants: await runtime.grants({ principal, ...place }), ...place }
}

/** The rules that are remembered and hold on this thread. */
export const listRules = async (
  threadId: string | undefined,
  { runtime, screen }: Pick<RememberingOptions, "runtime" | "screen">
): Promise<void> => {
  const grants = await runtime.grants(threadId === undefined ? {} : { threadId })
  if (grants.length === 0) return screen.note("Nothing is remembered.")
  for (const grant of grants) {
    const text = `${ApprovalText.showLine(grant.text)}  in ${where(grant)}, by ${grant.grantedBy}`
    screen.item(shortGrant(grant.id), { ink: "bold", text })
  }
}

/** Takes a rule back, by the beginning of its id. */
export const forgetRule = async (
  { id, threadId, by }: { readonly id: string; readonly threadId: string | undefined; readonly by: string },
  { runtime, screen }: Pick<RememberingOptions, "runtime" | "screen">
): Promise<void> => {
  const grants = await runtime.grants(threadId === undefined ? {} : { threadId })
  const found = grants.filter((grant) => shortGrant(grant.id).startsWith(id))
  const [only] = found
  if (only === undefined || found.length > 1)
    return screen.note(`${id}: ${found.length === 0 ? "no rule begins so" : "more than one rule begins so"}.`, "red")
  await runtime.revokeGrant({ grantId: only.id, by })
  screen.note(`Forgotten: ${ApprovalText.showLine(only.text)}`, "green")
}

const shortGrant = (id: string): string => id.replace(/^grant-/, "").slice(0, 8)
