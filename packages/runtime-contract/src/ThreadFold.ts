/**
 * The fold that turns a thread's commits and signals into its present state. One definition for every store and the engine.
 *
 * Guarantees: applying the same commits in the same order gives the same thread; a view of it is fixed at its revision;
 * nothing is copied per step but what changed.
 * Does not check: `StoreRules` admits a commit before it is applied.
 */
import { freezeOpen, type Json } from "./Json.js"
import type { Message, ToolMessage } from "./Message.js"
import type { TicketState } from "./ResumeTicket.js"
import type { RunDisposition, RunRecord } from "./Run.js"
import { countFacts } from "./RunEvent.js"
import { outlivesRun } from "./StoreRules.js"
import type { ExecutableAgentSnapshot } from "./Snapshot.js"
import type { AuditTail } from "./AuditChain.js"
import type { AuditRecord, BatchDelta, ThreadCommit } from "./ThreadCommit.js"
import { type OpenOutcome, type Signal, stateKeyOf, type ThreadView } from "./ThreadStore.js"
import { type BatchCall, outputOf, type ToolBatch, withCalls } from "./ToolBatch.js"
import { Transcript } from "./Transcript.js"

const nothing: ReadonlyMap<string, never> = new Map<string, never>()

export class ThreadFold {
  readonly threadId: string
  revision = 0
  run: RunRecord | undefined
  snapshot: ExecutableAgentSnapshot | undefined
  disposition: RunDisposition | undefined
  step = 0
  batch: ToolBatch | undefined
  nextFact = 1
  /** Head of the audit chain, and the records that no head covers yet. */
  auditHead: string | undefined
  #openAudit: Array<AuditRecord> = []
  readonly #messages: Array<Message> = []
  // Each made when something first goes in: most threads have none of it.
  #state: Map<string, Json> | undefined
  #tickets: Map<string, TicketState> | undefined
  /** The undecided ticket of each operation: so that a commit's cost does not grow with the tickets of the run. */
  #open: Map<string, string> | undefined
  #inbox: Map<string, Signal> | undefined
  #openOutcomes: Map<string, OpenOutcome> | undefined

  constructor(threadId: string) {
    this.threadId = threadId
  }

