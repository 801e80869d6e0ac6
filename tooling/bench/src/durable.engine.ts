/**
 * The runtime as the durable bench has it: one plain allowed call a step, with texts of an ordinary size, over any store.
 * A model and a tool that cost nothing, so that what is measured is the engine and the store.
 */
import { erase } from "@toolwright/builtin-tools"
import * as Permissions from "@toolwright/permissions"
import { type PromiseRuntime, Runtime, type RunOutcome } from "@toolwright/runtime"
import {
  type CrashPoint,
  ExecutableAgentSnapshot,
  type LlmExecutor,
  type ThreadCommit,
  type ThreadStore,
  Tool,
  ToolDescriptor
} from "@toolwright/runtime-contract"
import { MemoryThreadStore } from "@toolwright/runtime-contract/memory"
import { forwarding } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { Type } from "typebox"
import { args, result, said } from "./durable.commits.js"

type Event = LlmExecutor.LlmEvent

const raw = JSON.stringify(args)

const tool = Tool.make({
  id: "get_weather",
  description: "Tells the weather of the next days",
  args: Type.Object({ city: Type.String(), unit: Type.String(), days: Type.Integer(), detail: Type.String() }),
  recovery: "ReplaySafe",
  call: () => result
})

/** Asks for one call in each step but the last. A run that is found is answered at once. */
class Model implements LlmExecutor.LlmExecutor {
  readonly #steps = new Map<string, number>()
  readonly #given: EngineGiven
  constructor(given: EngineGiven) {
    this.#given = given
  }
  readonly stream = (request: LlmExecutor.LlmRequest): AsyncIterable<Event> => {
    const step = (this.#steps.get(request.runId) ?? 0) + 1
    this.#steps.set(request.runId, step)
    this.#given.onStep?.(step)
    return turn(step < this.#given.steps ? `call_${step}` : undefined)
  }
}

// oxlint-disable-next-line require-await -- the events are there at once
const turn = async function* (callId: string | undefined): AsyncGenerator<Event> {
  yield { type: "text", text: said }
  if (callId !== undefined) yield { type: "toolCall", callId, toolId: "get_weather", arguments: raw }
  yield { type: "finish", stop: callId === undefined ? "endTurn" : "toolCalls" }
}

export interface EngineGiven {
  readonly store: ThreadStore.ThreadStore
  /** Model exchanges of a run; the last one answers. */
  readonly steps: number
  readonly onStep?: (step: number) => void
  readonly crashPoint?: CrashPoint.CrashPoint
}

export interface Engine {
  readonly runtime: PromiseRuntime
  readonly run: (threadId: string) => Promise<RunOutcome>
}

export const engineOf = (given: EngineGiven): Engine => {
  const snapshot = ExecutableAgentSnapshot.builder("bench")
    .instructions("Answer with the weather. ".repeat(20))
    .model({ provider: "scripted", model: "scripted-1" })
    .tools([ToolDescriptor.forTool(tool, "bench")])
    .limits({ maxSteps: given.steps + 1 })
    .build()
  const runtime = Runtime.make({
    llm: new Model(given),
    gate: Permissions.PermissionGate.make({ allow: ["get_weather"] }),
    tools: [erase(tool)],
    store: given.store,
    // What owns a thread for so long is never seen to renew its lease.
    leaseTtl: 3_600_000,
    ...(given.crashPoint === undefined ? {} : { crashPoint: given.crashPoint })
  })
  const input = "What will the weather be in Amsterdam, and what should I pack?"
  return { runtime, run: (threadId) => runtime.run({ snapshot, input, principal: "user:bench", threadId }) }
}

export const isEnded = ({ disposition }: RunOutcome): boolean =>
  disposition._tag === "Ended" && disposition.cause._tag === "NaturalEnd"

/** What the runtime commits in such a run, for a floor that writes the same bytes. `crashes`: it dies in its last call. */
export const commitsOfRun = async (given: {
  readonly threadId: string
  readonly steps: number
  readonly crashes?: boolean
}): Promise<ReadonlyArray<ThreadCommit.ThreadCommit>> => {
  const commits: Array<ThreadCommit.ThreadCommit> = []
  const memory = new MemoryThreadStore()
  let calls = 0
  const dies: CrashPoint.CrashPoint = (point) => {
    if (point === "dispatch.before" && ++calls === given.steps - 1) throw new Error("dies here")
  }
  const engine = engineOf({
    store: forwarding(memory, {
      commit: (one) => Effect.tap(memory.commit(one), () => Effect.sync(() => void commits.push(one)))
    }),
    steps: given.steps,
    ...(given.crashes === true ? { crashPoint: dies } : {})
  })
  await engine.run(given.threadId).catch(() => undefined)
  return commits
}
