/**
 * What a turn without calls comes to: the natural end, another try at a typed answer, an inference that failed, or, where
 * somebody has steered meanwhile, just a message.
 *
 * Guarantees: one commit carries the message and the end; a turn that was broken off or filtered is never told as success.
 * Does not call tools.
 */
import { Message, type Run, Run as Runs, type StateKey } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { failure } from "./budget.js"
import { commit, type CommitDraft } from "./committing.js"
import { askGuards } from "./endGuards.js"
import { readFinalAnswer, source } from "./finalAnswer.js"
import type { Flow, Rest } from "./flow.js"
import { isSignal, lookAgain, readInbox, signalsFor } from "./inbox.js"
import type { Offer } from "./ingress.js"
import { closeBatch, commitMerged, conflictEnd, consumedByEnd, thenClose } from "./publication.js"
import type { Turn } from "./turn.js"

export interface Ending {
  readonly turn: Turn
  readonly message: Message.AssistantMessage | undefined
  readonly staged: ReadonlyArray<StateKey.StateCommand>
  readonly offer: Offer
}

export const endWithText = (run: ActiveRun, ending: Ending): Rest => {
  lookAgain(run)
  const reading = run.hasSignals ? readInbox(run) : undefined
  const isGuarded = run.pinned.plan.environment.guards.length > 0
  if (reading !== undefined || isGuarded || ending.staged.length > 0) return endInTurn(run, { ending, reading })
  const { cause, reminder } = conclude(run, ending)
  const rest = commit(run, draftOf(run, { ending, cause, reminder }))
  if (rest !== undefined) return thenClose(run, rest)
  closeBatch(run)
  return undefined
}

/** Where something has to be read, asked or merged first. */
function* endInTurn(
  run: ActiveRun,
  { ending, reading }: { readonly ending: Ending; readonly reading: Rest }
): Flow<void> {
  if (reading !== undefined) yield* reading
  let { cause, reminder } = conclude(run, ending)
  const { message, offer, staged } = ending
  if (
    run.pinned.plan.environment.guards.length > 0 &&
    cause?._tag === "NaturalEnd" &&
    offer.step < run.pinned.limits.maxSteps
  ) {
    const sent = yield* askGuards(run, { message, step: offer.step })
    if (sent !== undefined) {
      run.output = undefined
      reminder = sent
      cause = run.ending
    }
  }
  yield* commitMerged(run, {
    staged,
    draftOf: (merged) => draftOf(run, { ending, cause: cause ?? conflictEnd(merged.conflicts), reminder })
  })
  closeBatch(run)
}

const draftOf = (
  run: ActiveRun,
  { ending, cause, reminder }: Conclusion & { readonly ending: Ending }
): CommitDraft => {
  const { message, offer } = ending
  const messages: Array<Message.Message> = message === undefined ? [] : [message]
  if (reminder !== undefined) messages.push(reminder)
  const step = message === undefined ? run.fold.step : offer.step
  return cause === undefined
    ? { kind: "steer", step, disposition: Runs.Running, messages }
    : { kind: "end", step, disposition: Runs.Ended(cause), messages, consumed: consumedByEnd(run) }
}

interface Conclusion {
  /** `undefined`: the run goes on. */
  readonly cause: Run.EndCause | undefined
  readonly reminder?: Message.ReminderMessage | undefined
}

const conclude = (run: ActiveRun, { turn, message, offer }: Ending): Conclusion => {
  if (run.ending !== undefined) return { cause: run.ending }
  if (turn.stop === "broken") return { cause: failure("Inference", "the model's stream ended before its turn did") }
  if (turn.stop === "contentFilter")
    return { cause: failure("Inference", "contentFiltered: the provider withheld the answer") }
  if (signalsFor(run).some(isSignal("Steer"))) return { cause: undefined }
  const natural: Run.EndCause = offer.isLast ? { _tag: "NaturalEnd", limited: true } : { _tag: "NaturalEnd" }
  const { output } = run.pinned.snapshot
  if (output === undefined) return { cause: natural }
  const answer = readFinalAnswer(output, message === undefined ? "" : Message.textOf(message.content))
  if (answer.ok) {
    run.output = answer.value
    return { cause: natural }
  }
  if (run.ledger.repairs >= output.repairs) return { cause: failure("InvalidFinalAnswer", answer.text) }
  run.ledger.repairs++
  const id = `${run.runId}/${offer.step}/repair`
  return { cause: undefined, reminder: { role: "reminder", id, source, text: answer.text } }
}
