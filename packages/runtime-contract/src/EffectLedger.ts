/**
 * The memory of effects that must not happen twice: one row per operation, written before and after its effect.
 *
 * Guarantees: where effect and row share a transaction (`once`), the effect happens once. Where they do not, a row tells
 * what is known: `Done` with the result, or begun by an attempt of which nothing more is known, which is `InDoubt`.
 * Does not make an effect outside its own transaction happen once: nobody can. A row that is begun never means "not done".
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { Json } from "./Json.js"

/** One attempt of one operation. */
export interface LedgerEntry {
  /** From `ToolOperationToken.ledgerId`: the same for every attempt of the operation. */
  readonly ledgerId: string
  /** `ToolOperation.attempt`. */
  readonly attempt: number
  /** Digest of what the effect is asked to do. The same id with another digest is refused. */
  readonly digest: string
}

/** What the ledger holds of an operation. `at`: milliseconds since the epoch, by the ledger's clock. */
export type LedgerRow =
  | (LedgerEntry & { readonly _tag: "Begun"; readonly at: number })
  | (LedgerEntry & { readonly _tag: "Done"; readonly at: number; readonly result: Json })

/** The answer to `begin`. */
export type Begun =
  /** Nobody began it before: the row is written, make the effect, then `complete` it. */
  | { readonly _tag: "Begun" }
  /** It was made: this is its result. Do not make it again. */
  | { readonly _tag: "Done"; readonly result: Json }
  /** An attempt began it and left no result. Ask the effect's target what became of it, then `settle`. */
  | { readonly _tag: "InDoubt"; readonly attempt: number; readonly since: number }

/** What somebody found out about an effect in doubt. */
export type LedgerEvidence = { readonly _tag: "Happened"; readonly result: Json } | { readonly _tag: "DidNotHappen" }

export type LedgerErrorReason =
  /** The id was begun for something else. */
  | "DigestMismatch"
  /** An attempt began it, and what became of it is not known. */
  | "InDoubt"
  /** Only a begun row is completed or settled, and only by the attempt that began it. */
  | "NotBegun"
  /** The effect threw. Nothing of it and no row was kept; `cause` is what it threw. */
  | "EffectFailed"
  /** The row is there and cannot be read. */
  | "Unreadable"
  /** Nothing was written. */
  | "Unavailable"
  /** It may or may not be durable: ask again. */
  | "Unanswered"

export class LedgerError extends Data.TaggedError("LedgerError")<{
  readonly reason: LedgerErrorReason
  readonly ledgerId: string
  readonly message: string
  readonly cause?: unknown
}> {}

/** What `once` did: the result, and whether it was there before. */
export interface LedgerResult {
  readonly result: Json
  readonly repeated: boolean
}

/** `Transaction` is what an effect writes with, so that it and its row are one. */
export interface EffectLedger<Transaction> {
  /**
   * Makes the effect and writes its row in one transaction, or gives the result of the time when it was made. `effect` is
   * synchronous, touches nothing but the transaction, and may be called again after it was undone.
   */
  readonly once: (
    entry: LedgerEntry,
    effect: (transaction: Transaction) => Json
  ) => Effect.Effect<LedgerResult, LedgerError>
  /** Durable before it answers: to be called before an effect that lies outside. */
  readonly begin: (entry: LedgerEntry) => Effect.Effect<Begun, LedgerError>
  /** The effect has happened. Again with the same entry changes nothing. */
  readonly complete: (entry: LedgerEntry, result: Json) => Effect.Effect<void, LedgerError>
  /** Ends a doubt about `attempt`. What did not happen may be begun again. */
  readonly settle: (
    doubt: { readonly ledgerId: string; readonly attempt: number },
    evidence: LedgerEvidence
  ) => Effect.Effect<void, LedgerError>
  readonly find: (ledgerId: string) => Effect.Effect<LedgerRow | undefined, LedgerError>
  /**
   * Forgets what was done before this moment, and says how many. An operation that is forgotten could be made again:
   * choose a moment before the start of every run that is still open. Rows in doubt are kept.
   */
  readonly forget: (before: number) => Effect.Effect<number, LedgerError>
}

export const ledgerError = (
  ledgerId: string,
  given: { readonly reason: LedgerErrorReason; readonly cause?: unknown; readonly detail?: string }
): LedgerError =>
  new LedgerError({
    reason: given.reason,
    ledgerId,
    message: `ledger${ledgerId === "" ? "" : ` ${ledgerId}`}: ${given.detail ?? explanations[given.reason]}`,
    ...(given.cause === undefined ? {} : { cause: given.cause })
  })

const explanations: Readonly<Record<LedgerErrorReason, string>> = {
  DigestMismatch: "the operation was begun with other arguments",
  InDoubt: "an attempt began it, and what became of it is not known",
  NotBegun: "no such attempt is under way",
  EffectFailed: "the effect failed and was undone",
  Unreadable: "the row cannot be read",
  Unavailable: "the ledger cannot be reached",
  Unanswered: "the ledger did not answer"
}

/** What a ledger does next for one attempt, as a pure rule over the row that it found: the same in every ledger. */
export const decideBegin = (
  row: LedgerRow | undefined,
  entry: LedgerEntry
): Begun | { readonly _tag: "Refused"; readonly reason: LedgerErrorReason } => {
  if (row === undefined) return { _tag: "Begun" }
  if (row.digest !== entry.digest) return { _tag: "Refused", reason: "DigestMismatch" }
  if (row._tag === "Done") return { _tag: "Done", result: row.result }
  // Also for the attempt's own row: it does not know whether its first time got through.
  return { _tag: "InDoubt", attempt: row.attempt, since: row.at }
}

/** Whether a result may be written: `Keep` where it is there already. */
export const decideComplete = (
  row: LedgerRow | undefined,
  entry: LedgerEntry
): "Write" | "Keep" | LedgerErrorReason => {
  if (row === undefined) return "NotBegun"
  if (row.digest !== entry.digest) return "DigestMismatch"
  if (row._tag === "Done") return row.attempt === entry.attempt ? "Keep" : "NotBegun"
  return row.attempt === entry.attempt ? "Write" : "NotBegun"
}
