/** The ways in which somebody with an editor can change the record of a batch, each against one of its invariants. */
import { type Json, Json as Jsons, ToolBatch, ToolOperation } from "@toolwright/runtime-contract"

export interface Damage {
  readonly name: string
  readonly revision: 2 | 3
  /** What stands at each JSON Pointer afterwards. */
  readonly edits: ReadonlyArray<readonly [pointer: string, change: (before: Json.Json | undefined) => Json.Json]>
  /** What the error says behind the position. */
  readonly says: string
  /** Where it stands, when that is not the commit itself. */
  readonly position?: string
}

const to = (value: Json.Json) => (): Json.Json => value

const others: Json.Json = { amount: 1_000_000 }
const whole = "thread thread revision 3"

/** Of the record that opens two calls: the first running, the second waiting. */
const ofOpening: ReadonlyArray<Omit<Damage, "revision">> = [
  {
    name: "a call that went in counts no attempt",
    edits: [["/batch/calls/0/attempts", to(0)]],
    says: "expected a call that can be"
  },
  {
    name: "what may go in once went in twice",
    edits: [
      ["/batch/calls/0/attempts", to(2)],
      ["/batch/calls/0/phase/attempt", to(2)]
    ],
    says: "expected a call that can be"
  },
  {
    name: "a running call asks to be run again",
    edits: [["/batch/calls/0/phase", to({ _tag: "Requested" })]],
    says: "expected a call that can be"
  },
  {
    name: "a call was entered with other arguments",
    edits: [["/batch/calls/0/entered", to("0".repeat(64))]],
    says: "expected a call that can be"
  },
  {
    name: "no attempt is allowed",
    edits: [["/batch/calls/1/recovery/maxAttempts", to(0)]],
    says: "at /batch/calls/1/recovery/maxAttempts"
  },
  {
    name: "other arguments than were asked about",
    edits: [["/messages/0/content/1/arguments", to(others)]],
    says: "call 1: a call's digest is that of its arguments",
    position: whole
  },
  {
    name: "other arguments, with their digest",
    edits: [
      ["/messages/0/content/1/arguments", to(others)],
      ["/batch/calls/1/digest", to(ToolBatch.digestOf({ amount: 1_000_000 }))]
    ],
    says: "is for no call that waits for it"
  },
  {
    name: "a ticket shows other arguments",
    edits: [["/tickets/0/arguments", to(others)]],
    says: "call 1: a wait has a ticket for exactly this call",
    position: whole
  },
  { name: "a wait without a ticket", edits: [["/tickets", to([])]], says: "has no ticket" },
  {
    name: "an operation of another name",
    edits: [["/batch/calls/0/operationId", to(ToolOperation.idOf("other", 1, 0))]],
    says: "may not open so"
  },
  {
    name: "calls out of their order",
    edits: [["/batch/calls", (calls) => (isArray(calls) ? calls.toReversed() : [])]],
    says: "every call of an assistant message opens in the same commit"
  },
  {
    name: "a call is missing",
    edits: [["/batch/calls", (calls) => (isArray(calls) ? calls.slice(0, 1) : [])]],
    says: "every call of an assistant message opens in the same commit"
  },
  {
    name: "one call id for two calls",
    edits: [
      ["/messages/0/content/1/callId", to("call-1")],
      ["/batch/calls/1/callId", to("call-1")],
      ["/tickets/0/callId", to("call-1")]
    ],
    says: "a call id is used once in its batch"
  },
  { name: "a step that was never counted", edits: [["/step", to(7)]], says: "steps are counted one by one" },
  {
    name: "a batch of another run",
    edits: [["/runId", to("other")]],
    says: "a commit belongs to the open run of its thread"
  },
  {
    name: "an end with open calls",
    edits: [["/disposition", to({ _tag: "Ended", cause: { _tag: "Cancelled" } })]],
    says: "a run ends when its batch is published"
  }
]

/** Of the record that takes the outcome of the first call. */
const ofOutcome = (runId: string): ReadonlyArray<Omit<Damage, "revision">> => [
  {
    name: "an outcome of an unknown operation",
    edits: [["/batch/calls/0/operationId", to(ToolOperation.idOf(runId, 2, 0))]],
    says: "may not change so"
  },
  {
    name: "an outcome where no call stands",
    edits: [["/batch/calls/0/position", to(5)]],
    says: "may not change so"
  },
  {
    name: "an outcome that grants more attempts",
    edits: [["/batch/calls/0/recovery", to({ mode: "ReplaySafe", maxAttempts: 9 })]],
    says: "may not change so"
  },
  {
    name: "an output of another call",
    edits: [["/batch/calls/0/phase/output/callId", to("call-2")]],
    says: "expected a call that can be"
  },
  {
    name: "a wait for a ticket of no call",
    edits: [["/disposition/tickets", to(["other"])]],
    says: "is of no waiting call"
  },
  {
    name: "a commit of another place",
    edits: [["/expectedRevision", to(1)]],
    says: "a commit stands behind revision 1"
  },
  {
    name: "a commit of another thread",
    edits: [["/threadId", to("other")]],
    says: "a commit of its thread, not of other"
  },
  { name: "a record of no known version", edits: [["/version", to(2)]], says: "at /version" }
]

export const damagesOf = (runId: string): ReadonlyArray<Damage> => [
  ...ofOpening.map((damage) => ({ ...damage, revision: 2 as const })),
  ...ofOutcome(runId).map((damage) => ({ ...damage, revision: 3 as const }))
]

/** The record with its edits. */
export const edited = (record: Json.Json, { edits }: Pick<Damage, "edits">): Json.Json =>
  edits.reduce((before, [pointer, change]) => put(before, { path: pointer.split("/").slice(1), change }), record)

interface Place {
  readonly path: ReadonlyArray<string>
  readonly change: (before: Json.Json | undefined) => Json.Json
}

const put = (value: Json.Json | undefined, { path, change }: Place): Json.Json => {
  const [name, ...rest] = path
  if (name === undefined) return change(value)
  const inner = { path: rest, change }
  if (isArray(value)) return value.with(Number(name), put(value[Number(name)], inner))
  if (!Jsons.isJsonObject(value)) throw new Error(`nothing stands at ${path.join("/")}`)
  return { ...value, [name]: put(value[name], inner) }
}

const isArray = (value: Json.Json | undefined): value is ReadonlyArray<Json.Json> => Array.isArray(value)
