/**
 * A call that a person must approve. The run does not block: it comes to rest, and goes on when the answer is there.
 */
import { erase } from "@toolwright/builtin-tools"
import { PermissionGate } from "@toolwright/permissions"
import { Runtime } from "@toolwright/runtime"
import {
  ExecutableAgentSnapshot,
  type LlmExecutor,
  type ResumeTicket,
  type ThreadStore,
  Tool,
  ToolDescriptor
} from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"

export const SendMail = Tool.define({
  id: "send_mail",
  description: "Send one mail",
  args: Type.Object({ to: Type.String(), text: Type.String() })
})

export type Send = (mail: { readonly to: string; readonly text: string }) => Promise<void>

const snapshot = ExecutableAgentSnapshot.builder("secretary")
  .model({ provider: "openai", model: "gpt-5" })
  .tool(ToolDescriptor.forTool(SendMail, "custom:mail"))
  .build()

export interface Given {
  readonly llm: LlmExecutor.LlmExecutor
  readonly store: ThreadStore.ThreadStore
  readonly send: Send
  /** Shows the ticket to a person. */
  readonly show: (ticket: ResumeTicket.ResumeTicket) => Promise<boolean>
}

export const secretary = async ({ llm, store, send, show }: Given) => {
  // #region ask
  const runtime = Runtime.make({
    llm,
    store,
    gate: PermissionGate.make({ ask: ["send_mail"], default: "deny" }),
    tools: [erase(Tool.implement(SendMail, send))]
  })

  let outcome = await runtime.run({ snapshot, input: "Tell Bob that we are late.", principal: "ada" })

  // Nothing runs now, and no process has to wait: tickets are in the store, and any process may answer them.
  while (outcome.disposition._tag === "Awaiting")
    for (const ticket of outcome.tickets) {
      const isAllowed = await show(ticket)
      outcome = await runtime.resume(ticket.id, isAllowed ? { _tag: "Allow" } : { _tag: "Deny" }, {
        approver: "ada",
        // What was shown is what runs.
        expect: { digest: ticket.digest }
      })
    }
  // #endregion
  await runtime.close()
  return outcome
}
