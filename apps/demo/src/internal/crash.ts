/**
 * Kills this process at a named point of a run, as a crash would: no handler, no clean-up, nothing flushed.
 *
 * Guarantees: the next line of the runtime does not run.
 * Does not happen unless it was asked for.
 */
import { writeSync } from "node:fs"
import type { CrashPoint } from "@toolwright/runtime-contract"

export const crashAt =
  (wanted: CrashPoint.CrashPointName | undefined): CrashPoint.CrashPoint =>
  (point) => {
    if (point !== wanted) return
    writeSync(2, `\n  killed at ${point}, as asked\n`)
    process.kill(process.pid, "SIGKILL")
  }
