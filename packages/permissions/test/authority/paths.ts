/**
 * Paths that lead to a denied or an outside file of a real directory, in every spelling; where they lead is asked of the
 * kernel, not of the code under test.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as fc from "fast-check"
import { FileSystemView } from "../../src/index.js"

export interface Tree {
  readonly root: string
  readonly workspace: string
  readonly view: FileSystemView.FileSystemView
  /** Where an absolute path leads, links followed; `undefined` for a path that cannot be opened or made. */
  readonly follow: (path: string) => string | undefined
  readonly remove: () => void
}

const directories = ["ws", "ws/src", "ws/src/deep", "ws/src/locked", "ws/docs", "outside"]
const files = ["ws/src/a", "ws/src/locked/key", "ws/src/.env", "ws/docs/a"]

/** Links out of the workspace, into its locked part, in circles and to nowhere. */
const linksIn = (root: string): Readonly<Record<string, string>> => ({
  "ws/src/out": "../../outside",
  "ws/src/lock": "locked",
  "ws/src/deep/up": "..",
  "ws/src/deep/new": "../locked/not-yet",
  "ws/src/deep/env": `${root}/ws/src/.env`,
  "ws/src/circle": "circle",
  "ws/docs/into": "../src/deep",
  "ws/loop": "."
})

/** On the disk of this machine, where the kernel says where a path leads. */
export const makeDiskTree = (): Tree => {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "authority-")))
  for (const directory of directories) fs.mkdirSync(path.join(root, directory), { recursive: true })
  for (const file of files) fs.writeFileSync(path.join(root, file), "")
  for (const [at, target] of Object.entries(linksIn(root))) fs.symlinkSync(target, path.join(root, at))
  return {
    root,
    workspace: path.join(root, "ws"),
    view: FileSystemView.node({ foldsNames: false }),
    follow,
    remove: () => fs.rmSync(root, { recursive: true })
  }
}

/** The same in memory, for many tries; a plain recursive walk says where a path leads. */
export const makeMemoryTree = (): Tree => {
  const root = "/root"
  const links = new Map(Object.entries(linksIn(root)).map(([at, target]) => [`${root}/${at}`, target]))
  const isDirectory = new Set([root, "", ...directories.map((directory) => `${root}/${directory}`)])
  const walk = (at: string, ahead: ReadonlyArray<string>, fuel: number): string | undefined => {
    const [name, ...rest] = ahead
    if (fuel === 0) return undefined
    if (name === undefined) return at
    if (name === "" || name === ".") return walk(at, rest, fuel)
    if (!isDirectory.has(at)) return undefined
    if (name === "..") return walk(path.dirname(at || "/").replace(/^\/$/, ""), rest, fuel)
    const target = links.get(`${at}/${name}`)
    if (target === undefined) return walk(`${at}/${name}`, rest, fuel)
    return walk(target.startsWith("/") ? "" : at, [...target.split("/"), ...rest], fuel - 1)
  }
  return {
    root,
    workspace: `${root}/ws`,
    view: FileSystemView.memory({
      paths: [root, ...[...directories, ...files].map((each) => `${root}/${each}`)],
      links: Object.fromEntries(links)
    }),
    follow: (file) => walk("", file.split("/"), 40),
    remove: () => undefined
  }
}

/** Every file that the text could mean: as the kernel follows it, and as a program that tidies the text first. */
export const meant = ({ workspace, follow: lead }: Tree, text: string): ReadonlyArray<string> | undefined => {
  const kernel = text.startsWith("/") ? text : `${workspace}/${text}`
  const found = [kernel, path.resolve(workspace, text)].map(lead)
  return found.every((each) => each !== undefined) ? found.flatMap((each) => each ?? []) : undefined
}

const follow = (file: string): string | undefined => {
  try {
    return fs.realpathSync.native(file)
  } catch {
    // Not there yet: where its directory is, and where a dangling link at its end would put it.
    try {
      const trimmed = file.replace(/\/+$/, "")
      const parent = fs.realpathSync.native(path.dirname(trimmed))
      const name = path.basename(trimmed)
      if (name === "." || name === "..") return undefined
      const full = path.join(parent, name)
      const isLink = fs.lstatSync(full, { throwIfNoEntry: false })?.isSymbolicLink() === true
      return isLink ? follow(path.resolve(parent, fs.readlinkSync(full))) : full
    } catch {
      return undefined
    }
  }
}

const names = fc.constantFrom(
  "src",
  "deep",
  "locked",
  "lock",
  "out",
  "up",
  "new",
  "env",
  "loop",
  "circle",
  "docs",
  "into",
  "a",
  "key",
  ".env",
  "..",
  "..",
  ".",
  "",
  "new-file"
)

export const paths = ({ workspace, root }: Tree): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(
        "",
        "",
        "",
        "./",
        `${workspace}/`,
        `${root}/`,
        "/",
        "../ws/",
        "src/",
        "src/deep/",
        "src/./",
        `${workspace}//`
      ),
      fc.array(names, { minLength: 1, maxLength: 6 }),
      fc.constantFrom("", "", "/", "/.")
    )
    .map(([start, parts, end]) => start + parts.join("/") + end)
    .filter((text) => text !== "")
