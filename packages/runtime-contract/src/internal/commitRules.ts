/**
 * The rules that a commit may break of itself, against the head of its thread. `StoreRules` asks them last, when
 * revision, epoch and lease hold.
 *
 * Guarantees: pure and total; each rule is one plain sentence, and the first broken one is the answer; the cost grows
 * with what the commit carries, not with the thread.
 */
import { canonicalJson } from "../Json.js"
import type { AssistantMessage, ToolCallPart } from "../Message.js"
import type { ResumeTicket } from "../ResumeTicket.js"
import { type EndCause, isSameCause, mayBecome } from "../Run.js"
import type { ThreadHead } from "../StoreRules.js"
import { followsEnd, isAccount, type ThreadCommit } from "../ThreadCommit.js"
import {
  type BatchCall,
  isSound,
  isTerminal,
  maySucceed,
  plan,
  type ToolBatch,
  unstarted,
  withCalls
} from "../ToolBatch.js"
import { operationPrefix } from "./operationIds.js"

/** `undefined` when none is broken. */
export const brokenRule = (head: ThreadHead, commit: ThreadCommit): string | undefined =>
  brokenRunRule(head, commit) ??
  brokenMessageRule(head, commit) ??
  brokenBatchRule(head, commit) ??
  brokenTicketRule(head, commit) ??
  brokenEndRule(head, commit) ??
  brokenReferenceRule(head, commit)

const brokenRunRule = (head: ThreadHead, commit: ThreadCommit): string | undefined => {
  if (commit.start !== undefined) return brokenStartRule(head, commit)
  if (head.run?.runId !== commit.runId) return "a commit belongs to the open run of its thread"
  if (head.disposition?._tag === "Ended")
    return leavesAsIs(head.disposition.cause, commit) ? undefined : "nothing follows the end of a run"
  if (commit.disposition._tag === "Ended" && commit.resolved.length > 0)
    return "a commit that ends a run settles nothing"
  if (commit.disposition._tag === "Ended" && isAccount(commit)) return "what came after the end follows an end"
  return mayBecome(head.disposition, commit.disposition) ? undefined : "a waiting run names its tickets, each once"
}

const brokenStartRule = (head: ThreadHead, commit: ThreadCommit): string | undefined => {
  if (commit.start === undefined) return undefined
  const { record, snapshot } = commit.start
  if (head.disposition !== undefined && head.disposition._tag !== "Ended") return "a run starts only when none is open"
  if (record.runId !== commit.runId || record.threadId !== commit.threadId)
    return "a run's record names its own run and thread"
  if (head.hasRun(commit.runId)) return "a run id is used once in its thread"
  if (record.snapshotFingerprint !== snapshot.fingerprint) return "a run's record names its own snapshot"
  if (commit.disposition._tag !== "Running" || commit.step !== 0) return "a run starts running, before its first step"
  return commit.batch === undefined ? undefined : "a run starts without a batch"
}

const leavesAsIs = (cause: EndCause, commit: ThreadCommit): boolean =>
  followsEnd(commit) &&
  commit.disposition._tag === "Ended" &&
  isSameCause(cause, commit.disposition.cause) &&
  commit.messages.every((message) => message.role === "reminder")

const brokenMessageRule = (head: ThreadHead, commit: ThreadCommit): string | undefined => {
  let turn: AssistantMessage | undefined
  for (let index = 0; index < commit.messages.length; index++) {
    const message = commit.messages[index]
    if (message === undefined) continue
    if (message.role === "tool") return "results enter the transcript by publication only"
    if (message.role !== "assistant") continue
    if (turn !== undefined) return "a step has one assistant message"
    turn = message
  }
  const from = commit.start === undefined ? head.step : 0
  if (commit.step !== (turn === undefined ? from : from + 1))
    return "steps are counted one by one, by assistant messages"
  if (turn !== undefined && (turn.runId !== commit.runId || turn.step !== commit.step))
    return "an assistant message belongs to the run and the step of its commit"
  if (commit.messages.length > 0 && head.batch !== undefined && commit.batch?._tag !== "Publish")
    return "nothing enters the transcript between calls and their results"
  return brokenCallsRule(turn, commit)
}

