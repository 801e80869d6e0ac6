/**
 * One process at a time at the moment in which a file is compared and replaced.
 *
 * Guarantees: exclusive among all that ask here, in whatever box or process, for as long as nobody dies in between; a lock
 * that a dead one left is broken after two seconds, which is ten thousand times what the moment takes.
 * Does not hold up other programs: an editor that writes in that moment is not seen.
 */
import * as fs from "node:fs"
import { codeOf, type HeldDirectory, look } from "./heldDirectory.js"

/** Milliseconds after which nobody can be at work any more. */
const staleAfter = 2_000
/** Milliseconds after which waiting is given up. */
const longestWait = 10_000
const lookEvery = 2

/**
 * Waits until the lock beside the file is free, and takes it. The returned function lets go; nothing may be awaited in
 * between. Rejects with the signal's reason, or with `EBUSY`. By file and not by process id: hands do not see each other's.
 */
export const lockName = async (directory: HeldDirectory, name: string, signal: AbortSignal): Promise<() => void> => {
  const lock = `.${name.slice(0, 100)}.toolwright-lock`
  const until = performance.now() + longestWait
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants
  for (;;) {
    signal.throwIfAborted()
    try {
      fs.closeSync(fs.openSync(directory.at(lock), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600))
      return () => fs.rmSync(directory.at(lock), { force: true })
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error
    }
    if (performance.now() > until) throw Object.assign(new Error(`${lock} is not let go`), { code: "EBUSY" })
    breakStale(directory, lock)
    await new Promise((resolve) => setTimeout(resolve, lookEvery))
  }
}

/** Taken aside before it is removed: of two that find the same one stale, only one gets it. */
const breakStale = (directory: HeldDirectory, lock: string): void => {
  const found = look(directory, lock)
  // Ours are empty files; anything else that has the name is somebody's, and stays.
  if (found?.isFile() !== true || found.size > 0n || Date.now() - Number(found.mtimeMs) < staleAfter) return
  const aside = `${lock}.${process.pid}.${process.hrtime.bigint()}`
  try {
    fs.renameSync(directory.at(lock), directory.at(aside))
  } catch {
    return
  }
  // Somebody broke it first and took it anew: what was taken aside is theirs.
  if (look(directory, aside)?.ino !== found.ino) putBack(directory, { aside, lock })
  fs.rmSync(directory.at(aside), { force: true })
}

const putBack = (
  directory: HeldDirectory,
  { aside, lock }: { readonly aside: string; readonly lock: string }
): void => {
  try {
    fs.linkSync(directory.at(aside), directory.at(lock))
  } catch {
    // A third one has it: the one whose it was is done within microseconds.
  }
}
