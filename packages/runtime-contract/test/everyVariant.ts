// One value of every variant that a store may be given. Each table names every member of a closed union of the contract: a
// new one does not compile until it stands here, and is red until a record can hold it and a fixture does.
import type { GrantMatch, GrantProposal, GrantScope } from "../src/Grant.js"
import type { AssistantPart, ContentBlock, StopReason } from "../src/Message.js"
import type { ResumeAnswer, TicketDecision, TicketRefusalReason, TicketState, WaitKind } from "../src/ResumeTicket.js"
import type { RunNarrowing } from "../src/GateOutcome.js"
import { Ended, type EndCause, type FailureReason, Running } from "../src/Run.js"
import { builder, type ExecutableAgentSnapshot } from "../src/Snapshot.js"
import type { StateCommand, StateMerge, StateScope } from "../src/StateKey.js"
import type { AuditRecord, RunNote, ThreadCommit } from "../src/ThreadCommit.js"
import type { Signal, SignalBody } from "../src/ThreadStore.js"
import type { BatchCall, CallPhase, IndeterminateReason, NotRunReason } from "../src/ToolBatch.js"
import { Resources, Serial } from "../src/ToolConcurrency.js"
import { forTool } from "../src/ToolDescriptor.js"
import type { ToolRecoveryMode } from "../src/ToolRecovery.js"
import {
  asking,
  call,
  commit,
  entered,
  opening,
  output,
  phases,
  snapshot,
  starting,
  ticketFor,
  user
} from "./kernelWorld.js"

type Every<Name extends string, A = true> = Readonly<Record<Name, A>>
const keys = <Name extends string>(every: Every<Name, unknown>): ReadonlyArray<Name> =>
  Object.keys(every) as unknown as ReadonlyArray<Name>

const notRun: Every<NotRunReason> = {
  NotVisible: true,
  Unknown: true,
  InvalidArguments: true,
  Blocked: true,
  Denied: true,
  Expired: true,
  Unavailable: true,
  ToolChanged: true,
  EarlierUnknown: true,
  ClaimHeld: true,
  LastStep: true,
  RunEnded: true,
  Superseded: true
}

const indeterminate: Every<IndeterminateReason> = {
  ProcessLost: true,
  ExecutorLost: true,
  Abandoned: true,
  DeniedNow: true,
  AttemptsSpent: true,
  ToolChanged: true,
  NoAnswer: true,
  RunEnded: true
}

const waits: Every<WaitKind> = {
  Permission: true,
  Client: true,
  Schedule: true,
  Input: true,
  Delegation: true,
  Pause: true
}

const modes: Every<ToolRecoveryMode> = { NeverReplay: true, ReplaySafe: true, Idempotent: true, DurableRequest: true }

const stops: Every<StopReason> = {
  endTurn: true,
  toolCalls: true,
  length: true,
  contentFilter: true,
  stopSequence: true,
  broken: true,
  other: true
}

const failures: Every<FailureReason> = {
  Inference: true,
  RepeatedInvalidCall: true,
  StateConflict: true,
  StateUnreadable: true,
  InvalidFinalAnswer: true,
  CapabilityBound: true,
  SnapshotUnusable: true,
  Budget: true,
  Internal: true
}

const causes: Every<EndCause["_tag"], ReadonlyArray<EndCause>> = {
  NaturalEnd: [{ _tag: "NaturalEnd" }, { _tag: "NaturalEnd", limited: true }],
  MaxSteps: [{ _tag: "MaxSteps" }],
  Cancelled: [{ _tag: "Cancelled" }],
  Stopped: [{ _tag: "Stopped", reason: "by hand" }],
  Error: keys(failures).map((reason) => ({ _tag: "Error", failure: { reason, detail: "why" } })),
  Indeterminate: [{ _tag: "Indeterminate" }]
}

