/**
 * Asks a tool what became of an attempt whose outcome is unknown here (R5), as often as the tool says "not yet".
 *
 * Guarantees: bounded; a failure, nonsense or silence is `Unknown`; answers once, with the last word.
 * Does not repeat the call, and does not say what follows.
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

export interface Asking {
  readonly call: ToolBatch.BatchCall
  readonly entry: Pick<Entry, "installed" | "arguments">
  /** Milliseconds, over all questions. */
  readonly limit: number
  readonly told: (answer: RawTool.Reconciliation) => void
}

export class Reconciler implements Busy {
  readonly #run: ActiveRun
  readonly #asked: Asking
  #isDone = false
  #limit: Deadline | undefined
  #again: Deadline | undefined
  #asking: Started<RawTool.Reconciliation> | undefined

  constructor(run: ActiveRun, asked: Asking) {
    this.#run = run
    this.#asked = asked
  }

  start(): void {
    this.#limit = this.#run.deadlines.after(this.#asked.limit, () => this.#answer(unknown))
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
    const run = this.#run
    const { call, entry } = this.#asked
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
    const { executor, isProving, tool } = entry.installed
    const about: RawTool.ToolCall = { callId: call.callId, toolId: call.toolId, arguments: entry.arguments }
    // Where the call was placed, what it did can be seen; the tool of this process may have no eyes there.
    const asked = isProving && executor.reconcile !== undefined ? executor : tool
    const begun = attempt(services, () => asked.reconcile?.(about, operation) ?? unknown)
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
      // Foreign code may say anything.
      default:
        return this.#answer(unknown)
    }
  }

  #answer(answer: RawTool.Reconciliation): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#stopAsking()
    this.#asked.told(answer)
  }

  #stopAsking(): void {
    this.#limit?.cancel()
    this.#again?.cancel()
    this.#asking?.interrupt()
  }
}
