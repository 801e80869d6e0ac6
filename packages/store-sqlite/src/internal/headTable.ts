/**
 * Statements of `thread_head`: who owns a thread, what its run is doing, whether its inbox waits.
 *
 * Guarantees: every statement finds its rows through a key or an index.
 * Does not decide anything and opens no transaction.
 */
import { type Run, type StoreRules, SystemThread, type ThreadStore } from "@toolwright/runtime-contract"
import type { SqliteConnection, SqliteRow } from "../SqliteDriver.js"
import { fromOrderedText, toOrderedText } from "./orderedText.js"
import { numberIn, optionalTextIn, textIn } from "./storedRecord.js"

export interface HeadRow {
  readonly key: number
  readonly ownership: StoreRules.Ownership
  /** Sequence of the last signal. */
  readonly signals: number
  readonly revision: number
}

export type HeadTable = ReturnType<typeof headTable>

export const headTable = (connection: SqliteConnection) => {
  const find = connection.prepare(
    `SELECT key, epoch, owner, lease_until, signals, coalesce(
       (SELECT revision FROM thread_commit WHERE thread = thread_head.key ORDER BY revision DESC LIMIT 1), 0) AS revision
     FROM thread_head WHERE id = ?`
  )
  const insert = connection.prepare(
    `INSERT INTO thread_head (key, id, epoch, owner, lease_until) VALUES (?, ?, ?, ?, ?)`
  )
  const setOwnership = connection.prepare(`UPDATE thread_head SET epoch = ?, owner = ?, lease_until = ? WHERE key = ?`)
  const setRun = connection.prepare(`UPDATE thread_head SET run_id = ?, disposition = ? WHERE key = ?`)
  const setInbox = connection.prepare(
    `UPDATE thread_head SET signals = ?, unread_at =
       (SELECT at FROM thread_signal WHERE thread = thread_head.key AND read_at IS NULL ORDER BY sequence LIMIT 1)
     WHERE key = ?`
  )
  const remove = connection.prepare(`DELETE FROM thread_head WHERE key = ?`)
  const floors = connection.prepare(
    `SELECT max(key_floor, coalesce((SELECT max(key) FROM thread_head), 0)) AS key, epoch_floor AS epoch
     FROM thread_store WHERE one = 1`
  )
  const raiseFloors = connection.prepare(
    `UPDATE thread_store SET key_floor = max(key_floor, ?), epoch_floor = max(epoch_floor, ?) WHERE one = 1`
  )
  return {
    find: (id: string): HeadRow | undefined => {
      const row = find.get(toOrderedText(id))
      return row === undefined
        ? undefined
        : {
            key: numberIn(row, "key"),
            ownership: ownershipOf(row),
            signals: numberIn(row, "signals"),
            revision: numberIn(row, "revision")
          }
    },
    insert: (id: string, { key, ownership }: Pick<HeadRow, "key" | "ownership">): void =>
      void insert.run(key, toOrderedText(id), ownership.epoch, textOrNull(ownership.owner), ownership.leaseUntil),
    setOwnership: (key: number, { epoch, owner, leaseUntil }: StoreRules.Ownership): void =>
      void setOwnership.run(epoch, textOrNull(owner), leaseUntil, key),
    setRun: (key: number, run: { readonly runId: string; readonly disposition: Run.RunDisposition["_tag"] }): void =>
      void setRun.run(toOrderedText(run.runId), run.disposition, key),
    /** To be called after the signals themselves were written. */
    setInbox: (key: number, signals: number): void => void setInbox.run(signals, key),
    remove: (key: number): void => void remove.run(key),
    /** The last key that was ever used, and the epoch that a thread without a row counts from. */
    floors: (): { readonly key: number; readonly epoch: number } => {
      const row = floors.get() ?? {}
      return { key: numberIn(row, "key"), epoch: numberIn(row, "epoch") }
    },
    raiseFloors: (key: number, epoch: number): void => void raiseFloors.run(key, epoch)
  }
}

const system = toOrderedText(SystemThread.prefix)

// The prefix ends in "/", and "0" is the character behind it.
const behindSystem = toOrderedText(SystemThread.prefix.replace(/\/$/, "0"))

export interface SummaryRow {
  readonly key: number
  readonly threadId: string
}

export type HeadQueries = ReturnType<typeof headQueries>

/** Statements over many threads: what is due, and lists. */
export const headQueries = (connection: SqliteConnection) => {
  const all = connection.prepare(
    `SELECT key, id FROM thread_head WHERE disposition IS NOT NULL AND id >= ? ORDER BY id LIMIT ?`
  )
  const allBefore = connection.prepare(
    `SELECT key, id FROM thread_head WHERE disposition IS NOT NULL AND id >= ? AND id < ? ORDER BY id LIMIT ?`
  )
  const some = connection.prepare(
    `SELECT key, id FROM thread_head WHERE disposition = ? AND id >= ? ORDER BY id LIMIT ?`
  )
  const someBefore = connection.prepare(
    `SELECT key, id FROM thread_head WHERE disposition = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?`
  )
  const expired = connection.prepare(
    `SELECT key, id, run_id, lease_until AS at FROM thread_head INDEXED BY thread_head_running
     WHERE disposition = 'Running' AND lease_until <= ? ORDER BY lease_until LIMIT ?`
  )
  const unread = connection.prepare(
    `SELECT key, id, run_id, unread_at AS at FROM thread_head
     WHERE unread_at IS NOT NULL AND lease_until <= ? ORDER BY unread_at LIMIT ?`
  )
  return {
    list: (request: {
      readonly after: string | undefined
      readonly disposition: string | undefined
      readonly system: boolean
      readonly limit: number
    }) => {
      const { disposition, limit } = request
      const within = (from: string, before: string): ReadonlyArray<SqliteRow> =>
        disposition === undefined
          ? allBefore.all(from, before, limit)
          : someBefore.all(disposition, from, before, limit)
      const onward = (from: string, most: number): ReadonlyArray<SqliteRow> =>
        disposition === undefined ? all.all(from, most) : some.all(disposition, from, most)
      // The next text behind `after` is the one with a NUL more.
      const from = request.after === undefined ? "" : toOrderedText(`${request.after}\0`)
      // Skipped as a range, however many there are: the system's threads lie side by side.
      const first = request.system || from >= behindSystem ? [] : within(from, system)
      const second = request.system || from >= behindSystem ? from : behindSystem
      const rows = first.length < limit ? [...first, ...onward(second, limit - first.length)] : first
      return rows.map((row): SummaryRow => ({
        key: numberIn(row, "key"),
        threadId: fromOrderedText(textIn(row, "id"))
      }))
    },
    leaseExpired: (now: number, limit: number) => expired.all(now, limit).map((row) => dueOf("LeaseExpired", row)),
    signalUnread: (now: number, limit: number) => unread.all(now, limit).map((row) => dueOf("SignalUnread", row))
  }
}

const dueOf = (_tag: "LeaseExpired" | "SignalUnread", row: SqliteRow): ThreadStore.DueItem => ({
  _tag,
  threadId: fromOrderedText(textIn(row, "id")),
  runId: fromOrderedText(textIn(row, "run_id")),
  at: numberIn(row, "at")
})

const ownershipOf = (row: SqliteRow): StoreRules.Ownership => {
  const owner = optionalTextIn(row, "owner")
  return {
    epoch: numberIn(row, "epoch"),
    owner: owner === undefined ? undefined : fromOrderedText(owner),
    leaseUntil: numberIn(row, "lease_until")
  }
}

const textOrNull = (id: string | undefined): string | null => (id === undefined ? null : toOrderedText(id))
