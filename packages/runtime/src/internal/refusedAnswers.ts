/**
 * Where a refused answer is recorded (H3, P8): in its ticket's thread, the run open or ended, or in the runtime's own
 * thread of the day where no thread can be told.
 *
 * Guarantees: durable before the refusal is given back; the same attempt of the same approver is recorded once, in any
 * process; what one ticket and one day can add is bounded, and names and ids from outside are cut.
 * Does not record what the bounds leave out, and never turns a refusal into another error.
 */
import {
  Json,
  type ResumeTicket,
  SystemThread,
  type ThreadStore,
  type TicketRefused
} from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { RunError } from "../RunError.js"
import type { ActiveRun } from "./activeRun.js"
import { bounded, boundedLoad } from "./bounded.js"
import type { Engine } from "./engine.js"
import { beginEffect } from "./settle.js"
import { driveOn } from "./starts.js"
import { oneRun, startOf, type SystemRun } from "./systemRuns.js"

export interface Attempt {
  readonly ticketId: string
  readonly answer: ResumeTicket.ResumeAnswer
  readonly approver: string
  readonly refused: TicketRefused
}

interface Place {
  readonly threadId: string
  readonly runId: string
  /** The ticket's own id, where it has been found. */
  readonly id?: string
}

type Failure = RunError | TicketRefused

/** Records that one ticket gets in its own thread, for each process. Further ones go to the thread of the day. */
const mostOfTicket = 64

/** Records that a day gets. Two commits begin and end the run of its thread. */
const mostOfDay = 1_000

/** Tickets whose records are counted at a time. */
const mostTickets = 1_024

/** Characters of a name or an id that are kept. */
const longest = 256

export const recordRefusal = (engine: Engine, attempt: Attempt): Effect.Effect<void, Failure> =>
  Effect.flatMap(ticketOf(engine, attempt), (ticket) => {
    if (ticket === undefined || !countsFor(engine, ticket.id)) return inDay(engine, attempt)
    // The thread may have gone on to another run, or be gone.
    return Effect.catchTag(send(engine, { place: ticket, attempt }), "RunError", () => inDay(engine, attempt))
  })

const ticketOf = (
  engine: Engine,
  { ticketId }: Attempt
): Effect.Effect<ResumeTicket.ResumeTicket | undefined, Failure> =>
  Effect.map(bounded(engine, { threadId: "", ask: () => engine.store.ticket(ticketId) }), (state) => state?.ticket)

const countsFor = ({ refusals }: Engine, ticketId: string): boolean => {
  const count = (refusals.get(ticketId) ?? 0) + 1
  const [oldest] = refusals.keys()
  if (count === 1 && refusals.size >= mostTickets && oldest !== undefined) refusals.delete(oldest)
  refusals.set(ticketId, count)
  return count <= mostOfTicket
}

/** One after the other: a process that claims a thread again fences itself. */
const inDay = (engine: Engine, attempt: Attempt): Effect.Effect<void, Failure> =>
  Semaphore.withPermit(engine.refusing, toDay(engine, attempt))

/** Another process may be at the same thread for the first time, too. */
const tries = 8

const toDay = Effect.fnUntraced(function* (engine: Engine, attempt: Attempt) {
  const threadId = SystemThread.ofRefusals(engine.clock.now())
  const run: SystemRun = { threadId, runId: `${threadId}/answers`, by: "runtime" }
  for (let left = tries; ; left--) {
    const view = yield* boundedLoad(engine, threadId)
    if (view !== undefined && view.revision >= mostOfDay + 2) return
    if (view?.disposition?._tag !== "Ended") {
      const begin = ({ epoch }: ThreadStore.Lease): Effect.Effect<void, Failure> => {
        const commit = startOf(engine, { run, epoch, attempt: 0, carried: {} })
        return Effect.asVoid(bounded(engine, { threadId, ask: () => engine.store.commit(commit) }))
      }
      yield* Effect.ignore(oneRun(engine, { run, begin }))
    }
    const sent = yield* Effect.result(send(engine, { place: run, attempt }))
    if (sent._tag === "Success") return
    if (left <= 1) return yield* Effect.fail(sent.failure)
  }
})

const send = Effect.fnUntraced(function* (
  engine: Engine,
  { place, attempt }: { readonly place: Place; readonly attempt: Attempt }
) {
  const { threadId } = place
  const signal = signalOf(engine, { place, attempt })
  yield* bounded(engine, { threadId, ask: () => engine.store.signal(signal) })
  const active = engine.active.get(threadId)
  if (active === undefined)
    return yield* Effect.ignore(driveOn(engine, { threadId, signalId: signal.id, listeners: [] }))
  active.hear()
  if (followed.has(active)) return
  followed.add(active)
  active.whenDone(() => void beginEffect(engine.services, Effect.ignore(takeUp(engine, threadId))))
})

/** Drives that are looked after when they are over. */
const followed = new WeakSet<ActiveRun>()

/** A drive takes along what comes in, until its last look. */
const takeUp = Effect.fnUntraced(function* (engine: Engine, threadId: string) {
  const inbox = yield* bounded(engine, { threadId, ask: () => engine.store.inbox(threadId) })
  const left = inbox.find(({ body }) => body._tag === "Refused")
  if (left !== undefined && !engine.closing) yield* driveOn(engine, { threadId, signalId: left.id, listeners: [] })
})

const signalOf = (
  engine: Engine,
  { place, attempt }: { readonly place: Place; readonly attempt: Attempt }
): ThreadStore.Signal => {
  const { ticketId, answer, approver, refused } = attempt
  const by = typeof approver === "string" ? approver : ""
  const made = Json.sha256Hex(JSON.stringify([String(ticketId), by, answer._tag, refused.reason]))
  return {
    id: `refused/${made}`,
    threadId: place.threadId,
    runId: place.runId,
    at: engine.clock.now(),
    body: {
      _tag: "Refused",
      by: cut(by),
      ticketId: place.id ?? cut(String(ticketId)),
      answer: answer._tag,
      reason: refused.reason
    }
  }
}

/** Half a pair at the cut, or anywhere, cannot be stored. */
const cut = (text: string): string => text.slice(0, longest).toWellFormed()
