/**
 * Statements of `thread_shared`: state that belongs to no thread, under a revision of its own.
 *
 * Guarantees: each change raises the revision by one, and it never falls.
 * Does not decide anything and opens no transaction.
 */
import type { Json } from "@toolwright/runtime-contract"
import type { SqliteConnection, SqliteRow } from "../SqliteDriver.js"
import { fromOrderedText, toOrderedText } from "./orderedText.js"
import { checkedText, checksumOf, numberIn, textIn, UnreadableRecord } from "./storedRecord.js"

export type SharedTable = ReturnType<typeof sharedTable>

export const sharedTable = (connection: SqliteConnection) => {
  const revision = connection.prepare(`SELECT coalesce(max(revision), 0) AS revision FROM thread_shared`)
  const read = connection.prepare(`SELECT key, checksum, value FROM thread_shared WHERE value IS NOT NULL ORDER BY key`)
  const put = connection.prepare(
    `INSERT INTO thread_shared (key, revision, checksum, value) VALUES (?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, checksum = excluded.checksum, value = excluded.value`
  )
  const latest = (): number => numberIn(revision.get() ?? {}, "revision")
  return {
    revision: latest,
    /** `undefined` removes. */
    put: (key: string, value: Json.Json | undefined): void => {
      const text = value === undefined ? null : JSON.stringify(value)
      void put.run(toOrderedText(key), latest() + 1, text === null ? null : checksumOf(text), text)
    },
    read: (): { readonly revision: number; readonly state: ReadonlyMap<string, Json.Json> } => ({
      revision: latest(),
      state: new Map(
        read.all().map((row): readonly [string, Json.Json] => {
          const key = fromOrderedText(textIn(row, "key"))
          return [key, valueOf(row, `thread_shared ${key}`)]
        })
      )
    })
  }
}

const valueOf = (row: SqliteRow, position: string): Json.Json => {
  const text = checkedText(row, { column: "value", position })
  try {
    return JSON.parse(text) as Json.Json
  } catch (cause) {
    throw new UnreadableRecord(position, { expected: "JSON", cause })
  }
}
