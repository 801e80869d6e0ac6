/**
 * A call that runs another agent, for as long as its child run is driven here.
 *
 * Guarantees: the child is found or started by the operation's own id, so an attempt that is taken up again meets the same
 * child; when the child waits for people, or is driven elsewhere, the call is handed over and nothing is held here.
 * Does not bound the child in time: its own limits do.
 */
import { type Run, type ToolArgs, type ToolBatch, ToolOutput } from "@toolwright/runtime-contract"
import type { RunError } from "../RunError.js"
import { isRunError } from "../RunError.js"
import type { RunOutcome } from "../RunOutcome.js"
import type { ActiveRun } from "./activeRun.js"
import type { Deadline } from "./deadlines.js"
import type { Delegated } from "./delegations.js"
import { childThreadOf } from "./delegations.js"
import type { Busy } from "./liveCall.js"
import { lostOutput } from "./outcomes.js"
import { applyPolicy, unreadable } from "./outputPolicy.js"
import { beginEffect, isSettled, type Settled, type Started } from "./settle.js"
import type { Installed } from "./snapshotPlan.js"
import { traceTool } from "./tracing.js"

export interface DelegatedGiven {
  readonly call: ToolBatch.BatchCall
  readonly installed: Installed
  readonly delegated: Delegated
  readonly arguments: ToolArgs.ParsedArguments
}

export class DelegatedCall implements Busy {
  readonly #run: ActiveRun
  readonly #given: DelegatedGiven
  #isDone = false
  #started: Started<RunOutcome> | undefined
  #limit: Deadline | undefined
  #traced: ((event: string) => void) | undefined

  constructor(run: ActiveRun, given: DelegatedGiven) {
    this.#run = run
    this.#given = given
  }

  start(): void {
    const { engine } = this.#run
    this.#traced = traceTool(this.#run, this.#given)
    this.#run.at("dispatch.before")
    const { call, delegated, arguments: args } = this.#given
    const begun = beginEffect(
      engine.services,
      engine.children.drive(this.#run, {
        call,
        delegated,
        input: typeof args["input"] === "string" ? args["input"] : ""
      })
    )
    this.#run.at("dispatch.after")
    if (isSettled(begun)) return this.#settled(begun)
    this.#started = begun
    begun.onSettled((settled) => this.#settled(settled))
  }

  /** The child is cancelled, and then says how it ended; it has twice the grace to do so. */
  readonly cancel = (): void => {
    if (this.#isDone || this.#limit !== undefined) return
    const { engine, deadlines, pinned } = this.#run
    this.#limit = deadlines.after(pinned.limits.grace * 2, () => this.#lose())
    beginEffect(engine.services, engine.children.cancel(childThreadOf(this.#given.call.operationId)))
  }

  drop(): void {
    this.#isDone = true
    this.#traced?.("Dropped")
    this.#limit?.cancel()
    this.#started?.interrupt()
  }

  #settled(settled: Settled<RunOutcome>): void {
    this.#started = undefined
    if (this.#isDone) return
    if (!settled.ok) return this.#failed(settled.error)
    const { disposition } = settled.value
    if (disposition._tag !== "Ended") return this.#report({ _tag: "Handed", position: this.#given.call.position })
    this.#complete(childOutput(this.#given.call, settled.value, disposition.cause))
  }

  #failed(error: unknown): void {
    const { call } = this.#given
    if (!isRunError(error)) return this.#complete(ToolOutput.error(call.callId, `${call.toolId} could not be started`))
    const { _tag } = error.reason
    if (_tag === "BadRequest")
      return this.#complete(ToolOutput.error(call.callId, `${call.toolId} could not be started: ${error.message}`))
    if (_tag === "ThreadBusy") return this.#report({ _tag: "Handed", position: call.position })
    this.#stop(error)
  }

  /** The child is as it was last committed, and so is its parent: whoever recovers them goes on with both. */
  #stop(error: RunError): void {
    this.#isDone = true
    this.#traced?.("Stopped")
    this.#run.live.delete(this.#given.call.position)
    if (error.reason._tag === "Closed") this.#run.wake()
    else this.#run.stop(error)
  }

  #complete(output: ToolOutput.ToolOutput): void {
    const { call } = this.#given
    const policed = applyPolicy(this.#run, { given: this.#given, output })
    const report = (settled: Settled<ToolOutput.ToolOutput>): void =>
      this.#report({
        _tag: "Outcome",
        position: call.position,
        event: { _tag: "Complete", output: settled.ok ? settled.value : unreadable(call.callId) },
        isInvalid: false
      })
    if (isSettled(policed)) report(policed)
    else policed.onSettled(report)
  }

  #lose(): void {
    const { call } = this.#given
    const event = { _tag: "Lose", reason: "Abandoned", output: lostOutput(call, "Abandoned") } as const
    this.#report({ _tag: "Outcome", position: call.position, event, isInvalid: false })
  }

  #report(settlement: ActiveRun["settled"][number]): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#limit?.cancel()
    this.#traced?.(settlement._tag === "Outcome" ? settlement.event._tag : settlement._tag)
    this.#run.settled.push(settlement)
    this.#run.wake()
  }
}

/** What the parent's model reads of a child that has ended. */
export const childOutput = (
  call: ToolBatch.BatchCall,
  outcome: Pick<RunOutcome, "text" | "output">,
  cause: Run.EndCause
): ToolOutput.ToolOutput => {
  const { text, output } = outcome
  if (cause._tag === "NaturalEnd") return ToolOutput.ok(call.callId, text, output)
  const why = cause._tag === "Error" ? cause.failure.detail : cause._tag === "Stopped" ? cause.reason : cause._tag
  const said = text === "" ? "" : `\nIt had said: ${text}`
  return ToolOutput.error(
    call.callId,
    `${call.toolId} did not finish (${why}); what it did until then may have had an effect.${said}`
  )
}
