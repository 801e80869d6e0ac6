import { Type } from "typebox"
import { batchDelta, capability, recoveryPolicy, ticket, ticketAnswer } from "./batchSchemas.js"
import {
  closed,
  content,
  count,
  flag,
  json,
  jsonObject,
  message,
  moment,
  oneOf,
  optional,
  stateCommand,
  tagged,
  text,
  texts
} from "./messageSchemas.js"

const failure = closed({
  reason: oneOf(
    "Inference",
    "RepeatedInvalidCall",
    "StateConflict",
    "StateUnreadable",
    "InvalidFinalAnswer",
    "CapabilityBound",
    "SnapshotUnusable",
    "Budget",
    "Internal"
  ),
  detail: text
})

const endCause = Type.Union([
  tagged("NaturalEnd", { limited: optional(flag) }),
  tagged("MaxSteps", {}),
  tagged("Cancelled", {}),
  tagged("Stopped", { reason: text }),
  tagged("Error", { failure }),
  tagged("Indeterminate", {})
])

const atLeastOne = Type.Unsafe<readonly [string, ...Array<string>]>(Type.Array(text, { minItems: 1 }))

const disposition = Type.Union([
  tagged("Running", {}),
  tagged("Awaiting", { tickets: atLeastOne }),
  tagged("Ended", { cause: endCause })
])

const runRecord = closed({
  runId: text,
  threadId: text,
  principal: text,
  snapshotFingerprint: text,
  narrowing: oneOf("Configured", "Unattended", "DenyAll"),
  startedAt: moment,
  parent: optional(closed({ runId: text, threadId: text, operationId: text })),
  metadata: optional(jsonObject)
})

const usage = closed({
  inputTokens: count,
  outputTokens: count,
  reasoningTokens: optional(count),
  cachedInputTokens: optional(count)
})

const named = <const Name extends string>(name: Name) => Type.Literal(name)

const note = Type.Union([
  closed({ type: named("HookFailed"), hook: text, phase: text, message: text }),
  closed({ type: named("ArgumentsCoerced"), operationId: text, pointers: texts }),
  closed({ type: named("UsageRecorded"), provider: text, model: text, usage }),
  closed({ type: named("LateResult"), operationId: text, attempt: count, summary: text }),
  closed({ type: named("OutputSpilled"), operationId: text, reference: text, characters: count }),
  closed({ type: named("ToolRefused"), toolId: text, pointer: text, reason: text }),
  closed({ type: named("TriggerHint"), toolId: text, trigger: text }),
  closed({ type: named("StateConflict"), keys: texts }),
  closed({ type: named("ModelFallback"), from: text, to: text, reason: text }),
  closed({ type: named("SignalRefused"), signalId: text, reason: text })
])

const auditRecord = closed({
  type: oneOf("Decision", "Answer", "Grant", "Refusal", "Recovery", "Resolution", "Control"),
  at: moment,
  operationId: optional(text),
  toolId: optional(text),
  digest: optional(text),
  outcome: text,
  rule: optional(text),
  by: text,
  detail: optional(json)
})

/** The snapshot of a start is stored once, by its fingerprint, and stands beside the record. */
export const commitRecord = closed({
  version: Type.Literal(1),
  id: text,
  threadId: text,
  runId: text,
  expectedRevision: count,
  expectedSharedRevision: optional(count),
  epoch: count,
  at: moment,
  disposition,
  step: count,
  start: optional(runRecord),
  messages: Type.Array(message),
  batch: optional(batchDelta),
  tickets: Type.Array(ticket),
  state: Type.Array(stateCommand),
  notes: Type.Array(note),
  audit: Type.Array(auditRecord),
  auditHead: optional(text),
  consumed: texts,
  resolved: texts
})

const by = text
const resolution = Type.Union([tagged("Happened", { content, data: optional(json) }), tagged("DidNotHappen", {})])

const grantScope = Type.Union([
  tagged("Run", { runId: text }),
  tagged("Thread", { threadId: text }),
  tagged("Workspace", { workspace: text })
])

const grantProposal = closed({
  version: Type.Literal(1),
  gate: text,
  toolId: text,
  toolIdentity: text,
  principal: text,
  scope: grantScope,
  match: Type.Union([tagged("Exact", { digest: text }), tagged("Pattern", { pattern: text })]),
  text,
  expiresAt: optional(moment)
})

const answerTag = oneOf("Allow", "Deny", "Edit", "ToolResult", "Input", "Continue", "Due", "Expire")

const refusalReason = oneOf(
  "NotWaiting",
  "RunMismatch",
  "ThreadMismatch",
  "SnapshotMismatch",
  "DigestMismatch",
  "ToolMismatch",
  "AnswerKindMismatch",
  "NotEligible",
  "AlreadyCounted",
  "AlreadyDecided",
  "Expired",
  "NotDue",
  "ToolChanged",
  "InvalidArguments"
)

const signalBody = Type.Union([
  tagged("Answer", { answer: ticketAnswer, remember: optional(grantProposal) }),
  tagged("Refused", { by, ticketId: text, answer: answerTag, reason: refusalReason }),
  tagged("Child", { operationId: text, threadId: text }),
  tagged("Cancel", { by }),
  tagged("Stop", { by, reason: text }),
  tagged("Pause", { by }),
  tagged("Continue", { by }),
  tagged("Steer", { by, content, interrupt: flag }),
  tagged("Resolve", { by, operationId: text, resolution })
])

export const signalRecord = closed({
  version: Type.Literal(1),
  id: text,
  threadId: text,
  runId: text,
  at: moment,
  body: signalBody
})

const modelBinding = closed({ provider: text, model: text, settings: optional(jsonObject) })

const descriptor = closed({
  id: text,
  description: text,
  version: optional(text),
  inputSchema: jsonObject,
  outputSchema: optional(jsonObject),
  kind: oneOf("Regular", "ClientExecuted"),
  target: oneOf("Brain", "Sandbox"),
  warnings: texts,
  prefix: text,
  capability,
  policy: recoveryPolicy,
  identity: text
})

const atLeast = (minimum: number) => Type.Integer({ minimum })

const limits = closed({
  maxSteps: atLeast(1),
  maxTokens: optional(atLeast(1)),
  maxDuration: optional(atLeast(1)),
  maxCallsPerStep: atLeast(1),
  width: atLeast(1),
  dispatchRetries: count,
  commitRetries: count,
  toolTimeout: atLeast(1),
  modelTimeout: atLeast(1),
  grace: count,
  maxResultCharacters: atLeast(1)
})

export const snapshotRecord = closed({
  version: Type.Literal(1),
  agentId: text,
  instructions: text,
  model: modelBinding,
  fallbacks: Type.Array(modelBinding),
  tools: Type.Array(descriptor),
  plugins: Type.Array(closed({ id: text, configuration: optional(json) })),
  limits,
  arguments: oneOf("strict", "lossless"),
  onIndeterminate: oneOf("continue", "end"),
  triggerHints: flag,
  output: optional(closed({ schema: jsonObject, repairs: count })),
  metadata: jsonObject,
  fingerprint: text
})
