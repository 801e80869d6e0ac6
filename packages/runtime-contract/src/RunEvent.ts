/**
 * What can be watched of a run: facts, which are committed truth, and deltas, which are not.
 *
 * Guarantees: facts are derived from commits by one pure function, so they can be replayed from any number; a delta is
 * tagged with step and attempt, and a new attempt voids the older one's.
 * Does not transport: queues, streams and iterables are adapters at the edge.
 */
import type { Message, ReminderMessage } from "./Message.js"
import type { ResumeTicket } from "./ResumeTicket.js"
import type { EndCause, RunRecord } from "./Run.js"
import { type AuditRecord, followsEnd, type RunNote, type ThreadCommit } from "./ThreadCommit.js"
import type { BatchCall } from "./ToolBatch.js"

/** `runId`, `step` and `at` (milliseconds since the epoch) are those of the commit. */
export type RunFact = { readonly runId: string; readonly step: number; readonly at: number } & (
  | { readonly type: "RunStarted"; readonly record: RunRecord }
  /** A message entered the transcript: input, assistant turn, reminder. */
  | { readonly type: "MessageCommitted"; readonly message: Message }
  /** A call is in a new phase. */
  | { readonly type: "CallChanged"; readonly call: BatchCall }
  /** The results of the step, known from `CallChanged`, entered the transcript in model order, with these reminders. */
  | { readonly type: "BatchPublished"; readonly reminders: ReadonlyArray<ReminderMessage> }
  | { readonly type: "TicketIssued"; readonly ticket: ResumeTicket }
  /** `head`: that of the audit chain, behind the last record of a commit that stores one. */
  | { readonly type: "Decided"; readonly record: AuditRecord; readonly head?: string }
  | { readonly type: "Noted"; readonly note: RunNote }
  /** `head`: of the audit chain, where the commit stores one and decides nothing. */
  | { readonly type: "RunAwaiting"; readonly tickets: ReadonlyArray<string>; readonly head?: string }
  | { readonly type: "RunEnded"; readonly cause: EndCause; readonly head?: string }
)

export type RunDelta = { readonly runId: string; readonly step: number; readonly attempt: number } & (
  | { readonly type: "TextDelta"; readonly text: string }
  | { readonly type: "ReasoningDelta"; readonly text: string }
  | { readonly type: "ToolArgumentsDelta"; readonly key: string; readonly toolId?: string; readonly text: string }
  | { readonly type: "ToolProgress"; readonly operationId: string; readonly text: string }
  /** Everything shown of this step so far is void. */
  | { readonly type: "AttemptVoided"; readonly reason: string }
)

export type RunEvent =
  | { readonly _tag: "Fact"; readonly number: number; readonly fact: RunFact }
  | { readonly _tag: "Delta"; readonly delta: RunDelta }

/** How many facts `factsOf` gives for a commit, without making them. */
export const countFacts = (commit: ThreadCommit): number =>
  (commit.start === undefined ? 0 : 1) +
  commit.messages.length +
  (commit.batch === undefined ? 0 : commit.batch.calls.length) +
  (commit.batch?._tag === "Publish" ? 1 : 0) +
  commit.tickets.length +
  commit.audit.length +
  commit.notes.length +
  (commit.disposition._tag === "Running" || followsEnd(commit) ? 0 : 1)

/** The facts of a commit in their order: what publication appends comes before the messages behind it. */
export const factsOf = (commit: ThreadCommit): ReadonlyArray<RunFact> => {
  const { at, batch, disposition, runId, step } = commit
  const facts: Array<RunFact> = []
  const isPublication = batch?._tag === "Publish"
  if (commit.start !== undefined) facts.push({ type: "RunStarted", record: commit.start.record, runId, step, at })
  if (!isPublication)
    for (const message of commit.messages) facts.push({ type: "MessageCommitted", message, runId, step, at })
  for (const [index, record] of commit.audit.entries()) {
    const isLast = commit.auditHead !== undefined && index === commit.audit.length - 1
    facts.push({ type: "Decided", record, ...(isLast ? { head: commit.auditHead } : {}), runId, step, at })
  }
  for (const call of batch?.calls ?? []) facts.push({ type: "CallChanged", call, runId, step, at })
  if (isPublication) {
    const reminders = batch.reminders.map((reminder) => reminder.message)
    facts.push({ type: "BatchPublished", reminders, runId, step, at })
    for (const message of commit.messages) facts.push({ type: "MessageCommitted", message, runId, step, at })
  }
  for (const ticket of commit.tickets) facts.push({ type: "TicketIssued", ticket, runId, step, at })
  for (const note of commit.notes) facts.push({ type: "Noted", note, runId, step, at })
  const head = commit.auditHead === undefined || commit.audit.length > 0 ? {} : { head: commit.auditHead }
  if (disposition._tag === "Awaiting")
    facts.push({ type: "RunAwaiting", tickets: disposition.tickets, ...head, runId, step, at })
  if (disposition._tag === "Ended" && !followsEnd(commit))
    facts.push({ type: "RunEnded", cause: disposition.cause, ...head, runId, step, at })
  return facts
}
