/**
 * What a signal writes, inside a transaction that somebody else opens and makes durable.
 *
 * Guarantees: de-duplicated by id; an answer is decided by the ticket's own row, so that of many one wins, from whatever
 * process; costs the same however long the thread is.
 * Does not need, take or change ownership, and does not move the revision.
 */
import {
  ResumeTicket,
  type StoreError,
  StoreRules,
  type ThreadStore,
  TicketRefused
} from "@toolwright/runtime-contract"
import { encodeTicket } from "@toolwright/runtime-contract/records"
import type { SqliteRow } from "../SqliteDriver.js"
import type { KnownThread } from "./knownThread.js"
import { numberIn, UnreadableRecord } from "./storedRecord.js"
import { commitIn, ticketIn } from "./threadReading.js"
import { accepted, type Answer, refused, type Writing } from "./writing.js"

type Signal = ThreadStore.Signal
type Receipt = ThreadStore.SignalReceipt

export class SignalWriter {
  readonly #writing: Writing

  constructor(writing: Writing) {
    this.#writing = writing
  }

  /** `text` is the signal, encoded. */
  write(signal: Signal, text: string): Answer<Receipt, StoreError | TicketRefused> {
    const { tables, known } = this.#writing
    const thread = known.find(signal.threadId)
    if (thread === undefined || thread.revision === 0) return refused(signal.threadId, { _tag: "NotFound" })
    const first = tables.signals.find(thread.key, signal.id)
    if (first !== undefined) return accepted(this.#firstReceipt(signal, first))
    const refusal = StoreRules.refusalOfSignal(this.#head(thread), signal)
    if (refusal !== undefined) return refused(signal.threadId, refusal)
    const verdict = this.#verdict(thread, signal)
    if (verdict?._tag === "Refused")
      return { ok: false, error: new TicketRefused({ ticketId: ticketIdOf(signal), ...verdict }) }
    const after = verdict?.state
    this.#insert(thread, { signal, text, after })
    return accepted(receiptOf(signal, { sequence: thread.signals, ticket: after }))
  }

  #insert(
    thread: KnownThread,
    given: { readonly signal: Signal; readonly text: string; readonly after: ResumeTicket.TicketState | undefined }
  ): void {
    const { tables } = this.#writing
    const { signal, text, after } = given
    const ticket = after === undefined ? undefined : encodeTicket(after)
    tables.signals.insert({
      thread: thread.key,
      sequence: thread.signals + 1,
      id: signal.id,
      at: signal.at,
      revision: thread.revision,
      record: text,
      ticket
    })
    if (after !== undefined && ticket !== undefined) tables.tickets.put(thread.key, { state: after, record: ticket })
    thread.applySignal(signal, after)
    tables.heads.setInbox(thread.key, thread.signals)
  }

  /** What the rules ask of the thread: from memory where it is there, else from its last commit. */
  #head(thread: KnownThread): Pick<StoreRules.ThreadHead, "run" | "disposition" | "hasOpenOutcome"> {
    if (thread.ready !== undefined) return thread
    const row = this.#writing.tables.commits.last(thread.key)
    if (row === undefined)
      throw new UnreadableRecord(`thread_commit ${thread.id} revision ${thread.revision}`, {
        expected: "the row is missing"
      })
    const { runId, disposition } = commitIn(this.#writing.tables, row, thread.id)
    return { run: { runId }, disposition, hasOpenOutcome: (operationId) => thread.hasOpenOutcome(operationId) }
  }

  #verdict(thread: KnownThread, { body }: Signal): ResumeTicket.TicketVerdict | undefined {
    if (body._tag !== "Answer") return undefined
    const { ticketId } = body.answer
    const row = this.#writing.tables.tickets.find(thread.key, ticketId)
    if (row === undefined) return { _tag: "Refused", reason: "NotWaiting" }
    return ResumeTicket.decide(ticketIn(row, { position: `thread_ticket ${ticketId}` }), body.answer)
  }

  #firstReceipt(signal: Signal, row: SqliteRow): Receipt {
    const sequence = numberIn(row, "sequence")
    const position = `thread_signal ${signal.threadId} sequence ${sequence}`
    const ticket =
      row["ticket"] === null ? undefined : ticketIn(row, { column: "ticket", checksum: "ticket_checksum", position })
    return receiptOf(signal, { sequence, ticket })
  }
}

const ticketIdOf = ({ body }: Signal): string => (body._tag === "Answer" ? body.answer.ticketId : "")

const receiptOf = (
  signal: Signal,
  given: { readonly sequence: number; readonly ticket: ResumeTicket.TicketState | undefined }
): Receipt => {
  const { sequence, ticket } = given
  if (ticket === undefined) return { signalId: signal.id, sequence }
  const { decision } = ticket
  return { signalId: signal.id, sequence, ticket, ...(decision === undefined ? {} : { decision }) }
}
