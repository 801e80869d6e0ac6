/**
 * Where threads are kept: in a file, or in memory.
 *
 * Guarantees: what is missing for a file is said in words; whoever opens one closes it.
 * Does not look into threads.
 */
import { existsSync } from "node:fs"
import { type StoreError, type ThreadStore } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import * as Effect from "effect/Effect"
import { type CommandLine, CommandLineError } from "./CommandLine.js"

export interface Storage {
  readonly store: ThreadStore.ThreadStore
  readonly close: () => Promise<void>
}

/** Throws `CommandLineError` where the file cannot be used. Whoever only looks makes no file. */
export const openStorage = async ({ db: file, action, audit }: CommandLine): Promise<Storage> => {
  if (file === undefined) return { store: new MemoryThreadStore(), close: () => Promise.resolve() }
  const onlyLooks = audit !== undefined || (action !== undefined && action !== "explain")
  if (onlyLooks && !existsSync(file)) throw new CommandLineError(`--db ${file}: expected a file that exists`)
  const { SqliteThreadStore } = await import("@toolwright/store-sqlite")
  const opened = await Effect.runPromise(Effect.result(SqliteThreadStore.open({ path: file })))
  if (opened._tag === "Failure") throw refusal(file, opened.failure)
  return { store: opened.success, close: () => Effect.runPromise(opened.success.close) }
}

const refusal = (file: string, error: StoreError): CommandLineError => {
  const { cause } = error
  const why = cause instanceof Error ? cause.message : error.message
  return new CommandLineError(`--db ${file}: ${why}`, { cause: error })
}
