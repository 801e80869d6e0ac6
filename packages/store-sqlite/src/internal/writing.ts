/** What the writers of the store share: the tables, what is known of threads, and how an outcome is told. */
import { type StoreError, StoreRules, type ThreadStore } from "@toolwright/runtime-contract"
import type { KnownThreads } from "./knownThreads.js"
import type { ThreadTables } from "./threadTables.js"

export interface Writing {
  readonly tables: ThreadTables
  readonly known: KnownThreads
  /** The clock of leases. */
  readonly now: () => number
}

/** What there will be to tell, once the transaction is durable. */
export type Answer<A, E> = { readonly ok: true; readonly value: A } | { readonly ok: false; readonly error: E }

export const accepted = <A>(value: A): Answer<A, never> => ({ ok: true, value })

export const refused = (threadId: string, reason: ThreadStore.StoreErrorReason): Answer<never, StoreError> => ({
  ok: false,
  error: StoreRules.storeError(threadId, { reason })
})
