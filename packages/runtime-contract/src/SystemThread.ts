/**
 * Threads that a runtime keeps for itself, beside those of its users: what is accounted for outside of any run.
 *
 * Guarantees: their ids begin with one reserved prefix, under which a runtime starts no run for anybody; stores leave them
 * out of lists unless they are asked for.
 * Does not hide them otherwise: by id they are loaded, read and verified like any other.
 */

/** Ids that begin so are the runtime's own. */
export const prefix = "toolwright/"

export const isSystemThread = (threadId: string): boolean => threadId.startsWith(prefix)

/** Where the revocation of a grant is recorded. */
export const ofGrant = (grantId: string): string => `${prefix}grants/${grantId}`

/** Where answers are recorded that were refused and name no ticket of any thread: one thread a day, in UTC. */
export const ofRefusals = (at: number): string => `${prefix}refusals/${dayOf(at)}`

const dayOf = (at: number): string => {
  const day = new Date(at)
  return Number.isNaN(day.getTime()) ? "undated" : day.toISOString().slice(0, 10)
}
