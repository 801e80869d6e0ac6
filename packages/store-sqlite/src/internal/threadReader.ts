/**
 * What the store port reads, each inside one read transaction that somebody else opens.
 *
 * Guarantees: every answer is of one moment; costs what is read, not what there is, but for the first reading of a
 * thread's history.
 * Does not write.
 */
import { type Json, type ResumeTicket, RunEvent, type ThreadStore } from "@toolwright/runtime-contract"
import { decodeSignal, RecordUnreadable } from "@toolwright/runtime-contract/records"
import type { SummaryRow } from "./headTable.js"
import type { KnownThread } from "./knownThread.js"
import type { KnownThreads } from "./knownThreads.js"
import { checkedText, numberIn, UnreadableRecord } from "./storedRecord.js"
import { commitIn, ticketIn } from "./threadReading.js"
import type { ThreadTables } from "./threadTables.js"

/** Commits decoded at once for a reader of facts. */
const portion = 200

export interface TailRequest {
  readonly threadId: string
  readonly from: number
  readonly limit?: number
}

export class ThreadReader {
  readonly #tables: ThreadTables
  readonly #known: KnownThreads

  constructor(given: { readonly tables: ThreadTables; readonly known: KnownThreads }) {
    this.#tables = given.tables
    this.#known = given.known
  }

  tail(request: TailRequest): ReadonlyArray<ThreadStore.NumberedFact> {
    const thread = this.#known.find(request.threadId)
    const limit = request.limit ?? 1_000
    if (thread === undefined) return []
    const found: Array<ThreadStore.NumberedFact> = []
    let after = this.#lastBefore(thread, request.from)
    while (after < thread.revision && found.length < limit) {
      const rows = this.#tables.commits.range(thread.key, { after, to: thread.revision, limit: portion })
      if (rows.length === 0)
        throw new UnreadableRecord(`thread_commit ${thread.id} revision ${after + 1}`, {
          expected: "the row is missing"
        })
      for (const row of rows) {
        after = numberIn(row, "revision")
        let number = numberIn(row, "first_fact")
        for (const fact of RunEvent.factsOf(commitIn(this.#tables, row, thread.id))) {
          if (number >= request.from && found.length < limit) found.push({ number, fact })
          number++
        }
        if (found.length >= limit) break
      }
    }
    return found
  }

  inbox(threadId: string): ReadonlyArray<ThreadStore.Signal> {
    const thread = this.#known.find(threadId)
    if (thread === undefined) return []
    if (thread.ready !== undefined) return [...thread.ready.inbox.values()]
    return this.#tables.signals.unread(thread.key).map((row) => {
      const position = `thread_signal ${threadId} sequence ${String(row["sequence"])}`
      return decodeSignal(checkedText(row, { position }), { position })
    })
  }

  ticket(ticketId: string): ResumeTicket.TicketState | undefined {
    const row = this.#tables.tickets.findAnywhere(ticketId)
    return row === undefined ? undefined : ticketIn(row, { position: `thread_ticket ${ticketId}` })
  }

  due(now: number, limit: number): ReadonlyArray<ThreadStore.DueItem> {
    const { queries, tickets } = this.#tables
    return [
      ...queries.leaseExpired(now, limit),
      ...tickets.deadlinePassed(now, limit),
      ...tickets.scheduleDue(now, limit),
      ...queries.signalUnread(now, limit)
    ]
      .toSorted((left, right) => left.at - right.at)
      .slice(0, limit)
  }

  list(request: ThreadStore.ListRequest): ReadonlyArray<ThreadStore.ThreadSummary> {
    const limit = Math.min(request.limit ?? 50, 1_000)
    return this.#tables.queries
      .list({ after: request.after, disposition: request.disposition, system: request.system === true, limit })
      .map((thread) => this.#summaryOf(thread))
  }

  /** A damaged thread hides no other: what is wrong with it stands in its place. */
  #summaryOf({ key, threadId }: SummaryRow): ThreadStore.ThreadSummary {
    const unread = { threadId, revision: 0, runId: undefined, disposition: undefined, updatedAt: 0 }
    const row = this.#tables.commits.last(key)
    if (row === undefined) return { ...unread, damage: `thread_commit ${threadId}: the row is missing` }
    const revision = numberIn(row, "revision")
    try {
      const { runId, disposition, at } = commitIn(this.#tables, row, threadId)
      return { threadId, revision, runId, disposition, updatedAt: at }
    } catch (error) {
      if (error instanceof UnreadableRecord || error instanceof RecordUnreadable)
        return { ...unread, revision, damage: error.message }
      throw error
    }
  }

  shared(): { readonly revision: number; readonly state: ReadonlyMap<string, Json.Json> } {
    return this.#tables.shared.read()
  }

  /** The last revision all of whose facts are numbered below `from`, by bisection: the end of a long thread is near. */
  #lastBefore(thread: KnownThread, from: number): number {
    let low = 0
    let high = thread.revision
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      const end = this.#tables.commits.factsEnd(thread.key, middle)
      if (end === undefined)
        throw new UnreadableRecord(`thread_commit ${thread.id} revision ${middle}`, { expected: "the row is missing" })
      if (end <= from) low = middle
      else high = middle - 1
    }
    return low
  }
}
