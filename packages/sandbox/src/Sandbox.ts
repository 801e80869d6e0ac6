/**
 * The executor for tools whose target is `Sandbox`: each thread has a hand, a process in a box made by bubblewrap.
 *
 * Guarantees: a hand writes nothing but its workspace and a small private `/tmp`, has no network unless it is given, and
 * sees no environment but what is given; it ends with its whole tree, and with this process however that ends.
 * Does not limit what the workspace itself allows: what tools leave there is read by whoever opens it later.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import type { Json, RawTool } from "@toolwright/runtime-contract"
import { argumentsDescriptor, boxArguments, codePlace, loaderPlace } from "./internal/boxArguments.js"
import { BoxFiles } from "./internal/boxFiles.js"
import { HandExecutor } from "./internal/handExecutor.js"
import { HandProcess } from "./internal/handProcess.js"
import { isInside, packageRoots } from "./internal/packageRoots.js"
import { HostProxy, resolveWithSystem } from "./internal/hostProxy.js"
import { type HostList, listsLoopback, parseHosts, type RefusedHost } from "./internal/hostList.js"
import { reservedIds } from "./internal/seccompFilter.js"
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
  /** `full` is the host's network as it is, for every tool; `ListedHosts` is HTTP and TLS to these. Default `none`. */
  readonly network?: "none" | "full" | ListedHosts
  /** Folders and files that are shown read-only, at their own paths. */
  readonly readOnly?: ReadonlyArray<string>
  /** Paths in the workspace that stay as they are. Default: git's hooks and configuration, which run programs outside. */
  readonly protectedPaths?: ReadonlyArray<string>
  /** Local sockets may be made and reached, also those that others left in the workspace. Default false. */
  readonly unixSockets?: boolean
  /** The program, by name or absolute path. Default `bwrap`. */
  readonly bubblewrap?: string
}

/**
 * The hosts that a box may reach, by HTTP and TLS, through a proxy of this process that programs find in the usual
 * variables (`HTTPS_PROXY` and its like). Whatever does not ask the proxy has no network.
 */
export interface ListedHosts {
  /**
   * `example.org` (ports 80 and 443), `example.org:8080`, `*.example.org` (what lies below it), `10.0.0.5:5432`. A name
   * that leads to an address that is not public is refused unless the address is listed with the port as well.
   */
  readonly hosts: ReadonlyArray<string>
  /** Hears of each host and reason once. Default: a line on standard error. */
  readonly refused?: (refused: RefusedHost) => void
  /** All addresses of a name. Default: the system's. */
  readonly resolve?: (host: string) => Promise<ReadonlyArray<string>>
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
  const { network = "none" } = options
  const { proxy, variables, ...entrance } = listed(network)
  const files = new BoxFiles(options)
  const limits = { ...defaultLimits, ...options.limits }
  const environment = { ...variables, ...environmentOf(options) }
  const box = boxArguments({
    workspace: workspace.real,
    network: typeof network === "object" ? "hosts" : network,
    environment,
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
    loader: files.loader,
    seccomp: files.hasFilter
  })
  files.keep(box)
  const loading = files.loader === undefined ? [] : [loaderPlace]
  const inside = [...loading, process.execPath, `--max-old-space-size=${limits.heap}`, entry]
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
    program: process.execPath,
    ...(files.hasFilter ? { reservedIds } : {}),
    ...entrance,
    place: {
      workspace: workspace.real,
      aliases: workspace.aliases,
      contained: true,
      environment,
      options: options.options ?? null
    }
  }
  const start = (): HandProcess =>
    new HandProcess({
      child: files.spawn(command),
      init: { ...init, wantsCode: !files.hasCode },
      startLimit: limits.start,
      keepCode: (code) => files.keepCode(code),
      ...(proxy === undefined ? {} : { proxy })
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
  const warnings = [...probed.warnings, ...rootWarning(), ...(files.loader === undefined ? [openHand] : [])]
  return sandboxOf(executor, { warnings, closed: () => files.remove() })
}

/** Where programs in a box find the proxy; any port will do, for the loopback is the box's own. */
const proxyPort = 3128

interface Listed {
  readonly proxy?: HostProxy
  readonly proxyPort?: number
  readonly variables: Readonly<Record<string, string>>
}

const listed = (network: NonNullable<SandboxOptions["network"]>): Listed => {
  if (typeof network === "string") return { variables: {} }
  const list = parseHosts(network.hosts)
  const { refused = warnOf, resolve = resolveWithSystem } = network
  return { proxy: new HostProxy({ list, resolve, refused: once(refused) }), proxyPort, variables: proxyVariables(list) }
}

const warnOf = ({ host, port, reason }: RefusedHost): void =>
  void process.stderr.write(`toolwright sandbox: ${host}:${port} was refused (${reason})\n`)

const mostRefusals = 1_000

/** A program that tries without end is no reason to write without end. */
const once = (refused: (one: RefusedHost) => void): ((one: RefusedHost) => void) => {
  const told = new Set<string>()
  return (one) => {
    const key = `${one.reason} ${one.host}:${one.port}`
    if (told.has(key) || told.size >= mostRefusals) return
    told.add(key)
    refused(one)
  }
}

const proxyVariables = (list: HostList): Readonly<Record<string, string>> => {
  const at = `http://127.0.0.1:${proxyPort}`
  // Servers of the box itself are reached without it, unless the same names are listed as hosts outside.
  const without = listsLoopback(list) ? "" : "localhost,127.0.0.1,::1"
  const proxies = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "http_proxy",
    "https_proxy",
    "npm_config_proxy",
    "npm_config_https_proxy"
  ]
  return {
    ...Object.fromEntries(proxies.map((name) => [name, at])),
    NO_PROXY: without,
    no_proxy: without,
    npm_config_noproxy: without,
    // Node's own requests, where it can: 22.21 and 24.
    NODE_USE_ENV_PROXY: "1"
  }
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

const openHand =
  "commands can look into their own hand here: that is closed from Linux 5.14 on, where programs may lie in the temporary folder"

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
