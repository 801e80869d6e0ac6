/**
 * Snapshots by fingerprint: stored once however many runs use them, decoded once per process.
 *
 * Guarantees: what is remembered here is in the database as of the transaction that asks.
 * Does not fingerprint what is written: a snapshot brings its own, and reading checks it.
 */
import type { ExecutableAgentSnapshot } from "@toolwright/runtime-contract"
import { decodeSnapshot, encodeSnapshot } from "@toolwright/runtime-contract/records"
import type { SnapshotTable } from "./commitTable.js"
import { checkedText, UnreadableRecord } from "./storedRecord.js"

type Snapshot = ExecutableAgentSnapshot.ExecutableAgentSnapshot

/** A process has a handful of agents; whoever has more pays a look-up. */
const remembered = 256

export class Snapshots {
  readonly #table: SnapshotTable
  readonly #keys = new Map<string, number>()
  readonly #decoded = new Map<string, Snapshot>()

  constructor(table: SnapshotTable) {
    this.#table = table
  }

  /** The key of a snapshot, which is stored where it is new. */
  keyOf(snapshot: Snapshot): number {
    const known = this.#keys.get(snapshot.fingerprint)
    if (known !== undefined) return known
    const key =
      this.#table.find(snapshot.fingerprint) ?? this.#table.insert(snapshot.fingerprint, encodeSnapshot(snapshot))
    if (this.#keys.size >= remembered) this.#keys.clear()
    this.#keys.set(snapshot.fingerprint, key)
    return key
  }

  /** The snapshot with this fingerprint. */
  read(fingerprint: string): Snapshot {
    const known = this.#decoded.get(fingerprint)
    if (known !== undefined) return known
    const position = `thread_snapshot ${fingerprint}`
    const row = this.#table.read(fingerprint)
    if (row === undefined) throw new UnreadableRecord(position, { expected: "the row is missing" })
    const snapshot = decodeSnapshot(checkedText(row, { position }), { position })
    if (this.#decoded.size >= remembered) this.#decoded.clear()
    this.#decoded.set(fingerprint, snapshot)
    return snapshot
  }

  /** Removes those that no run of any thread uses. */
  removeUnused(keys: ReadonlyArray<number>): void {
    for (const key of keys) this.#table.removeUnused(key)
    this.forget()
  }

  /** Somebody else wrote, a transaction was undone, or a thread was deleted: what was there may be gone. */
  forget(): void {
    this.#keys.clear()
    this.#decoded.clear()
  }
}
