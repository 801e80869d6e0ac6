/**
 * One hand as the runtime sees it: a child process, the calls that it was sent, and its end.
 *
 * Guarantees: every call is settled once: answered, or lost with the hand; what the hand says is checked and bounded;
 * when it has ended, its whole tree has.
 * Does not choose what is sent, and never sends a call twice.
 */
import type { Hand, Pending, Settled } from "./hand.js"
import type { ChildProcess } from "node:child_process"
import * as net from "node:net"
import { encodeData, encodeFrame, FrameReader } from "./frames.js"
import type { HostProxy } from "./hostProxy.js"
import type { Asked, Init, InstalledTool } from "./messages.js"
import { Tunnels } from "./tunnels.js"

export interface HandOptions {
  readonly child: ChildProcess
  readonly init: Init
  /** Milliseconds until it must be ready. */
  readonly startLimit: number
  /** Takes the code of the registry that a hand was asked for. */
  readonly keepCode?: (code: Buffer) => void
  /** Serves the connections that the hand passes on. Without it, one that passes some on breaks the protocol. */
  readonly proxy?: HostProxy
}

/** Milliseconds from the end of the hand itself to the end of its pipes. */
const longestEnd = 2_000

export class HandProcess implements Hand {
  readonly #child: ChildProcess
  readonly #pending = new Map<number, Pending>()
  readonly #started: Promise<ReadonlyArray<InstalledTool>>
  readonly #ended: Promise<void>
  #nextId = 1
  #said = ""
  #why = ""
  #isOver = false
  readonly #keepCode: ((code: Buffer) => void) | undefined
  readonly #tunnels: Tunnels | undefined
  #ready: ((tools: ReadonlyArray<InstalledTool>) => void) | undefined
  #unready: ((error: Error) => void) | undefined
  /** When the last call ended, on the monotonic clock. */
  idleSince = performance.now()

