/**
 * Commit (c): the last outcomes, the reactions of hooks, the merged state, and the results in model order.
 *
 * Guarantees: publication waits for all calls, so the model never sees a partial batch; staged state is applied once;
 * whatever ends the run after this step goes down in the same commit.
 * Does not run tools.
 */
import {
  Json,
  type Run,
  Run as Runs,
  type RunHook,
  type StateKey,
  type ThreadCommit,
  ThreadStore,
  type ToolBatch
} from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import type { BatchChanges } from "./batchChanges.js"
import { endAfterStep } from "./budget.js"
import { commit, type CommitDraft, commitFlow, SharedMoved } from "./committing.js"
import type { Flow, Rest } from "./flow.js"
import { callHooks, hookContext } from "./hooks.js"
import { type Merged, mergeState } from "./stateMerge.js"
import { grantKeys } from "./grants.js"
import { readShared } from "./sharedState.js"

export interface Publishing {
  readonly changes: BatchChanges
  /** Ends the run whatever else would follow. */
  readonly cause?: Run.EndCause
}

/** Publishes the batch. */
export const publish = (run: ActiveRun, publishing: Publishing): Rest => {
  if (run.pinned.plan.environment.hooks.length > 0) return publishWithHooks(run, publishing)
  const { changes, cause } = publishing
  const staged = stagedBy(run, changes.batch)
  const end = cause ?? endAfterStep(run, changes.batch)
  return commitPublication(run, { changes, staged, reminders: noReminders, end })
}

type Reminder = Extract<ThreadCommit.BatchDelta, { readonly _tag: "Publish" }>["reminders"][number]

const noReminders: ReadonlyArray<Reminder> = Object.freeze([])

function* publishWithHooks(run: ActiveRun, publishing: Publishing): Flow<void> {
  const { batch } = publishing.changes
  const staged: Array<StateKey.StateCommand> = [...run.ledger.staged]
  const reminders: Array<Reminder> = []
  for (const call of batch.calls) {
    const { phase } = call
    if (!("output" in phase)) continue
    if (phase._tag === "Completed") staged.push(...phase.output.state)
    yield* afterTool(run, { call, phase, staged, reminders })
  }
  const end = publishing.cause ?? endAfterStep(run, batch)
  if (end === undefined)
    for (const { reaction } of yield* callHooks(run, { phase: "stepEnd", context: hookContext(run, batch.step) }))
      staged.push(...(reaction.state ?? []))
  const rest = commitPublication(run, { changes: publishing.changes, staged, reminders, end })
  if (rest !== undefined) yield* rest
}

/** What hooks staged before the batch, then what its calls did, in model order. */
const stagedBy = (run: ActiveRun, batch: ToolBatch.ToolBatch): ReadonlyArray<StateKey.StateCommand> => {
  let staged = run.ledger.staged
  for (let position = 0; position < batch.calls.length; position++) {
    const phase = batch.calls[position]?.phase
    if (phase?._tag === "Completed" && phase.output.state.length > 0) staged = [...staged, ...phase.output.state]
  }
  return staged
}

interface Publication extends Pick<Publishing, "changes"> {
  readonly staged: ReadonlyArray<StateKey.StateCommand>
  readonly reminders: ReadonlyArray<Reminder>
  readonly end: Run.EndCause | undefined
}

const commitPublication = (run: ActiveRun, { changes, staged, reminders, end }: Publication): Rest => {
  run.ledger.staged = noCommands
  run.ledger.forgetGranted()
  run.at("publication.assembled")
  const batch: ThreadCommit.BatchDelta = { _tag: "Publish", calls: changes.calls(), reminders }
  if (staged.length > 0 || end !== undefined) return commitEnding(run, { staged, batch, end })
  const rest = commit(run, { kind: "publish", disposition: Runs.Running, batch })
  if (rest !== undefined) return thenClose(run, rest)
  closeBatch(run)
  return undefined
}

const noCommands: ReadonlyArray<StateKey.StateCommand> = Object.freeze([])

export function* thenClose(run: ActiveRun, rest: Flow<void>): Flow<void> {
  yield* rest
  closeBatch(run)
}

interface EndingPublication {
  readonly staged: ReadonlyArray<StateKey.StateCommand>
  readonly batch: ThreadCommit.BatchDelta
  readonly end: Run.EndCause | undefined
}

