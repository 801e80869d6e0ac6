// The small world that most tests of the engine live in: a scripted model, recorded tools, a store that is watched.
import {
  Attribution,
  type CrashPoint,
  ExecutableAgentSnapshot,
  GateOutcome,
  type Json,
  PermissionGate,
  type RawTool,
  type ThreadCommit,
  type ThreadStore,
  ToolConcurrency,
  ToolDescriptor,
  ToolOutput,
  type ToolRecovery
} from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { EffectRecorder, forwarding, type Script, ScriptedLlm, TestClock } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { type PromiseRuntime, Runtime, type RuntimeOptions } from "../../src/index.js"

const anyObject: Json.JsonObject = Object.freeze({ type: "object", additionalProperties: true })

export interface PlainTool {
  readonly id: string
  readonly inputSchema?: Json.JsonObject
  readonly recovery?: ToolRecovery.ToolRecoveryCapability
  readonly concurrency?: (args: Json.JsonObject) => ToolConcurrency.ToolConcurrency
  readonly kind?: RawTool.ToolKind
  readonly target?: RawTool.ToolTarget
  readonly version?: string
  readonly more?: Partial<RawTool.RawTool>
  readonly outputSchema?: Json.JsonObject
}

/** An executable tool around a function that may give, throw or do anything. */
export const rawTool = (
  given: PlainTool,
  invoke: (call: RawTool.ToolCall, context: RawTool.InvocationContext) => unknown = () => undefined
): RawTool.RawTool => {
  const spec: RawTool.ToolSpec = Object.freeze({
    id: given.id,
    description: `the tool ${given.id}`,
    ...(given.version === undefined ? {} : { version: given.version }),
    inputSchema: given.inputSchema ?? anyObject,
    ...(given.outputSchema === undefined ? {} : { outputSchema: given.outputSchema }),
    kind: given.kind ?? "Regular",
    target: given.target ?? "Brain",
    warnings: []
  })
  return {
    spec: () => spec,
    recovery: given.recovery ?? "NonRecoverable",
    attribution: Attribution.make(given.id),
    stateKeys: [],
    concurrency: given.concurrency ?? (() => ToolConcurrency.Parallel),
    // Tests hand out whatever foreign code might hand out.
    invoke: (call, context) => {
      const answer = invoke(call, context)
      return (answer === undefined ? ToolOutput.ok(call.callId, "done") : answer) as ToolOutput.ToolOutput
    },
    ...given.more
  }
}

export const text = (value: string) => (call: RawTool.ToolCall) => ToolOutput.ok(call.callId, value)

export const snapshotOf = (
  tools: ReadonlyArray<RawTool.RawTool>,
  change: (builder: ExecutableAgentSnapshot.SnapshotBuilder) => ExecutableAgentSnapshot.SnapshotBuilder = (same) => same
): ExecutableAgentSnapshot.ExecutableAgentSnapshot =>
  change(
    ExecutableAgentSnapshot.builder("agent")
      .model({ provider: "scripted", model: "one" })
      .tools(tools.map((tool) => ToolDescriptor.forTool(tool, "test:tools")))
  ).build()

/** Every commit that a store acknowledged. */
export class WatchedStore {
  readonly commits: Array<ThreadCommit.ThreadCommit> = []
  readonly store: ThreadStore.ThreadStore
  constructor(inner: ThreadStore.ThreadStore) {
    this.store = forwarding(inner, {
      commit: (commit) =>
        Effect.tap(inner.commit(commit), () => Effect.sync(() => (this.commits.push(commit), undefined)))
    })
  }
  /** What each commit did, in a word or two. */
  get summary(): ReadonlyArray<string> {
    return this.commits.map(summaryOf)
  }
}

const summaryOf = (commit: ThreadCommit.ThreadCommit): string => {
  const { batch, disposition } = commit
  const what =
    commit.start !== undefined
      ? "start"
      : batch === undefined
        ? commit.messages.map((message) => message.role).join("+") || "nothing"
        : `${batch._tag} ${batch.calls.map((call) => `${call.position}:${call.phase._tag}`).join(" ")}`.trim()
  const cause = disposition._tag === "Ended" ? ` ${disposition.cause._tag}` : ""
  return disposition._tag === "Running" ? what : `${what} > ${disposition._tag}${cause}`
}

export interface World {
  readonly runtime: PromiseRuntime
  readonly llm: ScriptedLlm
  readonly watched: WatchedStore
  readonly memory: MemoryThreadStore
  readonly clock: TestClock
  readonly recorder: EffectRecorder
}

export interface WorldOptions extends Partial<Omit<RuntimeOptions, "llm" | "tools" | "clock" | "store">> {
  readonly script: Script
  readonly tools?: (recorder: EffectRecorder) => ReadonlyArray<RawTool.RawTool>
  readonly memory?: MemoryThreadStore
  readonly clock?: TestClock
  readonly recorder?: EffectRecorder
  readonly store?: (inner: ThreadStore.ThreadStore) => ThreadStore.ThreadStore
}

let made = 0

export const makeWorld = (options: WorldOptions): World & { readonly tools: ReadonlyArray<RawTool.RawTool> } => {
  const { script, memory: given, clock: ticking, recorder: recording, store: wrap, tools: toolsOf, ...rest } = options
  const clock = ticking ?? new TestClock(1_000)
  const memory = given ?? new MemoryThreadStore({ now: clock.now })
  const watched = new WatchedStore(wrap === undefined ? memory : wrap(memory))
  const recorder = recording ?? new EffectRecorder()
  const tools = toolsOf?.(recorder) ?? []
  const llm = new ScriptedLlm(script)
  const world = ++made
  let ids = 0
  const runtime = Runtime.make({
    gate: PermissionGate.allowAll,
    idSource: () => `id-${world}-${++ids}`,
    ...rest,
    llm,
    tools,
    clock,
    store: watched.store
  })
  return { runtime, llm, watched, memory, clock, recorder, tools }
}

/** Lets everything run that can run without time passing. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** A crash point that drops the run the first time it is met. */
export const dropAt = (point: CrashPoint.CrashPointName, times = 1): CrashPoint.CrashPoint => {
  let left = times
  return (met) => {
    if (met === point && left-- > 0) throw new Error(`dropped at ${point}`)
  }
}

export const ask = (reason = "may it?"): GateOutcome.GateOutcome => GateOutcome.requireConfirmation({ reason })

export const call = (toolId: string, args: Json.JsonObject = {}) => ({ toolId, arguments: args })
