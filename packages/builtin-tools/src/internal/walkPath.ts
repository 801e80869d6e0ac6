/**
 * Follows a path from a root, one name at a time, and never leaves the root.
 *
 * Guarantees: every link on the way is read and followed here, `..` is taken from where the walk then stands, and a step
 * above the root or a link out of it ends the walk; what comes back is held open, so a swap afterwards changes nothing.
 * Does not read or write the entry itself.
 */
import * as fs from "node:fs"
import { codeOf, hold, type HeldDirectory, look } from "./heldDirectory.js"

export interface Root {
  /** Real and absolute. */
  readonly path: string
  /** Other spellings of it, for example through a link. */
  readonly aliases: ReadonlyArray<string>
}

/** Where a path leads. The parent is open until `close`. */
export interface Found {
  readonly ok: true
  readonly parent: HeldDirectory
  /** `""` is the root itself; then `parent` is the root too. */
  readonly name: string
  /** What stands there; `undefined` where nothing does. */
  readonly entry: fs.BigIntStats | undefined
  /** Names that do not exist yet, below `parent`; the last one is the path's own. Empty where the entry exists. */
  readonly missing: ReadonlyArray<string>
  /** The real names from the root, the missing ones included. */
  readonly names: ReadonlyArray<string>
  readonly close: () => void
}

export type WalkProblem = "Outside" | "Loop" | "NotADirectory" | "BadName"

export interface Lost {
  readonly ok: false
  readonly problem: WalkProblem
}

export interface WalkOptions {
  /** Follow a link at the very end. Default true. */
  readonly follow?: boolean
}

const mostLinks = 40
const mostNames = 400

/** The names of a path below the root; `undefined` for an absolute path that is not below it. */
const namesFrom = (root: Root, path: string): ReadonlyArray<string> | undefined => {
  if (!path.startsWith("/")) return split(path)
  for (const base of [root.path, ...root.aliases]) {
    if (path === base) return []
    const prefix = base.endsWith("/") ? base : `${base}/`
    if (path.startsWith(prefix)) return split(path.slice(prefix.length))
  }
  return undefined
}

const split = (path: string): ReadonlyArray<string> => path.split("/").filter((name) => name !== "" && name !== ".")

/** Throws only what the system says of an existing directory, for example that it may not be entered. */
export const walkPath = (root: Root, path: string, { follow = true }: WalkOptions = {}): Found | Lost => {
  const start = namesFrom(root, path)
  if (path.includes("\0") || path === "") return { ok: false, problem: "BadName" }
  if (start === undefined || start.length > mostNames) return { ok: false, problem: "Outside" }
  const walk = new Walk(root)
  try {
    const result = walk.run(start, follow)
    if (!result.ok) walk.close()
    return result
  } catch (error) {
    walk.close()
    const code = codeOf(error)
    if (code === "ELOOP" || code === "ENOTDIR") return { ok: false, problem: "NotADirectory" }
    if (code === "ENAMETOOLONG") return { ok: false, problem: "BadName" }
    throw error
  }
}

class Walk {
  readonly #root: Root
  readonly #held: Array<HeldDirectory>
  readonly #names: Array<string> = []
  #links = 0

  constructor(root: Root) {
    this.#root = root
    this.#held = [hold(root.path)]
  }

  readonly close = (): void => {
    for (const one of this.#held.splice(0)) one.close()
  }

  get #here(): HeldDirectory {
    const here = this.#held.at(-1)
    if (here === undefined) throw new Error("the walk has ended")
    return here
  }

  run(start: ReadonlyArray<string>, follow: boolean): Found | Lost {
    const ahead = [...start].reverse()
    for (;;) {
      const name = ahead.pop()
      if (name === undefined) return this.#standing()
      if (name === "..") {
        if (this.#names.pop() === undefined) return { ok: false, problem: "Outside" }
        this.#held.pop()?.close()
        continue
      }
      const entry = look(this.#here, name)
      if (entry === undefined) return this.#missing([name, ...ahead.reverse()])
      if (entry.isSymbolicLink() && (ahead.length > 0 || follow)) {
        const problem = this.#follow(name, ahead)
        if (problem !== undefined) return { ok: false, problem }
        continue
      }
      if (ahead.length === 0) return this.#found(name, entry)
      if (!entry.isDirectory()) return { ok: false, problem: "NotADirectory" }
      this.#held.push(this.#here.open(name))
      this.#names.push(name)
    }
  }

  #follow(name: string, ahead: Array<string>): WalkProblem | undefined {
    if (++this.#links > mostLinks) return "Loop"
    const target = fs.readlinkSync(this.#here.at(name))
    const names = namesFrom(this.#root, target)
    if (names === undefined) return "Outside"
    if (ahead.length + names.length > mostNames) return "Loop"
    if (target.startsWith("/")) {
      this.#names.length = 0
      for (const one of this.#held.splice(1)) one.close()
    }
    ahead.push(...[...names].reverse())
    return undefined
  }

  #found(name: string, entry: fs.BigIntStats): Found {
    return { ok: true, parent: this.#here, name, entry, missing: [], names: [...this.#names, name], close: this.close }
  }

  /** The path ended in `..` or is the root: the directory itself is meant. */
  #standing(): Found {
    const name = this.#names.pop()
    if (name === undefined) {
      const entry = look(this.#here, ".")
      return { ok: true, parent: this.#here, name: "", entry, missing: [], names: [], close: this.close }
    }
    this.#held.pop()?.close()
    const entry = look(this.#here, name)
    const names = [...this.#names, name]
    return {
      ok: true,
      parent: this.#here,
      name,
      entry,
      missing: entry === undefined ? [name] : [],
      names,
      close: this.close
    }
  }

  #missing(missing: ReadonlyArray<string>): Found | Lost {
    if (missing.includes("..")) return { ok: false, problem: "NotADirectory" }
    const name = missing.at(-1) ?? ""
    return {
      ok: true,
      parent: this.#here,
      name,
      entry: undefined,
      missing,
      names: [...this.#names, ...missing],
      close: this.close
    }
  }
}
