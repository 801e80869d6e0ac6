/**
 * What an earlier process left behind: goes on with it, and says what was recovered, what was not repeated, and what may
 * have happened.
 *
 * Guarantees: takes only threads whose owner is gone; everything said is read from what is on disk.
 * Does not decide what is repeated: the runtime does, by what each tool promises.
 */
import { ApprovalText } from "@toolwright/permissions"
import type { PromiseRuntime } from "@toolwright/runtime"
import type { ThreadStore, ToolBatch } from "@toolwright/runtime-contract"
import { setTimeout as delay } from "node:timers/promises"
import { follow } from "./internal/follow.js"
import { leaseTtl, lookEvery } from "./internal/patiently.js"
import type { Screen } from "./Screen.js"
import { openTickets, requestOf, shortId, standing, type Threads } from "./Threads.js"

export interface RecoveryOptions {
  readonly runtime: PromiseRuntime
  readonly screen: Screen
  readonly threads: Threads
}

/** The threads that were gone on with. */
export const recover = async (options: RecoveryOptions): Promise<ReadonlyArray<string>> => {
  const found = await leftBehind(options.threads)
  for (const view of found) {
    options.screen.note(`Thread ${shortId(view.threadId)} was cut off: “${requestOf(view)}”`, "bold")
    for (const line of keptLines(view)) options.screen.note(line, "yellow")
  }
  if (found.length > 0) await goOn(found, options)
  for (const view of found) await report(view.threadId, options)
  return found.map(({ threadId }) => threadId)
}

/** Whose process is gone is known when its lease has run out; until then it may be another terminal. */
const leftBehind = async (threads: Threads): Promise<ReadonlyArray<ThreadStore.ThreadView>> => {
  const until = Date.now() + leaseTtl + 500
  for (;;) {
    const due = await threads.due()
    const known = await threads.list()
    const isOpen = ({ view }: (typeof known)[number]): boolean => view.disposition?._tag === "Running"
    if (!known.some((each) => isOpen(each) && !due.has(each.view.threadId)) || Date.now() > until)
      return known.filter(({ view }) => due.has(view.threadId)).map(({ view }) => view)
    await delay(lookEvery)
  }
}

const goOn = async (
  found: ReadonlyArray<ThreadStore.ThreadView>,
  { runtime, screen }: RecoveryOptions
): Promise<void> => {
  const followed = found.map(({ threadId, nextFact }) => ({
    threadId,
    follower: follow(runtime, { threadId, from: nextFact, show: screen.onEvent })
  }))
  const recovered = await runtime.recover()
  for (const { threadId, follower } of followed) {
    const one = recovered.find((each) => each.threadId === threadId)
    if (one?.error !== undefined) screen.note(`It could not go on: ${one.error.message}`, "red")
    // What did not go on, and what was only settled behind its end, comes to no rest that could be waited for.
    const isOver = one?.outcome === undefined || one.why === "SignalUnread"
    await Promise.race(isOver ? [follower.done, delay(3 * lookEvery)] : [follower.done])
    follower.leave()
  }
}

/** What stands already, and is not done again. */
const keptLines = (view: ThreadStore.ThreadView): ReadonlyArray<string> => {
  const { batch } = view
  const published = publishedTools(view)
  const kept = published.length === 0 ? [] : [`${published.join(", ")}: done and answered; not repeated`]
  if (batch === undefined) return [...kept, "No call was open; it goes on with the next question to the model."]
  return [...kept, ...batch.calls.map((call) => `${called(call)}: ${keptText(call)}`)]
}

/** The tools whose results of this run are in the transcript, in order. */
const publishedTools = ({ messages, run }: ThreadStore.ThreadView): ReadonlyArray<string> =>
  [...messages].flatMap((message) =>
    message.role === "tool" && run !== undefined && message.operationId.startsWith(`${run.runId}/`)
      ? [message.toolId]
      : []
  )

const keptText = ({ phase, recovery }: ToolBatch.BatchCall): string => {
  switch (phase._tag) {
    case "Completed":
      return "it was done and its result is on disk; it is not repeated"
    case "Approved":
      return "it was approved and had not begun; it runs now, once"
    case "Awaiting":
      return "it still waits for an answer"
    case "Executing":
      return recovery.mode === "NeverReplay"
        ? "it was running; nobody saw how it ended, and it is not repeated"
        : "it was running; it is safe to repeat, and runs again as the same operation"
    case "Requested":
      return "it had not begun"
    case "NotRun":
      return "it was refused, and stays so"
    case "Indeterminate":
      return "it may have happened, and is not repeated"
  }
}

const called = ({ toolId, arguments: given }: ToolBatch.BatchCall): string =>
  ApprovalText.showLine(`${toolId} ${JSON.stringify(given)}`)

const report = async (threadId: string, { screen, threads }: RecoveryOptions): Promise<void> => {
  const view = await threads.view(threadId)
  if (view === undefined) return
  screen.gap()
  screen.note(`Recovered thread ${shortId(threadId)}: ${standing(view)}.`, "bold")
}

/** What waits for a person, of every thread but the one that is talked on. */
export const waitingLines = async (threads: Threads, but: string | undefined): Promise<ReadonlyArray<string>> =>
  (await threads.list()).filter(({ view }) => view.threadId !== but).flatMap(({ view }) => waitingIn(view))

const waitingIn = (view: ThreadStore.ThreadView): ReadonlyArray<string> => [
  ...openTickets(view).map(
    (ticket) =>
      `Thread ${shortId(view.threadId)} waits for an answer (/thread ${shortId(view.threadId)}): ${ApprovalText.showLine(`${ticket.toolId} ${JSON.stringify(ticket.arguments)}`)}`
  ),
  ...[...view.openOutcomes.values()].map(
    ({ call }) => `Thread ${shortId(view.threadId)}: ${called(call)} may have happened; nobody has said`
  )
]
