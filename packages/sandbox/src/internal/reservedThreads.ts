/**
 * Starts the threads of this process early, so that they and nothing else have the first ids of the box.
 *
 * Guarantees: where Node starts no more threads than there are ids, all of them are up to `last`, and whatever is started
 * later has a larger one. The filter of system calls refuses signals to those ids.
 * Does not protect threads that are started later.
 */
import * as fs from "node:fs"

/** Call it before anything that waits for a file. */
export const reserveThreads = (last: number): void => {
  const ids = fs.readdirSync("/proc/self/task").map(Number)
  const before = process.env["UV_THREADPOOL_SIZE"]
  process.env["UV_THREADPOOL_SIZE"] = String(Math.max(4, Number(before ?? 0) || 0, last - Math.max(...ids)))
  // The first request to the pool starts all of it.
  fs.stat("/", () => {})
  if (before === undefined) delete process.env["UV_THREADPOOL_SIZE"]
  else process.env["UV_THREADPOOL_SIZE"] = before
}
