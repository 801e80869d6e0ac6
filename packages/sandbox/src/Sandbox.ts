/**
 * The executor for tools whose target is `Sandbox`: each thread has a hand, a process in a box made by bubblewrap.
 *
 * Guarantees: a hand writes nothing but its workspace and a small private `/tmp`, has no network unless it is given, and
 * sees no environment but what is given; it ends with its whole tree, and with this process however that ends.
 * Does not limit what the workspace itself allows: what tools leave there is read by whoever opens it later.
 */
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import type { Json, RawTool } from "@toolwright/runtime-contract"
import { argumentsDescriptor, boxArguments, codePlace, seccompDescriptor } from "./internal/boxArguments.js"
import { HandExecutor } from "./internal/handExecutor.js"
import { HandProcess } from "./internal/handProcess.js"
import { isInside, packageRoots } from "./internal/packageRoots.js"
import { seccompFilter } from "./internal/seccompFilter.js"
import { SandboxError } from "./SandboxError.js"
import { probe, type ProbeResult } from "./SandboxProbe.js"

/** Defaults in brackets. */
export interface SandboxLimits {
  /** Bytes of one file that is written [1 GiB]. */
  readonly fileSize: number
  /** Open files per process [4096]. */
  readonly openFiles: number
  /** Bytes of the private `/tmp` [256 MiB]. */
  readonly scratch: number
  /** MiB of JavaScript heap of the hand itself [512]. */
  readonly heap: number
  /** Milliseconds of one call, kept by the hand itself [15 minutes]. */
  readonly call: number
  /** Milliseconds until a hand must be ready [10 s]. */
  readonly start: number
  /** Milliseconds from a cancel to the end of a hand that does not listen [2 s]. */
  readonly grace: number
  /** Milliseconds without a call after which a hand is ended [10 minutes]. */
  readonly idle: number
  /** Hands at once [32]. */
  readonly hands: number
}

export const defaultLimits: SandboxLimits = {
  fileSize: 1024 ** 3,
  openFiles: 4096,
  scratch: 256 * 1024 ** 2,
  heap: 512,
  call: 15 * 60_000,
  start: 10_000,
  grace: 2_000,
  idle: 10 * 60_000,
  hands: 32
}

export interface HandOptions {
  /** The folder to work in. */
  readonly workspace: string
  /** The tools as the runtime has them; those with target `Sandbox` are placed. */
  readonly tools: Iterable<RawTool.RawTool>
  /**
   * The module that gives the same tools inside, as a path or a `file:` URL. Its default export is a list of erased
   * tools, or a function that gets a `HandPlace` and gives one. A script (`.cjs`) starts faster: what Node compiled for
   * the first hand is kept for the next ones.
   */
  readonly registry: string | URL
  /** Handed to the registry's function. Default null. */
  readonly options?: Json.Json
  /** All that tools and commands see, besides PATH, HOME, LANG and TMPDIR. */
  readonly environment?: Readonly<Record<string, string>>
  readonly limits?: Partial<SandboxLimits>
  /** Where `hand.cjs` of this package lies, for programs that are bundled. */
  readonly entry?: string | URL
}

export interface SandboxOptions extends HandOptions {
  /** `full` is the host's network as it is, for every tool. Lists of hosts need a proxy and are not offered. Default `none`. */
  readonly network?: "none" | "full"
  /** Folders and files that are shown read-only, at their own paths. */
  readonly readOnly?: ReadonlyArray<string>
  /** Paths in the workspace that stay as they are. Default: git's hooks and configuration, which run programs outside. */
  readonly protectedPaths?: ReadonlyArray<string>
  /** Local sockets may be made and reached, also those that others left in the workspace. Default false. */
  readonly unixSockets?: boolean
  /** The program, by name or absolute path. Default `bwrap`. */
  readonly bubblewrap?: string
}

/** A running executor; hand it to the runtime as `executors: { Sandbox }`. */
export interface Sandbox extends RawTool.ToolExecutor {
  /** Ends all hands and everything in them. */
  readonly close: () => Promise<void>
  /** Ends the hand of one thread; its next call starts another. */
  readonly end: (threadId: string) => Promise<void>
  /** Number of warm hands. */
  readonly hands: number
  readonly pidOf: (threadId: string) => number | undefined
  /** What this machine cannot limit. */
  readonly warnings: ReadonlyArray<string>
}

export const defaultProtectedPaths: ReadonlyArray<string> = [".git/hooks", ".git/config", ".git/config.worktree"]

