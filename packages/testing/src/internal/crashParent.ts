/**
 * The side of the crash harness that starts child processes, one that dies and one that recovers.
 *
 * Guarantees: every child is its own process of the same program; none is left behind; one that neither dies nor answers
 * in time is killed and told as such. Does not judge what children say.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { type ChildAnswer, type ChildRequest, marker } from "./crashChild.js"

export interface ProgramOptions {
  /** The path of a JavaScript file whose main calls `crashProgram`. */
  readonly program: string
  /** Arguments of Node itself, for example a loader. Default: none. */
  readonly execArgv?: ReadonlyArray<string>
  /** Milliseconds for one child, or one answer. Default 60,000. */
  readonly patience?: number
}

export interface Ended {
  readonly answers: ReadonlyArray<ChildAnswer>
  readonly wasKilled: boolean
  readonly isLate: boolean
  readonly errors: string
}

const start = (options: ProgramOptions, args: ReadonlyArray<string>): ChildProcess =>
  spawn(process.execPath, [...(options.execArgv ?? []), options.program, ...args], { stdio: ["pipe", "pipe", "pipe"] })

const onAnswer = (child: ChildProcess, heard: (answer: ChildAnswer) => void): void => {
  if (child.stdout === null) return
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.startsWith(marker)) heard(answerOf(line.slice(marker.length)))
  })
}

const answerOf = (text: string): ChildAnswer => {
  const value: unknown = JSON.parse(text)
  if (typeof value === "object" && value !== null && "ok" in value) {
    if (value.ok === true && "value" in value) return { ok: true, value: value.value }
    if ("error" in value) return { ok: false, error: String(value.error) }
  }
  return { ok: false, error: "the child's answer cannot be read" }
}

/** Starts a child and waits until it is gone. */
export const runChild = (options: ProgramOptions, args: ReadonlyArray<string>): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = start(options, args)
    const answers: Array<ChildAnswer> = []
    let errors = ""
    let isLate = false
    onAnswer(child, (answer) => answers.push(answer))
    child.stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString()))
    child.stdin?.end()
    const patience = setTimeout(() => {
      isLate = true
      child.kill("SIGKILL")
    }, options.patience ?? 60_000)
    child.on("error", reject)
    child.on("close", (_, signal) => {
      clearTimeout(patience)
      resolve({ answers, wasKilled: signal === "SIGKILL" && !isLate, isLate, errors })
    })
  })

interface Waiting {
  readonly resolve: (answer: ChildAnswer) => void
  readonly timer: ReturnType<typeof setTimeout>
}

/** A child that recovers one world after another. One that goes away is started again for the next. */
export class Recoverer {
  readonly #options: ProgramOptions
  #child: ChildProcess | undefined
  #waiting: Waiting | undefined
  #errors = ""

  constructor(options: ProgramOptions) {
    this.#options = options
  }

  recover(request: ChildRequest): Promise<ChildAnswer> {
    const child = (this.#child ??= this.#start())
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        child.kill("SIGKILL")
        this.#answer({ ok: false, error: "the recovery did not come to an end" })
      }, this.#options.patience ?? 60_000)
      this.#waiting = { resolve, timer }
      child.stdin?.write(`${JSON.stringify(request)}\n`)
    })
  }

  close(): void {
    this.#child?.kill("SIGKILL")
    this.#child = undefined
  }

  #start(): ChildProcess {
    const child = start(this.#options, ["crash-recover"])
    onAnswer(child, (answer) => this.#answer(answer))
    child.stderr?.on("data", (chunk: Buffer) => (this.#errors += chunk.toString()))
    // A child that dies between two requests: the write is refused, and `close` tells.
    child.stdin?.on("error", () => {})
    child.on("close", () => {
      if (this.#child === child) this.#child = undefined
      this.#answer({ ok: false, error: `the recovering process died\n${this.#errors}` })
    })
    return child
  }

  #answer(answer: ChildAnswer): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting === undefined) return
    clearTimeout(waiting.timer)
    waiting.resolve(answer)
  }
}
