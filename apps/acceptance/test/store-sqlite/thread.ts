/** The commits that these tests write: a run that starts, says things, asks for approval and ends. */
import {
  ExecutableAgentSnapshot,
  type Message,
  ResumeTicket,
  Run,
  ThreadCommit,
  ToolBatch,
  ToolConcurrency,
  ToolOperation,
  ToolOutput
} from "@toolwright/runtime-contract"

const snapshot = ExecutableAgentSnapshot.builder("clerk").model({ provider: "scripted", model: "one" }).build()

export interface Owner {
  readonly threadId: string
  readonly runId: string
  readonly epoch: number
}

/** The owner of a thread's first run. */
export const ownerOf = (threadId: string, epoch = 1): Owner => ({ threadId, runId: `${threadId}-run`, epoch })

const next = (
  { owner, revision }: { readonly owner: Owner; readonly revision: number },
  given: Partial<ThreadCommit.ThreadCommit>
): ThreadCommit.ThreadCommit =>
  ThreadCommit.make({
    id: `${owner.runId}/${revision}`,
    threadId: owner.threadId,
    runId: owner.runId,
    expectedRevision: revision,
    epoch: owner.epoch,
    at: 1_000 + revision,
    disposition: Run.Running,
    step: 0,
    ...given
  })

export const starting = (owner: Owner, revision = 0): ThreadCommit.ThreadCommit =>
  next(
    { owner, revision },
    {
      start: {
        record: {
          runId: owner.runId,
          threadId: owner.threadId,
          principal: "ada",
          snapshotFingerprint: snapshot.fingerprint,
          narrowing: "Configured",
          startedAt: 1_000
        },
        snapshot
      },
      messages: [user("start", 0)]
    }
  )

/** A message for a given revision; `text` is made as long as wanted. */
export const saying = (
  at: { readonly owner: Owner; readonly revision: number },
  given: Partial<ThreadCommit.ThreadCommit> & { readonly text?: string } = {}
): ThreadCommit.ThreadCommit => {
  const { text, ...rest } = given
  return next(at, { messages: [user(text ?? `message ${at.revision}`, at.revision)], ...rest })
}

/** One call that waits for permission, and the run with it. */
export const asking = (
  at: { readonly owner: Owner; readonly revision: number },
  given: Partial<ResumeTicket.ResumeTicket> = {}
): ThreadCommit.ThreadCommit => {
  const { owner } = at
  const operationId = ToolOperation.idOf(owner.runId, 1, 0)
  const args = { amount: 12 }
  const ticketId = ResumeTicket.idOf(operationId, "Permission", 0)
  const call: ToolBatch.BatchCall = {
    operationId,
    position: 0,
    callId: "call-1",
    toolId: "pay",
    arguments: args,
    digest: ToolBatch.digestOf(args),
    proposal: 0,
    recovery: { mode: "NeverReplay", maxAttempts: 3 },
    claim: ToolConcurrency.Parallel,
    attempts: 0,
    phase: { _tag: "Awaiting", ticketId, wait: "Permission" }
  }
  const ticket: ResumeTicket.ResumeTicket = {
    id: ticketId,
    kind: "Permission",
    runId: owner.runId,
    threadId: owner.threadId,
    principal: "ada",
    snapshotFingerprint: snapshot.fingerprint,
    operationId,
    callId: call.callId,
    toolId: call.toolId,
    toolIdentity: "identity",
    arguments: args,
    digest: call.digest,
    proposal: 0,
    requirements: [{ reason: "moves money" }],
    issuedAt: 1_000,
    ...given
  }
  const turn: Message.AssistantMessage = {
    role: "assistant",
    id: `${owner.runId}/1`,
    runId: owner.runId,
    step: 1,
    content: [{ type: "toolCall", callId: call.callId, toolId: call.toolId, arguments: args }],
    stop: "toolCalls"
  }
  return next(at, {
    step: 1,
    messages: [turn],
    batch: { _tag: "Open", step: 1, calls: [call] },
    tickets: [ticket],
    disposition: { _tag: "Awaiting", tickets: [ticketId] }
  })
}

const user = (text: string, number: number): Message.UserMessage => ({
  role: "user",
  id: `m-${number}`,
  content: [{ type: "text", text }]
})

/** The end of the batch that `asking` opened, with state of every scope. */
export const publishing = (
  at: { readonly owner: Owner; readonly revision: number },
  call: ToolBatch.BatchCall
): ThreadCommit.ThreadCommit =>
  next(at, {
    step: 1,
    batch: { _tag: "Publish", calls: [call], reminders: [] },
    state: (["Run", "Thread", "Shared"] as const).map((scope) => ({
      _tag: "Set",
      scope,
      key: "paid",
      merge: "Disjoint",
      value: { cents: [12] }
    }))
  })

/** The end of a run whose call still waits: it is told that it did not run. */
export const cancelling = (
  at: { readonly owner: Owner; readonly revision: number },
  asked: ThreadCommit.ThreadCommit
): ThreadCommit.ThreadCommit => {
  const calls = (asked.batch?.calls ?? []).map((call): ToolBatch.BatchCall => {
    const output = ToolOutput.error(call.callId, "the run was cancelled")
    const result = ToolBatch.transition(call, { _tag: "Refuse", reason: "RunEnded", output })
    if (!result.ok) throw new Error(result.illegal.rule)
    return result.call
  })
  return next(at, {
    step: 1,
    batch: { _tag: "Publish", calls, reminders: [] },
    disposition: Run.Ended({ _tag: "Cancelled" })
  })
}
