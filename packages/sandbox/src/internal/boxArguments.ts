/**
 * The command line that makes the box.
 *
 * Guarantees: what is not named here is not there: the system's programs and libraries read-only, the workspace writable,
 * a small private `/tmp`, no network unless it is given, an empty environment but for what is given.
 * Does not start it.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { isInside, outermost } from "./packageRoots.js"

export interface Box {
  readonly workspace: string
  /** `hosts` is none of its own: what it reaches goes through its parent. */
  readonly network: "none" | "hosts" | "full"
  readonly environment: Readonly<Record<string, string>>
  /** Shown read-only, at their own paths. */
  readonly readOnly: ReadonlyArray<string>
  /** Inside the workspace, shown read-only where they exist. */
  readonly protectedPaths: ReadonlyArray<string>
  /** Bytes of `/tmp`. */
  readonly scratch: number
  /** Files that stand for the system's lists of users and groups. */
  readonly passwd: string
  readonly group: string
  /** The file with the registry's code, shown at `codePlace`. */
  readonly code: string
  /** The program that is shown at `loaderPlace`. */
  readonly loader: string | undefined
  readonly seccomp: boolean
}

/** Where a hand finds the code of its registry. */
export const codePlace = "/etc/toolwright-code"
/** And what loads its program. */
export const loaderPlace = "/etc/toolwright-loader"

/** Where the program reads its arguments from, so that no list of processes shows them; and the filter. */
export const argumentsDescriptor = 3
export const seccompDescriptor = 4

/** Everything before the command to run. */
export const boxArguments = (box: Box): ReadonlyArray<string> => [
  "--unshare-user",
  "--unshare-ipc",
  "--unshare-pid",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--disable-userns",
  ...(box.network === "full" ? [] : ["--unshare-net"]),
  "--die-with-parent",
  "--new-session",
  "--hostname",
  "sandbox",
  "--clearenv",
  ...Object.entries(box.environment).flatMap(([name, value]) => ["--setenv", name, value]),
  ...system(box),
  "--proc",
  "/proc",
  ...maskedProc(),
  "--dev",
  "/dev",
  "--size",
  String(16 * 1024 * 1024),
  "--tmpfs",
  "/dev/shm",
  "--size",
  String(box.scratch),
  "--tmpfs",
  "/tmp",
  ...folders(box),
  ...(box.seccomp ? ["--seccomp", String(seccompDescriptor)] : []),
  // Last, or nothing could be put there.
  "--remount-ro",
  "/dev",
  "--remount-ro",
  "/",
  "--chdir",
  box.workspace,
  "--cap-drop",
  "ALL",
  "--uid",
  "1000",
  "--gid",
  "1000"
]

const system = ({ network, passwd, group, code, loader }: Box): ReadonlyArray<string> => [
  "--ro-bind",
  "/usr",
  "/usr",
  ...["/bin", "/sbin", "/lib", "/lib32", "/lib64"].flatMap(likeHere),
  ...["/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", "/etc/magic", "/etc/mime.types"].flatMap(showFile),
  ...(network === "none"
    ? []
    : ["/etc/ssl", "/etc/ca-certificates", "/etc/pki", "/etc/nsswitch.conf", "/etc/services"].flatMap(showFile)),
  ...(network === "full" ? ["/etc/resolv.conf", "/etc/hosts"].flatMap(showFile) : []),
  "--ro-bind",
  passwd,
  "/etc/passwd",
  "--ro-bind",
  group,
  "/etc/group",
  "--ro-bind",
  code,
  codePlace,
  ...(loader === undefined ? [] : ["--ro-bind", loader, loaderPlace])
]

/**
 * The parts of `/proc` that belong to the whole machine. The system's own checks let their owner write there, and the
 * owner is the user that started us: for root, that would be the pattern of core dumps, which runs programs outside.
 */
const maskedProc = (): ReadonlyArray<string> => [
  ...["/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi", "/proc/mtrr"].flatMap((at) =>
    fs.existsSync(at) ? ["--ro-bind", at, at] : []
  ),
  ...[
    "/proc/sysrq-trigger",
    "/proc/kcore",
    "/proc/kmsg",
    "/proc/keys",
    "/proc/key-users",
    "/proc/timer_list",
    "/proc/sched_debug",
    "/proc/kallsyms",
    "/proc/kpageflags",
    "/proc/kpagecount",
    "/proc/kpagecgroup",
    "/proc/vmallocinfo",
    "/proc/slabinfo"
  ].flatMap((at) => (fs.existsSync(at) ? ["--ro-bind", "/dev/null", at] : []))
]

/** A link stays a link, a folder is shown. */
const likeHere = (folder: string): ReadonlyArray<string> => {
  try {
    return fs.lstatSync(folder).isSymbolicLink()
      ? ["--symlink", fs.readlinkSync(folder), folder]
      : ["--ro-bind", folder, folder]
  } catch {
    return []
  }
}

const showFile = (file: string): ReadonlyArray<string> =>
  fs.existsSync(file) ? ["--ro-bind", fs.realpathSync(file), file] : []

/** Outer folders before inner ones, and each once, so that none covers another that was asked for. */
const folders = ({ workspace, readOnly, protectedPaths }: Box): ReadonlyArray<string> => {
  const binds = new Map<string, Flag>([[workspace, "--bind"]])
  for (const folder of outermost(readOnly.filter((one) => !isInside("/usr", one))))
    if (folder !== workspace) binds.set(folder, "--ro-bind")
  for (const one of protectedPaths) protect(binds, { workspace, inside: one })
  const ordered = [...binds].sort(([left], [right]) => left.split("/").length - right.split("/").length)
  return ordered.flatMap(([folder, flag]) => [flag, folder, folder])
}

type Flag = "--bind" | "--ro-bind"

/**
 * A folder that holds a mount can be renamed, and another put in its place; one that is a mount cannot. So every folder
 * on the way is made a mount of itself.
 */
const protect = (
  binds: Map<string, Flag>,
  { workspace, inside }: { readonly workspace: string; readonly inside: string }
): void => {
  const names = inside.split("/").filter((name) => name !== "")
  for (let count = 1; count <= names.length; count++) {
    const at = path.join(workspace, ...names.slice(0, count))
    const entry = fs.lstatSync(at, { throwIfNoEntry: false })
    if (entry === undefined || entry.isSymbolicLink()) return
    if (count === names.length) binds.set(at, "--ro-bind")
    else if (!binds.has(at)) binds.set(at, "--bind")
  }
}
