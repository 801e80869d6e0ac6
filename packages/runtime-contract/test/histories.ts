// Random legal histories of a thread: every commit is admitted by the rules, every change of a call made by the kernel.
import * as fc from "fast-check"
import type { JsonObject } from "../src/Json.js"
import type { ReminderMessage } from "../src/Message.js"
import { decide, type ResumeAnswer, type WaitKind } from "../src/ResumeTicket.js"
import { awaitingOrRunning, Ended, Running } from "../src/Run.js"
import type { StateCommand } from "../src/StateKey.js"
import { refusalOfCommit, type ThreadHead } from "../src/StoreRules.js"
import type { BatchDelta, RunNote, ThreadCommit } from "../src/ThreadCommit.js"
import { ThreadFold } from "../src/ThreadFold.js"
import type { Signal } from "../src/ThreadStore.js"
import { type BatchCall, type CallEvent, isTerminal, transition, withCalls } from "../src/ToolBatch.js"
import { Parallel, Resources, Serial } from "../src/ToolConcurrency.js"
import { idOf } from "../src/ToolOperation.js"
import * as ToolOutput from "../src/ToolOutput.js"
import { asking, call, commit, digestOf, starting, threadId, ticketFor, user } from "./kernelWorld.js"

/** What a store was given, in order. */
export type Entry =
  | { readonly _tag: "Commit"; readonly commit: ThreadCommit }
  | { readonly _tag: "Signal"; readonly signal: Signal }

export const headOf = (fold: ThreadFold, runs: ReadonlySet<string>): ThreadHead => ({
  revision: fold.revision,
  run: fold.run,
  disposition: fold.disposition,
  step: fold.step,
  batch: fold.batch,
  hasRun: (id) => runs.has(id),
  hasSignal: (id) => fold.inbox.has(id),
  ticket: (id) => fold.tickets.get(id),
  hasOpenOutcome: (id) => fold.openOutcomes.has(id),
  sharedRevision: 0
})

/** Applies an entry as a store does. */
export const applyEntry = (fold: ThreadFold, entry: Entry): void => {
  if (entry._tag === "Commit") return fold.apply(entry.commit)
  const { body } = entry.signal
  const state = body._tag === "Answer" ? fold.tickets.get(body.answer.ticketId) : undefined
  const verdict = body._tag === "Answer" && state !== undefined ? decide(state, body.answer) : undefined
  fold.applySignal(entry.signal, verdict === undefined || verdict._tag === "Refused" ? undefined : verdict.state)
}

class Walk {
  readonly entries: Array<Entry> = []
  readonly fold = new ThreadFold(threadId)
  readonly #runs = new Set<string>()
  #seed: number
  #count = 0

  constructor({ seed, steps }: { readonly seed: number; readonly steps: number }) {
    this.#seed = seed
    for (let step = 0; step < steps; step++) this.#step()
  }

