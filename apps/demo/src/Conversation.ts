/**
 * A conversation: requests one after the other on one thread, with somebody at hand to approve or nobody.
 *
 * Guarantees: every turn comes to its end or its rest before the next begins; cancelling ends a turn with a value and
 * never with a stack trace; what another process does to the thread meanwhile is shown.
 * Does not read keys: it is given an approval.
 */
import { isRunError, type PromiseRuntime, type RunOutcome } from "@toolwright/runtime"
import {
  type ExecutableAgentSnapshot,
  type ResumeTicket,
  type RunEvent,
  TicketRefused
} from "@toolwright/runtime-contract"
import type { Approval, Verdict } from "./Approval.js"
import { follow } from "./internal/follow.js"
import { setTimeout as delay } from "node:timers/promises"
import { lookEvery, patiently } from "./internal/patiently.js"
import type { Screen } from "./Screen.js"
import { openTickets, type Threads } from "./Threads.js"

export interface ConversationOptions {
  readonly runtime: PromiseRuntime
  readonly screen: Screen
  readonly threads: Threads
  readonly snapshot: ExecutableAgentSnapshot.ExecutableAgentSnapshot
  /** Absent: nobody is there, and what must be approved is blocked. */
  readonly approval?: Approval
}

/** How a turn stands when it rests. */
export type Standing = Pick<RunOutcome, "threadId" | "disposition" | "messages" | "tickets">

export const person = "you"

export class Conversation {
  readonly #options: ConversationOptions
  #threadId: string | undefined
  /** Number of the next fact to be shown. */
  #next = 1
  /** How to cancel what runs now; absent between turns. */
  #stop: (() => void) | undefined
  #isCancelled = false

  constructor(options: ConversationOptions) {
    this.#options = options
  }

  get threadId(): string | undefined {
    return this.#threadId
  }

  /** The next request opens a new thread. */
  leave(): void {
    this.#threadId = undefined
  }

  /** Goes on with a thread: what waits there is asked. */
  async attach(threadId: string): Promise<Standing | undefined> {
    this.#threadId = threadId
    this.#isCancelled = false
    const { threads, approval } = this.#options
    const view = await threads.view(threadId)
    if (view?.disposition === undefined) return undefined
    this.#next = view.nextFact
    const tickets = openTickets(view)
    const standing: Standing = { threadId, disposition: view.disposition, messages: view.messages, tickets }
    return approval === undefined || tickets.length === 0 ? standing : this.#rest(standing)
  }

  /** Runs one request to its end, or to its rest where the person answers later. */
  async turn(input: string): Promise<Standing> {
    const { runtime, snapshot, approval } = this.#options
    this.#isCancelled = false
    const outcome = await patiently(() => {
      const handle = runtime.run({
        snapshot,
        input,
        principal: person,
        narrowing: approval === undefined ? "Unattended" : "Configured",
        ...(this.#threadId === undefined ? {} : { threadId: this.#threadId }),
        onEvent: this.#show
      })
      this.#threadId = handle.threadId
      this.#stop = () => handle.cancel()
      return handle
    }).finally(this.#isOver)
    return this.#rest(outcome)
  }

  /** Work that is no turn, and what an interrupt does to it. */
  async interruptible<A>(stop: () => void, work: () => Promise<A>): Promise<A> {
    this.#stop = stop
    return work().finally(this.#isOver)
  }

  /** True when there was a turn to cancel. */
  cancel(): boolean {
    const stop = this.#stop
    if (stop === undefined) return false
    this.#isCancelled = true
    stop()
    return true
  }

  readonly #show = (event: RunEvent.RunEvent): void => {
    if (event._tag === "Fact") this.#next = event.number + 1
    this.#options.screen.onEvent(event)
  }

  readonly #isOver = (): void => {
    this.#stop = undefined
  }

  async #rest(from: Standing): Promise<Standing> {
    let standing = from
    try {
      for (;;) {
        const [ticket] = standing.tickets
        if (standing.disposition._tag !== "Awaiting" || ticket === undefined) return standing
        const next = await this.#answer(standing.threadId, ticket)
        if (next === undefined) return standing
        standing = next
      }
    } finally {
      this.#isOver()
    }
  }

