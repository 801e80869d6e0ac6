/**
 * What must never be, whatever happens in whatever order.
 *
 * Guarantees: judges what was stored and what the world saw, from a history of its own; asks the kernel nothing.
 */
import { type StoreRules, ThreadCommit, type ThreadStore, type ToolBatch } from "@toolwright/runtime-contract"
import { conflictsOf, type Exploring } from "./explorerOwner.js"
import {
  headOf,
  type History,
  maxAttempts,
  operationIdOf,
  runId,
  type Start,
  type State,
  threadId
} from "./explorerState.js"

const isTerminal = ({ phase }: ToolBatch.BatchCall): boolean =>
  phase._tag === "Completed" || phase._tag === "NotRun" || phase._tag === "Indeterminate"

/** A commit of the current owner is refused: the kernel made what the rules do not have. */
export const judgeRefusal = (
  { commit, refusal }: { readonly commit: ThreadCommit.ThreadCommit; readonly refusal: ThreadStore.StoreErrorReason },
  { violate }: Exploring
): void => {
  const why = refusal._tag === "Rejected" ? refusal.rule : refusal._tag
  violate(`the rules refuse what the kernel made (${commit.batch?._tag ?? "no batch"}): ${why}`)
}

/** A commit was taken in. */
export const judgeCommit = (
  given: { readonly before: State; readonly after: State; readonly commit: ThreadCommit.ThreadCommit },
  exploring: Exploring
): void => {
  const { after, before, commit } = given
  if (before.view.disposition?._tag === "Ended" && !ThreadCommit.followsEnd(commit))
    exploring.violate("something follows the end of a run")
  if (after.view.disposition?._tag === "Ended" && after.view.batch !== undefined)
    exploring.violate("a run ended with calls that have no result")
  for (const call of commit.batch?.calls ?? []) judgeChange({ ...given, call }, exploring)
  judgeTranscript(after, exploring)
}

const judgeChange = (
  { after, before, call }: { readonly before: State; readonly after: State; readonly call: ToolBatch.BatchCall },
  exploring: Exploring
): void => {
  const { violate } = exploring
  const known = before.view.batch?.calls[call.position]
  const history = after.histories[call.position]
  if (known !== undefined && isTerminal(known)) violate(`call ${call.position} was terminal and changed`)
  const most = call.recovery.mode === "NeverReplay" ? 1 : maxAttempts
  if (call.attempts > most) violate(`call ${call.position} has ${call.attempts} attempts of ${most}`)
  if (known?.entered !== undefined && known.entered !== call.entered)
    violate(`call ${call.position} was entered with one digest and stands with another`)
  // A call that was lost while it ran keeps its place: what is asked of a first entry was asked then.
  if (call.phase._tag === "Executing" && known?.phase._tag !== "Executing") judgeOrder({ after, call }, exploring)
  if (call.phase._tag === "Indeterminate" && call.attempts === 0 && history?.wasHandedOut !== true)
    violate(`call ${call.position} never started and is told as possibly happened`)
  if (history === undefined) return
  const { kind, mode } = exploring.scenario.calls[call.position] ?? {}
  if (isTerminal(call)) exploring.reach(`${kind} ${mode} ${call.phase._tag}`)
  if (call.phase._tag === "NotRun") judgeNotRun({ call, history }, exploring)
  if (call.phase._tag === "Completed") judgeCompleted({ call, history }, exploring)
}

/** What is told as not run was not run; what was approved is told so for a reason that a person can see. */
const judgeNotRun = (
  { call, history }: { readonly call: ToolBatch.BatchCall; readonly history: History },
  { violate }: Exploring
): void => {
  const reason = call.phase._tag === "NotRun" ? call.phase.reason : ""
  if (history.entered !== 0 && reason !== "Unavailable") violate(`call ${call.position} ran and is told as not run`)
  const mayUndo = ["RunEnded", "Denied", "ToolChanged", "EarlierUnknown", "Unavailable"]
  if (history.wasApproved && !mayUndo.includes(reason))
    violate(`call ${call.position} was approved and is told as not run: ${reason}`)
}

/** What was approved and completes here has run here, and exactly once where it may not be repeated. */
const judgeCompleted = (
  { call, history }: { readonly call: ToolBatch.BatchCall; readonly history: History },
  { scenario, violate }: Exploring
): void => {
  const kind = scenario.calls[call.position]?.kind
  if (kind !== "ask" && kind !== "allow") return
  if (kind === "ask" && !history.wasApproved) violate(`call ${call.position} completed without its approval`)
  if (call.attempts === 0) violate(`call ${call.position} completed and was never entered`)
  // Where the tool may be asked what became of it, it may also say that an entry happened which never did.
  if (scenario.facts !== true && history.entered === 0) violate(`call ${call.position} completed and nobody entered it`)
}

