/**
 * Statements of `thread_signal` and `thread_ticket`: the inbox of a thread and the tickets of its run.
 *
 * Guarantees: a signal's row is never removed before its thread; whether it is unread, and a ticket's state, are the only
 * things that change.
 * Does not decide anything and opens no transaction.
 */
import type { ResumeTicket, ThreadStore } from "@toolwright/runtime-contract"
import type { SqliteConnection, SqliteRow } from "../SqliteDriver.js"
import { fromOrderedText, toOrderedText } from "./orderedText.js"
import { checksumOf, numberIn, textIn } from "./storedRecord.js"

export interface NewSignal {
  readonly thread: number
  readonly sequence: number
  readonly id: string
  readonly at: number
  readonly revision: number
  readonly record: string
  /** For an answer: its ticket afterwards. */
  readonly ticket: string | undefined
}

export type SignalTable = ReturnType<typeof signalTable>

export const signalTable = (connection: SqliteConnection) => {
  const insert = connection.prepare(
    `INSERT INTO thread_signal (thread, sequence, id, at, revision, checksum, record, ticket_checksum, ticket)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
  )
  const find = connection.prepare(
    `SELECT sequence, ticket_checksum, ticket FROM thread_signal WHERE thread = ? AND id = ?`
  )
  const range = connection.prepare(
    `SELECT sequence, revision, checksum, record, ticket_checksum, ticket FROM thread_signal
     WHERE thread = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?`
  )
  const unread = connection.prepare(
    `SELECT sequence, checksum, record FROM thread_signal WHERE thread = ? AND read_at IS NULL ORDER BY sequence`
  )
  const markRead = connection.prepare(`UPDATE thread_signal SET read_at = ? WHERE thread = ? AND id = ?`)
  const remove = connection.prepare(`DELETE FROM thread_signal WHERE thread = ?`)
  return {
    insert: (row: NewSignal): void =>
      void insert.run(
        row.thread,
        row.sequence,
        toOrderedText(row.id),
        row.at,
        row.revision,
        checksumOf(row.record),
        row.record,
        row.ticket === undefined ? null : checksumOf(row.ticket),
        row.ticket ?? null
      ),
    find: (thread: number, id: string): SqliteRow | undefined => find.get(thread, toOrderedText(id)),
    /** Rows with a sequence above `after`, up to `to`, in order. */
    range: (
      thread: number,
      wanted: { readonly after: number; readonly to: number; readonly limit: number }
    ): ReadonlyArray<SqliteRow> => range.all(thread, wanted.after, wanted.to, wanted.limit),
    unread: (thread: number): ReadonlyArray<SqliteRow> => unread.all(thread),
    markRead: (thread: number, signal: { readonly id: string; readonly revision: number }): void =>
      void markRead.run(signal.revision, thread, toOrderedText(signal.id)),
    remove: (thread: number): void => void remove.run(thread)
  }
}

export type TicketTable = ReturnType<typeof ticketTable>

export const ticketTable = (connection: SqliteConnection) => {
  const find = connection.prepare(`SELECT checksum, record FROM thread_ticket WHERE id = ? AND thread = ?`)
  // Ids are unique as long as run ids are; of two threads with the same, the younger.
  const findAnywhere = connection.prepare(
    `SELECT checksum, record FROM thread_ticket WHERE id = ? ORDER BY thread DESC LIMIT 1`
  )
  const put = connection.prepare(
    `INSERT INTO thread_ticket (id, thread, is_open, deadline, due_at, checksum, record) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id, thread) DO UPDATE SET is_open = excluded.is_open, deadline = excluded.deadline,
       due_at = excluded.due_at, checksum = excluded.checksum, record = excluded.record`
  )
  const remove = connection.prepare(`DELETE FROM thread_ticket WHERE thread = ?`)
  const due = (column: "deadline" | "due_at") =>
    connection.prepare(
      `SELECT thread_ticket.id AS ticket, thread_head.id AS thread, run_id, ${column} AS at
       FROM thread_ticket CROSS JOIN thread_head ON thread_head.key = thread_ticket.thread
       WHERE is_open = 1 AND ${column} IS NOT NULL AND ${column} <= ? ORDER BY ${column} LIMIT ?`
    )
  const deadlines = due("deadline")
  const schedules = due("due_at")
  return {
    find: (thread: number, id: string): SqliteRow | undefined => find.get(toOrderedText(id), thread),
    findAnywhere: (id: string): SqliteRow | undefined => findAnywhere.get(toOrderedText(id)),
    put: (thread: number, given: { readonly state: ResumeTicket.TicketState; readonly record: string }): void => {
      const { ticket, decision } = given.state
      const isOpen = decision === undefined ? 1 : 0
      void put.run(
        toOrderedText(ticket.id),
        thread,
        isOpen,
        ticket.deadline ?? null,
        ticket.dueAt ?? null,
        checksumOf(given.record),
        given.record
      )
    },
    remove: (thread: number): void => void remove.run(thread),
    deadlinePassed: (now: number, limit: number) =>
      deadlines.all(now, limit).map((row) => dueOf("DeadlinePassed", row)),
    scheduleDue: (now: number, limit: number) => schedules.all(now, limit).map((row) => dueOf("ScheduleDue", row))
  }
}

const dueOf = (_tag: "DeadlinePassed" | "ScheduleDue", row: SqliteRow): ThreadStore.DueItem => ({
  _tag,
  threadId: fromOrderedText(textIn(row, "thread")),
  runId: fromOrderedText(textIn(row, "run_id")),
  ticketId: fromOrderedText(textIn(row, "ticket")),
  at: numberIn(row, "at")
})
