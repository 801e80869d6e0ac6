/**
 * The open batch with what is about to be committed laid over it.
 *
 * Guarantees: every change goes through the kernel; a change that the kernel does not have is a fault of ours and stops
 * the drive, it is never committed.
 * Does not commit.
 */
import { type ResumeTicket, type Run, Run as Runs, ToolBatch } from "@toolwright/runtime-contract"
import { internal } from "../RunError.js"

/** Applies an event to a call, or throws. */
export const move = (call: ToolBatch.BatchCall, event: ToolBatch.CallEvent): ToolBatch.BatchCall => {
  const result = ToolBatch.transition(call, event)
  if (result.ok) return result.call
  const { from, event: tag, rule, operationId } = result.illegal
  throw internal(`call ${operationId} cannot go from ${from} by ${tag}: ${rule}`, {})
}

const noTickets: ReadonlyArray<ResumeTicket.ResumeTicket> = Object.freeze([])

export class BatchChanges {
  readonly #before: ToolBatch.ToolBatch
  /** The batch as it will be: the one before until something changes, then a copy that is ours. */
  #after: ToolBatch.ToolBatch
  #calls: Array<ToolBatch.BatchCall> | undefined
  #count = 0
  #tickets: Array<ResumeTicket.ResumeTicket> | undefined

  constructor(batch: ToolBatch.ToolBatch) {
    this.#before = batch
    this.#after = batch
  }

  get batch(): ToolBatch.ToolBatch {
    return this.#after
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  get tickets(): ReadonlyArray<ResumeTicket.ResumeTicket> {
    return this.#tickets ?? noTickets
  }

  issue(ticket: ResumeTicket.ResumeTicket): void {
    if (this.#tickets === undefined) this.#tickets = [ticket]
    else this.#tickets.push(ticket)
  }

  at(position: number): ToolBatch.BatchCall {
    const call = this.#after.calls[position]
    if (call === undefined) throw internal(`the batch has no call ${position}`, {})
    return call
  }

  apply(position: number, event: ToolBatch.CallEvent): ToolBatch.BatchCall {
    return this.put(move(this.at(position), event))
  }

  put(call: ToolBatch.BatchCall): ToolBatch.BatchCall {
    if (this.#calls === undefined) {
      this.#calls = this.#before.calls.slice()
      this.#after = { runId: this.#before.runId, step: this.#before.step, calls: this.#calls }
    }
    if (this.#calls[call.position] === this.#before.calls[call.position]) this.#count++
    this.#calls[call.position] = call
    return call
  }

  /** The calls that changed, in model order. */
  calls(): ReadonlyArray<ToolBatch.BatchCall> {
    const changed: Array<ToolBatch.BatchCall> = []
    const before = this.#before.calls
    const after = this.#after.calls
    if (this.#count > 0)
      for (let position = 0; position < after.length; position++) {
        const call = after[position]
        if (call === undefined || call === before[position]) continue
        if (this.#count === 1) return [call]
        changed.push(call)
      }
    return changed.slice()
  }
}

/** Everything that nothing but a wait or a conflict could hold back. */
const anybody: ToolBatch.PlanOptions = { width: Number.MAX_SAFE_INTEGER, ready: () => true, held: [] }

/** `Running` while a call can run or is running, else what is waited for: a call behind a waiting one cannot run. */
export const dispositionOf = (batch: ToolBatch.ToolBatch): Run.RunDisposition => {
  let tickets: Array<string> | undefined
  let mayRun = false
  for (let position = 0; position < batch.calls.length; position++) {
    const phase = batch.calls[position]?.phase
    if (phase === undefined) continue
    if (phase._tag === "Executing") return Runs.Running
    if (phase._tag === "Requested" || phase._tag === "Approved") mayRun = true
    if (phase._tag === "Awaiting") (tickets ??= []).push(phase.ticketId)
  }
  if (tickets === undefined || (mayRun && ToolBatch.plan(batch, anybody).start.length > 0)) return Runs.Running
  return Runs.awaitingOrRunning(tickets)
}