const noCalls: ReadonlyArray<BatchCall> = []

const brokenCallsRule = (turn: AssistantMessage | undefined, commit: ThreadCommit): string | undefined => {
  const opened = commit.batch?._tag === "Open" ? commit.batch.calls : noCalls
  let asked = 0
  if (turn !== undefined)
    for (let index = 0; index < turn.content.length; index++) {
      const part = turn.content[index]
      if (part?.type === "toolCall" && !isAskedBy(part, opened[asked++])) return wronglyOpened
    }
  if (asked !== opened.length) return wronglyOpened
  return asked === 0 || commit.messages.at(-1) === turn ? undefined : "calls are followed by their results"
}

const wronglyOpened = "every call of an assistant message opens in the same commit, in its order and as it was asked"

const isAskedBy = (part: ToolCallPart, call: BatchCall | undefined): boolean =>
  call !== undefined &&
  part.callId === call.callId &&
  part.toolId === call.toolId &&
  // The engine hands the same object to both; a commit that was decoded holds equal ones.
  (part.arguments === call.arguments || canonicalJson(part.arguments) === canonicalJson(call.arguments))

const brokenBatchRule = (head: ThreadHead, commit: ThreadCommit): string | undefined => {
  const { batch } = commit
  if (batch === undefined) return undefined
  if (batch._tag === "Open") {
    if (head.batch !== undefined) return "a batch opens when the one before it is published"
    if (batch.calls.length === 0 || batch.step !== commit.step) return "a batch has calls and the step of its commit"
    const prefix = operationPrefix(commit.runId, commit.step)
    for (let position = 0; position < batch.calls.length; position++) {
      const call = batch.calls[position]
      if (call !== undefined && !opensWell(prefix, { position, call }))
        return `call ${call.operationId} may not open so`
    }
    return isEachIdOnce(batch.calls) ? undefined : "a call id is used once in its batch"
  }
  const before = head.batch
  if (before === undefined) return "only an open batch changes"
  let last = -1
  let isOrdered = true
  for (let index = 0; index < batch.calls.length; index++) {
    const call = batch.calls[index]
    if (call === undefined) continue
    const known = before.calls[call.position]
    if (known === undefined || !maySucceed(known, call)) return `call ${call.operationId} may not change so`
    isOrdered &&= call.position > last
    last = call.position
  }
  if (!isOrdered && new Set(batch.calls.map((call) => call.position)).size < batch.calls.length)
    return "a commit names a call once"
  if (batch._tag !== "Publish") return undefined
  if (!isPublishableWith(before, batch.calls)) return "results are published when every call has one"
  return batch.reminders.every((reminder) => before.calls[reminder.position] !== undefined)
    ? undefined
    : "a reminder stands behind a call of its batch"
}

/** `isPublishable(withCalls(before, changed))` without the copy; positions were checked to be known, and each once. */
const isPublishableWith = (before: ToolBatch, changed: ReadonlyArray<BatchCall>): boolean => {
  let open = 0
  for (let index = 0; index < before.calls.length; index++) {
    const call = before.calls[index]
    if (call !== undefined && !isTerminal(call)) open++
  }
  for (let index = 0; index < changed.length; index++) {
    const call = changed[index]
    if (call !== undefined && isTerminal(call)) open--
  }
  return open === 0
}

const isEachIdOnce = (calls: ReadonlyArray<BatchCall>): boolean => {
  if (calls.length === 1) return true
  const ids = new Set<string>()
  for (let index = 0; index < calls.length; index++) ids.add(calls[index]?.callId ?? "")
  return ids.size === calls.length
}

const opensWell = (
  prefix: string,
  { position, call }: { readonly position: number; readonly call: BatchCall }
): boolean => {
  const { operationId } = call
  // Compared in parts: the whole id of each call would be put together only for this.
  const isNamed = operationId.startsWith(prefix) && operationId.slice(prefix.length) === String(position)
  if (call.position !== position || !isNamed) return false
  if (call.proposal !== 0 || !isSound(call)) return false
  return call.phase._tag === "Requested" || maySucceed(unstarted(call), call)
}

