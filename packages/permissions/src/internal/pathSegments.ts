/**
 * A path taken apart: its root, and the names on the way from there.
 *
 * Guarantees: every spelling that a platform takes for the same separator, root or name ends in the same segments;
 * `..` is kept, because what it means depends on links before it.
 * Does not look at a disk.
 */
import type { PathStyle } from "../FileSystemView.js"

export interface Segments {
  /** `""` for posix, `"C:"` or `"//server/share"` for win32; `undefined` for a relative path. */
  readonly root: string | undefined
  readonly names: ReadonlyArray<string>
}

export const split = (path: string, style: PathStyle): Segments => {
  if (style === "posix") {
    const names = path.split("/").filter((name) => name !== "" && name !== ".")
    return { root: path.startsWith("/") ? "" : undefined, names }
  }
  return splitWin32(path)
}

const splitWin32 = (path: string): Segments => {
  // \\?\C:\x, \\.\C:\x and \??\C:\x are C:\x; \\?\UNC\server\share is \\server\share.
  const plain = path
    .replaceAll("\\", "/")
    .replace(/^\/(?:\/[?.]|\?\?)\/(?:UNC\/)?/i, (prefix) => (/unc\/$/i.test(prefix) ? "//" : ""))
  const share = /^\/\/([^/]+)\/([^/]+)/.exec(plain)
  const drive = /^([A-Za-z]):/.exec(plain)
  // `/x` and `C:x` depend on a current drive that is not known here: read from the root of the drive, C: where none is named.
  const root =
    share !== null
      ? `//${share[1]}/${share[2]}`.toLowerCase()
      : drive !== null
        ? `${drive[1]?.toUpperCase()}:`
        : undefined
  const rest = plain.slice(share?.[0].length ?? drive?.[0].length ?? 0)
  const names = rest
    .split("/")
    .map(cleanWin32)
    .filter((name) => name !== "" && name !== ".")
  return { root: root ?? (plain.startsWith("/") ? "C:" : undefined), names }
}

// Windows drops dots and spaces at the end of a name, and what follows a colon names a stream of the same file.
const cleanWin32 = (name: string): string => {
  if (name === "." || name === "..") return name
  return name.replace(/:.*$/, "").replace(/[. ]+$/, "")
}

/** The path of the first `count` names, as the platform writes it. */
export const join = ({ root, names }: Segments, style: PathStyle): string => {
  const separator = style === "win32" ? "\\" : "/"
  const start = (root ?? "").replaceAll("/", separator)
  return names.length === 0 && start === "" ? "/" : [start, ...names].join(separator)
}

/** Resolves `..` by the text alone: one name up, links or not. */
export const collapse = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (!names.includes("..")) return names
  const kept: Array<string> = []
  for (const name of names) {
    if (name === "..") kept.pop()
    else kept.push(name)
  }
  return kept
}

const isAscii = /^[ -~]*$/

/** Names that fold together on a volume that folds are equal after this. */
export const fold = (name: string, foldsCase: boolean): string => {
  if (!foldsCase && isAscii.test(name)) return name
  const composed = name.normalize("NFC")
  // Upper before lower: ß and SS, long s and s, and the Kelvin sign meet.
  return foldsCase ? composed.toUpperCase().toLowerCase().normalize("NFC") : composed
}
