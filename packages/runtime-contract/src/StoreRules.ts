/**
 * What every store checks inside its transaction, as pure total functions over a thread's head.
 *
 * Guarantees: the same answer in every store; a refused request changes nothing.
 * Does not read or write: a store gives the head in and acts on the answer.
 */
import { brokenRule } from "./internal/commitRules.js"
import type { TicketState } from "./ResumeTicket.js"
import type { RunDisposition, RunRecord } from "./Run.js"
import {
  type ClaimRequest,
  type Lease,
  type Signal,
  type SignalBody,
  StoreError,
  type StoreErrorReason
} from "./ThreadStore.js"
import type { ThreadCommit } from "./ThreadCommit.js"
import type { ToolBatch } from "./ToolBatch.js"

export { damageOf, type StoredThread } from "./internal/storedThread.js"

/** Signals that still mean something after the run they name has ended. */
export const outlivesRun = (body: SignalBody): boolean => body._tag === "Resolve" || body._tag === "Refused"

/** May this signal enter the inbox? A signal for a run that is not open is refused, so that nobody waits for its effect. */
export const refusalOfSignal = (
  head: Pick<ThreadHead, "run" | "disposition" | "hasOpenOutcome">,
  signal: Signal
): StoreErrorReason | undefined => {
  const { body } = signal
  if (head.run === undefined) return { _tag: "NotFound" }
  // Who may answer, and whether anything waits, is the ticket's own rule.
  if (body._tag === "Answer") return undefined
  if (body._tag === "Resolve")
    return head.hasOpenOutcome(body.operationId)
      ? undefined
      : { _tag: "Rejected", rule: `operation ${body.operationId} has no open outcome` }
  const isLatest = head.run.runId === signal.runId
  // Nobody waits for its effect: it is accounted for, after the end as well.
  if (body._tag === "Refused")
    return isLatest ? undefined : { _tag: "Rejected", rule: "a refusal is of the latest run of its thread" }
  const isOpen = isLatest && head.disposition?._tag !== "Ended"
  return isOpen ? undefined : { _tag: "Rejected", rule: "a signal is for the open run of its thread" }
}

/** Who holds a thread. A thread that nobody ever claimed has epoch 0. */
export interface Ownership {
  readonly epoch: number
  /** `undefined` after a release. */
  readonly owner: string | undefined
  readonly leaseUntil: number
}

export const unowned: Ownership = Object.freeze({ epoch: 0, owner: undefined, leaseUntil: 0 })

/** What a commit is checked against. */
export interface ThreadHead {
  readonly revision: number
  readonly run: Pick<RunRecord, "runId"> | undefined
  readonly disposition: RunDisposition | undefined
  readonly step: number
  readonly batch: ToolBatch | undefined
  /** Was this run ever started in the thread? */
  readonly hasRun: (runId: string) => boolean
  /** Is this the id of an unread signal? */
  readonly hasSignal: (id: string) => boolean
  /** A ticket of the current run, open or not. */
  readonly ticket: (id: string) => TicketState | undefined
  /** Is the outcome of this operation unknown and unresolved? */
  readonly hasOpenOutcome: (operationId: string) => boolean
  /** Of the state that belongs to no thread. */
  readonly sharedRevision: number
}

/**
 * May the first receipt be given for a commit whose id is known? Asked before `refusalOfCommit`. An owner that was fenced
 * in between is told that instead: it must not act on what its commit allowed.
 */
export const refusalOfRepeat = (ownership: Ownership, commit: ThreadCommit): StoreErrorReason | undefined =>
  commit.epoch === ownership.epoch ? undefined : { _tag: "Fenced", epoch: commit.epoch, current: ownership.epoch }

/** `undefined` admits. A commit whose id is known is answered with its first receipt before this is asked. */
export const refusalOfCommit = (
  given: { readonly head: ThreadHead; readonly ownership: Ownership; readonly now: number },
  commit: ThreadCommit
): StoreErrorReason | undefined => {
  const { head, ownership } = given
  if (commit.epoch !== ownership.epoch) return { _tag: "Fenced", epoch: commit.epoch, current: ownership.epoch }
  if (!isLive(ownership, given.now)) return { _tag: "LeaseLost" }
  if (commit.expectedRevision !== head.revision)
    return { _tag: "RevisionConflict", expected: commit.expectedRevision, actual: head.revision }
  if (commit.expectedSharedRevision !== undefined && commit.expectedSharedRevision !== head.sharedRevision)
    return { _tag: "SharedConflict", expected: commit.expectedSharedRevision, actual: head.sharedRevision }
  const rule = brokenRule(head, commit)
  return rule === undefined ? undefined : { _tag: "Rejected", rule }
}

/**
 * What is wrong with a commit that a log holds behind this head: a store admits by these rules, so a log that breaks one
 * was damaged. `undefined` for one that could be admitted. To be asked before the fold takes a stored commit in, which
 * itself passes over what it does not know. Who owned the thread then, and which runs it had before, is not looked at.
 */
