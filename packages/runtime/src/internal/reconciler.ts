/**
 * Asks a tool what became of an attempt whose outcome is unknown here (R5), as often as the tool says "not yet".
 *
 * Guarantees: bounded by the tool's own time limit; a failure, nonsense or silence is `Unknown`; answers once.
 * Does not repeat the call.
 */
import { type RawTool, type ToolBatch, ToolOperation } from "@toolwright/runtime-contract"
import * as Context from "effect/Context"
import type { ActiveRun } from "./activeRun.js"
import type { Deadline } from "./deadlines.js"
import type { Entry } from "./entries.js"
import type { Busy } from "./liveCall.js"
import { attempt, isSettled, type Settled, type Started } from "./settle.js"
import { stateView } from "./stateReader.js"

const unknown: RawTool.Reconciliation = Object.freeze({ _tag: "Unknown" })

export class Reconciler implements Busy {
  readonly #run: ActiveRun
  readonly #call: ToolBatch.BatchCall
  readonly #entry: Entry
  #isDone = false
  #limit: Deadline | undefined
  #again: Deadline | undefined
  #asking: Started<RawTool.Reconciliation> | undefined

  constructor(run: ActiveRun, given: { readonly call: ToolBatch.BatchCall; readonly entry: Entry }) {
    this.#run = run
    this.#call = given.call
    this.#entry = given.entry
  }

  start(): void {
    this.#run.live.set(this.#call.position, this)
    this.#limit = this.#run.deadlines.after(this.#run.pinned.limits.toolTimeout, () => this.#answer(unknown))
    this.#ask()
  }

  readonly cancel = (): void => {
    this.#limit?.cancel()
    this.#limit = this.#run.deadlines.after(this.#run.pinned.limits.grace, () => this.#answer(unknown))
  }

  drop(): void {
    this.#isDone = true
    this.#stopAsking()
  }

  #ask(): void {
    const { call, run, entry } = { call: this.#call, run: this.#run, entry: this.#entry }
    const operation: ToolOperation.ToolOperation = {
      runId: run.runId,
      threadId: run.threadId,
      operationId: call.operationId,
      callId: call.callId,
      attempt: call.attempts,
      epoch: run.lease?.epoch ?? 0,
      principal: run.pinned.record.principal,
      state: stateView(run)
    }
    const services = Context.add(run.engine.services, ToolOperation.current, operation)
    const { tool } = entry.installed
    const about: RawTool.ToolCall = { callId: call.callId, toolId: call.toolId, arguments: entry.arguments }
    const begun = attempt(services, () => tool.reconcile?.(about, operation) ?? unknown)
    if (isSettled(begun)) return this.#heard(begun)
    this.#asking = begun
    begun.onSettled((settled) => this.#heard(settled))
  }

  #heard(settled: Settled<RawTool.Reconciliation>): void {
    this.#asking = undefined
    if (this.#isDone) return
    const answer = settled.ok ? settled.value : unknown
    switch (answer._tag) {
      case "InProgress": {
        const delay = Number.isFinite(answer.retryAfter) ? Math.max(1, answer.retryAfter) : 1_000
        this.#again = this.#run.deadlines.after(delay, () => this.#ask())
        return
      }
      case "Happened":
      case "NotSent":
        return this.#answer(answer)
      case "Unknown":
        return this.#answer(unknown)
      default:
        return this.#answer(unknown)
    }
  }

  #answer(answer: RawTool.Reconciliation): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#stopAsking()
    this.#run.settled.push({ _tag: "Reconciled", position: this.#call.position, answer })
    this.#run.wake()
  }

  #stopAsking(): void {
    this.#limit?.cancel()
    this.#again?.cancel()
    this.#asking?.interrupt()
  }
}
