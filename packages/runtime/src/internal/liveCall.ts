/**
 * One call while its tool is at work: started in plain code, bounded in time, listened to once.
 *
 * Guarantees: what the tool says first counts, later words are evidence; cancel and time-out are first a signal, then a
 * grace, then the outside world is asked, where the tool can ask it, for as long again (R5), then the call is given up and
 * keeps its claim until it settles (L3); a tool that throws, rejects, dies or never answers ends in an outcome, never in
 * the runtime.
 * Does not commit: it reports to its run, and the batch flow does.
 */
import {
  type RawTool,
  type StateKey,
  type ToolArgs,
  type ToolBatch,
  ToolOperation,
  ToolOutput
} from "@toolwright/runtime-contract"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { ActiveRun } from "./activeRun.js"
import type { Deadline } from "./deadlines.js"
import { LazySignal } from "./exchange.js"
import { holdClaim } from "./heldClaims.js"
import { keepLate } from "./lateResults.js"
import { failureOf, isUnavailable, lostText, mayHaveHappened } from "./outcomes.js"
import { applyPolicy, unreadable } from "./outputPolicy.js"
import { Reconciler } from "./reconciler.js"
import { begin, beginEffect, isSettled, type Services, type Settled, type Started } from "./settle.js"
import type { Installed } from "./snapshotPlan.js"
import { stateView } from "./stateReader.js"
import { traceTool } from "./tracing.js"

/** What a live call has come to. */
export type Settlement =
  | {
      readonly _tag: "Outcome"
      readonly position: number
      readonly event: ToolBatch.CallEvent
      readonly isInvalid: boolean
    }
  /** The executor lost it: the recovery table says what follows. */
  | { readonly _tag: "Lost"; readonly position: number }
  /** Its child run waits for people, or is driven elsewhere. */
  | { readonly _tag: "Handed"; readonly position: number }
  /** What the tool says of an earlier attempt. */
  | { readonly _tag: "Reconciled"; readonly position: number; readonly answer: RawTool.Reconciliation }

/** Something at work on one call. */
export interface Busy {
  /** Asks it to come to an end, within the grace. */
  readonly cancel: (why: string) => void
  /** Nobody listens any more. */
  readonly drop: () => void
}

export interface LiveCallGiven {
  /** In phase `Executing`. */
  readonly call: ToolBatch.BatchCall
  readonly installed: Installed
  readonly arguments: ToolArgs.ParsedArguments
  readonly step: number
}

type Standing = "Running" | "Signalled" | "Abandoned" | "Dropped" | "Done"

export class LiveCall implements RawTool.InvocationContext, Busy {
  readonly call: ToolBatch.BatchCall
  readonly #run: ActiveRun
  readonly #given: LiveCallGiven
  #lazy: LazySignal | undefined
  #operation: ToolOperation.ToolOperation | undefined
  /** A tool reads the state of the step it was called in, whenever it asks. */
  readonly #state: StateKey.StateView
  readonly #epoch: number
  #standing: Standing = "Running"
  #traced: ((event: string) => void) | undefined
  /** Why the signal was given. */
  #why = ""
  #dispatches = 0
  #started: Started<ToolOutput.ToolOutput> | undefined
  #deadline: Deadline | undefined
  #release: (() => void) | undefined
  /** The last question before the call is given up. */
  #asking: Reconciler | undefined

  constructor(run: ActiveRun, given: LiveCallGiven) {
    this.#run = run
    this.#given = given
    this.call = given.call
    this.#epoch = run.lease?.epoch ?? 0
    this.#state = stateView(run)
  }