/** Probes the machine, starts the first hand and compares its tools. Rejects with `SandboxError`. */
export const make = async (options: SandboxOptions): Promise<Sandbox> => {
  const probed = probe(options.bubblewrap === undefined ? {} : { bubblewrap: options.bubblewrap })
  if (!probed.ok) throw new SandboxError(probed.fault, { message: probed.message })
  const workspace = workspaceOf(options.workspace)
  const registry = fileOf(options.registry, "registry")
  const entry = fileOf(options.entry ?? new URL("./hand.cjs", import.meta.url), "entry")
  const files = new BoxFiles(options)
  const limits = { ...defaultLimits, ...options.limits }
  const box = boxArguments({
    workspace: workspace.real,
    network: options.network ?? "none",
    environment: environmentOf(options),
    readOnly: [
      path.dirname(entry),
      process.execPath,
      ...packageRoots(registry),
      ...(options.readOnly ?? []).map((one) => fs.realpathSync(one))
    ],
    protectedPaths: options.protectedPaths ?? defaultProtectedPaths,
    scratch: limits.scratch,
    passwd: files.passwd,
    group: files.group,
    code: files.code,
    seccomp: files.hasFilter
  })
  files.keep(box)
  const inside = [process.execPath, `--max-old-space-size=${limits.heap}`, entry]
  const command = [
    ...limiting(probed, limits),
    probed.bubblewrap,
    "--args",
    String(argumentsDescriptor),
    "--",
    ...inside
  ]
  const init = {
    type: "init" as const,
    registry,
    callLimit: limits.call,
    codeFile: codePlace,
    place: {
      workspace: workspace.real,
      aliases: workspace.aliases,
      contained: true,
      environment: environmentOf(options),
      options: options.options ?? null
    }
  }
  const start = (): HandProcess =>
    new HandProcess({
      child: files.spawn(command),
      init: { ...init, wantsCode: !files.hasCode },
      startLimit: limits.start,
      keepCode: (code) => files.keepCode(code)
    })
  const executor = new HandExecutor({ tools: options.tools, ...limits, start })
  try {
    await executor.warmUp()
  } catch (cause) {
    await executor.close()
    files.remove()
    throw new SandboxError("BadRegistry", {
      message: cause instanceof Error ? cause.message : "the sandbox could not start",
      cause
    })
  }
  return sandboxOf(executor, { warnings: [...probed.warnings, ...rootWarning()], closed: () => files.remove() })
}

/** What both kinds of executor show. */
export const sandboxOf = (
  executor: HandExecutor,
  { warnings, closed }: { readonly warnings: ReadonlyArray<string>; readonly closed: () => void }
): Sandbox => ({
  recovery: (toolId) => executor.recovery(toolId),
  concurrency: (toolId) => executor.concurrency(toolId),
  invoke: (call, context) => executor.invoke(call, context),
  reconcile: (call, operation) => executor.reconcile(call, operation),
  end: (threadId) => executor.end(threadId),
  pidOf: (threadId) => executor.pidOf(threadId),
  get hands() {
    return executor.hands
  },
  warnings,
  close: async () => {
    await executor.close()
    closed()
  }
})

const rootWarning = (): ReadonlyArray<string> =>
  process.getuid?.() === 0
    ? ["this runs as root: files in the workspace are made by root, and an ordinary user is safer"]
    : []

const systemFolders = [
  "/",
  "/usr",
  "/etc",
  "/proc",
  "/sys",
  "/dev",
  "/tmp",
  "/bin",
  "/sbin",
  "/lib",
  "/lib64",
  "/var",
  "/run",
  "/boot",
  "/home",
  "/root"
]

/** The real path, and the given one where it differs. */
export const workspaceOf = (folder: string): { readonly real: string; readonly aliases: ReadonlyArray<string> } => {
  const given = path.resolve(folder)
  if (!fs.existsSync(given) || !fs.statSync(given).isDirectory())
    throw new SandboxError("BadWorkspace", { message: `the workspace ${JSON.stringify(folder)} is no folder` })
  const real = fs.realpathSync.native(given)
  const isSystem =
    systemFolders.includes(real) || isInside("/proc", real) || isInside("/sys", real) || isInside("/dev", real)
  if (isSystem)
    throw new SandboxError("BadWorkspace", {
      message: `the workspace ${real} is a folder of the system; choose one that holds a project`
    })
  return { real, aliases: given === real ? [] : [given] }
}

export const fileOf = (file: string | URL, name: string): string => {
  const at = file instanceof URL || file.startsWith("file:") ? fileURLToPath(file) : path.resolve(file)
  if (fs.existsSync(at) && fs.statSync(at).isFile()) return fs.realpathSync(at)
  throw new SandboxError("BadRegistry", { message: `${name}: ${at} is no file` })
}

export const environmentOf = ({
  environment = {}
}: Pick<HandOptions, "environment">): Readonly<Record<string, string>> => ({
  PATH: [...new Set([path.dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"])].join(":"),
  HOME: "/tmp",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
  TERM: "dumb",
  ...environment
})

const limiting = (
  { prlimit }: Extract<ProbeResult, { ok: true }>,
  { fileSize, openFiles }: SandboxLimits
): ReadonlyArray<string> =>
  prlimit === undefined ? [] : [prlimit, "--core=0", `--fsize=${fileSize}`, `--nofile=${openFiles}`, "--"]

/** The small files that a box is made with, in a private folder. */
class BoxFiles {
  readonly #folder: string
  readonly passwd: string
  readonly group: string
  /** What the first hand made of its registry, for those that follow. Empty until then. */
  readonly code: string
  #hasCode = false
  readonly #filter: string | undefined
  #arguments: string | undefined

  constructor({ unixSockets = false }: SandboxOptions) {
    this.#folder = fs.mkdtempSync(path.join(os.tmpdir(), "toolwright-box-"))
    this.passwd = this.#write(
      "passwd",
      "user:x:1000:1000:user:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
    )
    this.group = this.#write("group", "user:x:1000:\nnogroup:x:65534:\n")
    this.code = this.#write("code", "")
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

  #write(name: string, content: string | Buffer): string {
    const file = path.join(this.#folder, name)
    fs.writeFileSync(file, content, { mode: 0o600 })
    return file
  }
}
