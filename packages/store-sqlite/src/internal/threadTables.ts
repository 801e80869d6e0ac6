/** All tables of the thread store over one connection. */
import type { SqliteConnection } from "../SqliteDriver.js"
import { type CommitTable, commitTable, type RunTable, runTable, snapshotTable } from "./commitTable.js"
import { type HeadQueries, headQueries, type HeadTable, headTable } from "./headTable.js"
import { type SharedTable, sharedTable } from "./sharedTable.js"
import { type SignalTable, signalTable, type TicketTable, ticketTable } from "./signalTable.js"
import { Snapshots } from "./snapshots.js"

export interface ThreadTables {
  readonly heads: HeadTable
  readonly queries: HeadQueries
  readonly commits: CommitTable
  readonly runs: RunTable
  readonly snapshots: Snapshots
  readonly signals: SignalTable
  readonly tickets: TicketTable
  readonly shared: SharedTable
}

export const threadTables = (connection: SqliteConnection): ThreadTables => ({
  heads: headTable(connection),
  queries: headQueries(connection),
  commits: commitTable(connection),
  runs: runTable(connection),
  snapshots: new Snapshots(snapshotTable(connection)),
  signals: signalTable(connection),
  tickets: ticketTable(connection),
  shared: sharedTable(connection)
})
