/**
 * What an effect ledger is: every promise of the ledger port as a check. Passing the suite is what it means to be one.
 *
 * Guarantees: each check works on a ledger of its own; time is in the suite's hand.
 * Does not crash processes: a dead attempt is one that never comes back.
 */
import assert from "node:assert/strict"
import { type EffectLedger, LedgerError } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ConformanceCheck } from "./Conformance.js"
import { TestClock } from "./TestClock.js"

/** A ledger that was opened for one check, empty. */
export interface OpenedLedger<Transaction> {
  readonly ledger: EffectLedger.EffectLedger<Transaction>
  /** Makes an effect that is visible once it is committed. */
  readonly effect: (transaction: Transaction) => void
  /** How often the effect was made and committed. */
  readonly effects: () => number | Promise<number>
  /** Called when the check is over. */
  readonly close?: () => Promise<void>
}

export interface LedgerSubject<Transaction> {
  /** `now` is the clock of the rows. */
  readonly open: (options: {
    readonly now: () => number
  }) => Promise<OpenedLedger<Transaction>> | OpenedLedger<Transaction>
}

const first: EffectLedger.LedgerEntry = { ledgerId: "id", attempt: 1, digest: "digest" }
const second: EffectLedger.LedgerEntry = { ...first, attempt: 2 }
const other: EffectLedger.LedgerEntry = { ...second, digest: "other" }
const result = { receipt: 7, lines: ["a", null] }

export const ledgerConformance = <Transaction>(
  subject: LedgerSubject<Transaction>
): ReadonlyArray<ConformanceCheck> => {
  const check = (
    title: string,
    tell: (world: OpenedLedger<Transaction> & { readonly clock: TestClock }) => Promise<void>
  ): ConformanceCheck => ({
    title,
    run: async () => {
      const clock = new TestClock(1_000)
      const opened = await subject.open({ now: clock.now })
      try {
        await tell({ ...opened, clock })
      } finally {
        await opened.close?.()
      }
    }
  })
  return [...onceChecks(check), ...begunChecks(check), ...keepingChecks(check)]
}

type Check<Transaction> = (
  title: string,
  tell: (world: OpenedLedger<Transaction> & { readonly clock: TestClock }) => Promise<void>
) => ConformanceCheck

const onceChecks = <Transaction>(check: Check<Transaction>): ReadonlyArray<ConformanceCheck> => [
  check("[R3] an effect in the ledger's transaction is made once, whoever asks again", async (world) => {
    const { effect, effects, ledger } = world
    const make = (transaction: Transaction) => {
      effect(transaction)
      return result
    }
    const answers = [await value(ledger.once(first, make)), await value(ledger.once(second, make))]
    assert.deepEqual(answers, [
      { result, repeated: false },
      { result, repeated: true }
    ])
    assert.equal(await effects(), 1)
  }),

  check("[R3] of attempts at the same time one makes the effect", async ({ effect, effects, ledger }) => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        value(
          ledger.once({ ...first, attempt: index + 1 }, (transaction) => {
            effect(transaction)
            return index
          })
        )
      )
    )
    assert.deepEqual([answers.filter((one) => !one.repeated).length, await effects()], [1, 1])
    assert.equal(new Set(answers.map((one) => one.result)).size, 1)
  }),

  check("[R3] an effect that throws leaves no row, and may be tried again", async ({ effect, effects, ledger }) => {
    const failing = ledger.once(first, () => {
      throw new Error("no money")
    })
    assert.equal(await reasonOf(failing), "EffectFailed")
    assert.equal(await value(ledger.find("id")), undefined)
    const again = ledger.once(second, (transaction) => {
      effect(transaction)
      return result
    })
    assert.deepEqual([await value(again), await effects()], [{ result, repeated: false }, 1])
  }),

  check("[R3] an effect that was begun outside is not made inside", async ({ effect, effects, ledger }) => {
    await value(ledger.begin(first))
    const made = ledger.once(second, (transaction) => {
      effect(transaction)
      return result
    })
    assert.deepEqual([await reasonOf(made), await effects()], ["InDoubt", 0])
  })
]

