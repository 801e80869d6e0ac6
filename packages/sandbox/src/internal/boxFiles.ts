/**
 * The small files that the boxes of one sandbox are made with, in a private folder.
 *
 * Guarantees: only this user can read them; the folder of a program that was killed is removed when the next one of the
 * same user starts, and never that of one that lives.
 * Does not outlive `remove`.
 */
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { argumentsDescriptor, seccompDescriptor } from "./boxArguments.js"
import { isKernelReady, loaderOf } from "./programLoader.js"
import { seccompFilter } from "./seccompFilter.js"

const prefix = "toolwright-box-"

export class BoxFiles {
  readonly #folder: string
  readonly passwd: string
  readonly group: string
  /** What the first hand made of its registry, for those that follow. Empty until then. */
  readonly code: string
  #hasCode = false
  /**
   * A copy of the program that loads Node, which may be run and not read. A process that was started from such a file is
   * closed to all others of its user: nothing in the box can read or write its memory or reach its files.
   */
  readonly loader: string | undefined
  readonly #filter: string | undefined
  #arguments: string | undefined

  constructor({ unixSockets = false }: { readonly unixSockets?: boolean | undefined }) {
    removeAbandoned(os.tmpdir())
    this.#folder = fs.mkdtempSync(path.join(os.tmpdir(), `${prefix}${ownerName(process.pid) ?? "unknown"}-`))
    this.passwd = this.#write(
      "passwd",
      "user:x:1000:1000:user:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
    )
    this.group = this.#write("group", "user:x:1000:\nnogroup:x:65534:\n")
    this.code = this.#write("code", "")
    this.loader = this.#unreadableLoader()
    const filter = seccompFilter(process.arch, { unixSockets })
    this.#filter = filter === undefined ? undefined : this.#write("filter", filter)
  }

  get hasFilter(): boolean {
    return this.#filter !== undefined
  }

  get hasCode(): boolean {
    return this.#hasCode
  }

  /** A new file under the old name: a hand that reads the old one meanwhile is not disturbed. */
  keepCode(code: Buffer): void {
    fs.renameSync(this.#write("code.new", code), this.code)
    this.#hasCode = true
  }

  /** The arguments that make the box. */
  keep(box: ReadonlyArray<string>): void {
    this.#arguments = this.#write("arguments", box.map((one) => `${one}\0`).join(""))
  }

  /** Starts the command with pipes, and the files as further descriptors. */
  spawn([program = "", ...args]: ReadonlyArray<string>): ReturnType<typeof spawn> {
    const opened: Array<number> = []
    try {
      const stdio: Array<"pipe" | number> = ["pipe", "pipe", "pipe"]
      for (const [place, file] of [
        [argumentsDescriptor, this.#arguments],
        [seccompDescriptor, this.#filter]
      ] as const) {
        if (file === undefined) continue
        const descriptor = fs.openSync(file, "r")
        opened.push(descriptor)
        stdio[place] = descriptor
      }
      return spawn(program, args, { env: {}, cwd: "/", detached: true, stdio })
    } finally {
      for (const descriptor of opened) fs.closeSync(descriptor)
    }
  }

  remove(): void {
    fs.rmSync(this.#folder, { recursive: true, force: true })
  }

  #unreadableLoader(): string | undefined {
    const loader = isKernelReady() ? loaderOf(process.execPath) : undefined
    if (loader === undefined) return undefined
    try {
      const copy = this.#write("loader", fs.readFileSync(loader))
      fs.chmodSync(copy, 0o111)
      // Not on every system may a program lie there, and not every loader is started like this.
      const tried = spawnSync(copy, [process.execPath, "--version"], { encoding: "utf8", env: {} })
      return tried.stdout.trim() === process.version ? copy : undefined
    } catch {
      return undefined
    }
  }

  #write(name: string, content: string | Buffer): string {
    const file = path.join(this.#folder, name)
    fs.writeFileSync(file, content, { mode: 0o600 })
    return file
  }
}

/**
 * Names a process for good: its id, when it started, and the space in which the id counts, since programs in other
 * containers may share the folder. `undefined` for a process that is not there.
 */
const ownerName = (pid: number): string | undefined => {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "latin1")
    // The second field is a name in parentheses that may hold anything.
    const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
    const space = /\d+/.exec(fs.readlinkSync("/proc/self/ns/pid"))?.[0]
    return started === undefined || space === undefined ? undefined : `${pid}-${started}-${space}`
  } catch {
    return undefined
  }
}

/** Folders of this user whose owner ended without removing them. */
const removeAbandoned = (folder: string): void => {
  const space = ownerName(process.pid)?.split("-")[2]
  if (space === undefined) return
  for (const name of fs.readdirSync(folder)) {
    const [, owner, pid] = /^toolwright-box-((\d+)-\d+-(?:\d+))-[^-]+$/.exec(name) ?? []
    if (owner === undefined || !owner.endsWith(`-${space}`) || ownerName(Number(pid)) === owner) continue
    const at = path.join(folder, name)
    const entry = fs.lstatSync(at, { throwIfNoEntry: false })
    // A link, or somebody else's: not made here.
    if (entry?.isDirectory() !== true || entry.uid !== process.getuid?.()) continue
    try {
      fs.rmSync(at, { recursive: true, force: true })
    } catch {
      // Somebody else removes it at the same time, or it must stay: it holds nothing that anybody waits for.
    }
  }
}
