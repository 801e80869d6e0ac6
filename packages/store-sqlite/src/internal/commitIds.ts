/**
 * The ids of a thread's commits, as far as its history was read: where a commit with a given id would stand.
 *
 * Guarantees: `undefined` means that no commit has the id. A revision is only a hint: two ids may share a hash, so whoever
 * gets one compares the commit that stands there.
 * Does not store ids: they are in the records. An index of them in the file would cost each commit a page more.
 */
export class CommitIds {
  readonly #revisions = new Map<number, number>()

  add(id: string, revision: number): void {
    this.#revisions.set(hashOf(id), revision)
  }

  revisionOf(id: string): number | undefined {
    return this.#revisions.get(hashOf(id))
  }
}

/** FNV-1a over the code units, 32 bits, signed: ids are short, and a small integer needs no memory of its own. */
const hashOf = (id: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193)
  return hash
}
