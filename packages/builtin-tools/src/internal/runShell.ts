/**
 * One command in a shell, from its start to the end of its last process.
 *
 * Guarantees: ends with the command, by time, by abort or by a bound, and in each case nothing that it started runs on;
 * no pipe of ours stays open; output is bounded.
 * Does not contain it: a box does. Does not judge the command: a gate does.
 */
import { spawn, type ChildProcess } from "node:child_process"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import { KeptOutput, type Sink } from "./keptOutput.js"
import { markName, ProcessTree } from "./processTree.js"
import { terminalText } from "./terminalText.js"

export interface ShellLimits {
  readonly processes: number
  /** Bytes in memory, all processes together. */
  readonly memory: number
  /** Bytes by which free space may shrink while the command runs. */
  readonly disk: number
  /** Bytes of output after which the command is ended. */
  readonly output: number
}

export const defaultLimits: ShellLimits = {
  processes: 256,
  memory: 2 * 1024 ** 3,
  disk: 2 * 1024 ** 3,
  output: 64 * 1024 ** 2
}

export interface ShellRequest {
  readonly command: string
  /** An absolute path. */
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  /** Milliseconds. */
  readonly timeout: number
  readonly signal: AbortSignal
  readonly contained: boolean
  readonly limits: ShellLimits
  readonly openSink: () => Sink | undefined
  readonly progress: (text: string) => void
}

/** Why a command was ended before it came to its own end. */
export type Ended = "timeout" | "abort" | "processes" | "memory" | "disk" | "output"

export interface ShellResult {
  readonly exitCode: number | null
  readonly exitSignal: string | null
  readonly ended: Ended | undefined
  readonly text: string
  readonly truncated: boolean
  readonly file?: string
  /** Where the shell stood when it ended, if it said so. */
  readonly directory: string | undefined
  /** False where a process of the command may still run. */
  readonly isAllGone: boolean
}

const shells = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh"]
const lookEvery = 50

/**
 * The command is an argument of its own, so no quoting of it can break out of the frame. The name of a directory may hold
 * anything but NUL, which therefore stands before it.
 */
const frame = `trap '{ printf "\\000"; pwd -P; } >&3' EXIT; eval "$1"`

/** Rejects only where no shell can be started. */
export const runShell = async (request: ShellRequest): Promise<ShellResult> => {
  const mark = crypto.randomUUID()
  const tree = new ProcessTree({ contained: request.contained, mark })
  const shell = shells.find((path) => fs.existsSync(path)) ?? "/bin/sh"
  const child = spawn(shell, ["-c", frame, "bash", request.command], {
    cwd: request.directory,
    env: { ...request.environment, [markName]: mark },
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"]
  })
  const closing = new Promise<void>((resolve) => child.once("close", () => resolve()))
  const kept = new KeptOutput(request.openSink)
  const place = collect(child, { kept, progress: request.progress })
  const watch = new Watch({ child, tree, kept, request })
  const exit = await exitOf(child, watch)
  watch.stop()
  const isAllGone = await tree.end(child.pid)
  await closed(child, closing)
  place.finish()
  const { exitCode, exitSignal } = exit
  return {
    exitCode,
    exitSignal,
    ended: watch.ended,
    ...kept.finish(terminalText),
    directory: place.directory(),
    isAllGone
  }
}

const exitOf = (child: ChildProcess, watch: Watch): Promise<Pick<ShellResult, "exitCode" | "exitSignal">> =>
  new Promise((resolve, reject) => {
    child.once("error", (error) => {
      watch.stop()
      reject(error)
    })
    child.once("exit", (exitCode, exitSignal) => resolve({ exitCode, exitSignal }))
  })

// Nothing of the tree is left, so the pipes close at once; where something is, they are cut.
const closed = async (child: ChildProcess, closing: Promise<void>): Promise<void> => {
  let cut: NodeJS.Timeout | undefined
  const waited = new Promise<void>((resolve) => (cut = setTimeout(resolve, 200)))
  await Promise.race([closing, waited])
  clearTimeout(cut)
  for (const stream of child.stdio) stream?.destroy()
}

interface Collecting {
  readonly kept: KeptOutput
  readonly progress: (text: string) => void
}

const collect = (child: ChildProcess, { kept, progress }: Collecting) => {
  const readers = [child.stdout, child.stderr].map((stream) => {
    const read = kept.reader()
    stream?.on("data", (part: Buffer) => {
      read(part)
      progress(terminalText(part.toString("utf8")))
    })
    stream?.on("error", () => {})
    return read
  })
  let said = ""
  const third = child.stdio[3]
  if (third !== null && third !== undefined && "on" in third) {
    third.on("data", (part: Buffer) => (said = (said + part.toString("utf8")).slice(-8192)))
    third.on("error", () => {})
  }
  return {
    finish: (): void => {
      for (const read of readers) read()
    },
    directory: (): string | undefined => {
      const start = said.lastIndexOf("\0")
      return start < 0 ? undefined : said.slice(start + 1).replace(/\n$/, "") || undefined
    }
  }
}

interface Watched {
  readonly child: ChildProcess
  readonly tree: ProcessTree
  readonly kept: KeptOutput
  readonly request: ShellRequest
}

/** Ends the command when a bound is passed, time is up or the signal comes. */
class Watch {
  readonly #watched: Watched
  readonly #timeout: NodeJS.Timeout
  readonly #interval: NodeJS.Timeout
  readonly #free: number
  readonly #abort = (): void => this.#end("abort")
  ended: Ended | undefined

  constructor(watched: Watched) {
    const { signal, timeout } = watched.request
    this.#watched = watched
    this.#free = freeBytes(watched.request.directory)
    this.#timeout = setTimeout(() => this.#end("timeout"), timeout)
    this.#interval = setInterval(() => this.#look(), lookEvery)
    watched.child.stdout?.on("data", () => this.#count())
    watched.child.stderr?.on("data", () => this.#count())
    signal.addEventListener("abort", this.#abort, { once: true })
    if (signal.aborted) this.#abort()
  }

  stop(): void {
    clearTimeout(this.#timeout)
    clearInterval(this.#interval)
    this.#watched.request.signal.removeEventListener("abort", this.#abort)
  }

  #count(): void {
    if (this.#watched.kept.bytes > this.#watched.request.limits.output) this.#end("output")
  }

  #look(): void {
    const { tree, request } = this.#watched
    const { processes, memory } = tree.usage()
    if (processes > request.limits.processes) return this.#end("processes")
    if (memory > request.limits.memory) return this.#end("memory")
    if (this.#free - freeBytes(request.directory) > request.limits.disk) this.#end("disk")
  }

  #end(why: Ended): void {
    if (this.ended !== undefined) return
    this.ended = why
    void this.#watched.tree.end(this.#watched.child.pid)
  }
}

const freeBytes = (directory: string): number => {
  try {
    const { bavail, bsize } = fs.statfsSync(directory)
    return bavail * bsize
  } catch {
    return 0
  }
}
