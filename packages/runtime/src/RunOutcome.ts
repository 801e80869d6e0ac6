/**
 * What a call of the runtime gives back when a run ends, or comes to rest because it waits for people.
 *
 * Guarantees: read from committed truth only.
 * Does not hold what is not committed: an answer that was cut short by a cancel is not in it.
 */
import { type Json, Message, type ResumeTicket, type Run, type Transcript } from "@toolwright/runtime-contract"

export interface RunOutcome {
  readonly runId: string
  readonly threadId: string
  /** `Ended` with its cause, or `Awaiting` with its tickets; `Running` when another process drives the run. */
  readonly disposition: Run.RunDisposition
  /** The text of the run's last assistant message; empty where there is none. */
  readonly text: string
  /** The typed final answer, where the snapshot asks for one and the run came to its natural end here. */
  readonly output?: Json.Json
  /** The thread's transcript as of this moment. */
  readonly messages: Transcript
  /** The open tickets, whole, for whoever asks people. */
  readonly tickets: ReadonlyArray<ResumeTicket.ResumeTicket>
  /** For a child run: the operation that it works for. */
  readonly parent?: Run.RunRecord["parent"]
  /** Tokens spent by this activation. */
  readonly usage: Run.Usage
}

/** The text of the last assistant message that the run itself said. */
export const textOfRun = (messages: Transcript, runId: string): string => {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages.at(index)
    if (message?.role === "assistant") return message.runId === runId ? Message.textOf(message.content) : ""
  }
  return ""
}
