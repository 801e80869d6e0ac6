/**
 * How an operation is named: run, durable step, and the position of the call in its batch.
 *
 * Guarantees: two operations of a thread never share a name, for the numbers behind the last two slashes are theirs.
 */

/** What the ids of all calls of a step (from 1) begin with; the position (from 0) follows. */
export const operationPrefix = (runId: string, step: number): string => `${runId}/${step}/`