  /** A small generator of its own (a linear congruence, high bits): a history is its seed and its length. */
  #pick(count: number): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#seed / 4_294_967_296) * count)
  }

  #of<A>(...items: ReadonlyArray<A>): A {
    return items[this.#pick(items.length)]!
  }

  get #runId(): string {
    return `run-${this.#runs.size}`
  }

  #commit(given: Partial<ThreadCommit>): void {
    const { fold } = this
    const made = commit({
      id: `commit-${++this.#count}`,
      runId: this.#runId,
      expectedRevision: fold.revision,
      step: fold.step,
      at: 100 + this.#count,
      consumed: [...fold.inbox.keys()].filter(() => this.#pick(2) === 0),
      ...(this.#pick(4) === 0 ? { notes: [this.#note()] } : {}),
      ...(this.#pick(4) === 0 ? { state: [this.#command()] } : {}),
      ...(this.#pick(4) === 0
        ? { audit: [{ type: "Decision" as const, at: 1, outcome: "allow", by: "gate", detail: { a: [1, null] } }] }
        : {}),
      ...given
    })
    const ownership = { epoch: 1, owner: "owner", leaseUntil: 1e15 }
    const refusal = refusalOfCommit({ head: headOf(fold, this.#runs), ownership, now: 0 }, made)
    if (refusal !== undefined) throw new Error(JSON.stringify({ refusal, made }))
    if (made.start !== undefined) this.#runs.add(made.runId)
    this.#enter({ _tag: "Commit", commit: made })
  }

  #enter(entry: Entry): void {
    this.entries.push(entry)
    applyEntry(this.fold, entry)
  }

  #note(): RunNote {
    return this.#of<RunNote>(
      { type: "HookFailed", hook: "h", phase: "StepStart", message: "no" },
      { type: "UsageRecorded", provider: "p", model: "m", usage: { inputTokens: 1, outputTokens: 2 } },
      { type: "SignalRefused", signalId: "s", reason: "late" }
    )
  }

  #command(): StateCommand {
    const key = this.#of("a", "b")
    const scope = this.#of("Run" as const, "Thread" as const)
    return this.#of<StateCommand>(
      { _tag: "Set", scope, key, merge: "Disjoint", value: { n: this.#pick(9) } },
      { _tag: "Remove", scope, key, merge: "Disjoint" }
    )
  }

  #step(): void {
    const { disposition } = this.fold
    if (disposition === undefined || disposition._tag === "Ended") return this.#betweenRuns()
    if (this.fold.batch !== undefined) return this.#inBatch()
    switch (this.#pick(5)) {
      case 0:
        return this.#commit({ messages: [user("more", `u-${this.#count}`)] })
      case 1:
        return this.#commit({ disposition: Ended({ _tag: "NaturalEnd" }), ...this.#turn([]) })
      default:
        return this.#open()
    }
  }

  #betweenRuns(): void {
    const [unknown] = this.fold.openOutcomes.keys()
    if (unknown !== undefined && this.#pick(2) === 0)
      return this.#commit({
        resolved: [unknown],
        state: [],
        disposition: this.fold.disposition!,
        messages: [this.#reminder("settled")]
      })
    const runId = `run-${this.#runs.size + 1}`
    this.#commit({ ...starting({ runId, consumed: [] }), expectedRevision: this.fold.revision, id: `start-${runId}` })
  }

  #reminder(source: string): ReminderMessage {
    return { role: "reminder", id: `r-${this.#count}`, source, text: "note" }
  }

  #turn(calls: ReadonlyArray<BatchCall>): Pick<ThreadCommit, "step" | "messages"> {
    const step = this.fold.step + 1
    return { step, messages: [{ ...asking(calls, step), runId: this.#runId }] }
  }

  #open(): void {
    const step = this.fold.step + 1
    const calls = Array.from({ length: 1 + this.#pick(3) }, (_, position) => {
      const args: JsonObject = { amount: this.#pick(5), nested: { list: [1, "two", null] } }
      const requested = call({
        position,
        operationId: idOf(this.#runId, step, position),
        arguments: args,
        digest: digestOf(args),
        recovery: this.#of({ mode: "NeverReplay", maxAttempts: 3 } as const, { mode: "ReplaySafe", maxAttempts: 2 }),
        claim: this.#of(
          Parallel,
          Serial,
          Resources([{ access: this.#of("Read" as const, "Write" as const), namespace: "file", key: "a" }])
        )
      })
      return this.#pick(2) === 0 ? requested : this.#moved(requested, 0)
    })
    this.#commit({
      ...this.#turn(calls),
      batch: { _tag: "Open", step, calls },
      tickets: this.#tickets(calls),
      disposition: Running
    })
  }

  #tickets(calls: ReadonlyArray<BatchCall>): ThreadCommit["tickets"] {
    return calls.flatMap((one) =>
      one.phase._tag === "Awaiting" ? [ticketFor(one, { runId: this.#runId, deadline: 1_000 })] : []
    )
  }

  #inBatch(): void {
    const batch = this.fold.batch!
    const open = batch.calls.filter((one) => !isTerminal(one))
    if (this.#pick(4) === 0) return this.#signal()
    const changed = open
      .flatMap((one) => (this.#pick(2) === 0 ? [this.#moved(one, 1)] : []))
      .filter((one) => !open.includes(one))
    const next = withCalls(batch, changed)
    const isDone = next.calls.every(isTerminal)
    const waiting = next.calls.flatMap(({ phase }) => (phase._tag === "Awaiting" ? [phase.ticketId] : []))
    const isIdle = next.calls.every((one) => isTerminal(one) || one.phase._tag === "Awaiting")
    const ends = isDone && this.#pick(3) === 0
    const delta: BatchDelta = isDone
      ? {
          _tag: "Publish",
          calls: changed,
          reminders: this.#pick(2) === 0 ? [{ position: 0, message: this.#reminder("hook") }] : []
        }
      : { _tag: "Change", calls: changed }
    this.#commit({
      batch: delta,
      tickets: this.#tickets(changed),
      messages: isDone && this.#pick(3) === 0 ? [user("steered", `u-${this.#count}`)] : [],
      disposition: ends
        ? Ended(this.#of({ _tag: "Cancelled" }, { _tag: "Stopped", reason: "by hand" }))
        : !isDone && isIdle && this.#pick(2) === 0
          ? awaitingOrRunning(waiting)
          : Running
    })
  }

  #signal(): void {
    const waiting = [...this.fold.tickets.values()].find((state) => state.decision === undefined)
    const id = `signal-${++this.#count}`
    const about = { id, threadId, runId: this.#runId, at: this.#count }
    if (waiting === undefined)
      return this.#enter({ _tag: "Signal", signal: { ...about, body: { _tag: "Cancel", by: "ada" } } })
    const answer = this.#of<ResumeAnswer>({ _tag: "Allow", note: "go" }, { _tag: "Deny" })
    const body = {
      _tag: "Answer" as const,
      answer: { ticketId: waiting.ticket.id, answer, approver: "bob", at: this.#count }
    }
    if (decide(waiting, body.answer)._tag !== "Refused") this.#enter({ _tag: "Signal", signal: { ...about, body } })
  }

  /** One legal event, or the call as it is. `open` is for calls that a batch opens with. */
  #moved(from: BatchCall, phase: 0 | 1): BatchCall {
    const result = ToolOutput.ok(from.callId, "done", { at: this.#count })
    const staged = ToolOutput.withState(result, [
      { _tag: "Set", scope: "Thread", key: "a", merge: "Disjoint", value: [true] }
    ])
    const ticketId = from.phase._tag === "Awaiting" ? from.phase.ticketId : `${from.operationId}:${this.#count}:ticket`
    const wait = this.#of<WaitKind>("Permission", "Client", "Schedule", "Input", "Delegation")
    const edited = { amount: 100 + this.#pick(5) }
    const events: ReadonlyArray<CallEvent> = [
      { _tag: "Wait", ticketId, wait },
      { _tag: "Enter", digest: from.digest },
      { _tag: "Complete", output: this.#of(result, staged, ToolOutput.error(from.callId, "no")), ticketId },
      { _tag: "Complete", output: { ...result, foreign: true } },
      { _tag: "Refuse", reason: "Blocked", output: ToolOutput.error(from.callId, "no") },
      { _tag: "Approve", ticketId, digest: from.digest, by: ["bob"] },
      { _tag: "Lose", reason: "ProcessLost", output: ToolOutput.error(from.callId, "maybe") },
      { _tag: "Edit", ticketId, arguments: edited, digest: digestOf(edited), claim: Parallel, by: ["bob"] }
    ]
    const legal = events.flatMap((event) => {
      const next = transition(from, event)
      return next.ok && (phase === 1 || next.call.phase._tag !== "Indeterminate") ? [next.call] : []
    })
    return legal.length === 0 ? from : this.#of(...legal)
  }
}

/** Legal histories of one thread over several runs, and the thread that they add up to. */
export const history: fc.Arbitrary<{ readonly entries: ReadonlyArray<Entry>; readonly fold: ThreadFold }> = fc
  .record({ seed: fc.nat(), steps: fc.integer({ min: 1, max: 60 }) })
  .map((given) => new Walk(given))

export const commitsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<ThreadCommit> =>
  entries.flatMap((entry) => (entry._tag === "Commit" ? [entry.commit] : []))
