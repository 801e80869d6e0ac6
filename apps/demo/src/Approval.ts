/**
 * Asks a person whether a call may run: allow, also from now on, deny, change it, see why, or leave it for later.
 *
 * Guarantees: who is asked sees the call that will run, also after a change; a change is checked before it is offered; a
 * question that somebody else has answered meanwhile is called off.
 * Does not answer the runtime: it gives the answer back.
 */
import { join } from "node:path"
import { ApprovalText } from "@toolwright/permissions"
import type { PromiseRuntime } from "@toolwright/runtime"
import { type Json, type ResumeTicket, ToolArgs } from "@toolwright/runtime-contract"
import type { ApprovalPage, ShownCall } from "./ApprovalPage.js"
import { explainCall, type Explaining } from "./Explain.js"
import type { Ask } from "./internal/console.js"
import { askPerson } from "./Question.js"
import { askToRemember, type Remember } from "./Remembering.js"
import type { Threads } from "./Threads.js"

export type Verdict =
  | { readonly _tag: "Answer"; readonly answer: ResumeTicket.ResumeAnswer; readonly remember?: Remember }
  /** Somebody else has answered it. */
  | { readonly _tag: "Elsewhere" }
  /** It stays open. */
  | { readonly _tag: "Later" }
  | { readonly _tag: "Cancelled" }

export interface ApprovalOptions extends Explaining {
  readonly ask: Ask
  readonly threads: Threads
  readonly runtime: PromiseRuntime
  readonly page: ApprovalPage
  /** Absent: there is none. */
  readonly folder: string | undefined
}

/** Milliseconds between two looks whether somebody else has answered. */
const lookEvery = 300

const question = "  Allow? [y]es, [n]o, [e]dit, [a]lways, [w]hy, [l]ater › "

const words = ["yes", "no", "edit", "always", "why", "later"] as const

const readAnswer = (line: string): (typeof words)[number] | undefined =>
  words.find((word) => line.trim() !== "" && word.startsWith(line.trim().toLowerCase()))

const changedMeanwhile = "The file has changed meanwhile. This is what would happen now:"

const ticketCall = (ticket: ResumeTicket.ResumeTicket) => ({ ticket, arguments: ticket.arguments })

export class Approval {
  readonly #options: ApprovalOptions

  constructor(options: ApprovalOptions) {
    this.#options = options
  }

  async decide(ticket: ResumeTicket.ResumeTicket): Promise<Verdict> {
    const calledOff = new AbortController()
    const watch = setInterval(() => void this.#look(ticket.id, calledOff), lookEvery)
    try {
      if (ticket.kind === "Client") return await this.#inform(ticket, calledOff.signal)
      return await this.#ask(ticket, calledOff.signal)
    } finally {
      clearInterval(watch)
    }
  }

  async #look(ticketId: string, calledOff: AbortController): Promise<void> {
    // A store that does not answer says nothing about the ticket; the answer itself will meet the failure.
    const state = await this.#options.threads.ticket(ticketId).catch(() => undefined)
    if (state?.decision !== undefined) calledOff.abort()
  }

  async #ask(ticket: ResumeTicket.ResumeTicket, calledOff: AbortSignal): Promise<Verdict> {
    const { ask, page } = this.#options
    const show = async (): Promise<string> => page.show(await this.#shown(ticket))
    let seen = await show()
    for (;;) {
      const line = await ask(question, { calledOff, isFresh: true })
      if (calledOff.aborted) return { _tag: "Elsewhere" }
      if (line === undefined) return { _tag: "Cancelled" }
      const said = readAnswer(line)
      if ((said === "yes" || said === "always") && page.outcomeOf(ticketCall(ticket)) !== seen) {
        this.#options.screen.note(changedMeanwhile, "yellow")
        seen = await show()
        continue
      }
      if (said === "yes") return { _tag: "Answer", answer: { _tag: "Allow" } }
      if (said === "no") return { _tag: "Answer", answer: { _tag: "Deny", reason: "the person said no" } }
      if (said === "later") return { _tag: "Later" }
      if (said === "always") {
        const remember = await askToRemember(ticket, { ...this.#options, calledOff })
        if (remember !== undefined) return { _tag: "Answer", answer: { _tag: "Allow" }, remember }
      }
      if (said === "why") await this.#why(ticket)
      if (said === "edit") {
        const answer = await this.#edit(ticket, calledOff)
        if (answer !== undefined) return { _tag: "Answer", answer }
        if (!calledOff.aborted) seen = await show()
      }
    }
  }

  /** `undefined`: nothing was changed. */
  async #edit(
    ticket: ResumeTicket.ResumeTicket,
    calledOff: AbortSignal
  ): Promise<ResumeTicket.ResumeAnswer | undefined> {
    const { ask, page, screen } = this.#options
    const spec = this.#specOf(ticket)
    let text = JSON.stringify(ticket.arguments)
    while (spec !== undefined) {
      const line = await ask("  Arguments as JSON › ", { prefill: text, calledOff, isFresh: true })
      if (line === undefined || line.trim() === "") return undefined
      text = line
      const parsed = ToolArgs.parseToolArgs(spec, line)
      if (!parsed.ok) {
        screen.note(ApprovalText.show(parsed.error.message), "red")
        continue
      }
      const proposed = await page.propose(await this.#shown(ticket, parsed.value))
      const sure = await ask("  Run this instead? [y]es, [e]dit again, [n]o › ", { calledOff, isFresh: true })
      if (sure === undefined || readAnswer(sure) === "no") return undefined
      if (readAnswer(sure) !== "yes") continue
      if (page.outcomeOf({ ticket, arguments: parsed.value }) === proposed)
        return { _tag: "Edit", arguments: parsed.value }
      screen.note("The file has changed meanwhile: send it again to see what would happen now.", "yellow")
    }
    return undefined
  }

  /** The gate's answer to the same call, from where a command would run. */
  async #why({ toolId, threadId, arguments: given }: ResumeTicket.ResumeTicket): Promise<void> {
    const { folder, threads } = this.#options
    const isCommand = folder !== undefined && toolId === "bash"
    const directory = isCommand ? join(folder, await threads.directory(threadId)) : undefined
    await explainCall({ toolId, arguments: given, directory }, this.#options)
  }

  /** What only a person knows: an answer in place of a permission. */
  async #inform(ticket: ResumeTicket.ResumeTicket, calledOff: AbortSignal): Promise<Verdict> {
    const answer = await askPerson(ticket, { ...this.#options, calledOff })
    if (calledOff.aborted) return { _tag: "Elsewhere" }
    if (answer === undefined) return { _tag: "Cancelled" }
    return answer === "later" ? { _tag: "Later" } : { _tag: "Answer", answer }
  }

  async #shown(ticket: ResumeTicket.ResumeTicket, given: Json.JsonObject = ticket.arguments): Promise<ShownCall> {
    const directory = await this.#options.threads.directory(ticket.threadId)
    return { ticket, arguments: given, schema: this.#specOf(ticket)?.inputSchema, directory }
  }

  #specOf({ toolId }: ResumeTicket.ResumeTicket) {
    return this.#options.tools.find((tool) => tool.spec().id === toolId)?.spec()
  }
}
