/** The ledger of the effect ledger's own tables, which live beside the tables of whoever makes the effects. */
import type { SchemaLedger } from "../SchemaLedger.js"

const first = `
CREATE TABLE toolwright_effect_row (
  id TEXT PRIMARY KEY,
  attempt INTEGER NOT NULL,
  digest TEXT NOT NULL,
  at REAL NOT NULL,
  -- NULL while nothing is known of the effect but that it was begun.
  result TEXT,
  checksum INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX toolwright_effect_row_done ON toolwright_effect_row (at) WHERE result IS NOT NULL;
`

export const ledgerSchema: SchemaLedger = {
  component: "toolwright_effect",
  ownsFile: false,
  versions: [{ version: 1, change: "One row for each operation.", up: (connection) => connection.exec(first) }]
}
