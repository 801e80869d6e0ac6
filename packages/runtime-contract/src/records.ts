/**
 * What a store writes down, as text and back: commits, signals, tickets, snapshots, each with the version of its shape.
 *
 * Guarantees: each record stands alone, so a thread can be read from any place; arguments of an opened call that stand in
 * its message are written once; reading checks every field and every invariant of a call, and an unreadable record is an
 * error that names its position, never a default. A field that this version does not know is unreadable too.
 * Does not store, and does not check what only the thread around a record can tell: `StoreRules` does.
 */
import { canonicalJson, deepFreeze, type JsonObject } from "./Json.js"
import { batchCall } from "./internal/batchSchemas.js"
import { recordReader } from "./internal/recordReader.js"
import { ticketRecord } from "./internal/batchSchemas.js"
import { commitRecord, signalRecord, snapshotRecord } from "./internal/threadSchemas.js"
import { RecordUnreadable } from "./internal/recordReader.js"
import { toolCallsOf } from "./Message.js"
import type { TicketState } from "./ResumeTicket.js"
import { type ExecutableAgentSnapshot, isGenuine } from "./Snapshot.js"
import type { BatchDelta, ThreadCommit } from "./ThreadCommit.js"
import type { Signal } from "./ThreadStore.js"
import { type BatchCall, isSound } from "./ToolBatch.js"

export { RecordUnreadable } from "./internal/recordReader.js"

/** The version that is written. Earlier ones are read for as long as their fixtures are here. */
export const recordVersion = 1

export interface ReadOptions {
  /** Where the record lies, for the error: a table and a key, a file and a line. */
  readonly position: string
}

export interface CommitReadOptions extends ReadOptions {
  /** Finds a stored snapshot. Asked for the first commit of a run only. */
  readonly snapshot: (fingerprint: string) => ExecutableAgentSnapshot | undefined
}

const readCommit = recordReader(commitRecord)
const readSignal = recordReader(signalRecord)
const readTicket = recordReader(ticketRecord)
const readSnapshot = recordReader(snapshotRecord)
const readCall = recordReader(batchCall)

/** Every field, and `undefined` for one that is not there, which JSON leaves out. */
type Whole<A> = { readonly [K in keyof Required<A>]: A[K] | undefined }

/**
 * One line of JSON. The snapshot of a start is left out: store it beside, by its fingerprint. Field by field: it is made of
 * every commit, and a spread costs more than the text.
 */
export const encodeCommit = (commit: ThreadCommit): string => {
  const { start, batch } = commit
  const fields: Whole<Omit<ThreadCommit, "start" | "batch">> &
    Readonly<Record<"version" | "start" | "batch", unknown>> = {
    version: recordVersion,
    id: commit.id,
    threadId: commit.threadId,
    runId: commit.runId,
    expectedRevision: commit.expectedRevision,
    epoch: commit.epoch,
    at: commit.at,
    disposition: commit.disposition,
    step: commit.step,
    messages: commit.messages,
    tickets: commit.tickets,
    state: commit.state,
    notes: commit.notes,
    audit: commit.audit,
    consumed: commit.consumed,
    resolved: commit.resolved,
    expectedSharedRevision: commit.expectedSharedRevision,
    auditHead: commit.auditHead,
    start: start?.record,
    batch: batch?._tag === "Open" ? withoutRepeats(commit, batch) : batch
  }
  return JSON.stringify(fields)
}

/** Throws `RecordUnreadable`. */
export const decodeCommit = (text: string, options: CommitReadOptions): ThreadCommit => {
  const { version: _, start, batch, ...rest } = readCommit(text, options.position)
  const commit = {
    ...rest,
    ...(start === undefined
      ? {}
      : { start: { record: start, snapshot: snapshotOf(start.snapshotFingerprint, options) } })
  }
  if (batch === undefined) return commit
  const read: BatchDelta =
    batch._tag === "Open"
      ? { ...batch, calls: withArguments(batch.calls, { messages: rest.messages, options }) }
      : batch
  for (const [index, call] of read.calls.entries())
    if (!isSound(call))
      throw new RecordUnreadable({
        position: options.position,
        pointer: `/batch/calls/${index}`,
        expected: "a call that can be"
      })
  return { ...commit, batch: read }
}

