/**
 * Reading a whole file, and replacing it as one act.
 *
 * Guarantees: whoever looks sees the old content or the new one, never a part; what was written is on the disk before it
 * takes the name; a file that changed between reading and replacing is left alone and reported.
 * Does not merge: a change in between is the caller's to deal with.
 */
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import { promisify } from "node:util"
import { codeOf, type HeldDirectory, look, openFile } from "./heldDirectory.js"
import { lockName } from "./nameLock.js"

/** Bytes of a file that tools read or change as a whole. */
export const largestFile = 10 * 1024 * 1024

const fsync = promisify(fs.fsync)

export interface Content {
  readonly bytes: Buffer
  readonly stat: fs.BigIntStats
}

/** What is wrong with a file for a tool. */
export class FileProblem extends Error {
  override readonly name = "FileProblem"
  readonly code: "TooLarge" | "NotAFile" | "Missing" | "Changed" | "Exists" | "Denied"
  constructor(code: FileProblem["code"], options?: { readonly cause?: unknown }) {
    super(code, options)
    this.code = code
  }
}

/** Reads a plain file as a whole. Throws `FileProblem`. */
export const readWhole = (directory: HeldDirectory, name: string): Content => {
  const { descriptor, stat } = opened(directory, name)
  try {
    if (stat.size > largestFile) throw new FileProblem("TooLarge")
    const bytes = fs.readFileSync(descriptor)
    // It may have grown while it was read.
    if (bytes.length > largestFile) throw new FileProblem("TooLarge")
    return { bytes, stat }
  } finally {
    fs.closeSync(descriptor)
  }
}

const opened = (directory: HeldDirectory, name: string): ReturnType<typeof openFile> => {
  try {
    return openFile(directory, name)
  } catch (cause) {
    throw problemOf(cause)
  }
}

/** The system's word as one of ours; anything unforeseen is passed on. */
export const problemOf = (cause: unknown): unknown => {
  const code = codeOf(cause)
  if (code === "ENOENT") return new FileProblem("Missing", { cause })
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return new FileProblem("Denied", { cause })
  if (code === "EBUSY") return new FileProblem("Changed", { cause })
  if (code === "EEXIST" || code === "ENOTEMPTY") return new FileProblem("Exists", { cause })
  if (code === "ELOOP" || code === "EISDIR" || code === "EINVAL" || code === "ENXIO" || code === "ENODEV")
    return new FileProblem("NotAFile", { cause })
  return cause
}

export interface Replacement {
  readonly directory: HeldDirectory
  readonly name: string
  readonly bytes: Buffer
  /** The file as it was read; `undefined` for one that must not exist. */
  readonly expected: fs.BigIntStats | undefined
  readonly signal: AbortSignal
}

/** Writes beside the file, forces it to the disk, and gives it the name. Throws `FileProblem`. */
export const replace = async (given: Replacement): Promise<void> => {
  const { directory, expected, signal } = given
  const draft = `.${given.name.slice(0, 100)}.${crypto.randomBytes(6).toString("hex")}.tmp`
  try {
    await writeDraft(given, draft)
    signal.throwIfAborted()
    await takeName(given, draft)
  } catch (cause) {
    removeQuietly(directory, draft)
    throw problemOf(cause)
  }
  if (expected === undefined) removeQuietly(directory, draft)
  await syncDirectory(directory)
}

const writeDraft = async ({ directory, bytes, expected }: Replacement, draft: string): Promise<void> => {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants
  const descriptor = fs.openSync(directory.at(draft), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666)
  try {
    fs.writeFileSync(descriptor, bytes)
    if (expected !== undefined) keepMode(descriptor, expected)
    await fsync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}

// Not the set-id bits: new content does not inherit somebody's rights.
const keepMode = (descriptor: number, { mode }: fs.BigIntStats): void => {
  fs.fchmodSync(descriptor, Number(mode) & 0o777)
}

/** Comparing and renaming are two system calls; other hands and processes of ours are kept out meanwhile. */
const takeName = async ({ directory, name, expected, signal }: Replacement, draft: string): Promise<void> => {
  if (expected === undefined) {
    // A link refuses a name that is taken, which a rename would not.
    fs.linkSync(directory.at(draft), directory.at(name))
    return
  }
  const letGo = await lockName(directory, name, signal)
  try {
    const now = look(directory, name)
    if (now === undefined || !isSame(now, expected)) throw new FileProblem("Changed")
    fs.renameSync(directory.at(draft), directory.at(name))
  } finally {
    letGo()
  }
}

/** The same file with the same content, as far as the system can tell without reading it. */
const isSame = (left: fs.BigIntStats, right: fs.BigIntStats): boolean =>
  left.ino === right.ino &&
  left.dev === right.dev &&
  left.size === right.size &&
  left.mtimeNs === right.mtimeNs &&
  left.ctimeNs === right.ctimeNs

const removeQuietly = (directory: HeldDirectory, name: string): void => {
  try {
    fs.unlinkSync(directory.at(name))
  } catch {
    // It is not there: that is what was wanted.
  }
}

/** So that the name survives a power cut as well. Some file systems cannot. */
export const syncDirectory = async (directory: HeldDirectory): Promise<void> => {
  let descriptor: number
  try {
    descriptor = fs.openSync(directory.at("."), fs.constants.O_RDONLY)
  } catch {
    return
  }
  try {
    await fsync(descriptor)
  } catch {
    // The content is safe; only the name may be lost.
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Makes the folders of a path, each in the one before. The last of `missing` is the path's own name and is not made. */
export const makeParents = (
  parent: HeldDirectory,
  missing: ReadonlyArray<string>
): { readonly directory: HeldDirectory; readonly close: () => void } => {
  const made: Array<HeldDirectory> = []
  let directory = parent
  const close = (): void => {
    for (const one of made) one.close()
  }
  try {
    for (const name of missing.slice(0, -1)) {
      makeFolder(directory, name)
      directory = directory.open(name)
      made.push(directory)
    }
  } catch (cause) {
    close()
    throw problemOf(cause)
  }
  return { directory, close }
}

const makeFolder = (directory: HeldDirectory, name: string): void => {
  try {
    fs.mkdirSync(directory.at(name))
  } catch (error) {
    // Somebody else made it at the same time.
    if (codeOf(error) !== "EEXIST") throw error
  }
}