  constructor({ child, init, startLimit, keepCode, proxy }: HandOptions) {
    this.#child = child
    this.#keepCode = init.wantsCode ? keepCode : undefined
    const tunnels = proxy === undefined ? undefined : this.#tunnelsTo(proxy)
    this.#tunnels = tunnels
    const started = new Promise<ReadonlyArray<InstalledTool>>((resolve, reject) => {
      this.#ready = resolve
      this.#unready = reject
    })
    // Whoever asks later gets it; nobody asking is no reason to end the program.
    started.catch(() => {})
    this.#started = started
    const timer = setTimeout(() => this.kill(`it was not ready within ${startLimit} ms`), startLimit)
    void started.finally(() => clearTimeout(timer)).catch(() => {})
    this.#ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => this.#exited(`it ended with ${signal ?? `code ${code}`}`, resolve))
      child.once("error", (error) => this.#exited(error.message, resolve))
    })
    const reader = new FrameReader({
      message: (message) => this.#take(message),
      ...(tunnels === undefined ? {} : { data: (id, bytes) => tunnels.takeData(id, bytes) })
    })
    child.stdout?.on("data", (part: Buffer) => this.#read(reader, part))
    child.stderr?.on("data", (part: Buffer) => (this.#said = (this.#said + part.toString("utf8")).slice(-4_000)))
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => {})
    child.stdin?.write(encodeFrame(init))
  }

  /** Its tools, when it is ready. Rejects where it cannot start. */
  get started(): Promise<ReadonlyArray<InstalledTool>> {
    return this.#started
  }

  get ended(): Promise<void> {
    return this.#ended
  }

  /** Nothing can be sent any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  get busy(): number {
    return this.#pending.size
  }

  /** What it printed last, for whoever looks for a cause. */
  get printed(): string {
    return this.#said
  }

  /** False where nothing was sent. Throws `RangeError` for a call that is too long to be sent. */
  send(asked: Omit<Asked, "id">, pending: Pending): number | undefined {
    const { stdin } = this.#child
    if (this.#isOver || stdin === null || !stdin.writable) return undefined
    const id = this.#nextId++
    const frame = encodeFrame({ ...asked, id })
    this.#pending.set(id, pending)
    if (this.#pending.size === 1) this.#hold()
    stdin.write(frame)
    return id
  }

  cancel(id: number, reason: string): void {
    if (!this.#isOver && this.#pending.has(id)) this.#child.stdin?.write(encodeFrame({ type: "cancel", id, reason }))
  }

  isPending(id: number): boolean {
    return this.#pending.has(id)
  }

  /** Ends it and everything in it. */
  kill(why: string): void {
    if (this.#why === "") this.#why = why
    // Whoever waits for the end needs the program to live that long.
    if (!this.#isOver) this.#hold()
    this.#child.kill("SIGKILL")
  }

  #tunnelsTo(proxy: HostProxy): Tunnels {
    const write = (frame: Buffer): void => {
      if (!this.#isOver) this.#child.stdin?.write(frame)
    }
    return new Tunnels({
      send: (message) => write(encodeFrame(message)),
      sendData: (id, bytes) => write(encodeData(id, bytes)),
      opened: (stream) => proxy.take(stream)
    })
  }

  #read(reader: FrameReader, part: Buffer): void {
    try {
      reader.push(part)
    } catch (error) {
      this.kill(`it broke the protocol: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** Its pipes close when the last of its processes that holds one is gone; only then is a call of it known to be over. */
  #exited(how: string, resolve: () => void): void {
    if (this.#isOver) return
    this.#isOver = true
    const over = (): void => {
      clearTimeout(timer)
      this.#child.removeListener("close", over)
      this.#over(how, resolve)
    }
    const timer = setTimeout(over, longestEnd)
    this.#child.once("close", over)
  }

  #over(how: string, resolve: () => void): void {
    const why = this.#why === "" ? how : this.#why
    const printed = this.#said.trim() === "" ? "" : `; it said: ${this.#said.trim().slice(-1_000)}`
    this.#tunnels?.closeAll()
    this.#unready?.(new Error(`the sandbox could not start: ${why}${printed}`))
    const lost = [...this.#pending.values()]
    this.#pending.clear()
    for (const { settle } of lost) settle({ type: "lost", why })
    for (const stream of this.#child.stdio) stream?.destroy()
    resolve()
  }

  #take(message: unknown): void {
    if (typeof message !== "object" || message === null || !("type" in message))
      throw new TypeError("a message without type")
    if (message.type === "ready") {
      this.idleSince = performance.now()
      // Before its first call, and not again: after that it is not the registry alone that speaks.
      if (this.#nextId === 1 && "code" in message && typeof message.code === "string")
        this.#keepCode?.(Buffer.from(message.code, "base64"))
      this.#ready?.("tools" in message ? toolsOf(message.tools) : [])
      if (this.#pending.size === 0) this.#letGo()
      return
    }
    if (message.type === "broken") {
      this.kill("message" in message ? String(message.message).slice(0, 2_000) : "its registry could not be loaded")
      return
    }
    // What it says while it is being ended is about its end.
    if (this.#why !== "") return
    if (message.type === "tunnel" && this.#tunnels !== undefined) return this.#tunnels.take(message)
    const id = "id" in message && typeof message.id === "number" ? message.id : -1
    const pending = this.#pending.get(id)
    // Settled already, or never sent: nobody's answer.
    if (pending === undefined) return
    if (message.type === "progress") {
      if ("text" in message && typeof message.text === "string") pending.progress(message.text)
      return
    }
    const settled = settledOf(message)
    if (settled === undefined) throw new TypeError("an unknown message")
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.#letGo()
    this.idleSince = performance.now()
    pending.settle(settled)
  }

  /** A hand that waits does not keep the program alive. */
  #letGo(): void {
    this.#child.unref()
    for (const stream of this.#child.stdio) if (stream !== null && stream !== undefined) unref(stream)
  }

  #hold(): void {
    this.#child.ref()
    for (const stream of this.#child.stdio) if (stream !== null && stream !== undefined) ref(stream)
  }
}

/** Pipes are sockets, and can be let go; their type says only that they are streams. */
const unref = (stream: object): void => {
  if (stream instanceof net.Socket) stream.unref()
}

const ref = (stream: object): void => {
  if (stream instanceof net.Socket) stream.ref()
}

const toolsOf = (given: unknown): ReadonlyArray<InstalledTool> => {
  if (!Array.isArray(given)) return []
  return given.flatMap((one: unknown) => {
    if (typeof one !== "object" || one === null || !("id" in one) || !("digest" in one)) return []
    return typeof one.id === "string" && typeof one.digest === "string" ? [{ id: one.id, digest: one.digest }] : []
  })
}

const settledOf = (message: object & Record<"type", unknown>): Settled | undefined => {
  if (message.type === "result") return { type: "result", output: "output" in message ? message.output : undefined }
  if (message.type === "reconciled")
    return { type: "reconciled", answer: "answer" in message ? message.answer : undefined }
  if (message.type !== "failed") return undefined
  const {
    reason,
    message: text,
    issues
  } = { reason: "", message: "", issues: [], ...message } as Readonly<Record<string, unknown>>
  return {
    type: "failed",
    reason: String(reason),
    message: String(text).slice(0, 64_000),
    issues: Array.isArray(issues) ? issues.slice(0, 8) : []
  }
}
