/**
 * Which calls go in now, and how they go in: planned by claims and width, denied at the last moment, entered, dispatched.
 *
 * Guarantees: `Executing` is committed only for calls that start at once, and before they start (R7); a call whose gates
 * were asked earlier has the deny side read anew; nothing starts while the runtime is closing.
 * Does not commit: the flow does, between `enter` and `dispatch`.
 */
import { ToolBatch } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import type { BatchChanges } from "./batchChanges.js"
import { waiting } from "./deciding.js"
import { DelegatedCall } from "./delegatedCall.js"
import { entryOf } from "./entries.js"
import type { Flow, Rest } from "./flow.js"
import { askDenies } from "./gating.js"
import { heldClaims } from "./heldClaims.js"
import { LiveCall } from "./liveCall.js"
import { notRunOutput } from "./outcomes.js"

export interface Entering {
  readonly changes: BatchChanges
  /** Receives the positions that start. */
  readonly entered: Array<number>
  /** The gates were asked for this very commit. */
  readonly isFresh: boolean
}

/** Enters what may start. */
export const enter = (run: ActiveRun, entering: Entering): Rest => {
  const { changes, entered, isFresh } = entering
  if (run.isClosing || (run.ready.size === 0 && !hasApproved(changes.batch))) return undefined
  const { start, refuse, held } = ToolBatch.plan(changes.batch, {
    width: run.pinned.limits.width,
    ready: (call) => call.phase._tag === "Approved" || run.ready.has(call.position),
    held: heldClaims(run)
  })
  for (const call of refuse) refuseCall(changes, { call, reason: "EarlierUnknown" })
  if (held.length > 0 || run.isHolding) hold(run, { changes, held })
  if (!isFresh || start.some((call) => call.phase._tag === "Approved"))
    return enterAnew(run, { changes, entered, start, isFresh })
  for (const call of start) {
    changes.apply(call.position, { _tag: "Enter", digest: call.digest })
    entered.push(call.position)
  }
  return undefined
}

const hasApproved = (batch: ToolBatch.ToolBatch): boolean => batch.calls.some((call) => call.phase._tag === "Approved")

/** The deny side is read anew for what was decided earlier, and the tool is looked up again. */
function* enterAnew(
  run: ActiveRun,
  { changes, entered, start, isFresh }: Entering & { readonly start: ReadonlyArray<ToolBatch.BatchCall> }
): Flow<void> {
  for (const call of start) {
    const found = entryOf(run, call)
    if (!found.ok) {
      refuseCall(changes, { call, reason: found.refusal.reason, detail: found.refusal.text })
      continue
    }
    const { entry } = found
    const denial = isFresh && call.phase._tag === "Requested" ? undefined : yield* askDenies(run, { call, entry })
    if (denial !== undefined) refuseCall(changes, { call, reason: "Denied", detail: denial })
    else if (entry.installed.descriptor.kind === "ClientExecuted") {
      const applied = waiting(run, { asked: { call, entry }, kind: "Client", requirements: [] })
      changes.put(applied.call)
      if (applied.ticket !== undefined) changes.issue(applied.ticket)
    } else {
      changes.apply(call.position, { _tag: "Enter", digest: call.digest })
      entered.push(call.position)
    }
  }
}

/** Calls the tools of the entered calls. Their `Executing` is durable. */
export const dispatch = (run: ActiveRun, positions: ReadonlyArray<number>): void => {
  const { batch } = run.fold
  if (batch === undefined) return
  for (const position of positions) {
    const call = batch.calls[position]
    if (call === undefined) continue
    const found = entryOf(run, call)
    if (!found.ok) continue
    run.ready.delete(position)
    const { installed, arguments: args } = found.entry
    const { delegated } = installed
    const live =
      delegated === undefined
        ? new LiveCall(run, { call, installed, arguments: args, step: batch.step })
        : new DelegatedCall(run, { call, installed, delegated, arguments: args })
    run.live.set(position, live)
    live.start()
  }
}

interface Refused {
  readonly call: ToolBatch.BatchCall
  readonly reason: ToolBatch.NotRunReason
  readonly detail?: string
}

const refuseCall = (changes: BatchChanges, { call, reason, detail }: Refused): void => {
  changes.apply(call.position, { _tag: "Refuse", reason, output: notRunOutput(call, { reason, detail }) })
}

/** A call that only an abandoned one blocks waits as long as it might itself have run, then is given up. */
const hold = (
  run: ActiveRun,
  { changes, held }: { readonly changes: BatchChanges; readonly held: ReadonlyArray<ToolBatch.BatchCall> }
): void => {
  const still = new Set(held.map((call) => call.position))
  for (const [position, deadline] of run.holding) {
    if (still.has(position)) continue
    deadline?.cancel()
    run.holding.delete(position)
  }
  for (const call of held) {
    const { position } = call
    if (!run.holding.has(position)) {
      const deadline = run.deadlines.after(run.pinned.limits.toolTimeout, () => {
        run.holding.set(position, undefined)
        run.wake()
      })
      run.holding.set(position, deadline)
    } else if (run.holding.get(position) === undefined) {
      run.holding.delete(position)
      refuseCall(changes, { call, reason: "ClaimHeld" })
    }
  }
}
