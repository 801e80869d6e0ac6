import { Type } from "typebox"
import {
  closed,
  count,
  json,
  jsonObject,
  moment,
  oneOf,
  optional,
  reminder,
  tagged,
  text,
  texts,
  toolOutput,
  flag,
  content
} from "./messageSchemas.js"

const waitKind = oneOf("Permission", "Client", "Schedule", "Input", "Delegation", "Pause")

const mode = oneOf("NeverReplay", "ReplaySafe", "Idempotent", "DurableRequest")
export const recoveryPolicy = closed({ mode, maxAttempts: Type.Integer({ minimum: 1 }) })
export const capability = oneOf("NonRecoverable", "ReplaySafe", "Idempotent", "DurableRequest")

const notRun = oneOf(
  "NotVisible",
  "Unknown",
  "InvalidArguments",
  "Blocked",
  "Denied",
  "Expired",
  "Unavailable",
  "ToolChanged",
  "EarlierUnknown",
  "ClaimHeld",
  "LastStep",
  "RunEnded",
  "Superseded"
)
const indeterminate = oneOf(
  "ProcessLost",
  "ExecutorLost",
  "Abandoned",
  "DeniedNow",
  "AttemptsSpent",
  "ToolChanged",
  "NoAnswer",
  "RunEnded"
)

const phase = Type.Union([
  tagged("Requested", {}),
  tagged("Awaiting", { ticketId: text, wait: waitKind }),
  tagged("Approved", { digest: text, by: texts }),
  tagged("Executing", { attempt: count }),
  tagged("Completed", { output: toolOutput }),
  tagged("NotRun", { reason: notRun, output: toolOutput }),
  tagged("Indeterminate", { reason: indeterminate, output: toolOutput })
])

const claim = Type.Union([
  tagged("Serial", {}),
  tagged("Parallel", {}),
  tagged("Resources", { claims: Type.Array(closed({ access: oneOf("Read", "Write"), namespace: text, key: text })) })
])

const callFields = {
  operationId: text,
  position: count,
  callId: text,
  toolId: text,
  digest: text,
  proposal: count,
  recovery: recoveryPolicy,
  claim,
  attempts: count,
  entered: optional(text),
  phase
}

export const batchCall = closed({ ...callFields, arguments: jsonObject })

/** In the record of an opening, arguments that stand in the assistant message are not written again. */
const openedCall = closed({ ...callFields, arguments: optional(jsonObject) })

export const batchDelta = Type.Union([
  tagged("Open", { step: count, calls: Type.Array(openedCall) }),
  tagged("Change", { calls: Type.Array(batchCall) }),
  tagged("Publish", {
    calls: Type.Array(batchCall),
    reminders: Type.Array(closed({ position: count, message: reminder }))
  })
])

const requirement = closed({
  gate: optional(text),
  reason: text,
  rule: optional(text),
  approvers: optional(texts),
  quorum: optional(Type.Integer({ minimum: 1 })),
  requesterMayAnswer: optional(flag),
  deadline: optional(moment)
})

export const ticket = closed({
  id: text,
  kind: waitKind,
  runId: text,
  threadId: text,
  principal: text,
  snapshotFingerprint: text,
  operationId: text,
  callId: text,
  toolId: text,
  toolIdentity: text,
  arguments: jsonObject,
  digest: text,
  proposal: count,
  requirements: Type.Array(requirement),
  deadline: optional(moment),
  dueAt: optional(moment),
  issuedAt: moment
})

const answer = Type.Union([
  tagged("Allow", { note: optional(text) }),
  tagged("Deny", { reason: optional(text) }),
  tagged("Edit", { arguments: json }),
  tagged("ToolResult", { content, data: optional(json), isError: optional(flag) }),
  tagged("Input", { text }),
  tagged("Continue", {}),
  tagged("Due", {}),
  tagged("Expire", {})
])

const expectation = closed({
  runId: optional(text),
  threadId: optional(text),
  snapshotFingerprint: optional(text),
  digest: optional(text),
  toolIdentity: optional(text)
})

export const ticketAnswer = closed({
  ticketId: text,
  answer,
  approver: text,
  at: moment,
  expect: optional(expectation)
})

const ticketDecision = Type.Union([
  tagged("Allowed", { by: texts, note: optional(text) }),
  tagged("Denied", { by: text, reason: text, expired: flag }),
  tagged("Edited", { by: text, arguments: json }),
  tagged("Answered", { by: text, answer }),
  tagged("Void", { reason: text })
])

export const ticketRecord = closed({
  version: Type.Literal(1),
  ticket,
  allowedBy: texts,
  decision: optional(ticketDecision)
})