const usage = { inputTokens: 1, outputTokens: 2, reasoningTokens: 3, cachedInputTokens: 4 }
const notes: Every<RunNote["type"], RunNote> = {
  HookFailed: { type: "HookFailed", hook: "h", phase: "StepStart", message: "no" },
  ArgumentsCoerced: { type: "ArgumentsCoerced", operationId: "o", pointers: ["/a"] },
  UsageRecorded: { type: "UsageRecorded", provider: "p", model: "m", usage },
  LateResult: { type: "LateResult", operationId: "o", attempt: 2, summary: "done" },
  OutputSpilled: { type: "OutputSpilled", operationId: "o", reference: "r", characters: 9 },
  ToolRefused: { type: "ToolRefused", toolId: "t", pointer: "/properties/x", reason: "no such keyword" },
  TriggerHint: { type: "TriggerHint", toolId: "t", trigger: "weather" },
  StateConflict: { type: "StateConflict", keys: ["k"] },
  ModelFallback: { type: "ModelFallback", from: "a", to: "b", reason: "overloaded" },
  SignalRefused: { type: "SignalRefused", signalId: "s", reason: "late" }
}

const audits: Every<AuditRecord["type"]> = {
  Decision: true,
  Answer: true,
  Grant: true,
  Refusal: true,
  Recovery: true,
  Resolution: true,
  Control: true
}

const parts: Every<AssistantPart["type"], AssistantPart> = {
  text: { type: "text", text: "a", providerMetadata: { id: 1 } },
  reasoning: { type: "reasoning", text: "so", providerMetadata: { signature: "x" } },
  toolCall: {
    type: "toolCall",
    callId: "call-0",
    toolId: "pay",
    arguments: {},
    rawArguments: "{",
    providerCallId: "p",
    providerMetadata: { id: 2 }
  },
  providerTool: {
    type: "providerTool",
    toolId: "s",
    callId: "c",
    input: 1,
    output: [null],
    isError: false,
    providerMetadata: { id: 3 }
  },
  image: { type: "image", mediaType: "image/png", data: "QUJD" },
  file: { type: "file", mediaType: "text/plain", data: "QUJD", name: "a" }
}

const answers: Every<ResumeAnswer["_tag"], ResumeAnswer> = {
  Allow: { _tag: "Allow", note: "go" },
  Deny: { _tag: "Deny", reason: "no" },
  Edit: { _tag: "Edit", arguments: { amount: 1 } },
  ToolResult: { _tag: "ToolResult", content: [{ type: "text", text: "a" }], data: 0, isError: false },
  Input: { _tag: "Input", text: "" },
  Continue: { _tag: "Continue" },
  Due: { _tag: "Due" },
  Expire: { _tag: "Expire" }
}

const decisions: Every<TicketDecision["_tag"], TicketDecision> = {
  Allowed: { _tag: "Allowed", by: ["bob"], note: "go" },
  Denied: { _tag: "Denied", by: "clock", reason: "late", expired: true },
  Edited: { _tag: "Edited", by: "bob", arguments: false },
  Answered: { _tag: "Answered", by: "bob", answer: answers.ToolResult },
  Void: { _tag: "Void", reason: "the run ended" }
}

const blocks: ReadonlyArray<ContentBlock> = [
  { type: "text", text: "a" },
  { type: "image", mediaType: "image/png", data: "QUJD" },
  { type: "file", mediaType: "text/plain", data: "QUJD", name: "a" }
]

/** Each answer as the one that used a ticket up. */
const answered: ReadonlyArray<TicketDecision> = keys(answers).map((tag) => ({
  _tag: "Answered",
  by: "bob",
  answer: answers[tag]
}))

const refusals: Every<TicketRefusalReason> = {
  NotWaiting: true,
  RunMismatch: true,
  ThreadMismatch: true,
  SnapshotMismatch: true,
  DigestMismatch: true,
  ToolMismatch: true,
  AnswerKindMismatch: true,
  NotEligible: true,
  AlreadyCounted: true,
  AlreadyDecided: true,
  Expired: true,
  NotDue: true,
  ToolChanged: true,
  InvalidArguments: true
}

const refused = { _tag: "Refused", by: "bob", ticketId: "t", answer: "Allow", reason: "Expired" } as const

