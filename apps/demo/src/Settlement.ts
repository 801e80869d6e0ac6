/**
 * Calls that may have happened: asks a person who can look, and writes the answer down.
 *
 * Guarantees: the call is shown whole; what is said becomes a message and an audit record, never a second result.
 * Does not look by itself, and repeats nothing.
 */
import { ApprovalText } from "@toolwright/permissions"
import type { PromiseRuntime } from "@toolwright/runtime"
import type { ThreadStore } from "@toolwright/runtime-contract"
import type { Ask } from "./internal/console.js"
import type { Screen } from "./Screen.js"
import type { Threads } from "./Threads.js"

export interface SettlementOptions {
  readonly runtime: PromiseRuntime
  readonly screen: Screen
  readonly threads: Threads
  readonly ask: Ask
  readonly person: string
}

/** False where there was nothing to settle. */
export const settle = async (threadId: string, options: SettlementOptions): Promise<boolean> => {
  const open = (await options.threads.view(threadId))?.openOutcomes ?? new Map<string, ThreadStore.OpenOutcome>()
  for (const outcome of open.values()) await settleOne({ threadId, outcome }, options)
  return open.size > 0
}

interface Open {
  readonly threadId: string
  readonly outcome: ThreadStore.OpenOutcome
}

const settleOne = async (
  { threadId, outcome: { call, operationId } }: Open,
  { runtime, screen, ask, person }: SettlementOptions
): Promise<void> => {
  screen.gap()
  screen.note(`This may have happened: ${ApprovalText.showLine(call.toolId)}`, "yellow")
  screen.detail("with", JSON.stringify(call.arguments, null, 2))
  screen.note("It was not repeated. Until somebody has looked, the same call is asked about each time.")
  const said = await askOutcome(ask)
  if (said === undefined) return screen.note("It stays open; /settle asks again.")
  const text = `${person} looked, and it had happened.`
  await runtime.resolve({
    threadId,
    operationId,
    by: person,
    resolution: said === "happened" ? { _tag: "Happened", content: [{ type: "text", text }] } : { _tag: "DidNotHappen" }
  })
  screen.note(said === "happened" ? "Written down: it happened." : "Written down: it did not happen.", "green")
}

const askOutcome = async (ask: Ask): Promise<"happened" | "not" | undefined> => {
  for (;;) {
    const line = (await ask("  Did it? [h]appened, [d]id not happen, [l]ater › ", { isFresh: true }))
      ?.trim()
      .toLowerCase()
    if (line === undefined || (line !== "" && "later".startsWith(line))) return undefined
    if (line !== "" && "happened".startsWith(line)) return "happened"
    if (line !== "" && ("did not happen".startsWith(line) || line === "n")) return "not"
  }
}