function* commitEnding(run: ActiveRun, { staged, batch, end: known }: EndingPublication): Flow<void> {
  yield* commitMerged(run, {
    staged,
    draftOf: (merged) => {
      const end = known ?? conflictEnd(merged.conflicts)
      const disposition = end === undefined ? Runs.Running : Runs.Ended(end)
      return { kind: "publish", disposition, batch, ...(end === undefined ? {} : { consumed: consumedByEnd(run) }) }
    }
  })
  closeBatch(run)
}

export interface Merging {
  readonly staged: ReadonlyArray<StateKey.StateCommand>
  readonly draftOf: (merged: Merged) => CommitDraft
}

/** Tries with shared state read anew, when another thread was faster. */
const sharedTries = 16

/** Merges and commits; where shared state has moved meanwhile, reads it and merges again. */
export function* commitMerged(run: ActiveRun, { staged, draftOf }: Merging): Flow<void> {
  const isShared = staged.some((command) => command.scope === "Shared")
  for (let tries = 1; ; tries++) {
    const merged = mergeState({
      staged,
      current: (place) => run.fold.state.get(place) ?? run.shared.get(place),
      keyOf: (place) => stateKeyAt(run, place)
    })
    if (merged.conflicts.length > 0) run.notes.push({ type: "StateConflict", keys: merged.conflicts })
    const expected = isShared && run.sharedRevision !== undefined ? { expectedSharedRevision: run.sharedRevision } : {}
    try {
      return yield* commitFlow(run, { ...draftOf(merged), state: merged.commands, ...expected })
    } catch (error) {
      if (!(error instanceof SharedMoved) || tries >= sharedTries) throw error
      run.notes = error.commit.notes.filter((note) => note.type !== "StateConflict")
      run.audit = [...error.commit.audit]
      yield* readShared(run)
    }
  }
}

/** Signals that an end acts on; the fold drops the others. */
export const consumedByEnd = (run: ActiveRun): ReadonlyArray<string> =>
  run.fold.inbox.size === 0
    ? []
    : [...run.fold.inbox.values()]
        .filter(({ body }) => body._tag === "Cancel" || body._tag === "Stop")
        .map((signal) => signal.id)

type Finished = Extract<ToolBatch.CallPhase, { readonly output: unknown }>

interface AfterTool {
  readonly call: ToolBatch.BatchCall
  readonly phase: Finished
  readonly staged: Array<StateKey.StateCommand>
  readonly reminders: Array<Reminder>
}

function* afterTool(run: ActiveRun, { call, phase, staged, reminders }: AfterTool): Flow<void> {
  const context: RunHook.AfterToolContext = {
    ...hookContext(run, run.fold.step),
    call: Json.freezeOpen(call),
    outcome: phase._tag,
    output: phase.output
  }
  for (const { hook, reaction } of yield* callHooks(run, { phase: "afterTool", context })) {
    staged.push(...(reaction.state ?? []))
    for (const text of reaction.reminders ?? []) {
      const id = `${call.operationId}/reminder/${reminders.length}`
      reminders.push({ position: call.position, message: { role: "reminder", id, source: hook, text } })
    }
  }
}

export const conflictEnd = (conflicts: ReadonlyArray<string>): Run.EndCause | undefined =>
  conflicts.length === 0
    ? undefined
    : {
        _tag: "Error",
        failure: { reason: "StateConflict", detail: `more than one call of the step set ${conflicts.join(", ")}` }
      }

const stateKeyAt = (run: ActiveRun, place: string): StateKey.StateKey | undefined => {
  const isHere = (key: StateKey.StateKey): boolean => ThreadStore.stateKeyOf(key.scope, key.name) === place
  const own = run.pinned.plan.environment.stateKeys.find(isHere) ?? grantKeys.find(isHere)
  if (own !== undefined) return own
  for (const { id } of run.pinned.snapshot.tools) {
    const found = run.pinned.plan.lookup(id)
    const key = found._tag === "Found" ? found.tool.stateKeys.find(isHere) : undefined
    if (key !== undefined) return key
  }
  return undefined
}

/** The next step begins with nothing of this one. */
export const closeBatch = (run: ActiveRun): void => {
  run.entries.clear()
  run.ready.clear()
  run.view = undefined
  if (!run.isHolding) return
  for (const deadline of run.holding.values()) deadline?.cancel()
  run.holding.clear()
}