const bodies: Every<SignalBody["_tag"], ReadonlyArray<SignalBody>> = {
  Answer: keys(answers).map((tag) => ({
    _tag: "Answer",
    answer: {
      ticketId: "t",
      answer: answers[tag],
      approver: "bob",
      at: 1,
      expect: { runId: "r", threadId: "t", snapshotFingerprint: "f", digest: "d", toolIdentity: "i" }
    }
  })),
  Refused: [
    ...keys(answers).map((answer): SignalBody => ({ ...refused, answer })),
    ...keys(refusals).map((reason): SignalBody => ({ ...refused, reason }))
  ],
  Child: [{ _tag: "Child", operationId: "o", threadId: "t" }],
  Cancel: [{ _tag: "Cancel", by: "ada" }],
  Stop: [{ _tag: "Stop", by: "ada", reason: "enough" }],
  Pause: [{ _tag: "Pause", by: "ada" }],
  Continue: [{ _tag: "Continue", by: "ada" }],
  Steer: [{ _tag: "Steer", by: "ada", content: blocks, interrupt: true }],
  Resolve: [
    { _tag: "Resolve", by: "bob", operationId: "o", resolution: { _tag: "Happened", content: blocks, data: null } },
    { _tag: "Resolve", by: "bob", operationId: "o", resolution: { _tag: "DidNotHappen" } }
  ]
}

const phasesOf: Every<CallPhase["_tag"], ReadonlyArray<BatchCall>> = {
  Requested: [
    call(),
    call({ claim: Serial }),
    call({
      claim: Resources([
        { access: "Read", namespace: "f", key: "k" },
        { access: "Write", namespace: "f", key: "l" }
      ])
    })
  ],
  Awaiting: keys(waits).flatMap((wait) => (wait === "Pause" ? [] : [call({ phase: phases.awaiting(wait) })])),
  Approved: [call({ phase: phases.approved() })],
  Executing: keys(modes).map((mode) =>
    entered(call({ recovery: { mode, maxAttempts: 2 }, phase: phases.executing() }))
  ),
  Completed: [entered(call({ phase: phases.completed() }))],
  NotRun: keys(notRun).map((reason) => call({ phase: { _tag: "NotRun", reason, output: output(0) } })),
  Indeterminate: keys(indeterminate).map((reason) =>
    entered(call({ phase: { _tag: "Indeterminate", reason, output: output(0) } }))
  )
}

const narrowings: Every<RunNarrowing> = { Configured: true, Unattended: true, DenyAll: true }
const scopes: Every<StateScope> = { Run: true, Thread: true, Shared: true }
const merges: Every<StateMerge> = { Disjoint: true, Commutative: true, Exclusive: true }

const state: ReadonlyArray<StateCommand> = keys(scopes).flatMap((scope) =>
  keys(merges).flatMap((merge): ReadonlyArray<StateCommand> => [
    { _tag: "Set", scope, key: "k", merge, value: { a: [1, null, true] } },
    { _tag: "Remove", scope, key: "k", merge }
  ])
)

const proposal: Omit<GrantProposal, "scope" | "match"> = {
  version: 1,
  gate: "policy",
  toolId: "pay",
  toolIdentity: "identity",
  principal: "ada",
  text: "pay(amount = 0)",
  expiresAt: 9
}
const grantScopes: Every<GrantScope["_tag"], GrantScope> = {
  Run: { _tag: "Run", runId: "r" },
  Thread: { _tag: "Thread", threadId: "t" },
  Workspace: { _tag: "Workspace", workspace: "w" }
}
const grantMatches: Every<GrantMatch["_tag"], GrantMatch> = {
  Exact: { _tag: "Exact", digest: "d" },
  Pattern: { _tag: "Pattern", pattern: "pay" }
}
const remembering: ReadonlyArray<SignalBody> = Object.values(grantScopes).flatMap((scope) =>
  Object.values(grantMatches).map((match): SignalBody => ({
    _tag: "Answer",
    answer: { ticketId: "t", answer: answers.Allow, approver: "bob", at: 1 },
    remember: { ...proposal, scope, match }
  }))
)

const full = entered(
  call({
    phase: { _tag: "Completed", output: { ...output(0), content: blocks, data: { n: 1 }, state, foreign: true } }
  })
)

