/** A component with three versions: a table; a column; and every row written anew. */
import type { SchemaLedger } from "@toolwright/store-sqlite"

const versions = (middle: () => void): ReadonlyArray<SchemaLedger.SchemaVersion> => [
  {
    version: 1,
    change: "A note has a text.",
    up: (connection) =>
      connection.exec(`CREATE TABLE note_row (key INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
                       INSERT INTO note_row (text) VALUES ('one'), ('two'), ('three')`)
  },
  {
    version: 2,
    change: "A note has a length.",
    up: (connection) => connection.exec("ALTER TABLE note_row ADD COLUMN length INTEGER")
  },
  {
    version: 3,
    change: "Lengths are filled in, texts are in capitals.",
    up: (connection) => {
      connection.exec("UPDATE note_row SET length = length(text)")
      middle()
      connection.exec("UPDATE note_row SET text = upper(text)")
    }
  }
]

/** The ledger as the code of its `newest` version had it. `middle` is called in the middle of version 3. */
export const madeUp = (newest: number, middle: () => void = () => {}): SchemaLedger.SchemaLedger => ({
  component: "note",
  ownsFile: false,
  versions: versions(middle).slice(0, newest)
})
