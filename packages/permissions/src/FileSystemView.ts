/**
 * What path rules need to know of a file system: where links lead, and how its volume spells and folds names.
 *
 * Guarantees: reads names only, never contents; the real one asks the disk at every question, the memory one is plain
 * data for tests and for trying a policy on another machine's paths.
 * Does not hold anything still: what a path means can change between a decision and the call. Tools that open files
 * through a directory they hold are the answer to that.
 */
import * as fs from "node:fs"
import * as os from "node:os"

/** `win32` reads both slashes as separators, drive letters, and the namespaces that begin with `\\`. */
export type PathStyle = "posix" | "win32"

export interface FileSystemView {
  readonly style: PathStyle
  /** Where `~` leads. Absolute. */
  readonly home: string
  /** Do names that differ only in case or Unicode form name one file here? */
  readonly foldsNames: boolean
  /**
   * What an absolute path names, without following a link at its end: the text of the link, the name as the volume
   * spells it, `undefined` where there is nothing, or that this process cannot see it.
   */
  readonly look: (path: string) => Entry | undefined
}

export type Entry =
  | { readonly _tag: "Link"; readonly target: string }
  | { readonly _tag: "Name"; readonly name: string }
  | { readonly _tag: "Hidden" }

/**
 * The file system of this machine. `foldsNames` defaults to what is usual for the platform: true on macOS and Windows.
 * Give it where a volume differs.
 */
export const node = (options: { readonly foldsNames?: boolean } = {}): FileSystemView => {
  const style = process.platform === "win32" ? "win32" : "posix"
  const foldsNames = options.foldsNames ?? (process.platform === "win32" || process.platform === "darwin")
  return { style, home: os.homedir(), foldsNames, look: (path) => lookAtDisk(path, foldsNames) }
}

const lookAtDisk = (path: string, foldsNames: boolean): Entry | undefined => {
  try {
    const found = fs.lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) return undefined
    if (found.isSymbolicLink()) return { _tag: "Link", target: fs.readlinkSync(path) }
    // Only where names fold can the spelling of the volume differ from the one that was given.
    return { _tag: "Name", name: foldsNames ? lastName(fs.realpathSync.native(path)) : lastName(path) }
  } catch (cause) {
    // Below a file there is nothing. What may not be looked at could be a link to anywhere.
    return hasCode(cause, "ENOTDIR") || hasCode(cause, "ENOENT") ? undefined : { _tag: "Hidden" }
  }
}

const hasCode = (cause: unknown, code: string): boolean =>
  cause instanceof Error && "code" in cause && cause.code === code

const lastName = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)

export interface MemoryOptions {
  readonly style?: PathStyle
  readonly home?: string
  readonly foldsNames?: boolean
  /** Absolute path to the text of a link. */
  readonly links?: Readonly<Record<string, string>>
  /** Absolute paths that exist. */
  readonly paths?: ReadonlyArray<string>
  /** Another name of an existing path, such as a short one, to the name as the volume spells it. */
  readonly spellings?: Readonly<Record<string, string>>
}

/** A file system made up of the given names. What is not listed does not exist. */
export const memory = (options: MemoryOptions = {}): FileSystemView => {
  const foldsNames = options.foldsNames ?? false
  const key = (path: string) => (foldsNames ? path.normalize("NFC").toLowerCase() : path)
  const entries = new Map<string, Entry>()
  for (const path of options.paths ?? []) entries.set(key(path), { _tag: "Name", name: lastName(path) })
  for (const [path, name] of Object.entries(options.spellings ?? {})) entries.set(key(path), { _tag: "Name", name })
  for (const [path, target] of Object.entries(options.links ?? {})) entries.set(key(path), { _tag: "Link", target })
  return {
    style: options.style ?? "posix",
    home: options.home ?? "/home/user",
    foldsNames,
    look: (path) => entries.get(key(path))
  }
}
