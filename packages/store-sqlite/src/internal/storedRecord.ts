/**
 * A text in the database together with a checksum of it, and the error for one that cannot be read.
 *
 * Guarantees: what is read is what was written, to the byte, or an `UnreadableRecord` that says where it stands.
 * Does not know what the text means.
 */
import { crc32 } from "node:zlib"
import type { SqliteRow, SqliteValue } from "../SqliteDriver.js"

/** Something in the database is not what it must be. `position` names table, thread and number. */
export class UnreadableRecord extends Error {
  readonly _tag = "UnreadableRecord"
  override readonly name = "UnreadableRecord"
  readonly position: string
  constructor(position: string, options?: { readonly expected?: string; readonly cause?: unknown }) {
    super(
      `${position}: ${options?.expected ?? "cannot be read"}`,
      options?.cause === undefined ? {} : { cause: options.cause }
    )
    this.position = position
  }
}

/** CRC-32 of the text's UTF-8 form: finds a flipped bit that would still be valid JSON. No defence against people. */
export const checksumOf = (text: string): number => crc32(text)

/** The text in `column`, checked against `checksum`. */
export const checkedText = (
  row: SqliteRow,
  where: { readonly column?: string; readonly checksum?: string; readonly position: string }
): string => {
  const text = row[where.column ?? "record"]
  if (typeof text !== "string" || checksumOf(text) !== row[where.checksum ?? "checksum"])
    throw new UnreadableRecord(where.position, { expected: "the text differs from its checksum" })
  return text
}

export const numberIn = (row: SqliteRow, column: string): number => {
  const value = row[column]
  if (typeof value === "number") return value
  throw misfit(column, value)
}

export const textIn = (row: SqliteRow, column: string): string => {
  const value = row[column]
  if (typeof value === "string") return value
  throw misfit(column, value)
}

export const optionalTextIn = (row: SqliteRow, column: string): string | undefined =>
  row[column] === null ? undefined : textIn(row, column)

const misfit = (column: string, value: SqliteValue | undefined): UnreadableRecord =>
  new UnreadableRecord(`column ${column}`, { expected: `a value of its type, found ${typeof value}` })
