/**
 * Values by the position of their call in the batch.
 *
 * Guarantees: behaves as a `Map` from small whole numbers would; set, taken out and cleared once a step, it keeps its room,
 * where a `Map` would make itself anew each time.
 * Does not outlive a batch: `clear` it behind each.
 */
export class ByPosition<A> {
  #values: Array<A | undefined> = []
  #size = 0

  get size(): number {
    return this.#size
  }

  get(position: number): A | undefined {
    return this.#values[position]
  }

  has(position: number): boolean {
    return this.#values[position] !== undefined
  }

  set(position: number, value: A): void {
    // Most batches have one call, and an array that is pushed to makes room for sixteen more.
    if (position === 0 && this.#values.length === 0) this.#values = [undefined]
    while (this.#values.length <= position) this.#values.push(undefined)
    if (this.#values[position] === undefined) this.#size++
    this.#values[position] = value
  }

  delete(position: number): void {
    if (this.#values[position] === undefined) return
    this.#values[position] = undefined
    this.#size--
  }

  clear(): void {
    if (this.#size > 0) this.#values.fill(undefined)
    this.#size = 0
  }

  /** In the order of positions. */
  values(): ReadonlyArray<A> {
    return this.#values.filter((value) => value !== undefined)
  }
}
