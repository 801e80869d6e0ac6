/**
 * A folder that tools may work in, as a capability: whoever holds it can reach what lies below, and nothing else.
 *
 * Guarantees: no path, link, `..` or swap during an operation leads out of it; any spelling of one path gives the same
 * claim key, so calls that touch one file never overlap.
 * Does not contain other processes: a sandbox does. Hard links that existed before are files of the folder.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { ToolConcurrency } from "@toolwright/runtime-contract"
import { type Root, walkPath, type WalkOptions } from "./internal/walkPath.js"

/** The capability. Make it with `open`. */
export interface Workspace {
  /** The real, absolute path. */
  readonly root: string
  readonly place: Root
}

/** Opens a folder. Throws `TypeError` where there is none. `aliases` are other absolute paths that mean the same folder. */
export const open = (folder: string, options: { readonly aliases?: ReadonlyArray<string> } = {}): Workspace => {
  const given = path.resolve(folder)
  const root = fs.existsSync(given) ? fs.realpathSync.native(given) : given
  if (!fs.existsSync(root) || !fs.statSync(root).isDirectory())
    throw new TypeError(`expected a folder to work in, received ${JSON.stringify(folder)}`)
  const aliases = [given, ...(options.aliases ?? [])].filter((alias) => alias !== root)
  return Object.freeze({ root, place: Object.freeze({ path: root, aliases: Object.freeze(aliases) }) })
}

/** How a found path is shown: from the root, `.` for the root itself. */
export const show = (names: ReadonlyArray<string>): string => (names.length === 0 ? "." : names.join("/"))

/** One path of a call and what the call does with it. */
export interface PathUse extends WalkOptions {
  readonly path: string
  readonly access: "Read" | "Write"
}

/**
 * The claims of a call on its paths: the path itself, and `Read` on every folder above it, so that moving or deleting a
 * folder meets whatever happens below. Compared folded (case and Unicode form), because some volumes do: claims may
 * meet too often, never too seldom. A path that cannot be followed claims the root, for the call will be refused anyway.
 */
export const claims = (workspace: Workspace, uses: ReadonlyArray<PathUse>): ToolConcurrency.ToolConcurrency =>
  uses
    .map((use) => claim(workspace, use))
    .reduce((all, one) => ToolConcurrency.narrow(all, one), ToolConcurrency.Parallel)

const claim = (workspace: Workspace, use: PathUse): ToolConcurrency.ToolConcurrency => {
  const ends = use.follow === false ? [false, true] : [true]
  const keys = new Map<string, "Read" | "Write">()
  for (const follow of ends) {
    const names = namesOf(workspace, { path: use.path, follow })
    for (let length = 0; length < names.length; length++) keys.set(keyOf(workspace, names.slice(0, length)), "Read")
  }
  for (const follow of ends) keys.set(keyOf(workspace, namesOf(workspace, { path: use.path, follow })), use.access)
  return ToolConcurrency.Resources([...keys].map(([key, access]) => ({ access, namespace: "file", key })))
}

interface Asked {
  readonly path: string
  readonly follow: boolean
}

const namesOf = (workspace: Workspace, { path: asked, follow }: Asked): ReadonlyArray<string> => {
  try {
    const found = walkPath(workspace.place, asked, { follow })
    if (!found.ok) return []
    found.close()
    return found.names
  } catch {
    return []
  }
}

/** The key under which all spellings of a path meet. */
export const keyOf = (workspace: Workspace, names: ReadonlyArray<string>): string =>
  [workspace.root, ...names].join("/").normalize("NFC").toLowerCase().normalize("NFC")