export const encodeSignal = (signal: Signal): string => JSON.stringify({ version: recordVersion, ...signal })

/** Throws `RecordUnreadable`. */
export const decodeSignal = (text: string, options: ReadOptions): Signal => {
  const { version: _, ...signal } = readSignal(text, options.position)
  return signal
}

export const encodeTicket = (state: TicketState): string => JSON.stringify({ version: recordVersion, ...state })

/** Throws `RecordUnreadable`. */
export const decodeTicket = (text: string, options: ReadOptions): TicketState => {
  const { version: _, ...state } = readTicket(text, options.position)
  return state
}

export const encodeSnapshot = (snapshot: ExecutableAgentSnapshot): string =>
  JSON.stringify({ version: recordVersion, ...snapshot })

/** Throws `RecordUnreadable`, also for a snapshot whose content is not what its fingerprint and identities say. */
export const decodeSnapshot = (text: string, options: ReadOptions): ExecutableAgentSnapshot => {
  const { version: _, ...snapshot } = readSnapshot(text, options.position)
  if (!isGenuine(snapshot))
    throw new RecordUnreadable({
      position: options.position,
      pointer: "/fingerprint",
      expected: "the fingerprint of the content"
    })
  return deepFreeze(snapshot)
}

/** A batch call alone, for stores that keep calls apart. */
export const encodeCall = (call: BatchCall): string => JSON.stringify(call)

/** Throws `RecordUnreadable`. */
export const decodeCall = (text: string, options: ReadOptions): BatchCall => {
  const call = readCall(text, options.position)
  if (isSound(call)) return call
  throw new RecordUnreadable({ position: options.position, pointer: "", expected: "a call that can be" })
}

const snapshotOf = (fingerprint: string, options: CommitReadOptions): ExecutableAgentSnapshot => {
  const snapshot = options.snapshot(fingerprint)
  if (snapshot !== undefined) return snapshot
  throw new RecordUnreadable({
    position: options.position,
    pointer: "/start/snapshotFingerprint",
    expected: `snapshot ${fingerprint} to be stored`
  })
}

type OpenDelta = Extract<BatchDelta, { readonly _tag: "Open" }>

/** What the assistant message already says of the arguments is left out of the calls. */
const withoutRepeats = (commit: ThreadCommit, { _tag, step, calls }: OpenDelta): object => {
  const said = argumentsSaid(commit.messages)
  return {
    _tag,
    step,
    calls: calls.map((call) => {
      const same = said[call.position]
      return same !== undefined && isSame(same, call.arguments) ? withoutArguments(call) : call
    })
  }
}

const withoutArguments = (call: BatchCall): Whole<Omit<BatchCall, "arguments">> => ({
  operationId: call.operationId,
  position: call.position,
  callId: call.callId,
  toolId: call.toolId,
  digest: call.digest,
  proposal: call.proposal,
  recovery: call.recovery,
  claim: call.claim,
  attempts: call.attempts,
  entered: call.entered,
  phase: call.phase
})

const isSame = (left: JsonObject, right: JsonObject): boolean =>
  left === right || canonicalJson(left) === canonicalJson(right)

const argumentsSaid = (messages: ThreadCommit["messages"]): ReadonlyArray<JsonObject> =>
  messages.flatMap((message) =>
    message.role === "assistant" ? toolCallsOf(message).map((part) => part.arguments) : []
  )

type OpenedCall = Omit<BatchCall, "arguments"> & { readonly arguments?: JsonObject }

const withArguments = (
  calls: ReadonlyArray<OpenedCall>,
  { messages, options }: { readonly messages: ThreadCommit["messages"]; readonly options: ReadOptions }
): ReadonlyArray<BatchCall> => {
  const said = argumentsSaid(messages)
  return calls.map((call, index) => {
    const args = call.arguments ?? said[index]
    if (args === undefined)
      throw new RecordUnreadable({
        position: options.position,
        pointer: `/batch/calls/${index}/arguments`,
        expected: "arguments"
      })
    return { ...call, arguments: args }
  })
}
