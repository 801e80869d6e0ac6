/** The parts of a tool that a hand uses, without the contract's own types of what only the runtime can make. */
import type { RawTool } from "@toolwright/runtime-contract"

export type LoadedTool = RawTool.RawTool

export interface InvocationContextLike {
  readonly signal: AbortSignal
  readonly operation: unknown
  readonly progress: (text: string) => void
}