export const damageOfCommit = (
  head: Omit<ThreadHead, "hasRun" | "sharedRevision">,
  commit: ThreadCommit
): string | undefined => {
  if (commit.expectedRevision !== head.revision) return `a commit stands behind revision ${commit.expectedRevision}`
  return brokenRule(
    {
      revision: head.revision,
      run: head.run,
      disposition: head.disposition,
      step: head.step,
      batch: head.batch,
      hasRun: neverBefore,
      hasSignal: head.hasSignal,
      ticket: head.ticket,
      hasOpenOutcome: head.hasOpenOutcome,
      sharedRevision: 0
    },
    commit
  )
}

const neverBefore = (): boolean => false

/** A change of ownership that was asked for: the new one, or why not. */
export type OwnershipAnswer =
  | { readonly ok: true; readonly ownership: Ownership }
  | { readonly ok: false; readonly reason: StoreErrorReason }

/** Epochs of a thread only grow, over its deletion too: a lease of a deleted thread fences nobody. */
export const claim = (ownership: Ownership, request: ClaimRequest & { readonly now: number }): OwnershipAnswer => {
  const { now, owner, takeOver, ttl } = request
  if (!isDuration(ttl)) return { ok: false, reason: badLease }
  if (isLive(ownership, now) && ownership.owner !== owner && takeOver !== true)
    return { ok: false, reason: busy(ownership) }
  return { ok: true, ownership: { epoch: ownership.epoch + 1, owner, leaseUntil: now + ttl } }
}

/** The lease with a new end. One that has expired may still be renewed while nobody else took the thread. */
export const renew = (
  ownership: Ownership,
  request: { readonly lease: Lease; readonly ttl: number; readonly now: number }
): OwnershipAnswer => {
  if (!isDuration(request.ttl)) return { ok: false, reason: badLease }
  const reason = refusalOfLease(ownership, request.lease)
  if (reason !== undefined) return { ok: false, reason }
  return { ok: true, ownership: { ...ownership, leaseUntil: request.now + request.ttl } }
}

/** The same epoch without an owner: the next claim fences whatever the old one still has under way. */
export const release = (ownership: Ownership, lease: Lease): OwnershipAnswer => {
  const reason = refusalOfLease(ownership, lease)
  if (reason !== undefined) return { ok: false, reason }
  return { ok: true, ownership: { epoch: ownership.epoch, owner: undefined, leaseUntil: 0 } }
}

/** A thread under a live lease is not deleted. What is left of a deleted one is `release`d ownership: its epoch. */
export const refusalOfDelete = (ownership: Ownership, now: number): StoreErrorReason | undefined =>
  isLive(ownership, now) ? busy(ownership) : undefined

const isLive = (ownership: Ownership, now: number): boolean =>
  ownership.owner !== undefined && ownership.leaseUntil > now

const busy = ({ leaseUntil, owner }: Ownership): StoreErrorReason => ({
  _tag: "ThreadBusy",
  owner: owner ?? "",
  leaseUntil
})

const isDuration = (ttl: number): boolean => Number.isFinite(ttl) && ttl > 0

const badLease: StoreErrorReason = { _tag: "Rejected", rule: "a lease lasts a positive number of milliseconds" }

/** Why a lease can be neither renewed nor released. */
export const refusalOfLease = (ownership: Ownership, lease: Lease): StoreErrorReason | undefined => {
  if (lease.epoch !== ownership.epoch) return { _tag: "Fenced", epoch: lease.epoch, current: ownership.epoch }
  return ownership.owner === lease.owner ? undefined : { _tag: "LeaseLost" }
}

export const storeError = (
  threadId: string,
  { cause, reason }: { readonly reason: StoreErrorReason; readonly cause?: unknown }
): StoreError =>
  new StoreError({
    reason,
    threadId,
    // What is asked of the whole store is of no thread.
    message: threadId === "" ? explain(reason) : `thread ${threadId}: ${explain(reason)}`,
    ...(cause === undefined ? {} : { cause })
  })

const explain = (reason: StoreErrorReason): string => {
  switch (reason._tag) {
    case "RevisionConflict":
      return `expected revision ${reason.expected}, it is ${reason.actual}`
    case "SharedConflict":
      return `expected revision ${reason.expected} of shared state, it is ${reason.actual}`
    case "Fenced":
      return `epoch ${reason.epoch} was fenced by epoch ${reason.current}`
    case "LeaseLost":
      return "the lease has expired or was released"
    case "ThreadBusy":
      return `owned by ${reason.owner} until ${reason.leaseUntil}`
    case "Rejected":
      return `rejected: ${reason.rule}`
    case "Unreadable":
      return `unreadable record at ${reason.position}`
    case "NotFound":
      return "not found"
    case "Unanswered":
      return "the store did not answer"
    case "Unavailable":
      return "the store cannot be reached"
  }
}
