/**
 * The effect ledger in a SQLite database: best the one that the effects themselves write to.
 *
 * Guarantees: `once` commits the effect and its row in one transaction; `begin` is on disk before it answers; a row that
 * was begun and never completed is in doubt for every later attempt, whichever process asks.
 * Does not reach outside the database: what an effect does elsewhere is not undone with it.
 */
import { EffectLedger, type Json, LedgerError } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { busyRetry } from "./internal/busyRetry.js"
import { ledgerSchema } from "./internal/ledgerSchema.js"
import { toOrderedText } from "./internal/orderedText.js"
import { checkedText, checksumOf, numberIn, textIn, UnreadableRecord } from "./internal/storedRecord.js"
import { rollback } from "./internal/transaction.js"
import { migrate, SchemaRefused } from "./SchemaLedger.js"
import { failureOf, type SqliteConnection, type SqliteStatement } from "./SqliteDriver.js"

type Entry = EffectLedger.LedgerEntry
type Row = EffectLedger.LedgerRow

export interface SqliteEffectLedgerOptions {
  /** The database of the effects; `SqliteDriver.connectionOf` takes one that the program has opened. Not closed here. */
  readonly connection: SqliteConnection
  /** The clock of the rows, in milliseconds. Default `Date.now`. */
  readonly now?: () => number
  /** Milliseconds to wait while another process writes. Default 5,000. */
  readonly patience?: number
}

export class SqliteEffectLedger implements EffectLedger.EffectLedger<SqliteConnection> {
  readonly #connection: SqliteConnection
  readonly #now: () => number
  readonly #patience: number
  readonly #find: SqliteStatement
  readonly #put: SqliteStatement
  readonly #remove: SqliteStatement
  readonly #forget: SqliteStatement

