/**
 * One thread as an owner writes it, beside a model of it: what the conformance checks are told in.
 *
 * Guarantees: builds commits with the right revision, epoch and step; keeps the fold of what the store acknowledged.
 */
import {
  type Json,
  type Message,
  ResumeTicket,
  Run,
  ExecutableAgentSnapshot as Snapshot,
  StoreError,
  ThreadCommit,
  ThreadFold,
  type ThreadStore,
  type TicketRefused,
  ToolBatch,
  ToolConcurrency,
  ToolOperation,
  ToolOutput
} from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const snapshot = Snapshot.builder("agent").model({ provider: "scripted", model: "one" }).build()

/** Milliseconds that a story's lease lasts. */
export const ttl = 1_000

type Given = Partial<ThreadCommit.ThreadCommit>

/** The value of an effect. A failure is thrown. */
export const value = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)

/** The reason of a refusal, or what was given. */
export const reasonOf = async <A>(
  effect: Effect.Effect<A, StoreError | TicketRefused>
): Promise<ThreadStore.StoreErrorReason | { readonly _tag: "TicketRefused"; readonly refused: TicketRefused } | A> => {
  const result = await Effect.runPromise(Effect.result(effect))
  if (Result.isSuccess(result)) return result.success
  return result.failure instanceof StoreError
    ? result.failure.reason
    : { _tag: "TicketRefused", refused: result.failure }
}

/** How it was refused, by name; `accepted` when it was not. */
export const tagOf = async <A>(effect: Effect.Effect<A, StoreError | TicketRefused>): Promise<string> => {
  const result = await Effect.runPromise(Effect.result(effect))
  if (Result.isSuccess(result)) return "accepted"
  return result.failure instanceof StoreError ? result.failure.reason._tag : result.failure.reason
}

/** A view as plain data, for comparison. */
export const plainView = (view: ThreadStore.ThreadView | undefined): unknown =>
  view === undefined ? undefined : { ...view, messages: view.messages.toArray() }

export const user = (text: string, id = `m-${text}`): Message.UserMessage => ({
  role: "user",
  id,
  content: [{ type: "text", text }]
})

export const awaiting = (first: string, ...rest: ReadonlyArray<string>): Run.RunDisposition => ({
  _tag: "Awaiting",
  tickets: [first, ...rest]
})

export const cancelled = Run.Ended({ _tag: "Cancelled" })

export interface StoryOptions {
  readonly threadId?: string
  readonly runId?: string
}

/** What a call of a story is to be; `wait` makes it wait for a ticket, `running` enters it. */
export interface CallOptions {
  readonly toolId?: string
  readonly arguments?: Json.JsonObject
  readonly wait?: ResumeTicket.WaitKind
  readonly running?: boolean
  readonly ticket?: Partial<ResumeTicket.ResumeTicket>
}

export class Story {
  readonly threadId: string
  runId: string
  fold: ThreadFold
  lease: ThreadStore.Lease
  readonly commits: Array<ThreadCommit.ThreadCommit> = []
  readonly store: ThreadStore.ThreadStore
  #count = 0

  constructor(store: ThreadStore.ThreadStore, options: StoryOptions = {}) {
    this.store = store
    this.threadId = options.threadId ?? "thread"
    this.runId = options.runId ?? `${this.threadId}-run`
    this.fold = new ThreadFold(this.threadId)
    this.lease = { threadId: this.threadId, owner: "owner", epoch: 0, leaseUntil: 0 }
  }

  /** A thread with a run that has just started. */
  static async begin(store: ThreadStore.ThreadStore, options: StoryOptions = {}): Promise<Story> {
    const story = new Story(store, options)
    await story.claim()
    await story.start()
    return story
  }

  async claim(owner = "owner", takeOver = false): Promise<ThreadStore.Lease> {
    this.lease = await value(this.store.claim({ threadId: this.threadId, owner, ttl, takeOver }))
    return this.lease
  }

  /** The next commit of the owner, as it should be. */
  next(given: Given = {}): ThreadCommit.ThreadCommit {
    return ThreadCommit.make({
      id: `${this.threadId}-${this.lease.epoch}-${++this.#count}`,
      threadId: this.threadId,
      runId: this.runId,
      expectedRevision: this.fold.revision,
      epoch: this.lease.epoch,
      at: 10 + this.#count,
      disposition: Run.Running,
      step: this.fold.step,
      ...given
    })
  }

  /** Sends a commit and keeps the model in step. */
  async commit(given: Given | ThreadCommit.ThreadCommit = {}): Promise<ThreadCommit.CommitReceipt> {
    const made = this.next(given)
    const receipt = await value(this.store.commit(made))
    this.#apply(made)
    return receipt
  }

