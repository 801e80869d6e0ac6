/** What a thread says of its run, for whoever asked. */
import { Run, type ThreadStore } from "@toolwright/runtime-contract"
import { type RunOutcome, textOfRun } from "../RunOutcome.js"

type Committed = Pick<ThreadStore.ThreadView, "threadId" | "run" | "disposition" | "messages" | "tickets">

/** What the thread says of its run. Tokens are known only where they were spent. */
export const outcomeOfView = (view: Committed): RunOutcome => {
  const runId = view.run?.runId ?? ""
  const disposition = view.disposition ?? Run.Running
  const ids = disposition._tag === "Awaiting" ? disposition.tickets : []
  return {
    runId,
    threadId: view.threadId,
    disposition,
    text: textOfRun(view.messages, runId),
    messages: view.messages,
    ...(view.run?.parent === undefined ? {} : { parent: view.run.parent }),
    tickets: ids.flatMap((id) => {
      const ticket = view.tickets.get(id)?.ticket
      return ticket === undefined ? [] : [ticket]
    }),
    usage: { inputTokens: 0, outputTokens: 0 }
  }
}
