/**
 * What can be done to threads from any terminal on the same file: list, cancel, steer.
 *
 * Guarantees: a run that another process drives is reached through the store, and acts on it by itself.
 * Does not begin runs.
 */
import { ApprovalText } from "@toolwright/permissions"
import { isRunError, type PromiseRuntime, type RunOutcome } from "@toolwright/runtime"
import type { Screen } from "./Screen.js"
import { requestOf, shortId, standing, type Threads } from "./Threads.js"

export interface CommandOptions {
  readonly runtime: PromiseRuntime
  readonly screen: Screen
  readonly threads: Threads
  readonly person: string
}

/** Lines of a list that a person reads. */
const mostThreads = 30

export const listThreads = async ({ screen, threads }: Pick<CommandOptions, "screen" | "threads">): Promise<void> => {
  const { damaged, known } = await threads.survey()
  for (const id of damaged.map(shortId))
    screen.item(id, { ink: "red", text: `cannot be read; --audit ${id} says where and why` })
  if (known.length === 0 && damaged.length === 0) return screen.note("There is no thread yet.")
  for (const { view, updatedAt } of known.slice(0, mostThreads)) {
    const when = new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ")
    const text = `${when}  ${standing(view)}  “${ApprovalText.showLine(requestOf(view))}”`
    screen.item(shortId(view.threadId), { ink: "bold", text })
  }
  if (known.length > mostThreads) screen.note(`and ${known.length - mostThreads} older ones`)
}

export const cancelRun = (threadId: string, options: CommandOptions): Promise<boolean> =>
  reach(options, {
    threadId,
    ask: () => options.runtime.cancel({ threadId, by: options.person }),
    sent: "The other process was told to cancel the run."
  })

export const steerRun = (
  { threadId, text }: { readonly threadId: string; readonly text: string },
  options: CommandOptions
): Promise<boolean> =>
  reach(options, {
    threadId,
    ask: () => options.runtime.steer({ threadId, input: text, by: options.person }),
    sent: "The other process was told; the model sees it behind the results of its step."
  })

interface Reaching {
  readonly threadId: string
  readonly ask: () => Promise<RunOutcome>
  /** Said when another process drives the run. */
  readonly sent: string
}

/** False where no run is open. */
const reach = async ({ screen, threads }: CommandOptions, { threadId, ask, sent }: Reaching): Promise<boolean> => {
  const before = await threads.view(threadId)
  if (before?.disposition === undefined || before.disposition._tag === "Ended") {
    screen.note(`Thread ${shortId(threadId)} has no open run.`)
    return false
  }
  try {
    const { disposition } = await ask()
    if (disposition._tag === "Awaiting") screen.note("It is written down; the run waits for an answer first.")
    else if (disposition._tag === "Ended")
      screen.note(`Thread ${shortId(threadId)}: the run ended, ${disposition.cause._tag}.`)
    else screen.note(sent)
    return true
  } catch (error) {
    if (!isRunError(error)) throw error
    screen.note(`It could not be asked: ${error.message}`, "red")
    return false
  }
}