  /** Use `open`, which makes the table. */
  constructor(options: SqliteEffectLedgerOptions) {
    const { connection } = options
    this.#connection = connection
    this.#now = options.now ?? Date.now
    this.#patience = options.patience ?? 5_000
    this.#find = connection.prepare(
      `SELECT attempt, digest, at, result, checksum FROM toolwright_effect_row WHERE id = ?`
    )
    this.#put = connection.prepare(
      `INSERT INTO toolwright_effect_row (id, attempt, digest, at, result, checksum) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET at = excluded.at, result = excluded.result, checksum = excluded.checksum`
    )
    this.#remove = connection.prepare(`DELETE FROM toolwright_effect_row WHERE id = ?`)
    this.#forget = connection.prepare(`DELETE FROM toolwright_effect_row WHERE result IS NOT NULL AND at < ?`)
  }

  readonly once = (
    entry: Entry,
    effect: (transaction: SqliteConnection) => Json.Json
  ): Effect.Effect<EffectLedger.LedgerResult, LedgerError> =>
    this.#write(entry.ledgerId, () => {
      const begun = EffectLedger.decideBegin(this.#read(entry.ledgerId), entry)
      if (begun._tag === "Refused") throw refusal(entry, begun.reason)
      if (begun._tag === "InDoubt") throw refusal(entry, "InDoubt")
      if (begun._tag === "Done") return { result: begun.result, repeated: true }
      const result = this.#make(entry, effect)
      this.#save(entry, { result })
      return { result, repeated: false }
    })

  readonly begin = (entry: Entry): Effect.Effect<EffectLedger.Begun, LedgerError> =>
    this.#write(entry.ledgerId, () => {
      const begun = EffectLedger.decideBegin(this.#read(entry.ledgerId), entry)
      if (begun._tag === "Refused") throw refusal(entry, begun.reason)
      if (begun._tag === "Begun") this.#save(entry, undefined)
      return begun
    })

  readonly complete = (entry: Entry, result: Json.Json): Effect.Effect<void, LedgerError> =>
    this.#write(entry.ledgerId, () => {
      const decision = EffectLedger.decideComplete(this.#read(entry.ledgerId), entry)
      if (decision === "Write") this.#save(entry, { result })
      else if (decision !== "Keep") throw refusal(entry, decision)
    })

  readonly settle = (
    doubt: { readonly ledgerId: string; readonly attempt: number },
    evidence: EffectLedger.LedgerEvidence
  ): Effect.Effect<void, LedgerError> =>
    this.#write(doubt.ledgerId, () => {
      const row = this.#read(doubt.ledgerId)
      if (row?._tag !== "Begun" || row.attempt !== doubt.attempt) throw refusal(doubt, "NotBegun")
      if (evidence._tag === "Happened") this.#save(row, { result: evidence.result })
      else this.#remove.run(toOrderedText(doubt.ledgerId))
    })

  readonly find = (ledgerId: string): Effect.Effect<Row | undefined, LedgerError> =>
    this.#attempt(ledgerId, () => this.#read(ledgerId))

  readonly forget = (before: number): Effect.Effect<number, LedgerError> =>
    this.#write("", () => Number(this.#forget.run(before).changes))

  #make(entry: Entry, effect: (transaction: SqliteConnection) => Json.Json): Json.Json {
    try {
      return effect(this.#connection)
    } catch (cause) {
      throw EffectLedger.ledgerError(entry.ledgerId, { reason: "EffectFailed", cause })
    }
  }

  #read(ledgerId: string): Row | undefined {
    const row = this.#find.get(toOrderedText(ledgerId))
    if (row === undefined) return undefined
    const known = {
      ledgerId,
      attempt: numberIn(row, "attempt"),
      digest: textIn(row, "digest"),
      at: numberIn(row, "at")
    }
    if (row["result"] === null) return { ...known, _tag: "Begun" }
    const position = `toolwright_effect_row ${ledgerId}`
    return { ...known, _tag: "Done", result: resultOf(checkedText(row, { column: "result", position }), position) }
  }

  #save(entry: Entry, done: { readonly result: Json.Json } | undefined): void {
    const text = done === undefined ? null : JSON.stringify(done.result)
    const checksum = text === null ? null : checksumOf(text)
    this.#put.run(toOrderedText(entry.ledgerId), entry.attempt, entry.digest, this.#now(), text, checksum)
  }

  #write<A>(ledgerId: string, write: () => A): Effect.Effect<A, LedgerError> {
    return this.#attempt(ledgerId, () => {
      let isCommit = false
      this.#connection.exec("BEGIN IMMEDIATE")
      try {
        const value = write()
        isCommit = true
        this.#connection.exec("COMMIT")
        return value
      } catch (error) {
        rollback(this.#connection)
        throw isCommit ? EffectLedger.ledgerError(ledgerId, { reason: "Unanswered", cause: error }) : error
      }
    })
  }

  #attempt<A>(ledgerId: string, work: () => A): Effect.Effect<A, LedgerError> {
    return Effect.mapError(busyRetry(work, this.#patience), (error) => errorOf(ledgerId, error))
  }
}

/** Makes the ledger's table where it is missing. Raises the connection's `synchronous` to `FULL`: a row that is not on disk says nothing. */
export const open = (options: SqliteEffectLedgerOptions): Effect.Effect<SqliteEffectLedger, LedgerError> =>
  Effect.mapError(
    busyRetry(() => {
      const { connection } = options
      const level = connection.prepare("PRAGMA synchronous").get()?.["synchronous"]
      if (typeof level !== "number" || level < full) connection.exec("PRAGMA synchronous = FULL")
      migrate(connection, ledgerSchema)
      return new SqliteEffectLedger(options)
    }, options.patience ?? 5_000),
    (error) => errorOf("", error)
  )

/** What SQLite calls `FULL`. */
const full = 2

const refusal = ({ ledgerId }: { readonly ledgerId: string }, reason: EffectLedger.LedgerErrorReason): LedgerError =>
  EffectLedger.ledgerError(ledgerId, { reason })

const errorOf = (ledgerId: string, error: unknown): LedgerError => {
  if (error instanceof LedgerError) return error
  const isUnreadable =
    error instanceof UnreadableRecord || error instanceof SchemaRefused || failureOf(error) === "Damaged"
  const detail = error instanceof Error ? { detail: error.message } : {}
  return EffectLedger.ledgerError(ledgerId, {
    reason: isUnreadable ? "Unreadable" : "Unavailable",
    cause: error,
    ...detail
  })
}

const resultOf = (text: string, position: string): Json.Json => {
  try {
    return JSON.parse(text) as Json.Json
  } catch (cause) {
    throw new UnreadableRecord(position, { expected: "JSON", cause })
  }
}