  get messages(): Transcript {
    return new Transcript(this.#messages)
  }

  get state(): ReadonlyMap<string, Json> {
    return this.#state ?? nothing
  }

  get tickets(): ReadonlyMap<string, TicketState> {
    return this.#tickets ?? nothing
  }

  get inbox(): ReadonlyMap<string, Signal> {
    return this.#inbox ?? nothing
  }

  get openOutcomes(): ReadonlyMap<string, OpenOutcome> {
    return this.#openOutcomes ?? nothing
  }

  get audit(): AuditTail {
    return { head: this.auditHead, open: this.#openAudit }
  }

  /** A view of this moment. */
  view(epoch: number): ThreadView {
    return {
      threadId: this.threadId,
      revision: this.revision,
      epoch,
      run: this.run,
      snapshot: this.snapshot,
      disposition: this.disposition,
      step: this.step,
      messages: this.messages,
      batch: this.batch,
      state: new Map(this.#state),
      tickets: new Map(this.#tickets),
      inbox: [...this.inbox.values()],
      openOutcomes: new Map(this.#openOutcomes),
      nextFact: this.nextFact,
      ...(this.auditHead === undefined && this.#openAudit.length === 0
        ? {}
        : { audit: { head: this.auditHead, open: [...this.#openAudit] } })
    }
  }

  /** A fold that goes on from a view. The view stays as it is. */
  static from(view: ThreadView): ThreadFold {
    const fold = new ThreadFold(view.threadId)
    fold.revision = view.revision
    fold.run = view.run
    fold.snapshot = view.snapshot
    fold.disposition = view.disposition
    fold.step = view.step
    fold.batch = view.batch
    fold.nextFact = view.nextFact
    if (view.audit !== undefined) {
      fold.auditHead = view.audit.head
      fold.#openAudit = [...view.audit.open]
    }
    for (const message of view.messages) fold.#append(message)
    for (const [key, value] of view.state) fold.#setState(key, value)
    for (const state of view.tickets.values()) fold.#setTicket(state)
    for (const signal of view.inbox) fold.#receive(signal)
    for (const outcome of view.openOutcomes.values()) fold.#leaveOpen(outcome)
    return fold
  }

  apply(commit: ThreadCommit): void {
    this.nextFact += countFacts(commit)
    this.revision++
    if (commit.start !== undefined) this.#start(commit.start.record, commit.start.snapshot)
    this.step = commit.step
    // What a publishing commit says stands behind the results: a result directly follows its call.
    if (commit.batch?._tag === "Publish") this.#applyBatch(commit.batch, commit)
    for (let index = 0; index < commit.messages.length; index++) this.#append(commit.messages[index])
    if (commit.batch !== undefined && commit.batch._tag !== "Publish") this.#applyBatch(commit.batch, commit)
    if (commit.tickets.length > 0) for (const ticket of commit.tickets) this.#setTicket({ ticket, allowedBy: [] })
    if (commit.state.length > 0) this.#applyState(commit.state)
    this.#applyAudit(commit)
    if (this.#inbox !== undefined) for (const id of commit.consumed) this.#inbox.delete(id)
    if (this.#openOutcomes !== undefined) for (const id of commit.resolved) this.#openOutcomes.delete(id)
    this.disposition = commit.disposition
    if (commit.disposition._tag === "Ended") this.#end()
  }

  #append(message: Message | undefined): void {
    // The transcript is handed to models, hooks and hosts, and is what is committed.
    if (message !== undefined) this.#messages.push(freezeOpen(message))
  }

  #applyState(commands: ThreadCommit["state"]): void {
    for (const command of commands) {
      if (command.scope === "Shared") continue
      if (command._tag === "Set") this.#setState(stateKeyOf(command.scope, command.key), command.value)
      else this.#state?.delete(stateKeyOf(command.scope, command.key))
    }
  }

  #end(): void {
    for (const [operationId, ticketId] of this.#open ?? nothing) this.#void({ operationId, ticketId }, "the run ended")
    for (const [id, signal] of this.#inbox ?? nothing) if (!outlivesRun(signal.body)) this.#inbox?.delete(id)
  }

  #applyAudit({ audit, auditHead }: ThreadCommit): void {
    if (auditHead !== undefined) {
      this.auditHead = auditHead
      this.#openAudit = []
    } else for (let index = 0; index < audit.length; index++) this.#leaveUncovered(audit[index])
  }

  #leaveUncovered(record: AuditRecord | undefined): void {
    if (record !== undefined) this.#openAudit.push(record)
  }

  /** A signal was accepted; for an answer, `ticket` is its ticket afterwards. */
  applySignal(signal: Signal, ticket: TicketState | undefined): void {
    this.#receive(signal)
    if (ticket !== undefined) this.#setTicket(ticket)
  }

  #start(record: RunRecord, snapshot: ExecutableAgentSnapshot): void {
    this.run = record
    this.snapshot = snapshot
    this.step = 0
    this.#tickets?.clear()
    this.#open?.clear()
    for (const key of this.state.keys()) if (key.startsWith("Run:")) this.#state?.delete(key)
  }

  #applyBatch(delta: BatchDelta, commit: ThreadCommit): void {
    if (delta._tag === "Open") {
      this.batch = { runId: commit.runId, step: delta.step, calls: delta.calls }
    } else if (this.batch !== undefined) {
      this.batch = withCalls(this.batch, delta.calls)
      if (this.#open !== undefined && this.#open.size > 0) this.#voidPassed(this.#open, delta.calls)
    }
    for (let index = 0; index < delta.calls.length; index++) {
      const call = delta.calls[index]
      if (call?.phase._tag === "Indeterminate")
        this.#leaveOpen({ operationId: call.operationId, runId: commit.runId, call, since: commit.at })
    }
    if (delta._tag !== "Publish" || this.batch === undefined) return
    this.#publish(this.batch, delta)
    this.batch = undefined
  }

  #voidPassed(open: ReadonlyMap<string, string>, calls: ReadonlyArray<BatchCall>): void {
    for (const { operationId, phase } of calls) {
      const ticketId = open.get(operationId)
      if (ticketId !== undefined && !(phase._tag === "Awaiting" && phase.ticketId === ticketId))
        this.#void({ operationId, ticketId }, "the call waits no longer")
    }
  }

  #publish(batch: ToolBatch, delta: Extract<BatchDelta, { readonly _tag: "Publish" }>): void {
    for (let position = 0; position < batch.calls.length; position++) {
      const call = batch.calls[position]
      if (call !== undefined) this.#append(resultMessage(call))
      if (delta.reminders.length > 0)
        for (const reminder of delta.reminders) if (reminder.position === position) this.#append(reminder.message)
    }
  }

  #setState(place: string, value: Json): void {
    this.#state ??= new Map()
    this.#state.set(place, value)
  }

  #receive(signal: Signal): void {
    this.#inbox ??= new Map()
    this.#inbox.set(signal.id, signal)
  }

  #leaveOpen(outcome: OpenOutcome): void {
    this.#openOutcomes ??= new Map()
    this.#openOutcomes.set(outcome.operationId, outcome)
  }

  #setTicket(state: TicketState): void {
    const { id, operationId } = state.ticket
    this.#tickets ??= new Map()
    this.#tickets.set(id, freezeOpen(state))
    this.#open ??= new Map()
    if (state.decision === undefined) this.#open.set(operationId, id)
    else if (this.#open.get(operationId) === id) this.#open.delete(operationId)
  }

  #void(open: { readonly operationId: string; readonly ticketId: string }, reason: string): void {
    const state = this.#tickets?.get(open.ticketId)
    this.#open?.delete(open.operationId)
    if (state?.decision === undefined && state !== undefined)
      this.#tickets?.set(open.ticketId, { ...state, decision: { _tag: "Void", reason } })
  }
}

/** The message that publication makes of a terminal call. */
const resultMessage = (call: BatchCall): ToolMessage | undefined => {
  const output = outputOf(call)
  const { _tag } = call.phase
  if (output === undefined || (_tag !== "Completed" && _tag !== "NotRun" && _tag !== "Indeterminate")) return undefined
  const message: Mutable<ToolMessage> = {
    role: "tool",
    id: `${call.operationId}/result`,
    callId: call.callId,
    toolId: call.toolId,
    operationId: call.operationId,
    outcome: _tag,
    isError: output.isError,
    content: output.content
  }
  if (output.data !== undefined) message.data = output.data
  if (output.foreign === true) message.foreign = true
  return message
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }
