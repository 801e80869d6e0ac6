/** What a sample of the durable bench says. */
export interface DurableSample {
  /** Wall milliseconds of the whole. */
  readonly wall: number
  /** Of each tenth, where the kind has tenths. */
  readonly parts: ReadonlyArray<number>
  /** Milliseconds of processor time, ours and the kernel's. */
  readonly cpu: number
  /** Of the file with everything in it. */
  readonly bytes: number
}

export type DurableKind = "single" | "concurrent" | "load"
export type DurableContender = "floor" | "store"

/** Steps of each of the concurrent runs. */
export const concurrentSteps = 3
