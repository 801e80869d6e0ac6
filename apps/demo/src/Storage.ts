/**
 * Where threads are kept: in a file, or in memory.
 *
 * Guarantees: what is missing for a file is said in words; whoever opens one closes it; what is kept lies out of reach of
 * the commands that are worked with.
 * Does not look into threads.
 */
import { existsSync, realpathSync } from "node:fs"
import { basename, dirname, join, sep } from "node:path"
import { type StoreError, type ThreadStore } from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import * as Effect from "effect/Effect"
import { type CommandLine, CommandLineError } from "./CommandLine.js"

export interface Storage {
  readonly store: ThreadStore.ThreadStore
  readonly close: () => Promise<void>
}

/** Throws `CommandLineError` where the file cannot be used. Whoever only looks makes no file. */
export const openStorage = async ({ db: file, workspace, action, audit }: CommandLine): Promise<Storage> => {
  if (file === undefined) return { store: new MemoryThreadStore(), close: () => Promise.resolve() }
  const onlyLooks = audit !== undefined || (action !== undefined && action !== "explain")
  if (onlyLooks && !existsSync(file)) throw new CommandLineError(`--db ${file}: expected a file that exists`)
  // Whoever can write the file can answer for people in it, and change the record.
  if (workspace !== undefined && liesIn(workspace, file))
    throw new CommandLineError(
      `--db ${file}: expected a file outside of the folder that is worked on, received one inside; its commands could change what was approved and recorded`
    )
  const { SqliteThreadStore } = await import("@toolwright/store-sqlite")
  const opened = await Effect.runPromise(Effect.result(SqliteThreadStore.open({ path: file })))
  if (opened._tag === "Failure") throw refusal(file, opened.failure)
  return { store: opened.success, close: () => Effect.runPromise(opened.success.close) }
}

const liesIn = (folder: string, file: string): boolean => {
  const [root, place] = [realOf(folder), realOf(file)]
  return root !== undefined && place?.startsWith(root.endsWith(sep) ? root : root + sep) === true
}

/** Also of a file that is not there yet. `undefined` where there is no folder for it. */
const realOf = (path: string): string | undefined => {
  if (existsSync(path)) return realpathSync.native(path)
  return existsSync(dirname(path)) ? join(realpathSync.native(dirname(path)), basename(path)) : undefined
}

const refusal = (file: string, error: StoreError): CommandLineError => {
  const { cause } = error
  const why = cause instanceof Error ? cause.message : error.message
  return new CommandLineError(`--db ${file}: ${why}`, { cause: error })
}
