/**
 * Drives one simulated world from its seed to its end: people, deaths, restarts and time, in an order that is drawn.
 *
 * Guarantees: deterministic, since there is no clock, no socket and no file in it; every world ends in calm weather, in
 * which all that was acknowledged must come to its end.
 * Does not judge: the laws do.
 */
import { type ResumeTicket, type ThreadStore, TicketRefused } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { leaseTtl, type OwnerWorld, SimulatedProcess } from "./simulationOwner.js"
import { snapshotOf } from "./simulationScript.js"

/** Answers that were accepted, by ticket: the ids of the answers. */
export type Accepted = ReadonlyMap<string, ReadonlySet<string>>

const processes = 2

/** Moments of drawn weather before the calm. */
const moments = 60

/** Moments that calm weather may take. */
const patience = 400

export class SimulationDriver {
  readonly threadIds: ReadonlyArray<string>
  readonly accepted = new Map<string, Set<string>>()
  readonly #world: OwnerWorld
  readonly #processes: Array<SimulatedProcess> = []
  readonly #activity: () => number
  #incarnations = 0
  #started = 0
  #pending = 0

  constructor(world: OwnerWorld, activity: () => number) {
    this.#world = world
    this.#activity = activity
    this.threadIds = Array.from({ length: 2 + world.draw.below(3, "threads") }, (_, index) => `thread-${index + 1}`)
    for (let slot = 0; slot < processes; slot++) this.#processes.push(this.#spawn(slot))
  }

