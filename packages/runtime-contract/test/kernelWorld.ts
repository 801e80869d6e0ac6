// Plain values for tests of the kernel: one run, one thread, calls in any phase.
import type { JsonObject } from "../src/Json.js"
import type { AssistantMessage, UserMessage } from "../src/Message.js"
import type { ResumeTicket, WaitKind } from "../src/ResumeTicket.js"
import { Running } from "../src/Run.js"
import * as Snapshot from "../src/Snapshot.js"
import * as ThreadCommit from "../src/ThreadCommit.js"
import { type BatchCall, type CallPhase, Requested } from "../src/ToolBatch.js"
import { Parallel } from "../src/ToolConcurrency.js"
import { idOf } from "../src/ToolOperation.js"
import type { ToolOutput } from "../src/ToolOutput.js"
import * as Output from "../src/ToolOutput.js"

export const threadId = "thread"
export const runId = "run"

/** The kernel compares digests; what they are made of is not its business. */
export const digestOf = (args: JsonObject): string => `digest of ${JSON.stringify(args)}`

export const output = (position: number, text = "done"): ToolOutput => Output.ok(`call-${position}`, text)

/** A requested call at `position` (default 0) of step 1, changed as asked. */
export const call = (changes: Partial<BatchCall> = {}): BatchCall => {
  const position = changes.position ?? 0
  const args = changes.arguments ?? { amount: position }
  return {
    operationId: idOf(runId, 1, position),
    position,
    callId: `call-${position}`,
    toolId: "pay",
    arguments: args,
    digest: digestOf(args),
    proposal: 0,
    recovery: { mode: "NeverReplay", maxAttempts: 3 },
    claim: Parallel,
    attempts: 0,
    phase: Requested,
    ...changes
  }
}

export const phases = {
  awaiting: (wait: WaitKind, ticketId = "ticket"): CallPhase => ({ _tag: "Awaiting", ticketId, wait }),
  approved: (args: JsonObject = { amount: 0 }): CallPhase => ({
    _tag: "Approved",
    digest: digestOf(args),
    by: ["ada"]
  }),
  executing: (attempt = 1): CallPhase => ({ _tag: "Executing", attempt }),
  completed: (position = 0): CallPhase => ({ _tag: "Completed", output: output(position) }),
  notRun: (position = 0): CallPhase => ({ _tag: "NotRun", reason: "Denied", output: output(position) }),
  indeterminate: (position = 0): CallPhase => ({
    _tag: "Indeterminate",
    reason: "ProcessLost",
    output: output(position)
  })
}

/** The same call, entered `attempts` times. */
export const entered = (from: BatchCall, attempts = 1): BatchCall => ({ ...from, attempts, entered: from.digest })

export const snapshot = Snapshot.builder("agent").model({ provider: "scripted", model: "one" }).build()

export const user = (text = "hello", id = "m-0"): UserMessage => ({
  role: "user",
  id,
  content: [{ type: "text", text }]
})

/** The assistant message that asks for these calls. */
export const asking = (calls: ReadonlyArray<BatchCall>, step = 1): AssistantMessage => ({
  role: "assistant",
  id: `m-${step}`,
  runId,
  step,
  content: calls.map((one) => ({
    type: "toolCall" as const,
    callId: one.callId,
    toolId: one.toolId,
    arguments: one.arguments
  })),
  stop: "toolCalls"
})

export const ticketFor = (one: BatchCall, changes: Partial<ResumeTicket> = {}): ResumeTicket => ({
  id: one.phase._tag === "Awaiting" ? one.phase.ticketId : "ticket",
  kind: one.phase._tag === "Awaiting" ? one.phase.wait : "Permission",
  runId,
  threadId,
  principal: "ada",
  snapshotFingerprint: snapshot.fingerprint,
  operationId: one.operationId,
  callId: one.callId,
  toolId: one.toolId,
  toolIdentity: "identity",
  arguments: one.arguments,
  digest: one.digest,
  proposal: one.proposal,
  requirements: [{ reason: "moves money" }],
  issuedAt: 0,
  ...changes
})

type Given = Partial<ThreadCommit.ThreadCommit>

const base = (given: Given): Parameters<typeof ThreadCommit.make>[0] => ({
  id: "commit",
  threadId,
  runId,
  expectedRevision: 0,
  epoch: 1,
  at: 100,
  disposition: Running,
  step: 0,
  ...given
})

/** A commit that does nothing but what is given. */
export const commit = (given: Given = {}): ThreadCommit.ThreadCommit => ThreadCommit.make(base(given))

/** The first commit of a run. */
export const starting = (given: Given = {}): ThreadCommit.ThreadCommit =>
  commit({
    id: "start",
    start: {
      record: {
        runId: given.runId ?? runId,
        threadId: given.threadId ?? threadId,
        principal: "ada",
        snapshotFingerprint: snapshot.fingerprint,
        narrowing: "Configured",
        startedAt: 100
      },
      snapshot
    },
    messages: [user()],
    ...given
  })

/** The commit that opens a batch of these calls, as the second of its thread. */
export const opening = (calls: ReadonlyArray<BatchCall>, given: Given = {}): ThreadCommit.ThreadCommit =>
  commit({
    id: "open",
    expectedRevision: 1,
    step: 1,
    messages: [asking(calls)],
    batch: { _tag: "Open", step: 1, calls },
    tickets: calls.flatMap((one) => (one.phase._tag === "Awaiting" ? [ticketFor(one)] : [])),
    ...given
  })
