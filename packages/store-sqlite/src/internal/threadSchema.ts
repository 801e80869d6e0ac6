/**
 * The ledger of the thread store's tables. A released version is never edited: a change is a new entry, with a recorded
 * database of the version before it among the fixtures.
 */
import type { SchemaLedger } from "../SchemaLedger.js"

/**
 * Times are REAL: milliseconds since the epoch, by clocks that need not be whole. Ids are ordered text. A `record` is
 * versioned JSON with the CRC-32 of its bytes beside it.
 *
 * Commits are rows in the order of writing, not of thread: when many threads commit together they fill the same pages.
 * Clustered by thread, a commit of a thousand threads would write a thousand pages.
 */
const first = `
CREATE TABLE thread_store (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  -- What key and epoch of a new thread count from: at least those of every thread that was deleted.
  key_floor INTEGER NOT NULL,
  epoch_floor INTEGER NOT NULL
) STRICT;
INSERT INTO thread_store (one, key_floor, epoch_floor) VALUES (1, 0, 0);

CREATE TABLE thread_head (
  -- Never used again after a deletion: other processes remember threads by it.
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  epoch INTEGER NOT NULL,
  owner TEXT,
  lease_until REAL NOT NULL,
  run_id TEXT,
  disposition TEXT,
  -- Sequence of the last signal.
  signals INTEGER NOT NULL DEFAULT 0,
  -- When the oldest unread signal was sent.
  unread_at REAL
) STRICT;
CREATE INDEX thread_head_by_disposition ON thread_head (disposition, id) WHERE disposition IS NOT NULL;
CREATE INDEX thread_head_running ON thread_head (lease_until) WHERE disposition = 'Running';
CREATE INDEX thread_head_unread ON thread_head (unread_at) WHERE unread_at IS NOT NULL;

CREATE TABLE thread_snapshot (
  key INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  checksum INTEGER NOT NULL,
  record TEXT NOT NULL
) STRICT;

CREATE TABLE thread_commit (
  key INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  first_fact INTEGER NOT NULL,
  fact_count INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  record TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX thread_commit_by_revision ON thread_commit (thread, revision);

-- Every run that a thread ever had.
CREATE TABLE thread_run (
  thread INTEGER NOT NULL,
  id TEXT NOT NULL,
  snapshot INTEGER NOT NULL,
  PRIMARY KEY (thread, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_run_by_snapshot ON thread_run (snapshot);

CREATE TABLE thread_signal (
  key INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  id TEXT NOT NULL,
  at REAL NOT NULL,
  -- Revision of the thread when it was accepted: its place among the commits.
  revision INTEGER NOT NULL,
  -- Revision of the commit that took it from the inbox; NULL while unread.
  read_at INTEGER,
  checksum INTEGER NOT NULL,
  record TEXT NOT NULL,
  -- For an answer: its ticket afterwards.
  ticket_checksum INTEGER,
  ticket TEXT
) STRICT;
CREATE UNIQUE INDEX thread_signal_by_sequence ON thread_signal (thread, sequence);
CREATE UNIQUE INDEX thread_signal_by_id ON thread_signal (thread, id);
CREATE INDEX thread_signal_unread ON thread_signal (thread, sequence) WHERE read_at IS NULL;

-- Tickets of each thread's current run.
CREATE TABLE thread_ticket (
  id TEXT NOT NULL,
  thread INTEGER NOT NULL,
  is_open INTEGER NOT NULL,
  deadline REAL,
  due_at REAL,
  checksum INTEGER NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (id, thread)
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_ticket_by_thread ON thread_ticket (thread);
CREATE INDEX thread_ticket_deadline ON thread_ticket (deadline) WHERE is_open = 1 AND deadline IS NOT NULL;
CREATE INDEX thread_ticket_due ON thread_ticket (due_at) WHERE is_open = 1 AND due_at IS NOT NULL;

-- A removed key stays as a row without a value, so that the revision never falls.
CREATE TABLE thread_shared (
  key TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  checksum INTEGER,
  value TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX thread_shared_by_revision ON thread_shared (revision);
`

export const threadSchema: SchemaLedger = {
  component: "thread",
  ownsFile: true,
  versions: [
    {
      version: 1,
      change: "Threads, their commits, signals, tickets, snapshots and shared state.",
      up: (connection) => connection.exec(first)
    }
  ]
}
