/**
 * The way from a draft to a durable commit (D2): built once, sent until it is acknowledged, and only then acted upon.
 *
 * Guarantees: a commit that nobody answered is sent again under its own id; nothing that depends on it happens before the
 * store has said yes; after the last try the run's drive ends with `CommitUnknown`; a lease that merely ran out is renewed
 * once and the same commit sent again.
 * Does not decide what is committed.
 */
import {
  AuditChain,
  type CrashPoint,
  ExecutableAgentSnapshot,
  type Run,
  StoreError,
  type ThreadCommit
} from "@toolwright/runtime-contract"
import { fromStore, internal, RunError } from "../RunError.js"
import { tellParent } from "./parentTelling.js"
import { accountRefusals } from "./refusals.js"
import type { ActiveRun } from "./activeRun.js"
import { type Flow, type Rest, waitFor } from "./flow.js"
import { noteLate } from "./lateResults.js"
import { beginEffect, isSettled, type Settled, type Started } from "./settle.js"

const { defaultLimits } = ExecutableAgentSnapshot

type Given = Omit<
  Partial<ThreadCommit.ThreadCommit>,
  "id" | "threadId" | "runId" | "expectedRevision" | "epoch" | "at" | "disposition" | "notes" | "audit"
>

export interface CommitDraft extends Given {
  /** Named in crash points; not part of the commit. */
  readonly kind: CrashPoint.CommitKind
  readonly disposition: Run.RunDisposition
}

interface Points {
  readonly before: CrashPoint.CrashPointName
  readonly after: CrashPoint.CrashPointName
}

const pointsOf = (kind: CrashPoint.CommitKind): Points => ({
  before: `${kind}.beforeCommit`,
  after: `${kind}.afterCommit`
})

const points: Readonly<Record<CrashPoint.CommitKind, Points>> = {
  start: pointsOf("start"),
  open: pointsOf("open"),
  approve: pointsOf("approve"),
  change: pointsOf("change"),
  await: pointsOf("await"),
  publish: pointsOf("publish"),
  end: pointsOf("end"),
  steer: pointsOf("steer"),
  resolve: pointsOf("resolve"),
  recover: pointsOf("recover")
}

/** Commits. Notes and audit records that wait go along. Throws `RunError`, and `SharedMoved`. */
export const commit = (run: ActiveRun, draft: CommitDraft): Rest => {
  run.check()
  if (draft.disposition._tag === "Ended" && isOpenChild(run)) return commitChildEnd(run, draft)
  return commitNow(run, draft)
}

const isOpenChild = (run: ActiveRun): boolean =>
  run.isPinned && run.pinned.record.parent !== undefined && run.fold.disposition?._tag !== "Ended"

/** The parent hears of the end before it is durable, and looks for itself: so the word cannot be lost in a crash. */
function* commitChildEnd(run: ActiveRun, draft: CommitDraft): Flow<void> {
  yield* tellParent(run)
  const rest = commitNow(run, draft)
  if (rest !== undefined) yield* rest
}

const commitNow = (run: ActiveRun, draft: CommitDraft): Rest => {
  const made = build(run, draft)
  run.at(points[draft.kind].before)
  const value = beginEffect(run.engine.services, run.engine.store.commit(made))
  if (!isSettled(value) || !value.ok) return finish(run, { kind: draft.kind, made, value })
  const { revision } = value.value
  if (made.state.length > 0) run.ledger.written(made.state)
  run.fold.apply(made)
  if (run.fold.revision !== revision) throw misnumbered(run, revision)
  run.at(points[draft.kind].after)
  if (run.listeners.length > 0) run.emitFacts(made, value.value)
  return undefined
}

/** `commit` for flows where nothing hangs on a generator more or less. */
export function* commitFlow(run: ActiveRun, draft: CommitDraft): Flow<void> {
  const rest = commit(run, draft)
  if (rest !== undefined) yield* rest
}

interface Sent {
  readonly kind: CrashPoint.CommitKind
  readonly made: ThreadCommit.ThreadCommit
  readonly value: Settled<ThreadCommit.CommitReceipt> | Started<ThreadCommit.CommitReceipt>
}

function* finish(run: ActiveRun, { kind, made, value }: Sent): Flow<void> {
  const receipt = yield* send(run, { made, first: value })
  if (made.state.length > 0) run.ledger.written(made.state)
  run.fold.apply(made)
  if (run.fold.revision !== receipt.revision) throw misnumbered(run, receipt.revision)
  run.at(points[kind].after)
  if (run.listeners.length > 0) run.emitFacts(made, receipt)
}

const misnumbered = (run: ActiveRun, revision: number): RunError =>
  internal(`the thread is at revision ${revision}, expected ${run.fold.revision}`, placeOf(run))

/** Shared state has moved since it was read: the commit is certainly not durable, and its parts go along with the next. */
export class SharedMoved extends Error {
  readonly commit: ThreadCommit.ThreadCommit
  constructor(refused: ThreadCommit.ThreadCommit) {
    super("shared state has moved")
    this.commit = refused
  }
}

const none: ReadonlyArray<never> = Object.freeze([])

