/**
 * Path rules: what a glob over paths means, and which file a path in a call really names.
 *
 * Relative globs start at the workspace, `/` at the root, `~/` at home. `*` stops at `/`, `**` between slashes is any
 * number of directories, `?` is one character; names that begin with a dot are names like others.
 *
 * Guarantees: surely is judged on the real path alone (links followed, `..` resolved both ways, exact spelling); loosely
 * also on the path as written, on folded names where the volume folds, on everything below a matching path, and for a
 * glob without a slash on the last name at any depth. So spelling never widens an allow and never escapes a deny.
 * Does not see hard links or mounts: they are files of their own.
 */
import * as Certainty from "./Certainty.js"
import type { FileSystemView } from "./FileSystemView.js"
import { hole } from "./internal/glob.js"
import * as PathGlob from "./internal/pathGlob.js"
import { collapse, fold, join, type Segments, split } from "./internal/pathSegments.js"
import { realPath } from "./internal/realPath.js"

/** Where relative paths and relative globs start. */
export interface Place {
  readonly view: FileSystemView
  /** Absolute. */
  readonly workspace: string
}

/** A path in a call, ready to be compared. */
export interface ResolvedPath {
  /** As written in the call. */
  readonly text: string
  /** Where it starts, where that is not the workspace. */
  readonly directory: string | undefined
  /** Every file that the path could name, depending on who reads it. Usually one. Empty where none can be told. */
  readonly real: ReadonlyArray<Segments>
  /** The real ones and every spelling that differs from them. */
  readonly spellings: ReadonlyArray<Segments>
  /** The spellings as the volume folds them. */
  readonly folded: ReadonlyArray<Segments>
  /** The folded spellings in one piece each: root first, then names. */
  readonly sequences: ReadonlyArray<ReadonlyArray<string>>
  /** Part of the path is known only when the call runs, or it cannot be followed. */
  readonly open: boolean
}

/** Follows a path from `directory`, an absolute path; default the workspace. */
export const resolve = (place: Place, asked: { readonly path: string; readonly directory?: string }): ResolvedPath => {
  const { view } = place
  const { path: text, directory } = asked
  if (text.includes(hole)) return { text, directory, real: [], spellings: [], folded: [], sequences: [], open: true }
  const base = split(asked.directory ?? place.workspace, view.style)
  const written = readings(asked.path, view).map((text) => from(base, split(text, view.style)))
  const real: Array<Segments> = []
  const spellings: Array<Segments> = []
  let open = false
  for (const segments of written) {
    const collapsed = { root: segments.root, names: collapse(segments.names) }
    // The kernel takes `..` from where a link led, most programs from the text: both files are meant.
    for (const start of collapsed.names.length === segments.names.length ? [segments] : [segments, collapsed]) {
      const found = realPath(view, start)
      if (found === undefined) open = true
      else if (!real.some((other) => isSame(other, found))) real.push(found)
    }
    if (!real.some((other) => isSame(other, collapsed))) spellings.push(collapsed)
  }
  if (view.style === "win32") open ||= real.some(({ names }) => names.some((name) => /~\d/.test(name)))
  const all = [...real, ...spellings]
  const folded = all.map(({ root, names }) => ({ root, names: names.map((name) => fold(name, view.foldsNames)) }))
  const sequences = folded.map(({ root, names }) => [root ?? "", ...names])
  return { text, directory, real: open ? [] : real, spellings: all, folded, sequences, open }
}

const isSame = (left: Segments, right: Segments): boolean =>
  left.root === right.root &&
  left.names.length === right.names.length &&
  left.names.every((name, at) => name === right.names[at])

const from = (base: Segments, path: Segments): Segments =>
  path.root === undefined ? { root: base.root, names: [...base.names, ...path.names] } : path

// A leading ~ is a name to one program and home to the next, and so is a file URL.
const readings = (path: string, view: FileSystemView): ReadonlyArray<string> => {
  if (path === "~" || path.startsWith("~/") || (view.style === "win32" && path.startsWith("~\\")))
    return [path, view.home + path.slice(1)]
  if (!/^file:/i.test(path)) return [path]
  try {
    return [path, decodeURIComponent(new URL(path).pathname)]
  } catch {
    return [path]
  }
}

/** True where every file that the path could name lies in the workspace. The workspace itself counts. */
export const isInside = (place: Place, path: ResolvedPath): boolean => {
  const root = realPath(place.view, split(place.workspace, place.view.style))
  return root !== undefined && path.real.length > 0 && path.real.every((file) => startsWith(file, root))
}

const startsWith = (path: Segments, start: Segments): boolean =>
  path.root === start.root && start.names.every((name, index) => path.names[index] === name)

/** The path from the workspace where it lies inside, else the absolute one. For people and for rules. */
export const show = (place: Place, path: ResolvedPath): string => {
  const root = realPath(place.view, split(place.workspace, place.view.style))
  const file = path.real[0]
  if (file === undefined || root === undefined) return path.text
  return startsWith(file, root) ? file.names.slice(root.names.length).join("/") || "." : join(file, "posix")
}

/** What is wrong with a text as a path glob, said as what was expected; `undefined` where nothing is. */
export const problemOfPattern = (pattern: string): string | undefined =>
  pattern.split("/").some((name) => name !== "**" && name.includes("**"))
    ? "** alone between slashes, as in src/**/test"
    : undefined

/** How surely a path is one that a glob names. */
export interface PathTest {
  (path: ResolvedPath): Certainty.Certainty
  /**
   * It is never one of a path that is not `open`, unless one of its folded spellings begins so: root first, then names.
   * `undefined`: it may begin with anything.
   */
  readonly beginnings: ReadonlyArray<ReadonlyArray<string>> | undefined
}

/** Compiles a path glob. The part before its first wildcard is followed through links now, once, like a path in a call. */
export const compile = (place: Place, pattern: string): PathTest => {
  const glob = PathGlob.compile(place, pattern)
  const test = (path: ResolvedPath): Certainty.Certainty => {
    // Whatever is sure is loose too, and most rules are neither: the loose question comes first.
    if (isLoose(glob, path.folded)) return isSure(glob, path.real) ? Certainty.Surely : Certainty.Loosely
    if (!path.open) return Certainty.Never
    return !path.text.includes(hole) || PathGlob.mayMatch(glob, path) ? Certainty.Possibly : Certainty.Never
  }
  return Object.assign(test, { beginnings: PathGlob.beginnings(glob) })
}

const isLoose = (glob: PathGlob.PathGlob, folded: ReadonlyArray<Segments>): boolean => {
  for (const path of folded) for (const loose of glob.loose) if (PathGlob.matches(loose, path)) return true
  return false
}

const isSure = (glob: PathGlob.PathGlob, real: ReadonlyArray<Segments>): boolean => {
  for (const file of real) if (!PathGlob.matches(glob.exact, file)) return false
  return real.length > 0
}
