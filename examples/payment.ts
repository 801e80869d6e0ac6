/**
 * A payment that is made once, though the process that makes it may die at any line. The provider lies outside, so no
 * transaction holds both the payment and what we know of it: the ledger remembers that an attempt was begun, and after a
 * crash the next attempt asks the provider before it does anything.
 */
import { type EffectLedger, Json, Tool, ToolError, ToolOperation } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"
import * as Effect from "effect/Effect"

/** A payment provider that can be asked for what it was sent under a key. */
export interface PaymentProvider {
  /** Gives the receipt's number. */
  readonly charge: (payment: {
    readonly key: string
    readonly invoice: string
    readonly cents: number
  }) => Promise<string>
  readonly find: (key: string) => Promise<string | undefined>
}

// #region define
export const PayInvoice = Tool.define({
  id: "pay_invoice",
  description: "Pay one invoice from the company's account, in cents",
  args: Type.Object({ invoice: Type.String(), cents: Type.Integer({ minimum: 1 }) }),
  output: Type.Object({ receipt: Type.String() }),
  // A new attempt is allowed after a crash, because the ledger below de-duplicates it.
  recovery: "Idempotent"
})
// #endregion

// #region implement
export const payInvoice = (provider: PaymentProvider, ledger: EffectLedger.EffectLedger<unknown>) =>
  Tool.implement(PayInvoice, (payment, { operation }) => {
    const entry: EffectLedger.LedgerEntry = {
      // The same for every attempt of this operation, and for no other operation.
      ledgerId: ToolOperation.tokenOf(operation).ledgerId("payments"),
      attempt: operation.attempt,
      digest: Json.digest("payment/1", payment)
    }
    const charge = Effect.gen(function* () {
      const receipt = yield* ask(() => provider.charge({ key: entry.ledgerId, ...payment }))
      yield* ledger.complete(entry, receipt)
      return { receipt }
    })
    return Effect.gen(function* () {
      const begun = yield* ledger.begin(entry)
      if (begun._tag === "Begun") return yield* charge
      if (begun._tag === "Done") return { receipt: receiptOf(begun.result) }
      // An earlier attempt died between asking the provider and writing down its answer: only the provider knows.
      const doubt = { ledgerId: entry.ledgerId, attempt: begun.attempt }
      const receipt = yield* ask(() => provider.find(entry.ledgerId))
      if (receipt !== undefined) {
        yield* ledger.settle(doubt, { _tag: "Happened", result: receipt })
        return { receipt }
      }
      yield* ledger.settle(doubt, { _tag: "DidNotHappen" })
      yield* ledger.begin(entry)
      return yield* charge
    }).pipe(Effect.mapError((error) => ToolError.fromUnknown(error)))
  })
// #endregion

const ask = <A>(question: () => Promise<A>): Effect.Effect<A, ToolError> =>
  Effect.tryPromise({ try: question, catch: (thrown) => ToolError.fromUnknown(thrown) })

/** Only `complete` and `settle` above write results, and they write receipts. */
const receiptOf = (result: Json.Json): string => (typeof result === "string" ? result : JSON.stringify(result))
