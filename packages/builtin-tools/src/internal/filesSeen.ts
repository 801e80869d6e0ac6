/**
 * Which version of a file a thread has seen: what `edit` and `write` compare before they change it.
 *
 * Guarantees: travels with the thread's state, so it survives the process; calls of the same step see each other's
 * reads and writes through memory before the state is committed.
 * Does not lock: comparing and writing happen under the caller's lock.
 */
import { StateKey, type Tool } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"

const mostFiles = 500
const mostThreads = 1000

/** By path from the workspace; the oldest are forgotten beyond 500. */
export const FilesSeen = StateKey.make({
  name: "files_seen",
  schema: Type.Record(Type.String(), Type.String()),
  merge: "Commutative",
  combine: (current, next) => {
    const all = Object.entries(current ?? {}).filter(([path]) => !Object.hasOwn(next, path))
    return Object.fromEntries([...all, ...Object.entries(next)].slice(-mostFiles))
  }
})

/** What stands for a file that is not there. */
export const absent = "absent"

export class SeenFiles {
  readonly #threads = new Map<string, Map<string, string>>()

  /** `undefined` where this thread has not seen the file. */
  version({ operation }: Pick<Tool.CallContext, "operation">, path: string): string | undefined {
    const known = this.#threads.get(operation.threadId)?.get(path)
    if (known !== undefined) return known
    const committed = operation.state.get(FilesSeen) ?? {}
    return Object.hasOwn(committed, path) ? committed[path] : undefined
  }

  /** Remembers now; the command makes it durable. */
  saw({ operation }: Tool.CallContext, versions: Readonly<Record<string, string>>): StateKey.StateCommand {
    const known = this.#threads.get(operation.threadId) ?? new Map<string, string>()
    this.#threads.delete(operation.threadId)
    this.#threads.set(operation.threadId, known)
    for (const [path, version] of Object.entries(versions)) {
      known.delete(path)
      known.set(path, version)
    }
    trim(known, mostFiles)
    trim(this.#threads, mostThreads)
    return StateKey.set(FilesSeen, versions)
  }
}

const trim = (map: Map<string, unknown>, most: number): void => {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