/** Nothing overtakes a conflicting predecessor, nothing runs behind an outcome that nobody knows, and never too many run. */
const judgeOrder = (
  { after, call }: { readonly after: State; readonly call: ToolBatch.BatchCall },
  { scenario, violate }: Exploring
): void => {
  const calls = after.view.batch?.calls ?? []
  const conflicts = conflictsOf(scenario)[call.position] ?? []
  for (const earlier of calls.slice(0, call.position)) {
    if (conflicts[earlier.position] !== true) continue
    if (earlier.phase._tag === "Indeterminate")
      violate(`call ${call.position} runs behind an outcome that nobody knows`)
    else if (!isTerminal(earlier)) violate(`call ${call.position} overtakes call ${earlier.position}`)
  }
  const running = calls.filter(({ phase }) => phase._tag === "Executing").length
  if (running > (scenario.width ?? calls.length)) violate(`${running} calls run at once`)
}

/** A call goes into its tool: each attempt once, with one digest, and never behind a result that says it did not run. */
export const judgeEntry = (
  { start, state }: { readonly state: State; readonly start: Start },
  { scenario, violate }: Exploring
): void => {
  const { attempt, digest, position } = start
  const history = state.histories[position]
  if (history === undefined) return
  const bit = 1 << (attempt - 1)
  if ((history.entered & bit) !== 0) violate(`attempt ${attempt} of call ${position} is entered twice`)
  if (scenario.calls[position]?.mode === "NeverReplay" && history.entered !== 0)
    violate(`call ${position} is NeverReplay and is entered twice`)
  if (attempt > maxAttempts) violate(`call ${position} is entered more often than its budget`)
  if (history.digests.size > 0 && !history.digests.has(digest)) violate(`call ${position} is entered with two digests`)
  if (scenario.calls[position]?.kind === "ask" && !history.wasApproved)
    violate(`call ${position} is entered without its approval`)
  const outcome = outcomeOf(state.view, position)
  if (outcome === "NotRun") violate(`call ${position} is entered behind the result that it did not run`)
}

const outcomeOf = (view: ThreadStore.ThreadView, position: number): string | undefined => {
  const phase = view.batch?.calls[position]?.phase._tag
  if (phase !== undefined) return phase
  for (const message of view.messages)
    if (message.role === "tool" && message.operationId === operationIdOf(position)) return message.outcome
  return undefined
}

/** Results stand directly behind their calls, all of them, in model order, once. */
const judgeTranscript = ({ view }: State, { scenario, violate }: Exploring): void => {
  const results: Array<string> = []
  let isInterrupted = false
  for (const message of view.messages) {
    if (message.role === "tool") results.push(message.operationId)
    else if (message.role !== "assistant" && results.length > 0 && results.length < scenario.calls.length)
      isInterrupted = true
  }
  const expected =
    view.step === 0 || view.batch !== undefined ? [] : scenario.calls.map((_, position) => operationIdOf(position))
  if (isInterrupted || results.join() !== expected.join())
    violate(`the transcript holds the results ${results.join()} where ${expected.join()} belong`)
}

const judged = new WeakSet<ThreadStore.ThreadView>()

/** Nothing follows an end: no run, no batch, no change, no other end, no signal but what settles. */
export const judgeEnd = (state: State, { kernel, violate }: Exploring): void => {
  const { disposition, revision, step } = state.view
  if (disposition === undefined || judged.has(state.view)) return
  judged.add(state.view)
  const base = { id: "x", threadId, runId, expectedRevision: revision, epoch: state.epoch, at: 0, step }
  const ownership: StoreRules.Ownership = { epoch: state.epoch, owner: "owner", leaseUntil: 1 }
  const tries: ReadonlyArray<ThreadCommit.ThreadCommit> = [
    ThreadCommit.make({ ...base, disposition: { _tag: "Running" } }),
    ThreadCommit.make({ ...base, disposition }),
    ThreadCommit.make({ ...base, disposition: { _tag: "Awaiting", tickets: ["x"] } }),
    ThreadCommit.make({
      ...base,
      disposition: { _tag: "Ended", cause: { _tag: "MaxSteps" } },
      resolved: [operationIdOf(0)]
    })
  ]
  for (const made of tries)
    if (kernel.refusalOfCommit({ head: headOf(state.view), ownership, now: 0 }, made) === undefined)
      violate(`a run that has ended is committed as ${made.disposition._tag}`)
  const cancel: ThreadStore.Signal = { id: "x", threadId, runId, at: 0, body: { _tag: "Cancel", by: "ada" } }
  if (kernel.refusalOfSignal(headOf(state.view), cancel) === undefined) violate("a run that has ended can be cancelled")
}
