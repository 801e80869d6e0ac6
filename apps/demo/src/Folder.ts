/**
 * The folder that the assistant works on: one that was named, or a scratch copy of the bundled example project.
 *
 * Guarantees: the example itself is never written; its copy is gone when the process ends, unless it is to be kept.
 * Does not open or contain anything: the tools and their sandbox do.
 */
import { cpSync, mkdtempSync, realpathSync, rmSync, statSync } from "node:fs"
import { constants, tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { type CommandLine, CommandLineError } from "./CommandLine.js"

export interface Folder {
  /** Real and absolute. */
  readonly path: string
  readonly isCopy: boolean
  /** The copy stays. */
  readonly isKept: boolean
}

const example = fileURLToPath(new URL("../example-project", import.meta.url))

/**
 * `undefined` where threads are kept in a file and no folder was named: they would outlive a scratch copy. Throws
 * `CommandLineError` for a folder that is none.
 */
export const openFolder = ({
  workspace,
  db,
  keep
}: Pick<CommandLine, "workspace" | "db" | "keep">): Folder | undefined => {
  if (workspace !== undefined) return { path: existing(workspace), isCopy: false, isKept: true }
  if (db !== undefined) return undefined
  if (!keep) endInOrder()
  const path = mkdtempSync(join(realpathSync(tmpdir()), "toolwright-example-"))
  if (!keep) process.once("exit", () => rmSync(path, { recursive: true, force: true }))
  cpSync(example, path, { recursive: true })
  return { path, isCopy: true, isKept: keep }
}

/** So that what is removed at the end is, unless the process is killed outright: then a folder for temporary files stays. */
const endInOrder = (): void => {
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(128 + signals[signal]))
  // Ctrl-C is the terminal's to answer once it is there; until then it ends the start.
  process.on("SIGINT", () => {
    if (process.listenerCount("SIGINT") === 1) process.exit(128 + signals.SIGINT)
  })
}

const { signals } = constants

const existing = (folder: string): string => {
  const path = resolve(folder)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return realpathSync.native(path)
  throw new CommandLineError(`--workspace ${folder}: expected a folder that exists`)
}
