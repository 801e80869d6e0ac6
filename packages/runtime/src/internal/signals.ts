/** The unread signals of a run, as they were read. */
import type { ThreadStore } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"

/** Unread signals for this run, oldest first. */
export const signalsFor = (run: ActiveRun): ReadonlyArray<ThreadStore.Signal> =>
  run.fold.inbox.size === 0 ? none : [...run.fold.inbox.values()].filter((signal) => signal.runId === run.runId)

const none: ReadonlyArray<ThreadStore.Signal> = Object.freeze([])

export type SignalOf<Tag extends ThreadStore.SignalBody["_tag"]> = ThreadStore.Signal & {
  readonly body: Extract<ThreadStore.SignalBody, { readonly _tag: Tag }>
}

export const isSignal =
  <Tag extends ThreadStore.SignalBody["_tag"]>(tag: Tag) =>
  (signal: ThreadStore.Signal): signal is SignalOf<Tag> =>
    signal.body._tag === tag

/** Ids of the answers that were given to a ticket. */
export const answersTo = (run: ActiveRun, ticketId: string): ReadonlyArray<string> =>
  run.fold.inbox.size === 0
    ? []
    : [...run.fold.inbox.values()]
        .filter((signal) => signal.body._tag === "Answer" && signal.body.answer.ticketId === ticketId)
        .map((signal) => signal.id)