const begunChecks = <Transaction>(check: Check<Transaction>): ReadonlyArray<ConformanceCheck> => [
  check("[R3] an effect that is complete is never begun again", async ({ ledger }) => {
    assert.deepEqual(await value(ledger.begin(first)), { _tag: "Begun" })
    await value(ledger.complete(first, result))
    assert.deepEqual(await value(ledger.begin(second)), { _tag: "Done", result })
  }),

  check(
    "[R3] a row that a dead attempt left behind is in doubt, and never means that nothing happened",
    async (world) => {
      const { clock, ledger } = world
      await value(ledger.begin(first))
      clock.advance(1_000)
      const doubt = { _tag: "InDoubt", attempt: 1, since: 1_000 }
      assert.deepEqual([await value(ledger.begin(second)), await value(ledger.begin(first))], [doubt, doubt])
    }
  ),

  check("[R3] a doubt ends with evidence: what happened is done", async ({ ledger }) => {
    await value(ledger.begin(first))
    await value(ledger.settle({ ledgerId: "id", attempt: 1 }, { _tag: "Happened", result }))
    assert.deepEqual(await value(ledger.begin(second)), { _tag: "Done", result })
  }),

  check("[R3] a doubt ends with evidence: what did not happen may be begun", async ({ ledger }) => {
    await value(ledger.begin(first))
    await value(ledger.settle({ ledgerId: "id", attempt: 1 }, { _tag: "DidNotHappen" }))
    assert.deepEqual(await value(ledger.begin(second)), { _tag: "Begun" })
    assert.equal(await reasonOf(ledger.complete(first, result)), "NotBegun")
  }),

  check("[R3] only what is begun is completed or settled, by the attempt that began it", async ({ ledger }) => {
    const evidence = { _tag: "Happened", result } as const
    assert.equal(await reasonOf(ledger.complete(first, result)), "NotBegun")
    assert.equal(await reasonOf(ledger.settle(first, evidence)), "NotBegun")
    await value(ledger.begin(first))
    assert.equal(await reasonOf(ledger.complete(second, result)), "NotBegun")
    assert.equal(await reasonOf(ledger.settle(second, evidence)), "NotBegun")
    await value(ledger.complete(first, result))
    assert.equal(await reasonOf(ledger.settle(first, evidence)), "NotBegun")
  }),

  check("[R3] completing again changes nothing", async ({ clock, ledger }) => {
    await value(ledger.begin(first))
    await value(ledger.complete(first, result))
    const before = await value(ledger.find("id"))
    clock.advance(5)
    await value(ledger.complete(first, "another result"))
    assert.deepEqual(await value(ledger.find("id")), before)
  }),

  check("[R2, R3] an operation is entered with one digest only", async ({ effects, ledger }) => {
    await value(ledger.begin(first))
    const made = [
      await reasonOf(ledger.begin(other)),
      await reasonOf(ledger.complete(other, result)),
      await reasonOf(ledger.once(other, () => result))
    ]
    assert.deepEqual(made, ["DigestMismatch", "DigestMismatch", "DigestMismatch"])
    assert.equal(await effects(), 0)
  })
]

const keepingChecks = <Transaction>(check: Check<Transaction>): ReadonlyArray<ConformanceCheck> => [
  check("[R3] a row says what is known of its operation", async ({ clock, ledger }) => {
    assert.equal(await value(ledger.find("id")), undefined)
    await value(ledger.begin(first))
    assert.deepEqual(await value(ledger.find("id")), { ...first, _tag: "Begun", at: 1_000 })
    clock.advance(5)
    await value(ledger.complete(first, result))
    assert.deepEqual(await value(ledger.find("id")), { ...first, _tag: "Done", at: 1_005, result })
  }),

  check("[R3] any JSON value is a result, and comes back as it was", async ({ ledger }) => {
    for (const [index, one] of [null, false, 0, "", "\u0000 𐌀", [], { "": [{}] }].entries()) {
      const entry = { ...first, ledgerId: `id-${index}` }
      await value(ledger.begin(entry))
      await value(ledger.complete(entry, one))
      assert.deepEqual(await value(ledger.begin({ ...entry, attempt: 2 })), { _tag: "Done", result: one })
    }
  }),

  check("[R3] operations do not touch one another", async ({ ledger }) => {
    await value(ledger.begin(first))
    assert.deepEqual(await value(ledger.begin({ ...first, ledgerId: "ID" })), { _tag: "Begun" })
    assert.deepEqual(await value(ledger.begin({ ...first, ledgerId: "id\u0000" })), { _tag: "Begun" })
  }),

  check("[R3] forgetting drops what was done before a moment, and keeps every doubt", async ({ clock, ledger }) => {
    await value(ledger.begin(first))
    for (const [at, ledgerId] of [
      [1_000, "old"],
      [1_010, "young"]
    ] as const) {
      clock.advance(at - clock.now())
      await value(ledger.begin({ ...first, ledgerId }))
      await value(ledger.complete({ ...first, ledgerId }, result))
    }
    assert.equal(await value(ledger.forget(1_010)), 1)
    const left = await Promise.all(["id", "old", "young"].map((ledgerId) => value(ledger.find(ledgerId))))
    assert.deepEqual(
      left.map((row) => row?._tag),
      ["Begun", undefined, "Done"]
    )
  })
]

const value = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect)

/** Why it was refused; `accepted` when it was not. */
const reasonOf = async <A>(effect: Effect.Effect<A, LedgerError>): Promise<string> => {
  const outcome = await Effect.runPromise(Effect.result(effect))
  if (Result.isSuccess(outcome)) return "accepted"
  return outcome.failure instanceof LedgerError ? outcome.failure.reason : "no LedgerError"
}