  async play(): Promise<void> {
    for (let moment = 1; moment <= moments; moment++) {
      await this.#settle()
      await this.#act(moment)
    }
    this.#world.draw.isCalm = true
    await this.#calm()
    for (const process of this.#processes) if (!process.isDead) this.#ask(process.runtime.close())
    await this.#settle()
  }

  #spawn(slot: number): SimulatedProcess {
    return new SimulatedProcess(`p${slot + 1}.${++this.#incarnations}`, this.#world)
  }

  /** Lets everything run that can run without time passing. */
  async #settle(): Promise<void> {
    for (let still = 0, before = -1; still < 3;) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      const now = this.#activity()
      still = now === before ? still + 1 : 0
      before = now
    }
  }

  async #act(moment: number): Promise<void> {
    const { draw } = this.#world
    const name = `moment ${moment}`
    const slot = draw.below(processes, `${name} process`)
    const threadId = this.threadIds[draw.below(this.threadIds.length, `${name} thread`)] ?? ""
    const found = this.#processes[slot]
    if (found === undefined) return
    if (found.isDead) {
      if (draw.chance(0.5, `${name} restart`)) {
        this.#processes[slot] = this.#spawn(slot)
        this.#ask(this.#processes[slot]?.runtime.recover())
        return
      }
    } else if (found.isPaused) {
      if (draw.chance(0.2, `${name} goes on`)) {
        found.goOn()
        return
      }
    } else if (await this.#actIn(found, { name, threadId })) return
    this.#passTime(name)
  }

  /** False where nothing was done. */
  async #actIn(
    process: SimulatedProcess,
    { name, threadId }: { readonly name: string; readonly threadId: string }
  ): Promise<boolean> {
    const { draw } = this.#world
    const { runtime } = process
    const drawn = draw.number(`${name} act`)
    if (drawn < 0.25) return this.#startNext(process)
    if (drawn < 0.5) return this.#answer(process, { name, threadId })
    if (drawn < 0.6) this.#ask(runtime.recover())
    else if (drawn < 0.63 && draw.fault(1, `${name}: ${process.name} takes ${threadId} over`))
      this.#ask(runtime.recover({ threadId, takeOver: true }))
    else if (drawn < 0.66 && draw.fault(1, `${name}: ${process.name} is killed`)) process.die()
    else if (drawn < 0.72 && draw.fault(1, `${name}: ${process.name} stands still`)) process.pause()
    else if (drawn < 0.73 && draw.fault(1, `${name}: ${threadId} is cancelled by ${process.name}`))
      this.#request(runtime.cancel({ threadId }))
    else if (drawn < 0.75 && draw.fault(1, `${name}: ${threadId} is steered by ${process.name}`))
      this.#request(runtime.steer({ threadId, input: "Hurry." }))
    else return false
    return true
  }

  #startNext(process: SimulatedProcess): boolean {
    const threadId = this.threadIds[this.#started]
    if (threadId === undefined) return false
    this.#started++
    this.#ask(process.runtime.run({ snapshot: snapshotOf(process.tools), input: "Go.", principal: "ada", threadId }))
    return true
  }

  async #answer(
    process: SimulatedProcess,
    { name, threadId }: { readonly name: string; readonly threadId: string }
  ): Promise<boolean> {
    const { draw } = this.#world
    const [ticket] = await this.#openTickets(threadId)
    if (ticket === undefined) return false
    const drawn = draw.number(`${name} answer`)
    const given: ResumeTicket.ResumeAnswer =
      drawn < 0.7 ? { _tag: "Allow" } : drawn < 0.9 ? { _tag: "Deny" } : { _tag: "Edit", arguments: { n: 7 } }
    this.#resume(process, { ticket, given, answerId: name })
    // The same click twice, and somebody else who decides otherwise at the same moment.
    if (draw.fault(0.3, `${name}: ${ticket.id} is answered twice`))
      this.#resume(process, { ticket, given, answerId: name })
    for (const other of this.#processes) {
      if (other === process || other.isDead || other.isPaused) continue
      if (draw.fault(0.3, `${name}: ${ticket.id} is answered by ${other.name} too`))
        this.#resume(other, { ticket, given: { _tag: "Deny", reason: "no" }, answerId: `${name} other` })
    }
    return true
  }

  #resume(
    { runtime }: SimulatedProcess,
    {
      answerId,
      given,
      ticket
    }: {
      readonly ticket: ResumeTicket.ResumeTicket
      readonly given: ResumeTicket.ResumeAnswer
      readonly answerId: string
    }
  ): void {
    const answered = runtime.resume(ticket.id, given, { approver: "bob", answerId })
    this.#ask(
      answered.then(() => {
        const ids = this.accepted.get(ticket.id) ?? new Set<string>()
        this.accepted.set(ticket.id, ids.add(answerId))
      })
    )
  }

  async #openTickets(threadId: string): Promise<ReadonlyArray<ResumeTicket.ResumeTicket>> {
    const view = await this.#viewOf(threadId)
    if (view?.disposition?._tag === "Ended") return []
    return [...(view?.tickets.values() ?? [])].flatMap(({ decision, ticket }) =>
      decision === undefined ? [ticket] : []
    )
  }

  #viewOf(threadId: string): Promise<ThreadStore.ThreadView | undefined> {
    return Effect.runPromise(this.#world.store.load(threadId))
  }

  #passTime(name: string): void {
    const { clock, draw } = this.#world
    this.#world.stir()
    if (draw.chance(0.7, `${name} next`) && clock.advanceToNext()) return
    clock.advance(draw.below(2 * leaseTtl, `${name} time`))
  }

  /** No more faults: whatever is there must come to its end. */
  async #calm(): Promise<void> {
    const last = this.#spawn(processes)
    for (const process of this.#processes) process.goOn()
    this.#processes.push(last)
    for (let moment = 0; moment < patience; moment++) {
      await this.#settle()
      if (await this.#isOver()) return
      const before = this.#pending
      for (const threadId of this.threadIds)
        for (const ticket of await this.#openTickets(threadId))
          this.#resume(last, { ticket, given: { _tag: "Allow" }, answerId: "calm" })
      if (moment % 4 === 0) this.#ask(last.runtime.recover())
      await this.#settle()
      if (this.#pending <= before) this.#world.stir()
      if (!this.#world.clock.advanceToNext()) this.#world.clock.advance(leaseTtl)
    }
  }

  async #isOver(): Promise<boolean> {
    for (const threadId of this.threadIds) {
      const view = await this.#viewOf(threadId)
      if (view !== undefined && view.disposition?._tag !== "Ended") return false
    }
    return true
  }

  /** A run that has ended by now refuses it, rightly. */
  #request(asked: Promise<unknown>): void {
    this.#ask(asked.catch(() => {}))
  }

  /** What becomes of a request is seen in the store; its error is somebody's whom the simulation does not have. */
  #ask(asked: PromiseLike<unknown> | undefined): void {
    this.#pending++
    const over = (error?: unknown): void => {
      this.#pending--
      this.#world.stir()
      if (isFaultOfOurs(error)) this.faults.push(error)
    }
    asked?.then(() => over(), over)
  }

  /** Errors that no weather explains. */
  readonly faults: Array<Error> = []
}

/** An engine says of its own faults that they are internal; those of a dead process are its death. */
const isFaultOfOurs = (error: unknown): error is Error => {
  if (!(error instanceof Error) || error instanceof TicketRefused || !("reason" in error))
    return error instanceof TypeError
  const { reason } = error
  const isInternal =
    typeof reason === "object" &&
    reason !== null &&
    "_tag" in reason &&
    (reason._tag === "Internal" || reason._tag === "CommitRejected")
  return isInternal && !(error.cause instanceof Error && error.cause.message.endsWith(" is dead"))
}
