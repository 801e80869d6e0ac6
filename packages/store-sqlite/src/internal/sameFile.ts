/**
 * Whether the file that is open still is the one that its path leads to.
 *
 * Guarantees: a file that was removed, moved or replaced while it was open is noticed by whoever asks; until somebody asks,
 * SQLite goes on writing where nobody will find it.
 * Does not watch: it is asked where a thread is taken or kept, not at each commit.
 */
import * as fs from "node:fs"
import { resolve } from "node:path"
import { UnusableFile } from "./storeFailure.js"

/** Gives a look at the file that `path` leads to now. It throws `UnusableFile`. */
export const sameFile = (path: string): (() => void) => {
  // The working directory may become another.
  const place = resolve(path)
  const opened = identityOf(place)
  let hasLooked = false
  const lookAgain = (): void => {
    hasLooked = false
  }
  return () => {
    // A thousand threads that are taken in one turn of the event loop need one look.
    if (hasLooked) return
    if (identityOf(place) !== opened)
      throw new UnusableFile("the file was removed, moved or replaced while it was open")
    hasLooked = true
    setImmediate(lookAgain)
  }
}

const identityOf = (path: string): string | undefined => {
  const stats = fs.statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.dev}/${stats.ino}`
}
