/**
 * The commits of a run as the engine makes them: a start, two for each step with one plain allowed call, and one for the
 * answer that ends it. Plain data, so that the store and the floor write the same bytes.
 */
import {
  ExecutableAgentSnapshot,
  Json,
  type Message,
  Run,
  ThreadCommit,
  ToolBatch,
  ToolConcurrency,
  ToolOperation,
  ToolOutput,
  ToolRecovery
} from "@toolwright/runtime-contract"

const snapshot = ExecutableAgentSnapshot.builder("bench")
  .instructions("Answer with the weather. ".repeat(20))
  .model({ provider: "scripted", model: "scripted-1" })
  .build()

export const args = { city: "Amsterdam", unit: "celsius", days: 3, detail: "hourly temperature, wind and rain" }
const digest = Json.digest("toolwright/arguments/1", args)
const recovery = ToolRecovery.policyFor("ReplaySafe")
export const said = "I will look up the weather of the next days first, then answer with what matters for the trip. "
export const result = "12 degrees, wind from the west, rain in the afternoon. ".repeat(4)

export interface RunAt {
  readonly threadId: string
  readonly runId: string
  readonly epoch: number
  /** Of the thread before the run. */
  readonly revision: number
  /** Model exchanges; the last one answers. */
  readonly steps: number
}

const at = 1_750_000_000_000

/** One commit after the other, each for the revision that the one before leaves. */
export const commitsOf = function* (run: RunAt): Generator<ThreadCommit.ThreadCommit> {
  let revision = run.revision
  const commit = (
    given: Pick<ThreadCommit.ThreadCommit, "disposition" | "step"> & Partial<ThreadCommit.ThreadCommit>
  ): ThreadCommit.ThreadCommit =>
    ThreadCommit.make({
      id: `${run.runId}/${revision}`,
      threadId: run.threadId,
      runId: run.runId,
      expectedRevision: revision++,
      epoch: run.epoch,
      at: at + revision,
      ...given
    })
  yield commit({
    disposition: Run.Running,
    step: 0,
    start: { record: recordOf(run), snapshot },
    messages: [userOf(run)]
  })
  for (let step = 1; step < run.steps; step++) {
    const call = callOf(run, step)
    const running = moved(call, { _tag: "Enter", digest })
    const audit = [
      {
        type: "Decision",
        at,
        operationId: call.operationId,
        toolId: call.toolId,
        digest,
        outcome: "Allow",
        by: "policy"
      }
    ] as const
    const open = { _tag: "Open", step, calls: [running] } as const
    yield commit({ disposition: Run.Running, step, messages: [turnOf({ run, step }, call)], batch: open, audit })
    const done = moved(running, { _tag: "Complete", output: ToolOutput.ok(call.callId, result) })
    yield commit({ disposition: Run.Running, step, batch: { _tag: "Publish", calls: [done], reminders: [] } })
  }
  const { steps } = run
  const ended = Run.Ended({ _tag: "NaturalEnd" })
  yield commit({ disposition: ended, step: steps, messages: [turnOf({ run, step: steps }, undefined)] })
}

const recordOf = (run: RunAt): Run.RunRecord => ({
  runId: run.runId,
  threadId: run.threadId,
  principal: "user:bench",
  snapshotFingerprint: snapshot.fingerprint,
  narrowing: "Configured",
  startedAt: at
})

const userOf = (run: RunAt): Message.UserMessage => ({
  role: "user",
  id: `${run.runId}/input`,
  content: [{ type: "text", text: "What will the weather be in Amsterdam, and what should I pack?" }]
})

const callOf = (run: RunAt, step: number): ToolBatch.BatchCall => ({
  operationId: ToolOperation.idOf(run.runId, step, 0),
  position: 0,
  callId: `call_${step}`,
  toolId: "get_weather",
  arguments: args,
  digest,
  proposal: 0,
  recovery,
  claim: ToolConcurrency.Parallel,
  attempts: 0,
  phase: ToolBatch.Requested
})

const moved = (call: ToolBatch.BatchCall, event: ToolBatch.CallEvent): ToolBatch.BatchCall => {
  const transition = ToolBatch.transition(call, event)
  if (!transition.ok) throw new Error(transition.illegal.rule)
  return transition.call
}

const turnOf = (
  { run, step }: { readonly run: RunAt; readonly step: number },
  call: ToolBatch.BatchCall | undefined
): Message.AssistantMessage => ({
  role: "assistant",
  id: `${run.runId}/${step}`,
  runId: run.runId,
  step,
  content: [
    { type: "text", text: said },
    ...(call === undefined
      ? []
      : [{ type: "toolCall", callId: call.callId, toolId: call.toolId, arguments: call.arguments } as const])
  ],
  stop: call === undefined ? "endTurn" : "toolCalls"
})
