import type { WaitKind } from "../ResumeTicket.js"
import type { CallPhase } from "../ToolBatch.js"

/** The waits whose subject is outside and may already act: the call was handed out, so it can become unknown. */
export const isHandedOut = (phase: CallPhase): boolean =>
  phase._tag === "Awaiting" && (phase.wait === "Client" || phase.wait === "Delegation")

/** The waits whose answer is the call's output. */
export const isAnswered = (wait: WaitKind): boolean => wait === "Client" || wait === "Delegation" || wait === "Input"

/** The waits for a decision about a call that has not started. */
export const isUndecided = (wait: WaitKind): boolean => wait === "Permission" || wait === "Schedule"