  #apply(made: ThreadCommit.ThreadCommit): void {
    this.fold.apply(made)
    this.commits.push(made)
  }

  starting(given: Given = {}): ThreadCommit.ThreadCommit {
    return this.next({
      step: 0,
      start: {
        record: {
          runId: this.runId,
          threadId: this.threadId,
          principal: "ada",
          snapshotFingerprint: snapshot.fingerprint,
          narrowing: "Configured",
          startedAt: 10
        },
        snapshot
      },
      messages: [user("hello")],
      ...given
    })
  }

  start(given: Given = {}): Promise<ThreadCommit.CommitReceipt> {
    return this.commit(this.starting(given))
  }

  /** The commit that opens a batch of such calls in the next step. */
  opening(options: ReadonlyArray<CallOptions>, given: Given = {}): ThreadCommit.ThreadCommit {
    const step = this.fold.step + 1
    const calls = options.map((option, position) => this.#call(option, { position, step }))
    return this.next({
      step,
      messages: [askingFor(calls, { runId: this.runId, step })],
      batch: { _tag: "Open", step, calls },
      tickets: calls.flatMap((call, position) => this.#ticket(call, options[position])),
      ...given
    })
  }

  open(options: ReadonlyArray<CallOptions>, given: Given = {}): Promise<ThreadCommit.CommitReceipt> {
    return this.commit(this.opening(options, given))
  }

  /** The call at `position` of the open batch. */
  call(position: number): ToolBatch.BatchCall {
    const call = this.fold.batch?.calls[position]
    if (call === undefined) throw new Error(`the open batch has no call at ${position}`)
    return call
  }

  ticketId(position: number): string {
    const { phase } = this.call(position)
    if (phase._tag !== "Awaiting") throw new Error(`call ${position} does not wait`)
    return phase.ticketId
  }

  /** A call after one more event, made by the kernel. */
  moved(position: number, event: ToolBatch.CallEvent): ToolBatch.BatchCall {
    const result = ToolBatch.transition(this.call(position), event)
    if (!result.ok) throw new Error(result.illegal.rule)
    return result.call
  }

  completed(position: number, text = "done"): ToolBatch.BatchCall {
    return this.moved(position, { _tag: "Complete", output: ToolOutput.ok(this.call(position).callId, text) })
  }

  refused(position: number): ToolBatch.BatchCall {
    const output = ToolOutput.error(this.call(position).callId, "not run")
    return this.moved(position, { _tag: "Refuse", reason: "RunEnded", output })
  }

  lost(position: number): ToolBatch.BatchCall {
    const output = ToolOutput.error(this.call(position).callId, "may have happened")
    return this.moved(position, { _tag: "Lose", reason: "ProcessLost", output })
  }

  change(calls: ReadonlyArray<ToolBatch.BatchCall>, given: Given = {}): Promise<ThreadCommit.CommitReceipt> {
    return this.commit({ batch: { _tag: "Change", calls }, ...given })
  }

  publish(calls: ReadonlyArray<ToolBatch.BatchCall>, given: Given = {}): Promise<ThreadCommit.CommitReceipt> {
    return this.commit({ batch: { _tag: "Publish", calls, reminders: [] }, ...given })
  }

  signal(body: ThreadStore.SignalBody, changes: Partial<ThreadStore.Signal> = {}): ThreadStore.Signal {
    return { id: `signal-${++this.#count}`, threadId: this.threadId, runId: this.runId, at: 20, body, ...changes }
  }

  /** An answer to a ticket of the thread. */
  answer(
    ticketId: string,
    given: Partial<ResumeTicket.TicketAnswer> & { readonly signalId?: string } = {}
  ): ThreadStore.Signal {
    const { signalId, ...changes } = given
    const answer = { ticketId, answer: { _tag: "Allow" } as const, approver: "bob", at: 20, ...changes }
    return this.signal({ _tag: "Answer", answer }, signalId === undefined ? {} : { id: signalId })
  }

  /** Sends a signal; the model takes it in as the store's receipt says. */
  async send(signal: ThreadStore.Signal): Promise<ThreadStore.SignalReceipt> {
    const receipt = await value(this.store.signal(signal))
    this.fold.applySignal(signal, receipt.ticket)
    return receipt
  }

  #call(option: CallOptions, at: { readonly position: number; readonly step: number }): ToolBatch.BatchCall {
    const operationId = ToolOperation.idOf(this.runId, at.step, at.position)
    const args = option.arguments ?? { amount: at.position }
    const requested: ToolBatch.BatchCall = {
      operationId,
      position: at.position,
      callId: `call-${at.step}-${at.position}`,
      toolId: option.toolId ?? "pay",
      arguments: args,
      digest: ToolBatch.digestOf(args),
      proposal: 0,
      recovery: { mode: "NeverReplay", maxAttempts: 3 },
      claim: ToolConcurrency.Parallel,
      attempts: 0,
      phase: ToolBatch.Requested
    }
    const event = eventOf(option, requested)
    const result = event === undefined ? undefined : ToolBatch.transition(requested, event)
    return result?.ok === true ? result.call : requested
  }

  #ticket(call: ToolBatch.BatchCall, option: CallOptions | undefined): ReadonlyArray<ResumeTicket.ResumeTicket> {
    if (call.phase._tag !== "Awaiting") return []
    const { ticketId, wait } = call.phase
    const ticket: ResumeTicket.ResumeTicket = {
      id: ticketId,
      kind: wait,
      runId: this.runId,
      threadId: this.threadId,
      principal: "ada",
      snapshotFingerprint: snapshot.fingerprint,
      operationId: call.operationId,
      callId: call.callId,
      toolId: call.toolId,
      toolIdentity: "identity",
      arguments: call.arguments,
      digest: call.digest,
      proposal: call.proposal,
      requirements: [{ reason: "moves money" }],
      issuedAt: 10,
      ...option?.ticket
    }
    return [ticket]
  }
}

const eventOf = (option: CallOptions, call: ToolBatch.BatchCall): ToolBatch.CallEvent | undefined => {
  if (option.running === true) return { _tag: "Enter", digest: call.digest }
  if (option.wait === undefined) return undefined
  return { _tag: "Wait", ticketId: ResumeTicket.idOf(call.operationId, option.wait, 0), wait: option.wait }
}

/** The assistant message that asks for these calls. */
export const askingFor = (
  calls: ReadonlyArray<ToolBatch.BatchCall>,
  at: { readonly runId: string; readonly step: number }
): Message.AssistantMessage => ({
  role: "assistant",
  id: `${at.runId}-${at.step}`,
  runId: at.runId,
  step: at.step,
  content: calls.map((call) => ({
    type: "toolCall",
    callId: call.callId,
    toolId: call.toolId,
    arguments: call.arguments
  })),
  stop: "toolCalls"
})
