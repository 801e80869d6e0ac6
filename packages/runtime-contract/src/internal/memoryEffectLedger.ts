import * as Effect from "effect/Effect"
import {
  type Begun,
  decideBegin,
  decideComplete,
  type EffectLedger,
  type LedgerEntry,
  type LedgerError,
  ledgerError,
  type LedgerErrorReason,
  type LedgerEvidence,
  type LedgerResult,
  type LedgerRow
} from "../EffectLedger.js"
import type { Json } from "../Json.js"

/**
 * Keeps the ledger in this process, for tests and for effects that do not outlive it. A transaction is nothing here: an
 * effect that throws has to undo what it did itself.
 */
export class MemoryEffectLedger implements EffectLedger<undefined> {
  readonly #rows = new Map<string, LedgerRow>()
  readonly #now: () => number

  constructor(options: { readonly now?: () => number } = {}) {
    this.#now = options.now ?? Date.now
  }

  readonly once = (
    entry: LedgerEntry,
    effect: (transaction: undefined) => Json
  ): Effect.Effect<LedgerResult, LedgerError> =>
    Effect.suspend((): Effect.Effect<LedgerResult, LedgerError> => {
      const begun = decideBegin(this.#rows.get(entry.ledgerId), entry)
      if (begun._tag === "Refused") return fail(entry, begun.reason)
      if (begun._tag === "InDoubt") return fail(entry, "InDoubt")
      if (begun._tag === "Done") return Effect.succeed({ result: begun.result, repeated: true })
      try {
        const result = effect(undefined)
        this.#rows.set(entry.ledgerId, { ...entry, _tag: "Done", at: this.#now(), result })
        return Effect.succeed({ result, repeated: false })
      } catch (cause) {
        return Effect.fail(ledgerError(entry.ledgerId, { reason: "EffectFailed", cause }))
      }
    })

  readonly begin = (entry: LedgerEntry): Effect.Effect<Begun, LedgerError> =>
    Effect.suspend(() => {
      const begun = decideBegin(this.#rows.get(entry.ledgerId), entry)
      if (begun._tag === "Refused") return fail(entry, begun.reason)
      if (begun._tag === "Begun") this.#rows.set(entry.ledgerId, { ...entry, _tag: "Begun", at: this.#now() })
      return Effect.succeed(begun)
    })

  readonly complete = (entry: LedgerEntry, result: Json): Effect.Effect<void, LedgerError> =>
    Effect.suspend(() => {
      const decision = decideComplete(this.#rows.get(entry.ledgerId), entry)
      if (decision === "Keep") return Effect.void
      if (decision !== "Write") return fail(entry, decision)
      this.#rows.set(entry.ledgerId, { ...entry, _tag: "Done", at: this.#now(), result })
      return Effect.void
    })

  readonly settle = (
    doubt: { readonly ledgerId: string; readonly attempt: number },
    evidence: LedgerEvidence
  ): Effect.Effect<void, LedgerError> =>
    Effect.suspend(() => {
      const row = this.#rows.get(doubt.ledgerId)
      if (row?._tag !== "Begun" || row.attempt !== doubt.attempt) return fail(doubt, "NotBegun")
      if (evidence._tag === "DidNotHappen") this.#rows.delete(doubt.ledgerId)
      else this.#rows.set(doubt.ledgerId, { ...row, _tag: "Done", at: this.#now(), result: evidence.result })
      return Effect.void
    })

  readonly find = (ledgerId: string): Effect.Effect<LedgerRow | undefined> =>
    Effect.sync(() => this.#rows.get(ledgerId))

  readonly forget = (before: number): Effect.Effect<number> =>
    Effect.sync(() => {
      const old = [...this.#rows.values()].filter((row) => row._tag === "Done" && row.at < before)
      for (const row of old) this.#rows.delete(row.ledgerId)
      return old.length
    })
}

const fail = (
  { ledgerId }: { readonly ledgerId: string },
  reason: LedgerErrorReason
): Effect.Effect<never, LedgerError> => Effect.fail(ledgerError(ledgerId, { reason }))
