/**
 * One terminal among those on the same threads: what it does at its start, and the commands that it knows.
 *
 * Guarantees: what an earlier process left is gone on with before anything new is asked; commands of the command line
 * and of a talk are the same.
 * Does not read keys and does not run requests: console and session do.
 */
import type { CommandLine, Action } from "./CommandLine.js"
import { cancelRun, type CommandOptions, listThreads, steerRun } from "./Commands.js"
import type { Conversation } from "./Conversation.js"
import type { Console } from "./internal/console.js"
import type { DemoPolicy } from "./Policy.js"
import { recover, waitingLines } from "./Recovery.js"
import { forgetRule, listRules } from "./Remembering.js"
import type { Command, Session } from "./Session.js"
import { settle } from "./Settlement.js"

export interface TerminalOptions extends CommandOptions {
  readonly conversation: Conversation
  readonly console: Console
  readonly explain: (text: string) => Promise<void>
  readonly policy: DemoPolicy
}

export class Terminal {
  readonly #options: TerminalOptions

  constructor(options: TerminalOptions) {
    this.#options = options
  }

  /** Recovers, goes on with the thread that was asked for or cut off, and says what else waits. */
  async open(wanted: CommandLine, session: Session): Promise<void> {
    if (wanted.db === undefined) return
    const { console, conversation, runtime, screen, threads } = this.#options
    // An interrupt leaves the run to the next start: it is not the one that was asked to be cancelled.
    const recovered = await conversation.interruptible(
      () => void runtime.close({ grace: 0 }),
      () => recover(this.#options)
    )
    if (session.exitCode !== 0) return
    const chosen = wanted.thread === undefined ? undefined : await this.#chosen(wanted.thread)
    const threadId = chosen ?? (console.isAttended ? recovered.at(-1) : undefined)
    if (threadId !== undefined) await session.attach(threadId)
    if (threadId !== undefined && console.isAttended) await this.#settle(threadId)
    for (const line of await waitingLines(threads, threadId)) screen.note(line, "yellow")
  }

  /** Does one thing and no more. Gives the exit code. */
  async act({ request, thread }: CommandLine, action: Action): Promise<number> {
    if (action === "threads" || action === "explain") {
      await (action === "threads" ? listThreads(this.#options) : this.#options.explain(request))
      return 0
    }
    const threadId = await this.#chosen(thread ?? { newest: true })
    const isDone =
      action === "cancel"
        ? await cancelRun(threadId, this.#options)
        : await steerRun({ threadId, text: request }, this.#options)
    return isDone ? 0 : 1
  }

  readonly commands: Readonly<Record<string, Command>> = {
    threads: async () => {
      await listThreads(this.#options)
      return true
    },
    thread: async (id) => {
      if (id === "") return false
      const threadId = await this.#options.threads.find(id)
      await this.#options.conversation.attach(threadId)
      await this.#settle(threadId)
      return true
    },
    new: () => {
      this.#options.conversation.leave()
      return Promise.resolve(true)
    },
    cancel: (id) => this.#reach(id, (threadId) => cancelRun(threadId, this.#options)),
    steer: (text) =>
      text === "" ? Promise.resolve(false) : this.#reach("", (threadId) => steerRun({ threadId, text }, this.#options)),
    settle: (id) => this.#reach(id, (threadId) => this.#settle(threadId)),
    rules: async () => {
      await listRules(this.#options.conversation.threadId, this.#options)
      return true
    },
    forget: async (id) => {
      const { conversation, person } = this.#options
      if (id === "") return false
      await forgetRule({ id, threadId: conversation.threadId, by: person }, this.#options)
      return true
    },
    plan: (word) => {
      const { policy, screen } = this.#options
      if (word !== "" && word !== "on" && word !== "off") return Promise.resolve(false)
      policy.plan(word !== "off")
      if (policy.isPlan) screen.note("Plan mode: nothing that writes runs. /plan off ends it.", "yellow")
      else screen.note("Plan mode is off: the policy decides.", "green")
      return Promise.resolve(true)
    },
    explain: async (text) => {
      if (text === "") return false
      await this.#options.explain(text)
      return true
    }
  }

  /** The thread with that id, or the one that is talked on. */
  async #reach(id: string, act: (threadId: string) => Promise<unknown>): Promise<boolean> {
    const { conversation, screen, threads } = this.#options
    const threadId = id === "" ? conversation.threadId : await threads.find(id)
    if (threadId === undefined) screen.note("There is no thread here yet: /thread ID chooses one.")
    else await act(threadId)
    return true
  }

  async #settle(threadId: string): Promise<void> {
    const { console } = this.#options
    await settle(threadId, { ...this.#options, ask: console.ask })
  }

  #chosen(thread: Exclude<CommandLine["thread"], undefined>): Promise<string> {
    return typeof thread === "string" ? this.#options.threads.find(thread) : this.#options.threads.newest()
  }
}
