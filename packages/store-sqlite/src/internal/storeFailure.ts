/**
 * The one place where failures of SQLite, of records and of schemas become errors of the store port.
 *
 * Guarantees: `Unanswered` only where something may be on disk; what is damaged is `Unreadable` with its position; the
 * message names what SQLite said, and the cause is kept.
 */
import { StoreError, StoreRules, type ThreadStore } from "@toolwright/runtime-contract"
import { RecordUnreadable } from "@toolwright/runtime-contract/records"
import { SchemaRefused } from "../SchemaLedger.js"
import { failureOf, NoSqliteDriver, type SqliteFailure } from "../SqliteDriver.js"
import { UnreadableRecord } from "./storedRecord.js"

/** A file that no store can be kept in, for a reason of its own. */
export class UnusableFile extends Error {
  readonly _tag = "UnusableFile"
  override readonly name = "UnusableFile"
}

/** Where it went wrong. A thread's id, or what was asked for. */
export interface FailedAt {
  readonly threadId: string
  readonly path: string
  /** The transaction was sent off, and SQLite did not say whether it arrived. */
  readonly isCommit?: boolean
}

const explanations: Readonly<Record<SqliteFailure, string>> = {
  Busy: "another process holds the lock",
  Full: "the disk, or what the database may take of it, is full",
  ReadOnly: "the file may not be written",
  CannotOpen: "the file cannot be opened",
  Damaged: "the file is damaged or no database",
  Constraint: "the rows contradict each other",
  Io: "reading or writing failed",
  Other: "SQLite refused"
}

export const storeFailure = (error: unknown, at: FailedAt): StoreError => {
  if (error instanceof StoreError) return error
  if (error instanceof UnreadableRecord || error instanceof RecordUnreadable || error instanceof SchemaRefused)
    return failure(at, {
      reason: { _tag: "Unreadable", position: error.position },
      explanation: error.message,
      cause: error
    })
  const kind = failureOf(error)
  if (kind === "Damaged" || kind === "Constraint")
    return failure(at, {
      reason: { _tag: "Unreadable", position: at.path },
      explanation: explanations[kind],
      cause: error
    })
  const explanation = kind === undefined ? explanationOf(error) : explanations[kind]
  return failure(at, {
    reason: { _tag: at.isCommit === true ? "Unanswered" : "Unavailable" },
    explanation,
    cause: error
  })
}

/** What was asked for has no JSON. */
export const unwritable = (threadId: string, cause: unknown): StoreError =>
  StoreRules.storeError(threadId, { reason: { _tag: "Rejected", rule: "what is written down is JSON" }, cause })

/** The store was closed. */
export const closedFailure = (at: FailedAt): StoreError =>
  failure(at, { reason: { _tag: "Unavailable" }, explanation: "the store was closed", cause: undefined })

const explanationOf = (error: unknown): string =>
  error instanceof NoSqliteDriver || error instanceof UnusableFile ? error.message : "the store failed"

const failure = (
  at: FailedAt,
  given: { readonly reason: ThreadStore.StoreErrorReason; readonly explanation: string; readonly cause: unknown }
): StoreError => {
  const { reason, explanation, cause } = given
  const { message } = StoreRules.storeError(at.threadId, { reason })
  const said = cause instanceof Error && cause.message !== explanation ? ` (${cause.message})` : ""
  return new StoreError({
    reason,
    threadId: at.threadId,
    message: `${message}; ${at.path}: ${explanation}${said}`,
    ...(cause === undefined ? {} : { cause })
  })
}
