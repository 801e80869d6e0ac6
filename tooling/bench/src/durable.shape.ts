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
  /** Transactions, where they were counted. */
  readonly commits?: number
}

/** The `engine…` kinds are of whole runs; the others of commits that are there already. */
export type DurableKind = "single" | "concurrent" | "load" | "engineSingle" | "engineConcurrent" | "recover" | "count"
export type DurableContender = "floor" | "store" | "runtime"

/** Steps of each of the concurrent runs. */
export const concurrentSteps = 3
