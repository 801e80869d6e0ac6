import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url))

export interface Finished {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Running {
  readonly finished: Promise<Finished>
  /** Settles when the output so far contains the text, or matches. */
  readonly shown: (text: string | RegExp) => Promise<void>
  /** Without colours and moves of the cursor. */
  readonly soFar: () => string
  readonly type: (text: string) => void
  readonly interrupt: () => void
  readonly end: () => void
}

export interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** Standard input; default: at its end at once. */
  readonly input?: string
  /** A terminal of its own. */
  readonly terminal?: boolean
  /** A command that starts it. */
  readonly under?: ReadonlyArray<string>
}

/** Starts the built demo as a process of its own. */
export const start = (words: ReadonlyArray<string>, options: StartOptions = {}): Running => {
  if (!existsSync(main)) throw new Error(`${main} is missing: build the demo first`)
  const command = [...(options.under ?? []), process.execPath, main, ...words]
  const [file = "", ...args] =
    options.terminal === true ? ["script", "-qec", command.map(quoted).join(" "), "/dev/null"] : command
  const child = spawn(file, args, { env: { PATH: process.env["PATH"], ...options.environment } })
  let out = ""
  let err = ""
  const watchers = new Set<() => void>()
  const grow = (): void => {
    for (const watcher of watchers) watcher()
  }
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text
    grow()
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text
    grow()
  })
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, out, err }))
  })
  // A test that fails leaves nobody at a terminal that waits for ever.
  onTestFinished(() => void child.kill("SIGKILL"))
  if (options.terminal !== true) child.stdin.end(options.input ?? "")
  // oxlint-disable-next-line no-control-regex -- colours and moves begin with a control character
  const soFar = (): string => `${out}${err}`.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, "")
  const shown = (text: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const all = soFar()
        if (!(typeof text === "string" ? all.includes(text) : text.test(all))) return
        watchers.delete(look)
        resolve()
      }
      watchers.add(look)
      look()
      // Only so that a text that never comes is told with what came instead.
      setTimeout(() => reject(new Error(`the demo did not show ${String(text)}:\n${out}${err}`)), patience).unref()
      finished.then(() => reject(new Error(`the demo ended without showing ${String(text)}:\n${out}${err}`)), reject)
    })
  return {
    finished,
    shown,
    soFar,
    type: (text) => void child.stdin.write(text),
    interrupt: () => void child.kill("SIGINT"),
    end: () => void child.kill("SIGTERM")
  }
}

/** Milliseconds for one text. */
const patience = 20_000

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

export interface Answers {
  readonly [path: string]: unknown
}

/** A local Open-Meteo. A path without an answer is never answered. */
export const weatherServer = async (
  answers: Answers
): Promise<{ readonly url: string; readonly close: () => void; readonly asked: ReadonlyArray<string> }> => {
  const asked: Array<string> = []
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? "")
    const { pathname } = new URL(request.url ?? "", "http://localhost")
    const answer = answers[pathname]
    if (answer === undefined) return
    response.writeHead(typeof answer === "number" ? answer : 200, { "content-type": "application/json" })
    response.end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
