/**
 * Who owns a thread, and its removal, inside a transaction that somebody else opens and makes durable.
 *
 * Guarantees: the pure rules decide over a row that this transaction has verified; an epoch never comes again, not even
 * for a thread that is deleted and written anew.
 * Does not read a thread's history.
 */
import { type StoreError, StoreRules, type ThreadStore } from "@toolwright/runtime-contract"
import { accepted, type Answer, refused, type Writing } from "./writing.js"

type Lease = ThreadStore.Lease

export class OwnershipWriter {
  readonly #writing: Writing

  constructor(writing: Writing) {
    this.#writing = writing
  }

  claim(request: ThreadStore.ClaimRequest): Answer<Lease, StoreError> {
    return this.#own(request.threadId, (before) => StoreRules.claim(before, { ...request, now: this.#writing.now() }))
  }

  renew(lease: Lease, ttl: number): Answer<Lease, StoreError> {
    return this.#own(lease.threadId, (before) => StoreRules.renew(before, { lease, ttl, now: this.#writing.now() }))
  }

  release(lease: Lease): Answer<Lease, StoreError> {
    return this.#own(lease.threadId, (before) => StoreRules.release(before, lease))
  }

  remove(threadId: string): Answer<undefined, StoreError> {
    const { tables, known, now } = this.#writing
    const thread = known.find(threadId)
    if (thread === undefined) return accepted(undefined)
    const refusal = StoreRules.refusalOfDelete(thread.ownership, now())
    if (refusal !== undefined) return refused(threadId, refusal)
    const snapshots = tables.runs.snapshots(thread.key)
    tables.commits.remove(thread.key)
    tables.runs.remove(thread.key)
    tables.signals.remove(thread.key)
    tables.tickets.remove(thread.key)
    tables.heads.remove(thread.key)
    tables.snapshots.removeUnused(snapshots)
    // An owner from before the deletion must not fit a thread of the same name.
    known.removed(thread)
    return accepted(undefined)
  }

  #own(threadId: string, ask: (before: StoreRules.Ownership) => StoreRules.OwnershipAnswer): Answer<Lease, StoreError> {
    const { tables, known } = this.#writing
    const thread = known.find(threadId)
    const answer = ask(thread?.ownership ?? known.unowned)
    if (!answer.ok) return refused(threadId, answer.reason)
    const { ownership } = answer
    const owned = thread ?? known.create(threadId, ownership)
    if (thread !== undefined) tables.heads.setOwnership(thread.key, ownership)
    owned.ownership = ownership
    owned.heldUnder = ownership.owner === undefined ? undefined : ownership.epoch
    return accepted({
      threadId,
      owner: ownership.owner ?? "",
      epoch: ownership.epoch,
      leaseUntil: ownership.leaseUntil
    })
  }
}
