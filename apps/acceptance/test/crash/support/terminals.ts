/**
 * Terminals over one file: real processes that are told what to do, stopped, continued, killed.
 *
 * Guarantees: every answer is awaited by what the process says, never by time; nothing is left behind `closeAll`.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { outsideOf, type ScriptedCall } from "@toolwright/testing"
import { built } from "../../../scenarios/built.mjs"
import type { TerminalCommand, TerminalOptions, Told } from "../../../scenarios/terminal.js"

export type { Told } from "../../../scenarios/terminal.js"

export const act = (n: number): ScriptedCall => ({ toolId: "act", arguments: { n } })

/** What a process answered: a value, or the reason of a refusal. */
export type Answered = { readonly value: unknown } | { readonly refused: string }

export class Terminal {
  readonly #child: ChildProcess
  readonly #answers = new Map<number, (answered: Answered) => void>()
  readonly #entered = new Map<number, () => void>()
  readonly #hasEntered = new Set<number>()
  /** The tool with this argument was told to stop. */
  readonly signalled: Promise<number>
  readonly ready: Promise<void>
  readonly ended: Promise<{
    readonly code: number | null
    readonly signal: NodeJS.Signals | null
    readonly wasClosed: boolean
  }>
  #asked = 0
  #errors = ""

  constructor(program: string, options: TerminalOptions) {
    this.#child = spawn(process.execPath, ["--no-warnings", program, JSON.stringify(options)], {
      stdio: ["pipe", "pipe", "pipe"]
    })
    let isReady = (): void => {}
    this.ready = new Promise((resolve) => (isReady = resolve))
    let wasClosed = false
    let wasSignalled: (n: number) => void = () => {}
    this.signalled = new Promise((resolve) => (wasSignalled = resolve))
    if (this.#child.stdout !== null)
      createInterface({ input: this.#child.stdout }).on("line", (line) => {
        const told = JSON.parse(line) as {
          id?: number
          ready?: true
          closed?: true
          entered?: number
          signalled?: number
        } & Answered
        if (told.ready === true) isReady()
        if (told.closed === true) wasClosed = true
        if (told.signalled !== undefined) wasSignalled(told.signalled)
        if (told.entered !== undefined) {
          this.#hasEntered.add(told.entered)
          this.#entered.get(told.entered)?.()
        }
        if (told.id !== undefined) this.#answers.get(told.id)?.(told)
      })
    this.#child.stderr?.on("data", (chunk: Buffer) => (this.#errors += chunk.toString()))
    this.#child.stdin?.on("error", () => {})
    this.ended = new Promise((resolve) => {
      this.#child.on("close", (code, signal) => {
        isReady()
        for (const answer of this.#answers.values())
          answer({ refused: `dead ${signal ?? code} ${this.#errors}`.trim() })
        resolve({ code, signal, wasClosed })
      })
    })
  }

  async ask(command: TerminalCommand): Promise<Answered> {
    await this.ready
    const id = ++this.#asked
    return new Promise((resolve) => {
      this.#answers.set(id, ({ ...answered }) => {
        this.#answers.delete(id)
        delete (answered as { id?: number }).id
        resolve(answered)
      })
      this.#child.stdin?.write(`${JSON.stringify({ id, ...command })}\n`)
    })
  }

  /** `ask`, for what must be answered with a thread. */
  async tell(command: TerminalCommand): Promise<Told> {
    const answered = await this.ask(command)
    if ("refused" in answered) throw new Error(`${command.do} was refused: ${answered.refused}`)
    return answered.value as Told
  }

  async recover(): Promise<ReadonlyArray<Told>> {
    return (await this.tell({ do: "recover" })) as unknown as ReadonlyArray<Told>
  }

  /** Resolves as soon as this process is inside the tool with this argument. */
  entered(n: number): Promise<void> {
    return this.#hasEntered.has(n) ? Promise.resolve() : new Promise((resolve) => this.#entered.set(n, resolve))
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL")
    await this.ended
  }
}

export interface Table {
  readonly folder: string
  readonly open: (options: Omit<TerminalOptions, "folder">) => Terminal
  /** Lets the held tool with this argument go on. */
  readonly go: (n: number) => void
  /** What the outside world saw: the arguments of each entry, with its attempt. */
  readonly seen: () => ReadonlyArray<string>
  readonly closeAll: () => Promise<void>
}

let program: Promise<string> | undefined

export const table = async (): Promise<Table> => {
  const path = await (program ??= built("terminal"))
  const folder = mkdtempSync(join(tmpdir(), "terminals-"))
  const terminals: Array<Terminal> = []
  return {
    folder,
    open: (options) => {
      const terminal = new Terminal(path, { folder, ...options })
      terminals.push(terminal)
      return terminal
    },
    go: (n) => writeFileSync(join(folder, `go-${n}`), ""),
    seen: () =>
      outsideOf(folder)
        .seen()
        .map((effect) => `${effect.operationId.split("/").slice(1).join("/")} attempt ${effect.attempt}`),
    closeAll: async () => {
      for (const terminal of terminals) await terminal.kill()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
