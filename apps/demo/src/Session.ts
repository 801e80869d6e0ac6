/**
 * How the demo is used: for one request, for lines from a pipe, or for a talk at the terminal.
 *
 * Guarantees: Ctrl-C cancels the turn that runs, and without one ends the demo; the exit code is 130 after either of
 * them, 1 when a run did not come to its own end, else 0.
 * Does not run anything itself.
 */
import { busyText, type Conversation, type Standing } from "./Conversation.js"
import type { Console } from "./internal/console.js"
import type { Opening } from "./Opening.js"
import type { Screen } from "./Screen.js"
import { shortId } from "./Threads.js"

/** What a line that begins with a slash does. False: there is no such command, or it was used wrongly. */
export type Command = (words: string) => Promise<boolean>

export interface SessionOptions {
  readonly conversation: Conversation
  readonly console: Console
  readonly screen: Screen
  readonly print: (text: string) => void
  /** By their first word. */
  readonly commands: Readonly<Record<string, Command>>
  readonly opening: Opening
  /** What stands before a request. */
  readonly prompt: () => string
}

const interrupted = 130

const help: ReadonlyArray<readonly [name: string, text: string]> = [
  ["/plan", "nothing that writes from now on; /plan off ends it"],
  ["/new", "begins another thread; /threads lists them, /thread ID goes on with one"],
  ["/rules", "what is allowed from now on; /forget ID takes it back"],
  ["/explain", "REQUEST: what the policy says of it; nothing runs"],
  ["/steer", "TEXT: says something to the open run, /cancel ends it, also those of another terminal"],
  ["/settle", "asks about what may have happened"],
  ["/json", "prints the transcript"],
  ["/quit", "ends; so does Ctrl-D"]
]

export class Session {
  exitCode = 0
  readonly #options: SessionOptions
  #last: Standing | undefined
  #isOver = false

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** Goes on with a thread before anything else is asked. */
  async attach(threadId: string): Promise<void> {
    const { conversation, screen } = this.#options
    screen.note(`Thread ${shortId(threadId)}.`)
    this.#last = await conversation.attach(threadId)
    this.#waits()
  }

  async once(request: string): Promise<void> {
    this.#options.screen.request(request)
    await this.#turn(request)
  }

  /** Gives how many lines there were. */
  async eachLine(): Promise<number> {
    let lines = 0
    for await (const line of this.#options.console.piped()) {
      lines++
      await this.once(line)
      if (this.#isOver) break
    }
    return lines
  }

  async talk(): Promise<void> {
    const { console, screen, opening, prompt } = this.#options
    screen.note(opening.title, "bold")
    screen.items(opening.facts)
    screen.gap()
    for (const example of opening.examples) screen.note(example)
    screen.note("/help lists the commands, /quit ends.")
    while (!this.#isOver) {
      screen.gap()
      const line = (await console.ask(prompt()))?.trim()
      if (line === undefined || line === "/quit" || line === "/exit") return
      if (line.startsWith("/")) await this.#command(line)
      else if (line !== "") {
        screen.gap()
        await this.#turn(line)
      }
      if (line === "") continue
      // In a talk a cancelled turn is over, and the talk goes on.
      this.#isOver = false
      this.exitCode = 0
    }
  }

  interrupt(): void {
    if (this.#isOver) process.exit(interrupted)
    this.#options.conversation.cancel()
    this.#isOver = true
    this.exitCode = interrupted
  }

  /** The committed messages, and how the last run ended, as JSON. */
  transcript(): string {
    const { disposition, threadId, messages } = this.#last ?? { disposition: null, threadId: null, messages: [] }
    return `${JSON.stringify({ threadId, disposition, messages: [...messages] }, null, 2)}\n`
  }

  async #command(line: string): Promise<void> {
    const { commands, print, screen } = this.#options
    const [name = "", words = ""] = line.slice(1).split(/\s+(.*)/s)
    if (name === "json") return print(this.transcript())
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    try {
      if ((await command?.(words.trim())) !== true) screen.items(help)
    } catch (error) {
      screen.note(error instanceof Error ? error.message : String(error), "red")
    }
  }

  async #turn(request: string): Promise<void> {
    try {
      this.#last = await this.#options.conversation.turn(request)
      this.#rest(this.#last)
    } catch (error) {
      const text = busyText(error)
      if (text === undefined) throw error
      this.#options.screen.note(text, "red")
      this.#fail()
    }
  }

  #waits(): void {
    const last = this.#last
    if (last?.disposition._tag === "Awaiting")
      this.#options.screen.note(`It waits: /thread ${shortId(last.threadId)} asks again.`)
  }

  #rest({ disposition }: Standing): void {
    this.#waits()
    if (disposition._tag !== "Ended" || disposition.cause._tag !== "NaturalEnd") this.#fail()
  }

  #fail(): void {
    if (this.exitCode === 0) this.exitCode = 1
  }
}
