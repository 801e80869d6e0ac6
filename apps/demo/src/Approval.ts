/**
 * Asks a person whether a call may run: allow, also from now on, deny, change it, see why, or leave it for later.
 *
 * Guarantees: who is asked sees the call that will run, also after a change; a change is checked before it is offered; a
 * question that somebody else has answered meanwhile is called off.
 * Does not answer the runtime: it gives the answer back.
 */
import { ApprovalText } from "@toolwright/permissions"
import type { PromiseRuntime } from "@toolwright/runtime"
import { type ResumeTicket, ToolArgs } from "@toolwright/runtime-contract"
import { explainCall, type Explaining } from "./Explain.js"
import type { Ask } from "./internal/console.js"
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
}

/** Milliseconds between two looks whether somebody else has answered. */
const lookEvery = 300

const question = "  Allow? [y]es, [n]o, [e]dit, [a]lways, [w]hy, [l]ater › "

const words = ["yes", "no", "edit", "always", "why", "later"] as const

const readAnswer = (line: string): (typeof words)[number] | undefined =>
  words.find((word) => line.trim() !== "" && word.startsWith(line.trim().toLowerCase()))

export class Approval {
  readonly #options: ApprovalOptions

  constructor(options: ApprovalOptions) {
    this.#options = options
  }

  async decide(ticket: ResumeTicket.ResumeTicket): Promise<Verdict> {
    const calledOff = new AbortController()
    const watch = setInterval(() => void this.#look(ticket.id, calledOff), lookEvery)
    try {
      this.#options.screen.ticket(ticket, this.#specOf(ticket)?.inputSchema)
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
    const { ask } = this.#options
    for (;;) {
      const line = await ask(question, { calledOff, isFresh: true })
      if (calledOff.aborted) return { _tag: "Elsewhere" }
      if (line === undefined) return { _tag: "Cancelled" }
      const said = readAnswer(line)
      if (said === "yes") return { _tag: "Answer", answer: { _tag: "Allow" } }
      if (said === "no") return { _tag: "Answer", answer: { _tag: "Deny", reason: "the person said no" } }
      if (said === "later") return { _tag: "Later" }
      if (said === "always") {
        const remember = await askToRemember(ticket, { ...this.#options, calledOff })
        if (remember !== undefined) return { _tag: "Answer", answer: { _tag: "Allow" }, remember }
      }
      if (said === "why") await explainCall({ toolId: ticket.toolId, arguments: ticket.arguments }, this.#options)
      if (said === "edit") {
        const answer = await this.#edit(ticket, calledOff)
        if (answer !== undefined) return { _tag: "Answer", answer }
        if (!calledOff.aborted) this.#options.screen.ticket(ticket, this.#specOf(ticket)?.inputSchema)
      }
    }
  }

  /** `undefined`: nothing was changed. */
  async #edit(
    ticket: ResumeTicket.ResumeTicket,
    calledOff: AbortSignal
  ): Promise<ResumeTicket.ResumeAnswer | undefined> {
    const { ask, screen } = this.#options
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
      screen.proposal(ticket, { arguments: parsed.value, schema: spec.inputSchema })
      const sure = await ask("  Run this instead? [y]es, [e]dit again, [n]o › ", { calledOff, isFresh: true })
      if (sure === undefined || readAnswer(sure) === "no") return undefined
      if (readAnswer(sure) === "yes") return { _tag: "Edit", arguments: parsed.value }
    }
    return undefined
  }

  #specOf({ toolId }: ResumeTicket.ResumeTicket) {
    return this.#options.tools.find((tool) => tool.spec().id === toolId)?.spec()
  }
}
