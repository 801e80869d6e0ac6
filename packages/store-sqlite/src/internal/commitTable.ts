/**
 * Statements of `thread_commit`, `thread_run` and `thread_snapshot`: the log that a thread is the fold of.
 *
 * Guarantees: rows are only ever added, and removed with their whole thread; a snapshot is there once.
 * Does not decide anything and opens no transaction.
 */
import type { SqliteConnection, SqliteRow } from "../SqliteDriver.js"
import { toOrderedText } from "./orderedText.js"
import { checksumOf, numberIn } from "./storedRecord.js"

export interface NewCommit {
  readonly thread: number
  readonly revision: number
  readonly firstFact: number
  readonly factCount: number
  readonly record: string
}

export type CommitTable = ReturnType<typeof commitTable>

export const commitTable = (connection: SqliteConnection) => {
  const insert = connection.prepare(
    `INSERT INTO thread_commit (thread, revision, first_fact, fact_count, checksum, record) VALUES (?, ?, ?, ?, ?, ?)`
  )
  const range = connection.prepare(
    `SELECT revision, first_fact, fact_count, checksum, record FROM thread_commit
     WHERE thread = ? AND revision > ? AND revision <= ? ORDER BY revision LIMIT ?`
  )
  const last = connection.prepare(
    `SELECT revision, first_fact, checksum, record FROM thread_commit WHERE thread = ? ORDER BY revision DESC LIMIT 1`
  )
  const facts = connection.prepare(`SELECT first_fact, fact_count FROM thread_commit WHERE thread = ? AND revision = ?`)
  const remove = connection.prepare(`DELETE FROM thread_commit WHERE thread = ?`)
  return {
    insert: ({ thread, revision, firstFact, factCount, record }: NewCommit): void =>
      void insert.run(thread, revision, firstFact, factCount, checksumOf(record), record),
    /** Rows of the revisions above `after`, up to `to`, in order. */
    range: (
      thread: number,
      wanted: { readonly after: number; readonly to: number; readonly limit: number }
    ): ReadonlyArray<SqliteRow> => range.all(thread, wanted.after, wanted.to, wanted.limit),
    last: (thread: number): SqliteRow | undefined => last.get(thread),
    /** The number of the first fact behind a commit. */
    factsEnd: (thread: number, revision: number): number | undefined => {
      const row = facts.get(thread, revision)
      return row === undefined ? undefined : numberIn(row, "first_fact") + numberIn(row, "fact_count")
    },
    remove: (thread: number): void => void remove.run(thread)
  }
}

export type SnapshotTable = ReturnType<typeof snapshotTable>

export const snapshotTable = (connection: SqliteConnection) => {
  const find = connection.prepare(`SELECT key FROM thread_snapshot WHERE fingerprint = ?`)
  const insert = connection.prepare(`INSERT INTO thread_snapshot (fingerprint, checksum, record) VALUES (?, ?, ?)`)
  const read = connection.prepare(`SELECT checksum, record FROM thread_snapshot WHERE fingerprint = ?`)
  const removeUnused = connection.prepare(
    `DELETE FROM thread_snapshot WHERE key = ? AND NOT EXISTS (SELECT 1 FROM thread_run WHERE snapshot = thread_snapshot.key)`
  )
  return {
    find: (fingerprint: string): number | undefined => {
      const row = find.get(toOrderedText(fingerprint))
      return row === undefined ? undefined : numberIn(row, "key")
    },
    /** Gives the new snapshot's key. */
    insert: (fingerprint: string, record: string): number =>
      Number(insert.run(toOrderedText(fingerprint), checksumOf(record), record).lastInsertRowid),
    read: (fingerprint: string): SqliteRow | undefined => read.get(toOrderedText(fingerprint)),
    removeUnused: (key: number): void => void removeUnused.run(key)
  }
}

export type RunTable = ReturnType<typeof runTable>

export const runTable = (connection: SqliteConnection) => {
  const find = connection.prepare(`SELECT 1 FROM thread_run WHERE thread = ? AND id = ?`)
  const insert = connection.prepare(`INSERT INTO thread_run (thread, id, snapshot) VALUES (?, ?, ?)`)
  const snapshots = connection.prepare(`SELECT snapshot FROM thread_run WHERE thread = ?`)
  const remove = connection.prepare(`DELETE FROM thread_run WHERE thread = ?`)
  return {
    has: (thread: number, id: string): boolean => find.get(thread, toOrderedText(id)) !== undefined,
    insert: (thread: number, run: { readonly id: string; readonly snapshot: number }): void =>
      void insert.run(thread, toOrderedText(run.id), run.snapshot),
    snapshots: (thread: number): ReadonlyArray<number> => [
      ...new Set(snapshots.all(thread).map((row) => numberIn(row, "snapshot")))
    ],
    remove: (thread: number): void => void remove.run(thread)
  }
}
