/**
 * One run while it is driven here: what is committed, what is at work, and how it is reached from outside.
 *
 * Guarantees: what stops it from outside (a fence, a lost lease, a crash point) interrupts its tools and its model at once
 * and ends the drive at the next look; listeners cannot disturb it.
 * Does not order effects: the flows do.
 */
import {
  type CrashPoint,
  type ExecutableAgentSnapshot,
  Json,
  type PermissionGate,
  type Run,
  type RunEvent,
  RunEvent as Events,
  type StateKey,
  type ThreadCommit,
  ThreadFold,
  type ThreadStore
} from "@toolwright/runtime-contract"
import { internal, type RunError } from "../RunError.js"
import type { Engine, EventListener } from "./engine.js"
import { Sleeper } from "./flow.js"
import type { Deadline } from "./deadlines.js"
import type { Busy, Settlement } from "./liveCall.js"
import { ByPosition } from "./byPosition.js"
import type { Entry } from "./entries.js"
import { RunLedger } from "./runLedger.js"
import { isThenable } from "./settle.js"
import type { SnapshotPlan } from "./snapshotPlan.js"

/** How the drive ended: at rest or at the end of the run, or stopped. */
export type DriveEnd = { readonly ok: true } | { readonly ok: false; readonly error: RunError }

/** What is fixed for the run. */
export interface Pinned {
  readonly record: Run.RunRecord
  readonly snapshot: ExecutableAgentSnapshot.ExecutableAgentSnapshot
  readonly plan: SnapshotPlan
  /** Those of the host and of plugins; a child's are also those of its parents. */
  readonly gates: ReadonlyArray<PermissionGate.PermissionGate>
  readonly limits: ExecutableAgentSnapshot.RunLimits
  /** The run's own gate; `undefined` where it has none. */
  readonly policy: PermissionGate.PermissionGate | undefined
}

export class ActiveRun {
  readonly engine: Engine
  readonly threadId: string
  readonly deadlines: Engine["deadlines"]
  readonly sleeper = new Sleeper()
  listeners: ReadonlyArray<EventListener>
  /** Events of models that were asked for, so that a model that never waits lets others have their turn. */
  pulls = 0
  readonly #waiting: Array<(end: DriveEnd) => void> = []
  #end: DriveEnd | undefined
  /** Number of the first fact of this drive; `undefined` until the thread is loaded. */
  firstFact: number | undefined
  fold: ThreadFold
  lease: ThreadStore.Lease | undefined
  ledger = new RunLedger()
  #pinned: Pinned | undefined

  /** Calls that are running here, or being asked after, by position. */
  readonly live = new ByPosition<Busy>()
  /** What live calls have come to, in the order in which it happened; taken by the batch flow. */
  settled: Array<Settlement> = []
  /** Positions of the open batch that the gates have let through here. */
  readonly ready = new ByPosition<true>()
  /** What the calls of the open batch need to run, by position. */
  readonly entries = new ByPosition<Entry>()
  /** Calls of the batch must be looked at that nobody here has gated or started. */
  mustReview = false
  #holding: Map<number, Deadline | undefined> | undefined
  /** Tokens spent in this process. */
  usage: Run.Usage = noUsage
  /** The typed final answer, where the snapshot asks for one. */
  output: Json.Json | undefined
  /** When the time at work was last counted, by the clock that nobody sets. */
  activeSince: number
  notes: Array<ThreadCommit.RunNote> = []
  audit: Array<ThreadCommit.AuditRecord> = []
  /** State that belongs to no thread, as of the start of the step; empty where nobody declared any. */
  shared: ReadonlyMap<string, Json.Json> = noState
  sharedRevision: number | undefined
  /** State as of the start of the step; made when somebody reads it. */
  view: StateKey.StateView | undefined

  /** The inbox must be read. */
  hasSignals = false
  /** What ends the run, once it is known here. */
  ending: Run.EndCause | undefined
  /** Asked for from this process, not yet seen in the inbox. */
  askedToEnd: Run.EndCause | undefined
  isClosing = false
  /** A crash point has dropped the run. */
  isDead = false
  #fatal: RunError | undefined
  /** Interrupts the model, while it is at work. */
  interruptModel: (() => void) | undefined
  #commits = 0
  /** What the ids of our commits begin with; it is the same for all of a run and an epoch. */
  #prefix = ""
  #prefixed: { readonly runId: string; readonly epoch: number } | undefined
  attempt = 1
  #callIds: Set<string> | undefined

  constructor(engine: Engine, given: { readonly threadId: string; readonly listeners: ReadonlyArray<EventListener> }) {
    this.engine = engine
    this.threadId = given.threadId
    this.deadlines = engine.deadlines
    this.activeSince = engine.deadlines.now()
    this.listeners = [...given.listeners, ...(engine.watchers.get(given.threadId) ?? [])]
    this.fold = new ThreadFold(given.threadId)
  }

