/**
 * Keeps full outputs as files in one folder: the durable form of the spill port.
 *
 * Guarantees: an operation's text is kept once, the first; a file is there as a whole or not at all, and on disk before
 * its reference is given out; a range is read without reading the rest.
 * Does not delete: whoever owns the folder decides how long references must stay readable.
 */
import * as fs from "node:fs/promises"
import * as path from "node:path"
import { Json, Spill } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"

export interface FileSpillOptions {
  /** Is created, readable for its owner only, where it is missing. */
  readonly folder: string
}

export class FileSpill implements Spill.Spill {
  readonly #folder: string

  constructor(options: FileSpillOptions) {
    this.#folder = options.folder
  }

  readonly put = (operationId: string, text: string): Effect.Effect<string, Spill.SpillFailed> => {
    const name = Json.digest("toolwright/spill/1", operationId)
    return Effect.as(
      attempt(() => this.#write(name, text)),
      `spill:${name}`
    )
  }

  readonly get = (
    reference: string,
    range?: Spill.SpillRange
  ): Effect.Effect<string | undefined, Spill.SpillFailed> => {
    // A reference may have passed through a model: it names a file here, and nothing else.
    const name = /^spill:([0-9a-f]{64})$/.exec(reference)?.[1]
    return name === undefined ? Effect.undefined : attempt(() => this.#read(name, range))
  }

  async #write(name: string, text: string): Promise<void> {
    const file = this.#fileOf(name)
    const folder = path.dirname(file)
    await fs.mkdir(folder, { recursive: true, mode: 0o700 })
    if (await exists(file)) return
    const temporary = path.join(folder, `${name}.${crypto.randomUUID()}.part`)
    try {
      await writeThrough(temporary, text)
      await publish(temporary, file)
    } finally {
      await fs.rm(temporary, { force: true })
    }
    await syncFolder(folder)
  }

  async #read(name: string, range: Spill.SpillRange | undefined): Promise<string | undefined> {
    let handle: fs.FileHandle
    try {
      handle = await fs.open(this.#fileOf(name), "r")
    } catch (error) {
      if (isCode(error, "ENOENT")) return undefined
      throw error
    }
    try {
      const units = (await handle.stat()).size / unit
      const start = clamp(range?.start ?? 0, units)
      const end = Math.max(start, clamp(range?.end ?? units, units))
      const bytes = Buffer.alloc((end - start) * unit)
      await readAll(handle, { bytes, position: start * unit })
      return bytes.toString("utf16le")
    } finally {
      await handle.close()
    }
  }

  /** Two letters of the name are a folder, so that no folder gets too long. */
  #fileOf(name: string): string {
    return path.join(this.#folder, name.slice(0, 2), `${name}.txt`)
  }
}

/** Bytes of a UTF-16 code unit. Files are UTF-16LE: a range is a place in the file, and half a surrogate pair survives. */
const unit = 2

const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, Spill.SpillFailed> =>
  Effect.tryPromise({
    try: work,
    catch: (cause) => new Spill.SpillFailed(cause instanceof Error ? cause.message : String(cause), { cause })
  })

const writeThrough = async (file: string, text: string): Promise<void> => {
  const handle = await fs.open(file, "wx", 0o600)
  try {
    await handle.writeFile(Buffer.from(text, "utf16le"))
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A link fails where the name is taken, so the first text stays; a rename would replace it. */
const publish = async (temporary: string, file: string): Promise<void> => {
  try {
    await fs.link(temporary, file)
  } catch (error) {
    if (isCode(error, "EEXIST")) return
    // Some file systems have no hard links.
    if (!(await exists(file))) await fs.rename(temporary, file)
  }
}

/** The new name is on disk only when the folder is. Windows cannot open one, and does not need to. */
const syncFolder = async (folder: string): Promise<void> => {
  if (process.platform === "win32") return
  const handle = await fs.open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const readAll = async (
  handle: fs.FileHandle,
  { bytes, position }: { readonly bytes: Buffer; readonly position: number }
): Promise<void> => {
  let done = 0
  while (done < bytes.length) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, position + done)
    if (bytesRead === 0) throw new Error(`the file ends ${bytes.length - done} bytes early`)
    done += bytesRead
  }
}

/** As `String.prototype.slice` takes a position. */
const clamp = (position: number, length: number): number => {
  const whole = Math.trunc(position)
  return whole < 0 ? Math.max(0, length + whole) : Math.min(whole, length)
}

const exists = async (file: string): Promise<boolean> => {
  try {
    await fs.access(file)
    return true
  } catch {
    return false
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code
