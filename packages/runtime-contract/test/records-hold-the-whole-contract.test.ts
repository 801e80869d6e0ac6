import { describe, expect, it } from "vitest"
import { canonicalJson, type Json } from "../src/Json.js"
import type { AssistantPart, StopReason } from "../src/Message.js"
import * as Records from "../src/records.js"
import type { ResumeAnswer, TicketDecision, WaitKind } from "../src/ResumeTicket.js"
import { Ended, type EndCause, type FailureReason } from "../src/Run.js"
import type { AuditRecord, RunNote, ThreadCommit } from "../src/ThreadCommit.js"
import type { SignalBody } from "../src/ThreadStore.js"
import type { BatchCall, CallPhase, IndeterminateReason, NotRunReason } from "../src/ToolBatch.js"
import { Resources, Serial } from "../src/ToolConcurrency.js"
import type { ToolRecoveryMode } from "../src/ToolRecovery.js"
import { asking, call, commit, entered, opening, output, phases, snapshot, ticketFor } from "./kernelWorld.js"

// Each table names every member of a closed union of the contract: a new one does not compile until it stands here, and
// is red until a record can hold it.
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
    providerCallId: "p"
  },
  providerTool: { type: "providerTool", toolId: "s", callId: "c", input: 1, output: [null], isError: false },
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
  Refused: [{ _tag: "Refused", by: "bob", ticketId: "t", answer: "Allow", reason: "Expired" }],
  Child: [{ _tag: "Child", operationId: "o", threadId: "t" }],
  Cancel: [{ _tag: "Cancel", by: "ada" }],
  Stop: [{ _tag: "Stop", by: "ada", reason: "enough" }],
  Pause: [{ _tag: "Pause", by: "ada" }],
  Continue: [{ _tag: "Continue", by: "ada" }],
  Steer: [{ _tag: "Steer", by: "ada", content: [{ type: "text", text: "also" }], interrupt: true }],
  Resolve: [
    { _tag: "Resolve", by: "bob", operationId: "o", resolution: { _tag: "Happened", content: [], data: null } },
    { _tag: "Resolve", by: "bob", operationId: "o", resolution: { _tag: "DidNotHappen" } }
  ]
}

const phasesOf: Every<CallPhase["_tag"], ReadonlyArray<BatchCall>> = {
  Requested: [
    call(),
    call({ claim: Serial }),
    call({ claim: Resources([{ access: "Read", namespace: "f", key: "k" }]) })
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

const options = { position: "record", snapshot: () => snapshot }
const reread = (made: ThreadCommit): ThreadCommit => Records.decodeCommit(Records.encodeCommit(made), options)

describe("records hold the whole contract", () => {
  it("[R11] a call in every phase, for every reason, wait, mode and claim", () => {
    const calls = Object.values(phasesOf).flat()
    expect(calls.map((one) => Records.decodeCall(Records.encodeCall(one), options))).toEqual(calls)
    const changed = calls.map((one) => commit({ batch: { _tag: "Change", calls: [one] } }))
    expect(changed.map(reread)).toEqual(changed)
  })

  it("[R11] every end, note, audit record and stop, and every part of a message", () => {
    const commits = [
      ...Object.values(causes)
        .flat()
        .map((cause) => commit({ disposition: Ended(cause) })),
      ...Object.values(notes).map((note) => commit({ notes: [note] })),
      ...keys(audits).map((type) =>
        commit({
          audit: [
            {
              type,
              at: 1,
              operationId: "o",
              toolId: "t",
              digest: "d",
              outcome: "ask",
              rule: "r",
              by: "gate",
              detail: [1]
            }
          ]
        })
      ),
      ...keys(stops).map((stop) => commit({ messages: [{ ...asking([]), stop }] })),
      commit({ messages: [{ ...asking([]), content: Object.values(parts) }], expectedSharedRevision: 3 })
    ]
    expect(commits.map(reread)).toEqual(commits)
  })

  it("[R11, H1] a ticket of every kind, and every decision about it", () => {
    const waiting = call({ phase: phases.awaiting("Permission") })
    const requirements = [
      { gate: "g", reason: "r", rule: "r", approvers: ["bob"], quorum: 1, requesterMayAnswer: false, deadline: 9 }
    ]
    const states = [
      ...keys(waits).map((kind) => ({
        ticket: ticketFor(waiting, { kind, requirements, deadline: 9, dueAt: 8 }),
        allowedBy: ["a"]
      })),
      ...Object.values(decisions).map((decision) => ({ ticket: ticketFor(waiting), allowedBy: [], decision }))
    ]
    expect(states.map((state) => Records.decodeTicket(Records.encodeTicket(state), options))).toEqual(states)
    const issued = opening([waiting])
    expect(reread(issued)).toEqual(issued)
  })

  it("[R11, D3] every signal", () => {
    const signals = Object.values(bodies)
      .flat()
      .map((body, index) => ({ id: `s-${index}`, threadId: "t", runId: "r", at: 0.5, body }))
    expect(signals.map((signal) => Records.decodeSignal(Records.encodeSignal(signal), options))).toEqual(signals)
  })

  it("[R11] text is kept to the last character, and `__proto__` is data", () => {
    const odd = JSON.parse('{"__proto__":{"a":1},"constructor":null,"":[[],{}],"n":-1.5e-7}') as BatchCall["arguments"]
    const made = opening([call({ arguments: odd })], {
      notes: [{ ...notes.HookFailed, message: "\u0000\u2028 🔧 e\u0301" } as RunNote]
    })
    // Canonical text, because deep equality does not look at an own `__proto__`.
    const text = (one: ThreadCommit): string => canonicalJson(JSON.parse(JSON.stringify(one)) as Json)
    expect(text(reread(made))).toBe(text(made))
  })
})
