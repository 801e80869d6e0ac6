/**
 * The processes that one command started, whatever they did to get away: new sessions, double forks, changed groups.
 *
 * Guarantees: inside a box with process ids of its own, every process that was not there before the command belongs to
 * it, and `end` leaves none of them. Outside of a box, the command's group and whatever carries its mark are ended; a
 * program that leaves its group and wipes its environment gets away there, which is one reason for the box.
 * Does not wait for the system to reap: zombies hold nothing.
 */
import * as fs from "node:fs"

/** Environment variable that marks the processes of a command outside of a box. */
export const markName = "TOOLWRIGHT_COMMAND"

export interface TreeOptions {
  /** All processes that can be seen live in this box and end with it. */
  readonly contained: boolean
  readonly mark: string
}

export interface Usage {
  readonly processes: number
  /** Bytes in memory, shared pages counted for each. */
  readonly memory: number
}

interface Process {
  readonly pid: number
  /** Since boot; with the id it names a process for good. */
  readonly started: string
  readonly isZombie: boolean
  readonly pages: number
}

const pageSize = 4096

export class ProcessTree {
  readonly #options: TreeOptions
  /** Process ids; in a box with their start, for there somebody may want to get one that is spared. */
  readonly #before: ReadonlySet<string>

  /** Call it before the command is started. */
  constructor(options: TreeOptions) {
    this.#options = options
    this.#before = new Set(options.contained ? processes(() => true).map(nameOf) : processIds())
  }

  usage(): Usage {
    const own = this.#own()
    return { processes: own.length, memory: own.reduce((sum, { pages }) => sum + pages, 0) * pageSize }
  }

  /** Ends all of it. False where something is left after two seconds. `leader` is the id of the command's own group. */
  async end(leader: number | undefined): Promise<boolean> {
    const until = performance.now() + 2_000
    if (leader !== undefined) kill(-leader)
    for (;;) {
      const own = this.#own()
      if (own.length === 0) return true
      for (const { pid } of own) kill(pid)
      if (performance.now() > until) return false
      await new Promise(setImmediate)
    }
  }

  #own(): ReadonlyArray<Process> {
    const { contained, mark } = this.#options
    const isOther = ({ pid, isZombie }: Process): boolean => pid !== process.pid && pid !== 1 && !isZombie
    if (contained) return processes(() => true).filter((one) => isOther(one) && !this.#before.has(nameOf(one)))
    return processes((pid) => !this.#before.has(pid)).filter((one) => isOther(one) && carries(one.pid, mark))
  }
}

const nameOf = ({ pid, started }: Process): string => `${pid}/${started}`

const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It is gone.
  }
}

const processIds = (): ReadonlyArray<string> => {
  try {
    return fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

const processes = (isAsked: (pid: string) => boolean): ReadonlyArray<Process> =>
  processIds().flatMap((pid) => (isAsked(pid) ? look(Number(pid)) : []))

const look = (pid: number): ReadonlyArray<Process> => {
  const stat = readQuietly(`/proc/${pid}/stat`)
  // The second field is a name in parentheses that may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const started = fields[19]
  if (started === undefined) return []
  return [{ pid, started, isZombie: fields[0] === "Z" || fields[0] === "X", pages: Number(fields[21]) }]
}

const carries = (pid: number, mark: string): boolean =>
  readQuietly(`/proc/${pid}/environ`).split("\0").includes(`${markName}=${mark}`)

const readQuietly = (path: string): string => {
  try {
    return fs.readFileSync(path, "latin1")
  } catch {
    return ""
  }
}
