/**
 * Why a schema cannot be said in a dialect, with its place. Thrown and caught inside a projection only.
 */
export class Unsayable extends Error {
  readonly pointer: string

  constructor(pointer: string, reason: string) {
    super(reason)
    this.pointer = pointer
  }
}