/** Written out field by field: it is built twice a step, and spreads cost more than the rest of the commit. */
const build = (run: ActiveRun, draft: CommitDraft): ThreadCommit.ThreadCommit => {
  noteLate(run)
  const { lease, fold, notes, audit } = run
  if (lease === undefined) throw internal("a commit needs a lease", placeOf(run))
  if (notes.length > 0) run.notes = []
  if (audit.length > 0) run.audit = []
  const at = run.engine.clock.now()
  countTime(run)
  const counted = draft.disposition._tag === "Ended" ? undefined : run.ledger.command()
  const made: Mutable<ThreadCommit.ThreadCommit> = {
    id: run.nextCommitId(lease.epoch),
    threadId: run.threadId,
    runId: run.runId,
    expectedRevision: fold.revision,
    epoch: lease.epoch,
    at,
    disposition: draft.disposition,
    step: draft.step ?? fold.step,
    messages: draft.messages ?? none,
    tickets: draft.tickets ?? none,
    state: counted === undefined ? (draft.state ?? none) : [...(draft.state ?? none), counted],
    notes: notes.length > 0 ? notes.slice() : none,
    audit: audit.length > 0 ? audit.slice() : none,
    consumed: draft.consumed ?? none,
    resolved: draft.resolved ?? none
  }
  if (draft.batch !== undefined) made.batch = draft.batch
  if (draft.start !== undefined) made.start = draft.start
  if (draft.expectedSharedRevision !== undefined) made.expectedSharedRevision = draft.expectedSharedRevision
  else if (fold.inbox.size > 0) accountRefusals(run, made)
  sealAudit(run, made)
  return made
}

/** The chain goes on where a run rests or ends, and behind every record that is more than a plain allow. */
const sealAudit = (run: ActiveRun, made: Mutable<ThreadCommit.ThreadCommit>): void => {
  const isRest = made.disposition._tag !== "Running"
  if (!isRest && made.audit === none) return
  const head = AuditChain.sealOf(run.fold.audit, { threadId: run.threadId, isRest, audit: made.audit })
  if (head !== undefined) made.auditHead = head
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

/** Under a time budget each commit carries the time at work so far, so that a crash loses only the last stretch. */
const countTime = (run: ActiveRun): void => {
  if (!run.isPinned || run.pinned.limits.maxDuration === undefined) return
  const now = run.deadlines.now()
  run.ledger.active += now - run.activeSince
  run.activeSince = now
}

function* send(
  run: ActiveRun,
  { made, first }: { readonly made: ThreadCommit.ThreadCommit; readonly first: Sent["value"] }
): Flow<ThreadCommit.CommitReceipt> {
  const { store, services, storeTimeout } = run.engine
  const retries = run.isPinned ? run.pinned.limits.commitRetries : defaultLimits.commitRetries
  let isRenewed = false
  let value = first
  for (let tries = 0; ;) {
    const answer = yield* waitFor(run, { value, limit: storeTimeout })
    if (typeof answer === "object" && answer.ok) return answer.value
    const error = typeof answer === "object" ? answer.error : undefined
    if (isRefusal(error)) {
      if (error.reason._tag === "SharedConflict") throw new SharedMoved(made)
      if (error.reason._tag !== "LeaseLost" || isRenewed) throw fromStore(error, placeOf(run))
      isRenewed = true
      yield* renew(run)
    } else {
      if (tries++ >= retries) throw commitUnknown(run, { commitId: made.id, cause: error })
      yield* pause(run, backoff(tries))
    }
    run.check()
    value = beginEffect(services, store.commit(made))
  }
}

/** True for an answer: the commit is certainly not durable. Silence, faults and defects leave that open. */
const isRefusal = (error: unknown): error is StoreError =>
  error instanceof StoreError && error.reason._tag !== "Unanswered" && error.reason._tag !== "Unavailable"

function* renew(run: ActiveRun): Flow<void> {
  const { lease, engine } = run
  if (lease === undefined) return
  const value = beginEffect(engine.services, engine.store.renew(lease, engine.leaseTtl))
  const answer = yield* waitFor(run, { value, limit: engine.storeTimeout })
  if (typeof answer === "object" && answer.ok) run.lease = answer.value
  else throw fromStore(typeof answer === "object" ? answer.error : undefined, placeOf(run))
}

/** Sleeps for so many milliseconds on the runtime's clock. */
function* pause(run: ActiveRun, delay: number): Flow<void> {
  let isOver = false
  const deadline = run.deadlines.after(delay, () => {
    isOver = true
    run.wake()
  })
  try {
    while (!over()) {
      run.check()
      yield* run.sleeper.sleep
    }
  } finally {
    deadline.cancel()
  }

  // Read through a function: the compiler does not see that the deadline assigns.
  function over(): boolean {
    return isOver
  }
}

/** Milliseconds before the next try: 50, doubled each time, at most two seconds. */
const backoff = (tries: number): number => Math.min(50 * 2 ** (tries - 1), 2_000)

const commitUnknown = (run: ActiveRun, given: { readonly commitId: string; readonly cause: unknown }): RunError =>
  new RunError({
    reason: { _tag: "CommitUnknown", commitId: given.commitId },
    message: `the store did not acknowledge commit ${given.commitId}`,
    ...placeOf(run),
    cause: given.cause
  })

export const placeOf = (run: ActiveRun): { readonly threadId: string; readonly runId: string } => ({
  threadId: run.threadId,
  runId: run.runId
})
