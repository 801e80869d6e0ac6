/**
 * A store that hands everything to the one behind it, but for what a test wants to be otherwise: to listen, to change, to
 * break one thing.
 *
 * Guarantees: every method of the port is there, whether the store behind it is an object or an instance of a class; what
 * is not named in the changes is the store's own, also whether other processes can reach it.
 * Does not fail by itself: `FaultyStore` does.
 */
import type { ThreadStore } from "@toolwright/runtime-contract"

/**
 * ```ts
 * const counted = forwarding(store, { commit: (commit) => (commits++, store.commit(commit)) })
 * ```
 */
export const forwarding = (
  inner: ThreadStore.ThreadStore,
  changes: Partial<ThreadStore.ThreadStore> = {}
): ThreadStore.ThreadStore => ({
  commit: (commit) => inner.commit(commit),
  load: (threadId) => inner.load(threadId),
  tail: (request) => inner.tail(request),
  claim: (request) => inner.claim(request),
  renew: (lease, ttl) => inner.renew(lease, ttl),
  release: (lease) => inner.release(lease),
  signal: (signal) => inner.signal(signal),
  inbox: (threadId) => inner.inbox(threadId),
  ticket: (ticketId) => inner.ticket(ticketId),
  due: (now, limit) => inner.due(now, limit),
  list: (request) => inner.list(request),
  delete: (threadId) => inner.delete(threadId),
  shared: () => inner.shared(),
  ...(inner.subscribe === undefined ? {} : { subscribe: inner.subscribe.bind(inner) }),
  ...(inner.isProcessLocal === true ? { isProcessLocal: true } : {}),
  ...changes
})
