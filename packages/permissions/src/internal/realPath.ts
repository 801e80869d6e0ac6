/**
 * Where an absolute path really leads: every link on the way followed, `..` taken from where the walk then stands.
 *
 * Guarantees: works for targets that do not exist yet, also behind a dangling link; ends after a bounded number of links.
 */
import type { FileSystemView } from "../FileSystemView.js"
import { join, type Segments, split } from "./pathSegments.js"

const mostLinks = 40

/** `undefined` where links lead in a circle, or through what cannot be seen. */
export const realPath = (view: FileSystemView, path: Segments): Segments | undefined => {
  const separator = view.style === "win32" ? "\\" : "/"
  let root = path.root ?? ""
  let done: Array<string> = []
  // The text of what is done, kept beside it because every step needs it.
  let reached = join({ root, names: [] }, view.style)
  const ahead = path.names.toReversed()
  for (let links = 0; ;) {
    const name = ahead.pop()
    if (name === undefined) return { root, names: done }
    if (name === "..") {
      done.pop()
      reached = join({ root, names: done }, view.style)
      continue
    }
    const next = reached.endsWith(separator) ? reached + name : reached + separator + name
    const entry = view.look(next)
    if (entry?._tag === "Hidden") return undefined
    if (entry?._tag !== "Link") {
      done.push(entry?.name ?? name)
      reached = entry === undefined || entry.name === name ? next : join({ root, names: done }, view.style)
      continue
    }
    if (++links > mostLinks) return undefined
    const target = split(entry.target, view.style)
    if (target.root !== undefined) {
      root = target.root
      done = []
      reached = join({ root, names: done }, view.style)
    }
    ahead.push(...target.names.toReversed())
  }
}
