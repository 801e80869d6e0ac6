/**
 * A read-only view of the first `length` messages of an append-only list.
 *
 * Guarantees: what a reader sees never changes, though the list behind it grows; taking a view costs nothing.
 * Does not copy: `toArray` does, for whoever must keep the messages.
 */
import type { Message } from "./Message.js"

export class Transcript implements Iterable<Message> {
  readonly length: number
  readonly #messages: ReadonlyArray<Message>

  constructor(messages: ReadonlyArray<Message>, length: number = messages.length) {
    this.#messages = messages
    this.length = Math.min(length, messages.length)
  }

  /** The message at `index`; negative counts from the end, as in `Array.prototype.at`. */
  at(index: number): Message | undefined {
    const position = index < 0 ? this.length + index : index
    return position < this.length ? this.#messages[position] : undefined
  }

  *[Symbol.iterator](): IterableIterator<Message> {
    for (let index = 0; index < this.length; index++) {
      const message = this.#messages[index]
      if (message !== undefined) yield message
    }
  }

  /** A copy of the messages from `start` (default 0) on. */
  toArray(start = 0): ReadonlyArray<Message> {
    return this.#messages.slice(start, this.length)
  }
}