  /** Calls that wait for the claim of an abandoned one, by position; `undefined` once they have waited long enough. */
  get holding(): Map<number, Deadline | undefined> {
    return (this.#holding ??= new Map())
  }

  get isHolding(): boolean {
    return this.#holding !== undefined && this.#holding.size > 0
  }

  get pinned(): Pinned {
    if (this.#pinned === undefined) throw internal("the run is not pinned yet", { threadId: this.threadId })
    return this.#pinned
  }

  get isPinned(): boolean {
    return this.#pinned !== undefined
  }

  pin(pinned: Pinned): void {
    this.#pinned = pinned
  }

  get runId(): string {
    return this.#pinned?.record.runId ?? this.fold.run?.runId ?? ""
  }

  /** No two commits of a thread ever share one: an epoch is ours alone. */
  nextCommitId(epoch: number): string {
    const { runId } = this
    if (this.#prefixed?.runId !== runId || this.#prefixed.epoch !== epoch) {
      this.#prefixed = { runId, epoch }
      this.#prefix = `${runId}/${epoch}/`
    }
    return this.#prefix + String(++this.#commits)
  }

  readonly wake = (): void => this.sleeper.wake()

  /** Something may have come into the inbox. */
  hear(): void {
    this.hasSignals = true
    this.wake()
  }

  /** Throws what has stopped the run from outside. */
  check(): void {
    if (this.#fatal !== undefined) throw this.#fatal
  }

  get isStopped(): boolean {
    return this.#fatal !== undefined
  }

  /** Stops the drive where it stands: nothing more is started, nothing more committed. */
  stop(error: RunError): void {
    if (this.#fatal !== undefined) return
    this.#fatal = error
    this.interruptWork()
    this.wake()
  }

  /** The run that this drive is for; `undefined` where it goes on with whatever it finds. */
  startsAs: string | undefined

  /** What the thread holds is still an earlier run. */
  get isStarting(): boolean {
    return this.startsAs !== undefined && this.fold.run?.runId !== this.startsAs
  }

  /** Ends the run at the next look, from this process. The first word counts. */
  askToEnd({ cause, by }: { readonly cause: Run.EndCause; readonly by: string }): void {
    const isOver = this.fold.disposition?._tag === "Ended" && !this.isStarting
    if (this.askedToEnd !== undefined || isOver) return
    this.askedToEnd = cause
    this.ending ??= cause
    this.audit.push({ type: "Control", at: this.engine.clock.now(), outcome: cause._tag, by })
    this.wake()
  }

  interruptWork(): void {
    this.interruptModel?.()
    for (const call of this.live.values()) call.drop()
  }

  /** Meets a crash point. One that throws drops the run on the spot. */
  at(point: CrashPoint.CrashPointName): void {
    try {
      this.engine.crash(point)
    } catch (cause) {
      const error = internal(`the run was dropped at ${point}`, { threadId: this.threadId, runId: this.runId, cause })
      this.isDead = true
      this.stop(error)
      throw error
    }
  }

  emitDelta(delta: RunEvent.RunDelta): void {
    this.#emit({ _tag: "Delta", delta })
  }

  emitFacts(commit: ThreadCommit.ThreadCommit, receipt: ThreadCommit.CommitReceipt): void {
    if (this.listeners.length === 0) return
    for (const [offset, fact] of Events.factsOf(commit).entries())
      this.#emit({ _tag: "Fact", number: receipt.firstFact + offset, fact: Json.freezeOpen(fact) })
  }

  #emit(event: RunEvent.RunEvent): void {
    for (const listener of this.listeners) {
      try {
        const answer: unknown = listener(event)
        // An asynchronous listener: its rejection is nobody's.
        if (isThenable(answer)) Promise.resolve(answer).catch(ignore)
      } catch {
        // Whoever watches cannot disturb what is watched.
      }
    }
  }

  /** Every call id of the thread's messages; gathered when the first call comes in. */
  usedCallIds(): Set<string> {
    if (this.#callIds !== undefined) return this.#callIds
    const used = new Set<string>()
    for (const message of this.fold.messages)
      if (message.role === "assistant")
        for (const part of message.content) if (part.type === "toolCall") used.add(part.callId)
    this.#callIds = used
    return used
  }

  /** The thread was loaded anew. */
  forgetCallIds(): void {
    this.#callIds = undefined
  }

  /** Calls `tell` once, when the drive is over; soon, when it is over already. */
  whenDone(tell: (end: DriveEnd) => void): void {
    const end = this.#end
    if (end === undefined) this.#waiting.push(tell)
    else queueMicrotask(() => tell(end))
  }

  /** The drive is over. */
  finish(end: DriveEnd): void {
    this.#end = end
    for (const tell of this.#waiting.splice(0)) {
      try {
        tell(end)
      } catch {
        // One waiter's fault is not another's.
      }
    }
  }

  listen(...listeners: ReadonlyArray<EventListener>): void {
    this.listeners = [...this.listeners, ...listeners]
  }

  unlisten(listener: EventListener): void {
    // Anew: it may be a listener that leaves, or makes another one leave.
    this.listeners = this.listeners.filter((one) => one !== listener)
  }
}

const ignore = (): void => {}

const noUsage: Run.Usage = Object.freeze({ inputTokens: 0, outputTokens: 0 })

const noState: ReadonlyMap<string, Json.Json> = new Map()