  /** Made when it is asked for, of what was so when the call was made. */
  get operation(): ToolOperation.ToolOperation {
    const run = this.#run
    const { call } = this
    return (this.#operation ??= {
      runId: run.runId,
      threadId: run.threadId,
      operationId: call.operationId,
      callId: call.callId,
      attempt: call.attempts,
      epoch: this.#epoch,
      principal: run.pinned.record.principal,
      state: this.#state
    })
  }

  get signal(): AbortSignal {
    return (this.#lazy ??= new LazySignal()).signal
  }

  #abort(reason: Error): void {
    const lazy = (this.#lazy ??= new LazySignal())
    lazy.abort(reason)
  }

  /** Made when it is asked for: most tools never are asked how they get on. */
  get progress(): (text: string) => void {
    return (text) => this.#progress(text)
  }

  #progress(text: string): void {
    if (this.#standing !== "Running" && this.#standing !== "Signalled") return
    if (this.#run.listeners.length === 0) return
    const { runId, attempt } = this.#run
    const { operationId } = this.call
    this.#run.emitDelta({
      type: "ToolProgress",
      runId,
      step: this.#given.step,
      attempt,
      operationId,
      text: String(text)
    })
  }

  /** Calls the tool. Throws only what a crash point throws. */
  start(): void {
    if (this.#run.engine.tracer !== undefined) this.#traced ??= traceTool(this.#run, this.#given)
    this.#run.at("dispatch.before")
    const begun = this.#dispatch()
    // Listened to before the crash point: a tool that rejects behind a run that died there is no stray rejection.
    if (!isSettled(begun)) this.#listen(begun)
    this.#run.at("dispatch.after")
    if (isSettled(begun)) return this.#settled(begun)
    const limit = this.#run.pinned.limits.toolTimeout
    this.#deadline = this.#run.deadlines.after(limit, () => this.cancel(`timed out after ${limit} ms`))
  }

  /** Asks the tool to stop; it has the grace to do so. */
  cancel(why: string): void {
    if (this.#standing !== "Running" || this.#asking !== undefined) return
    this.#standing = "Signalled"
    this.#why = why
    this.#deadline?.cancel()
    this.#deadline = this.#run.deadlines.after(this.#run.pinned.limits.grace, () => this.#abandon())
    this.#abort(new Error(why))
    this.#started?.interrupt()
  }

  /** The run is no longer ours: the tool is told, and nobody listens any more. */
  drop(): void {
    this.#asking?.drop()
    this.#traced?.("Dropped")
    if (this.#standing === "Done" || this.#standing === "Abandoned") return
    this.#standing = "Dropped"
    this.#deadline?.cancel()
    this.#abort(new Error("the run was given up"))
    this.#started?.interrupt()
  }

  #dispatch(): Settled<ToolOutput.ToolOutput> | Started<ToolOutput.ToolOutput> {
    const { call, installed } = this.#given
    this.#dispatches++
    try {
      const eventual = installed.executor.invoke(
        { callId: call.callId, toolId: call.toolId, arguments: this.#given.arguments },
        this
      )
      return Effect.isEffect(eventual)
        ? beginEffect(this.#services(), eventual)
        : begin(this.#run.engine.services, eventual)
    } catch (error) {
      return { ok: false, error }
    }
  }

  /** The services of an Effect tool: it reads its operation from them. Asked for only where the tool gives an Effect. */
  #services(): Services {
    return Context.add(this.#run.engine.services, ToolOperation.current, this.operation)
  }

  #listen(started: Started<ToolOutput.ToolOutput>): void {
    this.#started = started
    started.onSettled((settled) => {
      try {
        this.#settled(settled)
      } catch {
        // Only a crash point throws here, and it has dropped the run.
      }
    })
  }

  #settled(settled: Settled<ToolOutput.ToolOutput>): void {
    this.#started = undefined
    if (this.#standing === "Abandoned") return this.#settledLate(settled)
    if (this.#standing === "Dropped" || this.#standing === "Done") return
    if (!settled.ok && this.#given.installed.isProving && this.#standing === "Running") {
      if (isUnavailable(settled.error)) return this.#unavailable()
    }
    this.#run.at("outcome.known")
    if (settled.ok) return this.#completed(settled.value)
    const failure = failureOf(this.#given, { error: settled.error, why: this.#why })
    if (failure._tag === "Lost") return this.#report({ _tag: "Lost", position: this.call.position })
    this.#complete(failure.output, failure.isInvalid)
  }

  /** Nothing was sent: the same attempt goes again, a bounded number of times. */
  #unavailable(): void {
    const { dispatchRetries, grace } = this.#run.pinned.limits
    if (this.#dispatches > dispatchRetries) {
      const text = `not run: the executor of ${this.call.toolId} could not be reached`
      const isFirst = this.call.attempts === 1
      const output = ToolOutput.error(this.call.callId, isFirst ? text : mayHaveHappened(text))
      if (isFirst) return this.#outcome({ _tag: "Refuse", reason: "Unavailable", output })
      return this.#giveUp({ _tag: "Lose", reason: "ExecutorLost", output })
    }
    const delay = Math.min(50 * 2 ** (this.#dispatches - 1), grace)
    const since = this.#deadline
    this.#deadline = this.#run.deadlines.after(delay, () => {
      since?.cancel()
      if (this.#standing !== "Running") return
      try {
        this.start()
      } catch {
        // A crash point has dropped the run.
      }
    })
  }

  /** The output policy runs before the outcome is reported; it may have to wait for the spill. */
  #completed(output: ToolOutput.ToolOutput): void {
    const policed = applyPolicy(this.#run, { given: this.#given, output })
    if (isSettled(policed)) return this.#complete(policed.ok ? policed.value : unreadable(this.call.callId), false)
    policed.onSettled((settled) => this.#complete(settled.ok ? settled.value : unreadable(this.call.callId), false))
  }

  #complete(output: ToolOutput.ToolOutput, isInvalid: boolean): void {
    this.#outcome({ _tag: "Complete", output }, isInvalid)
  }

  #outcome(event: ToolBatch.CallEvent, isInvalid = false): void {
    this.#report({ _tag: "Outcome", position: this.call.position, event, isInvalid })
  }

  #report(settlement: Settlement): void {
    if (this.#standing === "Dropped" || this.#standing === "Done") return
    if (this.#standing !== "Abandoned") this.#standing = "Done"
    this.#traced?.(settlement._tag === "Outcome" ? settlement.event._tag : settlement._tag)
    this.#deadline?.cancel()
    this.#run.settled.push(settlement)
    this.#run.wake()
  }

  /** Deaf to signal and grace. What it says from now on is late; what its `reconcile` finds is not its word. */
  #abandon(): void {
    if (this.#standing !== "Signalled") return
    const output = ToolOutput.error(this.call.callId, lostText(this.call, `${this.#why}; it did not stop`))
    this.#standing = "Abandoned"
    this.#release = holdClaim(this.#run, this.call.claim)
    this.#giveUp({ _tag: "Lose", reason: "Abandoned", output })
  }

  /** Asks before the outcome is given up (R5). It is never entered again, whatever the answer: only adopted. */
  #giveUp(lost: ToolBatch.CallEvent): void {
    const { installed } = this.#given
    if (installed.tool.reconcile === undefined) return this.#outcome(lost)
    const { grace } = this.#run.pinned.limits
    const told = (answer: RawTool.Reconciliation): void =>
      answer._tag === "Happened" ? this.#completed(answer.output) : this.#outcome(lost)
    this.#deadline?.cancel()
    this.#asking = new Reconciler(this.#run, { call: this.call, entry: this.#given, limit: grace, told })
    this.#asking.start()
  }

  #settledLate(settled: Settled<ToolOutput.ToolOutput>): void {
    this.#release?.()
    this.#release = undefined
    const summary = settled.ok ? "completed" : "failed"
    keepLate(this.#run, { operationId: this.call.operationId, attempt: this.call.attempts, summary })
    this.#run.wake()
  }
}
