/**
 * The files below a folder, as searching tools see them: in order of their names, `.gitignore` obeyed, links not followed.
 *
 * Guarantees: bounded in entries and depth, yields to other work, ends when it is aborted; folders are held open while
 * they are read, so a swap leads nowhere.
 * Does not read contents.
 */
import * as fs from "node:fs"
import createIgnore, { type Ignore } from "ignore"
import { inTime } from "./boundedTime.js"
import { type HeldDirectory, openFile } from "./heldDirectory.js"

/** Entries that one walk looks at. */
const mostEntries = 200_000
const deepest = 64
const largestIgnoreFile = 1_000_000
/** Milliseconds for one path and one ignore file. */
const longestTest = 200

export interface Entry {
  /** From the folder where the walk began. */
  readonly path: string
  readonly name: string
  readonly type: "file" | "directory" | "link" | "other"
  readonly directory: HeldDirectory
}

export interface TreeOptions {
  readonly signal: AbortSignal
  /** Default true: what `.gitignore` files name is left out, and `.git` always is. */
  readonly obeyIgnoreFiles?: boolean
  /** Levels below the start; default 64. */
  readonly depth?: number
  /** `false` ends the walk. Called in order of names, a folder before what it holds. */
  readonly visit: (entry: Entry) => boolean
}

/** What was seen. `complete` is false where a bound ended the walk; `visit` ending it is no bound. */
export interface Walked {
  readonly entries: number
  readonly complete: boolean
}

interface Rules {
  /** Folder of the file, from the start, with a final slash; empty for the start itself. */
  readonly prefix: string
  readonly test: (path: string) => ReturnType<Ignore["test"]>
}

interface Level {
  readonly directory: HeldDirectory
  readonly prefix: string
  readonly rules: ReadonlyArray<Rules>
  readonly depth: number
}

export const walkTree = async (start: HeldDirectory, options: TreeOptions): Promise<Walked> => {
  const state = { entries: 0, complete: true, stopped: false, since: performance.now() }
  const enter = async (level: Level): Promise<void> => {
    const rules = options.obeyIgnoreFiles === false ? none : [...rulesOf(level), ...level.rules]
    for (const entry of entriesOf(level.directory)) {
      if (state.stopped) return
      options.signal.throwIfAborted()
      if (++state.entries > mostEntries) {
        state.complete = false
        state.stopped = true
        return
      }
      if (performance.now() - state.since > 8) {
        await new Promise(setImmediate)
        state.since = performance.now()
      }
      const path = level.prefix + entry.name
      if (entry.name === ".git" || isIgnored(rules, path, entry.isDirectory())) continue
      const type = typeOf(entry)
      if (!options.visit({ path, name: entry.name, type, directory: level.directory })) {
        state.stopped = true
        return
      }
      if (type !== "directory" || level.depth >= (options.depth ?? deepest)) continue
      const directory = openQuietly(level.directory, entry.name)
      if (directory === undefined) continue
      try {
        await enter({ directory, prefix: `${path}/`, rules, depth: level.depth + 1 })
      } finally {
        directory.close()
      }
    }
  }
  await enter({ directory: start, prefix: "", rules: none, depth: 1 })
  return { entries: state.entries, complete: state.complete }
}

const none: ReadonlyArray<Rules> = []

const entriesOf = (directory: HeldDirectory): ReadonlyArray<fs.Dirent> => {
  try {
    const entries = fs.readdirSync(directory.at("."), { withFileTypes: true })
    return entries.sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0))
  } catch {
    // It may not be read, or is gone.
    return []
  }
}

const openQuietly = (directory: HeldDirectory, name: string): HeldDirectory | undefined => {
  try {
    return directory.open(name)
  } catch {
    return undefined
  }
}

const typeOf = (entry: fs.Dirent): Entry["type"] =>
  entry.isFile() ? "file" : entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "link" : "other"

const rulesOf = ({ directory, prefix }: Level): ReadonlyArray<Rules> => {
  const text = readSmall(directory, ".gitignore")
  return text === undefined ? none : [{ prefix, test: testerOf(text) }]
}

const namesNothing = { ignored: false, unignored: false }

/** A file with a pattern that was made to take long says nothing from then on: whose folder it is may be anybody's. */
const testerOf = (text: string): Rules["test"] => {
  const ignore = createIgnore({ allowRelativePaths: true }).add(text)
  if (!/(?:\*+[^*\n]+){3}\*/.test(text)) return (path) => ignore.test(path)
  let isTooSlow = false
  return (path) => {
    if (isTooSlow) return namesNothing
    try {
      return inTime(longestTest, () => ignore.test(path))
    } catch {
      isTooSlow = true
      return namesNothing
    }
  }
}

const readSmall = (directory: HeldDirectory, name: string): string | undefined => {
  try {
    const { descriptor, stat } = openFile(directory, name)
    try {
      return stat.size > largestIgnoreFile ? undefined : fs.readFileSync(descriptor, "utf8")
    } finally {
      fs.closeSync(descriptor)
    }
  } catch {
    return undefined
  }
}

/** The nearest file that has a word on the path decides. */
const isIgnored = (rules: ReadonlyArray<Rules>, path: string, isDirectory: boolean): boolean => {
  for (const { prefix, test } of rules) {
    const below = path.slice(prefix.length)
    const { ignored, unignored } = test(isDirectory ? `${below}/` : below)
    if (ignored) return true
    if (unignored) return false
  }
  return false
}
