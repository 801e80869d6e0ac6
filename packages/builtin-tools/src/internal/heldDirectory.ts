/**
 * A directory held open, and names looked up in it without following a link.
 *
 * Guarantees: on Linux a name is resolved by the kernel in the very directory that was opened, whatever its path has
 * become meanwhile; elsewhere the directory's real path is compared before and after, and a swap is an error.
 * Does not decide which names may be looked up: the walk does.
 */
import * as fs from "node:fs"

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fs.constants
/** Opens a place in the tree without reading it; Node has no name for it. Value of linux/fcntl.h. */
const O_PATH = 0o10000000

const isLinux = process.platform === "linux" && fs.existsSync("/proc/self/fd")

export interface HeldDirectory {
  /** A path of the directory itself that stays with it, good for one system call. */
  readonly self: string
  /** A path of one of its entries. `name` is a single name. */
  readonly at: (name: string) => string
  /** Opens an entry that is a directory and no link. */
  readonly open: (name: string) => HeldDirectory
  readonly close: () => void
}

/** Opens a directory by its real, absolute path. Throws what the system throws. */
export const hold = (
  realPath: string,
  platform: "linux" | "portable" = isLinux ? "linux" : "portable"
): HeldDirectory => (platform === "linux" ? holdDescriptor(realPath) : holdPath(realPath))

const holdDescriptor = (path: string): HeldDirectory => {
  const descriptor = fs.openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)
  const self = `/proc/self/fd/${descriptor}`
  return {
    self,
    at: (name) => `${self}/${name}`,
    open: (name) => holdDescriptor(`${self}/${name}`),
    close: () => fs.closeSync(descriptor)
  }
}

const holdPath = (path: string): HeldDirectory => {
  if (fs.realpathSync.native(path) !== path || !fs.lstatSync(path).isDirectory())
    throw Object.assign(new Error(`${path} was replaced while it was in use`), { code: "ELOOP" })
  const at = (name: string): string => (path.endsWith("/") ? `${path}${name}` : `${path}/${name}`)
  return {
    self: path,
    at,
    open: (name) => holdPath(at(fs.realpathSync.native(at(name)).split(/[\\/]/).at(-1) ?? name)),
    close: () => {}
  }
}

/** What stands under a name, links not followed; `undefined` where nothing does. */
export const look = (directory: HeldDirectory, name: string): fs.BigIntStats | undefined => {
  try {
    return fs.lstatSync(directory.at(name), { bigint: true })
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  }
}

/** The code of a system error. */
export const codeOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined

/** Opens an entry that must be a plain file, for reading; a link, a device or a pipe is refused and never waited for. */
export const openFile = (
  directory: HeldDirectory,
  name: string
): { readonly descriptor: number; readonly stat: fs.BigIntStats } => {
  const descriptor = fs.openSync(directory.at(name), O_RDONLY | O_NOFOLLOW | fs.constants.O_NONBLOCK)
  try {
    const stat = fs.fstatSync(descriptor, { bigint: true })
    if (!stat.isFile()) throw Object.assign(new Error(`${name} is no plain file`), { code: "EINVAL" })
    return { descriptor, stat }
  } catch (error) {
    fs.closeSync(descriptor)
    throw error
  }
}
