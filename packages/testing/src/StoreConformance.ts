/**
 * What a store is: every promise of the store port as a check. Passing the suite is what it means to be a store.
 *
 * Guarantees: each check works on a store of its own; time is in the suite's hand; nothing is assumed beyond the port.
 * Does not measure speed, and does not crash processes: the crash harness does.
 */
import type { ThreadStore } from "@toolwright/runtime-contract"
import type { ConformanceCheck } from "./Conformance.js"
import { commitChecks } from "./internal/storeCommitChecks.js"
import { damageChecks } from "./internal/storeDamageChecks.js"
import { handleChecks } from "./internal/storeHandleChecks.js"
import { ownershipChecks } from "./internal/storeOwnershipChecks.js"
import { queryChecks } from "./internal/storeQueryChecks.js"
import { signalChecks } from "./internal/storeSignalChecks.js"

/** A store that was opened for one check, empty. */
export interface StoreUnderTest {
  readonly store: ThreadStore.ThreadStore
  /** Another handle on the same data, as another process has one. Absent where the data lives in one process only. */
  readonly another?: () => Promise<ThreadStore.ThreadStore>
  /** Closes every handle and opens the same data again. Absent where nothing outlives the process. */
  readonly reopen?: () => Promise<ThreadStore.ThreadStore>
  /** Called when the check is over. */
  readonly close?: () => Promise<void>
}

/** One way in which stored data can be unreadable. */
export interface StoreDamage {
  /** What was done, for the title: `a garbled commit`, `a database of a newer version`. */
  readonly name: string
  /** Does it to the data of a closed or open store that holds the thread `thread`. */
  readonly apply: (opened: StoreUnderTest) => Promise<void>
}

export interface StoreSubject {
  /** `now` is the clock by which leases run out. */
  readonly open: (options: { readonly now: () => number }) => Promise<StoreUnderTest> | StoreUnderTest
  /** For stores whose data can be damaged: needs `reopen`. */
  readonly damages?: ReadonlyArray<StoreDamage>
}

/** The checks for a store. Those that need a second handle, a reopening or damage are there where the subject offers it. */
export const storeConformance = (
  subject: StoreSubject,
  offers: { readonly another?: boolean; readonly reopen?: boolean } = {}
): ReadonlyArray<ConformanceCheck> => [
  ...commitChecks(subject),
  ...ownershipChecks(subject),
  ...signalChecks(subject),
  ...queryChecks(subject),
  ...handleChecks(subject, offers),
  ...damageChecks(subject)
]
