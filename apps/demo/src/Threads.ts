/**
 * The threads that are kept: which there are, and how each stands.
 *
 * Guarantees: read from the store at each question; an id may be written by its beginning, if only one begins so.
 * Does not drive or change a thread.
 */
import { ShellDirectory } from "@toolwright/builtin-tools/shell"
import { Message, type ResumeTicket, type StoreError, ThreadStore } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { CommandLineError } from "./CommandLine.js"

export interface KnownThread {
  readonly view: ThreadStore.ThreadView
  readonly updatedAt: number
}

export class Threads {
  readonly #store: ThreadStore.ThreadStore

  constructor(store: ThreadStore.ThreadStore) {
    this.#store = store
  }

  /** Those that can be read, the newest first. */
  async list(): Promise<ReadonlyArray<KnownThread>> {
    return (await this.survey()).known
  }

  /** All of them: one that is damaged hides no other. */
  async survey(): Promise<{
    readonly known: ReadonlyArray<KnownThread>
    /** Ids of those that cannot be read. */
    readonly damaged: ReadonlyArray<string>
  }> {
    const known: Array<KnownThread> = []
    const damaged: Array<string> = []
    for (const { threadId, updatedAt } of (await ask(this.#store.list({ limit: 1_000 }))).filter(isTalk)) {
      const read = await ask(Effect.result(this.#store.load(threadId)))
      if (read._tag === "Success") {
        if (read.success !== undefined) known.push({ view: read.success, updatedAt })
      } else if (read.failure.reason._tag === "Unreadable") damaged.push(threadId)
      else throw read.failure
    }
    return { known: known.toSorted((left, right) => right.updatedAt - left.updatedAt), damaged }
  }

  /** The id that begins so. Throws `CommandLineError`. */
  async find(beginning: string): Promise<string> {
    const ids = (await ask(this.#store.list({ limit: 1_000 }))).filter(isTalk).map(({ threadId }) => threadId)
    const found = ids.filter((id) => id === beginning || id.startsWith(beginning))
    const [only] = found
    if (only !== undefined && found.length === 1) return only
    const what = found.length === 0 ? "there is no such thread" : `${found.length} threads begin so`
    throw new CommandLineError(`thread ${beginning}: ${what}; --threads lists them`)
  }

  /** Throws `CommandLineError` where there is none. */
  async newest(): Promise<string> {
    const [first] = await this.list()
    if (first !== undefined) return first.view.threadId
    throw new CommandLineError("--continue: there is no thread in this file yet")
  }

  view(threadId: string): Promise<ThreadStore.ThreadView | undefined> {
    return ask(this.#store.load(threadId))
  }

  /** Where the next command of a thread would run, from its folder. */
  async directory(threadId: string): Promise<string> {
    const value = (await this.view(threadId))?.state.get(
      ThreadStore.stateKeyOf(ShellDirectory.scope, ShellDirectory.name)
    )
    return typeof value === "string" ? value : "."
  }

  /** The ticket as it stands now. */
  ticket(ticketId: string): Promise<ResumeTicket.TicketState | undefined> {
    return ask(this.#store.ticket(ticketId))
  }

  /** What nobody is at: threads whose owner is gone, and those with something unread. */
  async due(): Promise<ReadonlySet<string>> {
    return new Set((await ask(this.#store.due(Date.now(), 1_000))).map(({ threadId }) => threadId))
  }
}

/** The runtime keeps a few threads for itself. */
const isTalk = ({ threadId }: ThreadStore.ThreadSummary): boolean => !threadId.startsWith("toolwright/")

const ask = <A>(effect: Effect.Effect<A, StoreError>): Promise<A> => Effect.runPromise(effect)

/** As much of an id as people need. */
export const shortId = (threadId: string): string => threadId.slice(0, 8)

/** The tickets that somebody must answer. */
export const openTickets = (view: ThreadStore.ThreadView): ReadonlyArray<ResumeTicket.ResumeTicket> =>
  view.disposition?._tag !== "Awaiting"
    ? []
    : view.disposition.tickets.flatMap((id) => {
        const state = view.tickets.get(id)
        return state === undefined || state.decision !== undefined ? [] : [state.ticket]
      })

/** What the open or last run was asked for. */
export const requestOf = (view: ThreadStore.ThreadView): string => {
  for (let index = view.messages.length - 1; index >= 0; index--) {
    const message = view.messages.at(index)
    if (message?.role === "user") return Message.textOf(message.content)
  }
  return ""
}

/** How a thread stands, in words. */
export const standing = (view: ThreadStore.ThreadView): string => {
  const { disposition } = view
  const unknown = view.openOutcomes.size === 0 ? "" : `, ${view.openOutcomes.size} may have happened`
  if (disposition?._tag === "Awaiting") {
    const [first] = openTickets(view)
    return first?.kind === "Pause" ? `paused${unknown}` : `waits for you (${first?.toolId ?? "answered"})${unknown}`
  }
  if (disposition?._tag === "Running") return `running, or cut off${unknown}`
  const cause = disposition?._tag === "Ended" ? disposition.cause._tag : "NaturalEnd"
  return `${cause === "NaturalEnd" ? "done" : `ended: ${cause}`}${unknown}`
}
