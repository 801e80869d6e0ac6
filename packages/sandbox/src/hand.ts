/**
 * The program inside the box: holds a registry of tools and runs the calls that it is sent.
 *
 * Guarantees: one answer per call; a tool's own failure is an answer, not the end; ends with its input, by its own limit
 * if need be, and what tools print does not mix with its answers.
 * Does not decide anything: arguments were parsed and calls were gated before they came here.
 */
import * as fs from "node:fs"
import { HandCalls } from "./internal/handCalls.js"
import { encodeData, encodeFrame, FrameReader } from "./internal/frames.js"
import { loadRegistry } from "./internal/loadRegistry.js"
import type { FromHand, ToHand } from "./internal/messages.js"
import { openEntrance } from "./internal/proxyEntrance.js"
import { reserveThreads } from "./internal/reservedThreads.js"
import { Tunnels } from "./internal/tunnels.js"

/**
 * What the parent's parents left open comes in here as well, and would go on to every command. Those descriptors, and only
 * those, are not marked to be closed when a program is started.
 */
const closeInherited = (): void => {
  for (const name of fs.readdirSync("/proc/self/fd")) {
    const descriptor = Number(name)
    if (descriptor <= 2) continue
    try {
      const flags = /^flags:\s*(\d+)/m.exec(fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? "0"
      if ((Number.parseInt(flags, 8) & closeOnExec) === 0) fs.closeSync(descriptor)
    } catch {
      // The one that the folder was read with is gone already.
    }
  }
}

/** O_CLOEXEC of linux/fcntl.h. */
const closeOnExec = 0o2000000

let isLeaving = false

/** The answers have standard output to themselves: what tools print goes to standard error. */
const claimOutput = (): ((frame: Buffer) => void) => {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  return (frame) => {
    // Nobody is there to read it, and half an answer at the end would look like one.
    if (!isLeaving) write(frame)
  }
}

/** What starts another Node asks for this one's path. */
const nameProgram = (program: string): void => {
  process.execPath = program
  process.argv[0] = program
}

if (process.platform === "linux") closeInherited()
const write = claimOutput()
const send = (message: FromHand): void => write(encodeFrame(message))
const tunnels = new Tunnels({ send, sendData: (id, bytes) => write(encodeData(id, bytes)) })
let calls: HandCalls | undefined

const take = async (message: ToHand): Promise<void> => {
  if (message.type === "init") {
    try {
      if (message.program !== undefined) nameProgram(message.program)
      if (message.reservedIds !== undefined) reserveThreads(message.reservedIds)
      const loaded = await loadRegistry(message)
      if (message.proxyPort !== undefined) await openEntrance(message.proxyPort, tunnels)
      calls = new HandCalls(loaded, { send, callLimit: message.callLimit })
      send({ type: "ready", tools: loaded.installed, ...(loaded.code === undefined ? {} : { code: loaded.code }) })
    } catch (error) {
      send({ type: "broken", message: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
    return
  }
  if (message.type === "tunnel") tunnels.take(message)
  else if (message.type === "cancel") calls?.cancel(message)
  else calls?.start(message)
}

// Whoever speaks to us is trusted: it started us.
const reader = new FrameReader({
  message: (message) => void take(message as ToHand),
  data: (id, bytes) => tunnels.takeData(id, bytes)
})

const leave = (): void => {
  isLeaving = true
  calls?.cancelAll("the runtime is gone")
  setTimeout(() => process.exit(0), calls?.count === 0 ? 0 : 1_000)
}

process.stdin.on("data", (part: Buffer) => reader.push(part))
process.stdin.once("end", leave)
process.stdin.once("error", leave)
process.on("uncaughtException", (error) => fs.writeSync(2, `${error.stack ?? error.message}\n`))
process.on("unhandledRejection", (error) => fs.writeSync(2, `${String(error)}\n`))
