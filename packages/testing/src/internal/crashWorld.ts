/**
 * What a crash scenario is given in each of its processes, and what it gives.
 *
 * Guarantees: the same scenario runs in the process that dies and in those that recover; only time and the way to die
 * differ. Does not build a runtime: the scenario does, as its application would.
 */
import type { CrashPoint, RawTool, RuntimeClock, ThreadStore, ToolOperation, Json } from "@toolwright/runtime-contract"
import type { SeenEffect } from "./crashLaws.js"

/** What the outside world remembers. On disk, and outside of every store. */
export interface OutsideWorld {
  /** Wraps a tool, so that every entry is on disk before the tool does anything. */
  readonly recorded: (tool: RawTool.RawTool) => RawTool.RawTool
  /** Writes an entry down oneself: for tools whose effect is not their first line. */
  readonly enter: (
    entry: { readonly toolId: string; readonly arguments: Json.JsonObject },
    operation: ToolOperation.ToolOperation
  ) => void
  /** Every entry so far, of all processes. */
  readonly seen: () => ReadonlyArray<SeenEffect>
}

/** One process over the files of one world. */
export interface CrashWorld {
  /** A folder of this world alone; it lies there through all of its processes. */
  readonly folder: string
  /** A file in it, for a SQLite store. */
  readonly database: string
  readonly outside: OutsideWorld
  /** For the runtime's option of that name. */
  readonly crashPoint: CrashPoint.CrashPoint
  /** For the runtime, and its `now` for the store: in a process that recovers it is so much later that leases are over. */
  readonly clock: RuntimeClock.RuntimeClock
  /** Is this a process behind a death? */
  readonly isRecovery: boolean
}

export interface ClosableStore {
  readonly store: ThreadStore.ThreadStore
  readonly close: () => Promise<unknown>
}

/** One process of the application. */
export interface CrashActor {
  /** Does the work from its beginning to its end, answers of people included. Called in the process that dies. */
  readonly start: () => Promise<unknown>
  /** Does what the application does when it starts again, until nothing is left to do. Called in a new process. */
  readonly recover: () => Promise<unknown>
  readonly close?: () => Promise<unknown>
}

export interface CrashScenario {
  readonly name: string
  readonly openStore: (world: CrashWorld) => Promise<ClosableStore>
  /** `store` is the opened one, listened to. */
  readonly open: (world: CrashWorld & { readonly store: ThreadStore.ThreadStore }) => CrashActor | Promise<CrashActor>
  /** More laws, over what is there when all is over: each broken one in words. */
  readonly laws?: (thread: ThreadAftermath) => ReadonlyArray<string>
  /** The runs of this scenario may be left waiting. Default: all must have ended. */
  readonly mayWait?: boolean
}

export interface ThreadAftermath {
  readonly threadId: string
  readonly view: ThreadStore.ThreadView | undefined
  readonly facts: ReadonlyArray<ThreadStore.NumberedFact>
  readonly effects: ReadonlyArray<SeenEffect>
}

/** A wrapper that forwards everything, asked live. */
export const recordedTool = (tool: RawTool.RawTool, enter: OutsideWorld["enter"]): RawTool.RawTool => {
  const { invocationTriggers, paramDomains, reconcile } = tool
  return {
    spec: () => tool.spec(),
    recovery: tool.recovery,
    attribution: tool.attribution,
    stateKeys: tool.stateKeys,
    concurrency: (args) => tool.concurrency(args),
    ...(paramDomains === undefined ? {} : { paramDomains }),
    ...(invocationTriggers === undefined ? {} : { invocationTriggers: () => tool.invocationTriggers?.() ?? [] }),
    ...(reconcile === undefined ? {} : { reconcile: reconcile.bind(tool) }),
    invoke: (call, context) => {
      enter({ toolId: call.toolId, arguments: call.arguments }, context.operation)
      return tool.invoke(call, context)
    }
  }
}