  /** `undefined`: it is left for later. */
  async #answer(threadId: string, ticket: ResumeTicket.ResumeTicket): Promise<Standing | undefined> {
    const { approval } = this.#options
    // While somebody thinks nothing runs, so cancelling is only remembered.
    this.#stop = () => {}
    if (approval === undefined)
      return ticket.kind === "Client" ? this.#resume(ticket, { _tag: "Answer", answer: nobody }) : undefined
    const verdict = this.#isCancelled ? ({ _tag: "Cancelled" } as const) : await approval.decide(ticket)
    if (this.#isCancelled || verdict._tag === "Cancelled") return this.#abandon(threadId)
    if (verdict._tag === "Later") return undefined
    this.#stop = () => void this.#options.runtime.cancel({ threadId }).catch(() => undefined)
    return verdict._tag === "Elsewhere" ? this.#followOthers(threadId) : this.#resume(ticket, verdict)
  }

  async #resume(
    ticket: ResumeTicket.ResumeTicket,
    { answer, remember }: Extract<Verdict, { readonly _tag: "Answer" }>
  ): Promise<Standing> {
    const { runtime, screen } = this.#options
    try {
      const outcome = await runtime.resume(ticket.id, answer, {
        approver: person,
        expect: { digest: ticket.digest },
        ...(remember === undefined ? {} : { remember }),
        onEvent: this.#show
      })
      // Accepted, and not acted upon yet: the thread is another process's, or of one that died a moment ago.
      return outcome.tickets.some(({ id }) => id === ticket.id) ? await this.#follow(ticket.threadId) : outcome
    } catch (error) {
      if (!(error instanceof TicketRefused)) throw error
      if (error.reason === "AlreadyDecided") return this.#followOthers(ticket.threadId)
      screen.note(`The answer was refused: ${error.message}`, "red")
      return this.#found(ticket.threadId)
    }
  }

  #followOthers(threadId: string): Promise<Standing> {
    this.#options.screen.note("Answered elsewhere. This is what follows:", "yellow")
    return this.#follow(threadId)
  }

  /** Shows what becomes of the run, until it rests. What nobody is at any more is taken along when its lease runs out. */
  async #follow(threadId: string): Promise<Standing> {
    const { runtime } = this.#options
    let isDone = false
    const done = follow(runtime, { threadId, from: this.#next, show: this.#show }).done.finally(() => {
      isDone = true
    })
    const isFollowed = (): boolean => isDone
    while (!isFollowed()) {
      await Promise.race([done, delay(lookEvery)])
      if (!isFollowed()) await runtime.recover()
    }
    await done
    return this.#found(threadId)
  }

  async #found(threadId: string): Promise<Standing> {
    const view = await this.#options.threads.view(threadId)
    if (view?.disposition === undefined) throw new Error(`thread ${threadId} is gone`)
    return { threadId, disposition: view.disposition, messages: view.messages, tickets: openTickets(view) }
  }

  async #abandon(threadId: string): Promise<Standing> {
    const { runtime, screen } = this.#options
    const outcome = await runtime.cancel({ threadId })
    if (outcome.disposition._tag === "Ended") screen.ended(outcome.disposition.cause)
    return outcome
  }
}

/** Where nobody is there, a question of the model is not left open. */
const nobody = { _tag: "Deny", reason: "nobody is there to answer" } as const

/** In words, why a run could not begin; `undefined` for another error. */
export const busyText = (error: unknown): string | undefined => {
  if (!isRunError(error) || error.reason._tag !== "ThreadBusy") return undefined
  return "This thread has an open run: /steer TEXT says something to it, /cancel ends it, /new begins another thread."
}