const brokenTicketRule = (head: ThreadHead, commit: ThreadCommit): string | undefined => {
  const calls = commit.batch?.calls ?? noCalls
  if (commit.tickets.length === 0 && !isAnyWaiting(calls)) return brokenWaitRule(head, commit)
  const issued = new Set<string>()
  for (const ticket of commit.tickets) {
    if (issued.has(ticket.id) || head.ticket(ticket.id) !== undefined) return `ticket ${ticket.id} was issued before`
    if (!isOwn(ticket, commit)) return `ticket ${ticket.id} is of another run`
    if (ticket.kind !== "Pause" && !calls.some((call) => isWaitedFor(ticket, call)))
      return `ticket ${ticket.id} is for no call that waits for it`
    issued.add(ticket.id)
  }
  for (const { operationId, phase } of calls)
    if (phase._tag === "Awaiting" && !issued.has(phase.ticketId)) return `the wait of ${operationId} has no ticket`
  return brokenWaitRule(head, commit)
}

const isAnyWaiting = (calls: ReadonlyArray<BatchCall>): boolean => {
  for (let index = 0; index < calls.length; index++) if (calls[index]?.phase._tag === "Awaiting") return true
  return false
}

const isOwn = (ticket: ResumeTicket, commit: ThreadCommit): boolean =>
  ticket.runId === commit.runId && ticket.threadId === commit.threadId

/** Is the ticket for exactly this waiting call? */
export const isWaitedFor = (ticket: ResumeTicket, call: BatchCall): boolean =>
  call.phase._tag === "Awaiting" &&
  call.phase.ticketId === ticket.id &&
  call.phase.wait === ticket.kind &&
  call.operationId === ticket.operationId &&
  call.callId === ticket.callId &&
  call.toolId === ticket.toolId &&
  call.digest === ticket.digest &&
  call.proposal === ticket.proposal

const everyCall = (): boolean => true

const brokenWaitRule = (head: ThreadHead, commit: ThreadCommit): string | undefined => {
  const { disposition } = commit
  if (disposition._tag !== "Awaiting") return undefined
  const batch = batchAfter(head, commit)
  const waiting = new Set<string>()
  for (const { phase } of batch?.calls ?? []) {
    if (phase._tag === "Executing") return "a run waits only when no call is running or can run"
    if (phase._tag === "Awaiting") waiting.add(phase.ticketId)
  }
  const most = { width: Number.MAX_SAFE_INTEGER, ready: everyCall, held: [] }
  if (batch !== undefined && plan(batch, most).start.length > 0)
    return "a run waits only when no call is running or can run"
  for (const id of disposition.tickets) {
    if (waiting.delete(id)) continue
    const known = head.ticket(id)
    const isPause =
      (known?.ticket.kind === "Pause" && known.decision?._tag !== "Void") ||
      commit.tickets.some((ticket) => ticket.id === id && ticket.kind === "Pause")
    if (!isPause) return `ticket ${id} is of no waiting call`
  }
  const [left] = waiting
  return left === undefined ? undefined : `a waiting run names every ticket: ${left} is missing`
}

const brokenEndRule = (head: ThreadHead, commit: ThreadCommit): string | undefined =>
  commit.disposition._tag === "Ended" && batchAfter(head, commit) !== undefined
    ? "a run ends when its batch is published"
    : undefined

const batchAfter = (head: ThreadHead, commit: ThreadCommit): ToolBatch | undefined => {
  const { batch } = commit
  if (batch === undefined) return head.batch
  if (batch._tag === "Publish") return undefined
  if (batch._tag === "Open") return { runId: commit.runId, step: batch.step, calls: batch.calls }
  return head.batch === undefined ? undefined : withCalls(head.batch, batch.calls)
}

const brokenReferenceRule = (head: ThreadHead, commit: ThreadCommit): string | undefined => {
  if (commit.consumed.length + commit.resolved.length === 0) return undefined
  for (const id of commit.consumed) if (!head.hasSignal(id)) return `signal ${id} is not in the inbox`
  for (const id of commit.resolved) if (!head.hasOpenOutcome(id)) return `operation ${id} has no open outcome`
  return undefined
}