const tools = (["NonRecoverable", "ReplaySafe", "Idempotent", "DurableRequest"] as const).map((recovery, index) =>
  forTool(
    {
      spec: {
        id: `tool-${index}`,
        description: "does something",
        version: "1",
        inputSchema: { type: "object" },
        outputSchema: { type: "string" },
        kind: index === 1 ? "ClientExecuted" : "Regular",
        target: index === 2 ? "Sandbox" : "Brain",
        warnings: index === 3 ? ["open members"] : []
      },
      recovery
    },
    "test:tools"
  )
)

export const snapshots: ReadonlyArray<ExecutableAgentSnapshot> = [
  snapshot,
  builder("full")
    .instructions("Be brief.")
    .model({ provider: "p", model: "m", settings: { temperature: 0 } })
    .fallback({ provider: "q", model: "n" })
    .tools(tools)
    .plugin("p", { on: true })
    .limits({ maxTokens: 9, maxDuration: 9 })
    .arguments("lossless")
    .onIndeterminate("end")
    .triggerHints(true)
    .output({ type: "object", properties: { n: { type: "integer" } } }, { repairs: 2 })
    .metadata({ team: "a" })
    .build()
]

const requirements = [
  { gate: "g", reason: "r", rule: "r", approvers: ["bob"], quorum: 1, requesterMayAnswer: false, deadline: 9 }
]

export const tickets: ReadonlyArray<TicketState> = [
  ...keys(waits).map((kind) => ({
    ticket: ticketFor(call({ phase: phases.awaiting("Permission") }), { kind, requirements, deadline: 9, dueAt: 8 }),
    allowedBy: ["a"]
  })),
  ...[...Object.values(decisions), ...answered].map((decision) => ({
    ticket: ticketFor(call({ phase: phases.awaiting("Permission") })),
    allowedBy: [],
    decision
  }))
]

export const signals: ReadonlyArray<Signal> = [...Object.values(bodies).flat(), ...remembering].map((body, index) => ({
  id: `s-${index}`,
  threadId: "t",
  runId: "r",
  at: 0.5,
  body
}))

export const calls: ReadonlyArray<BatchCall> = [...Object.values(phasesOf).flat(), full]

/** A delta may hold a call in every phase; an opening also one whose arguments stand in no message. */
const batches: ReadonlyArray<ThreadCommit> = calls.flatMap((one) => [
  opening([one]),
  opening([one], { messages: [] }),
  commit({ batch: { _tag: "Change", calls: [one] } }),
  commit({
    batch: {
      _tag: "Publish",
      calls: [one],
      reminders: [{ position: 0, message: { role: "reminder", id: "m", source: "hook", text: "remember" } }]
    }
  })
])

const runRecords = keys(narrowings).map((narrowing) =>
  starting({
    start: {
      record: {
        runId: "run",
        threadId: "thread",
        principal: "ada",
        snapshotFingerprint: snapshot.fingerprint,
        narrowing,
        startedAt: 100,
        parent: { runId: "r", threadId: "t", operationId: "o" },
        metadata: { depth: 1 }
      },
      snapshot
    }
  })
)

export const commits: ReadonlyArray<ThreadCommit> = [
  ...runRecords,
  ...batches,
  ...Object.values(causes)
    .flat()
    .map((cause) => commit({ disposition: Ended(cause) })),
  commit({ disposition: { _tag: "Awaiting", tickets: ["t"] }, tickets: tickets.map(({ ticket }) => ticket) }),
  ...Object.values(notes).map((note) => commit({ notes: [note] })),
  ...keys(audits).map((type) =>
    commit({
      audit: [
        { type, at: 1, operationId: "o", toolId: "t", digest: "d", outcome: "ask", rule: "r", by: "gate", detail: [1] }
      ],
      auditHead: "0".repeat(64)
    })
  ),
  ...keys(stops).map((stop) => commit({ messages: [{ ...asking([]), stop }] })),
  commit({ messages: [{ ...asking([]), content: Object.values(parts) }], expectedSharedRevision: 3 }),
  commit({
    messages: [
      { ...user(), content: blocks },
      { role: "reminder", id: "m", source: "hook", text: "so" }
    ]
  }),
  commit({ state, consumed: ["s"], resolved: ["o"], disposition: Running })
]
