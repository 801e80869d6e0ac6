/**
 * What a commit writes, inside a transaction that somebody else opens and makes durable.
 *
 * Guarantees: the pure rules decide over a head that this transaction has verified; a refused commit writes nothing; all
 * other rows are a projection of the fold.
 * Does not know whether the transaction will be durable: nothing is told to anybody from here.
 */
import { RunEvent, type StoreError, StoreRules, type ThreadCommit, ThreadStore } from "@toolwright/runtime-contract"
import { encodeTicket } from "@toolwright/runtime-contract/records"
import type { KnownThread } from "./knownThread.js"
import { receiptOf } from "./threadReading.js"
import { accepted, type Answer, refused, type Writing } from "./writing.js"

type Commit = ThreadCommit.ThreadCommit
type Receipt = ThreadCommit.CommitReceipt

/** Of a thread that nobody ever claimed. */
const emptyHead: StoreRules.ThreadHead = {
  revision: 0,
  run: undefined,
  disposition: undefined,
  step: 0,
  batch: undefined,
  hasRun: () => false,
  hasSignal: () => false,
  ticket: () => undefined,
  hasOpenOutcome: () => false,
  sharedRevision: 0
}

export class CommitWriter {
  readonly #writing: Writing

  constructor(writing: Writing) {
    this.#writing = writing
  }

  /** `text` is the commit, encoded. */
  write(commit: Commit, text: string): Answer<Receipt, StoreError> {
    const { tables, known: threads, now } = this.#writing
    const thread = threads.find(commit.threadId)
    const ownership = thread?.ownership ?? threads.unowned
    const refusal = StoreRules.refusalOfCommit({ head: thread ?? emptyHead, ownership, now: now() }, commit)
    if (thread === undefined) return refused(commit.threadId, refusal ?? { _tag: "LeaseLost" })
    // Whoever was fenced is told so, also of a commit that was made.
    if (refusal?._tag === "Fenced") return refused(commit.threadId, refusal)
    const first = receiptOf({ tables, thread }, commit.id)
    if (first !== undefined) return this.#repeat(thread, { commit, receipt: first })
    if (refusal !== undefined) return refused(commit.threadId, refusal)
    const receipt = {
      commitId: commit.id,
      revision: thread.revision + 1,
      firstFact: thread.fold.nextFact,
      factCount: RunEvent.countFacts(commit)
    }
    tables.commits.insert({ ...receipt, thread: thread.key, record: text })
    this.#apply(thread, { commit, text })
    return accepted(receipt)
  }

  /** The first receipt, unless the owner was fenced in between. */
  #repeat(
    thread: KnownThread,
    first: { readonly commit: Commit; readonly receipt: Receipt }
  ): Answer<Receipt, StoreError> {
    const refusal = StoreRules.refusalOfRepeat(thread.ownership, first.commit)
    return refusal === undefined ? accepted(first.receipt) : refused(thread.id, refusal)
  }

  #apply(thread: KnownThread, { commit, text }: { readonly commit: Commit; readonly text: string }): void {
    const { tables } = this.#writing
    const { fold, openTickets } = thread
    const unread = fold.inbox.size === 0 ? [] : [...fold.inbox.keys()]
    const ticketsBefore = fold.tickets.size
    const tagBefore = fold.disposition?._tag
    thread.apply(commit, text.length)
    const { _tag } = commit.disposition
    if (commit.start !== undefined || _tag !== tagBefore)
      tables.heads.setRun(thread.key, { runId: commit.runId, disposition: _tag })
    if (commit.start !== undefined) {
      tables.runs.insert(thread.key, { id: commit.runId, snapshot: tables.snapshots.keyOf(commit.start.snapshot) })
      if (ticketsBefore > 0) tables.tickets.remove(thread.key)
      openTickets.clear()
    }
    if (openTickets.size > 0 || commit.tickets.length > 0) this.#projectTickets(thread, commit)
    if (unread.length > 0) this.#projectInbox(thread, unread)
    for (const command of commit.state)
      if (command.scope === "Shared")
        tables.shared.put(
          ThreadStore.stateKeyOf(command.scope, command.key),
          command._tag === "Set" ? command.value : undefined
        )
  }

  #projectTickets(thread: KnownThread, commit: Commit): void {
    const { fold, openTickets } = thread
    for (const ticket of commit.tickets) openTickets.delete(ticket.id)
    for (const [id, before] of openTickets) if (fold.tickets.get(id) !== before) this.#putTicket(thread, id)
    for (const ticket of commit.tickets) this.#putTicket(thread, ticket.id)
  }

  #putTicket(thread: KnownThread, id: string): void {
    const state = thread.fold.tickets.get(id)
    if (state === undefined) return
    this.#writing.tables.tickets.put(thread.key, { state, record: encodeTicket(state) })
    if (state.decision === undefined) thread.openTickets.set(id, state)
    else thread.openTickets.delete(id)
  }

  #projectInbox(thread: KnownThread, before: ReadonlyArray<string>): void {
    const { tables } = this.#writing
    const { fold } = thread
    const gone = before.filter((id) => !fold.inbox.has(id))
    for (const id of gone) tables.signals.markRead(thread.key, { id, revision: fold.revision })
    if (gone.length > 0) tables.heads.setInbox(thread.key, thread.signals)
  }
}
