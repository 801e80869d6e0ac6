/**
 * The table of crash scenarios: recovery capability x decision x shape of the run, each with the laws of its own cell.
 */
import { Message, type ToolBatch } from "@toolwright/runtime-contract"
import { type PromiseRuntime, Runtime } from "@toolwright/runtime"
import type { CrashScenario, ScriptedCall, ThreadAftermath } from "@toolwright/testing"
import * as Effect from "effect/Effect"
import { actTool, type Capability, type Decision, gateOf, openStore, scriptOf, snapshotOf } from "./agent.js"

const capabilities: ReadonlyArray<Capability> = ["NonRecoverable", "ReplaySafe", "Idempotent", "DurableRequest"]
const decisions: ReadonlyArray<Decision> = ["allow", "ask", "deny"]
const shapes = ["one", "parallel", "second"] as const
type Shape = (typeof shapes)[number]

const act = (n: number): ScriptedCall => ({ toolId: "act", arguments: { n } })

const stepsOf: Readonly<Record<Shape, ReadonlyArray<ReadonlyArray<ScriptedCall>>>> = {
  one: [[act(1)]],
  parallel: [[act(1), act(2), act(3)]],
  second: [[act(1)], [act(2)]]
}

interface Cell {
  readonly recovery: Capability
  readonly decision: Decision
  readonly shape: Shape
}

export const nameOf = ({ decision, recovery, shape }: Cell): string => `${recovery} ${decision} ${shape}`

const threadId = "thread"

/** Calls that finish one behind the other's commit, so that every run meets the same points. */
class Turns {
  readonly #done = new Set<number>()
  readonly #waiting = new Map<number, () => void>()
  readonly proceed = (n: number): Promise<void> =>
    n === 1 || this.#done.has(n - 1) ? Promise.resolve() : new Promise((resolve) => this.#waiting.set(n - 1, resolve))
  readonly done = (call: ToolBatch.BatchCall): void => {
    const n = call.arguments["n"]
    if (call.phase._tag !== "Completed" || typeof n !== "number") return
    this.#done.add(n)
    this.#waiting.get(n)?.()
  }
}

const scenarioOf = (cell: Cell): CrashScenario => ({
  name: nameOf(cell),
  openStore,
  open: (world) => {
    const turns = new Turns()
    const tools = [
      actTool({
        recovery: cell.recovery,
        outside: world.outside,
        ...(world.isRecovery ? {} : { proceed: turns.proceed })
      })
    ]
    const runtime = Runtime.make({
      llm: scriptOf(stepsOf[cell.shape]),
      gate: gateOf(cell.decision),
      tools,
      store: world.store,
      clock: world.clock,
      crashPoint: world.crashPoint
    })
    const onEvent: NonNullable<Parameters<PromiseRuntime["run"]>[0]["onEvent"]> = (event) => {
      if (event._tag === "Fact" && event.fact.type === "CallChanged") turns.done(event.fact.call)
    }
    return {
      start: async () => {
        let outcome = await runtime.run({
          snapshot: snapshotOf(tools),
          input: "Go.",
          principal: "ada",
          threadId,
          onEvent
        })
        for (let [ticket] = outcome.tickets; ticket !== undefined; [ticket] = outcome.tickets)
          outcome = await runtime.resume(ticket.id, { _tag: "Allow" }, { approver: "bob", answerId: "bob", onEvent })
      },
      recover: () => recover(runtime, world),
      close: () => runtime.close()
    }
  },
  laws: (thread) => lawsOf(cell, thread)
})

/** Goes on with what is due, and answers what waits, as the start of an application and its people would. */
const recover = async (
  runtime: PromiseRuntime,
  { store }: Pick<Parameters<CrashScenario["open"]>[0], "store">
): Promise<void> => {
  const recovered = await runtime.recover()
  for (const { error } of recovered) if (error !== undefined) throw error
  const view = await Effect.runPromise(store.load(threadId))
  const waiting = view?.disposition?._tag === "Awaiting" ? view.disposition.tickets : []
  for (const ticketId of waiting) {
    const outcome = await runtime.resume(ticketId, { _tag: "Allow" }, { approver: "bob", answerId: "bob" })
    if (outcome.disposition._tag === "Ended") return
  }
  if (waiting.length > 0) await recover(runtime, { store })
}

function* brokenOf({ decision, recovery, shape }: Cell, { effects, facts, view }: ThreadAftermath): Generator<string> {
  if (view === undefined) {
    if (effects.length > 0) yield "somebody acted for a run that was never acknowledged"
    return
  }
  const { disposition } = view
  if (disposition?._tag !== "Ended" || disposition.cause._tag !== "NaturalEnd")
    yield `the run did not come to its natural end: ${JSON.stringify(disposition)}`
  const results = view.messages.toArray().flatMap((message) => (message.role === "tool" ? [message] : []))
  const asked = stepsOf[shape].flat().length
  if (results.length !== asked) yield `${results.length} results stand where ${asked} calls were asked for`
  const approved = new Set<string>()
  for (const { fact } of facts)
    if (fact.type === "CallChanged" && fact.call.phase._tag === "Approved") approved.add(fact.call.operationId)
  for (const { operationId } of effects)
    if (decision === "ask" && !approved.has(operationId)) yield `${operationId} ran without an approval`
  for (const result of results) {
    const entries = effects.filter(({ operationId }) => operationId === result.operationId).length
    const told = Message.textOf(result.content)
    yield* brokenResult(
      { decision, recovery },
      { entries, told, outcome: result.outcome, operationId: result.operationId }
    )
  }
}

interface Result {
  readonly operationId: string
  readonly entries: number
  readonly outcome: Message.CallOutcomeKind
  readonly told: string
}

function* brokenResult(
  { decision, recovery }: Pick<Cell, "decision" | "recovery">,
  { entries, operationId, outcome, told }: Result
): Generator<string> {
  const found = `${operationId} is ${outcome} behind ${entries} entries ("${told}")`
  if (decision === "deny") {
    if (outcome !== "NotRun" || entries > 0) yield `denied, but ${found}`
    return
  }
  if (outcome === "NotRun") yield `allowed, but ${found}`
  if (outcome === "Indeterminate" && !told.includes("may have happened")) yield `not told honestly: ${found}`
  if (recovery === "NonRecoverable") {
    if (outcome === "Completed" && entries !== 1) yield `not made once: ${found}`
    return
  }
  // Two deaths leave attempts enough: what may be repeated is never given up.
  if (outcome !== "Completed" || entries < 1 || entries > 3) yield `may be repeated, but ${found}`
  if (recovery === "DurableRequest" && entries !== 1) yield `can be asked after, but ${found}`
}

const lawsOf = (cell: Cell, thread: ThreadAftermath): ReadonlyArray<string> => [...brokenOf(cell, thread)]

export const cells: ReadonlyArray<Cell> = capabilities.flatMap((recovery) =>
  decisions.flatMap((decision) => shapes.map((shape) => ({ recovery, decision, shape })))
)

export const crashTable: ReadonlyArray<CrashScenario> = cells.map(scenarioOf)

/** What people do to a run that is open, and to one whose outcome is unknown: the same laws. */
export const controlScenarios: ReadonlyArray<CrashScenario> = [
  {
    name: "steered while it waits",
    openStore,
    open: (world) => {
      const tools = [actTool({ recovery: "NonRecoverable", outside: world.outside })]
      const { clock, crashPoint, store } = world
      const runtime = Runtime.make({ llm: scriptOf([[act(1)]]), gate: gateOf("ask"), tools, store, clock, crashPoint })
      return {
        start: async () => {
          await runtime.run({ snapshot: snapshotOf(tools), input: "Go.", principal: "ada", threadId })
          const { tickets } = await runtime.steer({ threadId, input: "Hurry." })
          await runtime.resume(tickets[0]?.id ?? "", { _tag: "Allow" }, { approver: "bob", answerId: "bob" })
        },
        recover: () => recover(runtime, world),
        close: () => runtime.close()
      }
    }
  },
  {
    name: "settled by a person",
    openStore,
    open: (world) => {
      // Deaf: it is entered, and never comes back.
      const proceed = (): Promise<void> => new Promise(() => {})
      const tools = [actTool({ recovery: "NonRecoverable", outside: world.outside, proceed })]
      const { clock, crashPoint, store } = world
      const limits = { toolTimeout: 20, grace: 20 }
      const runtime = Runtime.make({
        llm: scriptOf([[act(1)]]),
        gate: gateOf("allow"),
        tools,
        store,
        clock,
        crashPoint,
        limits
      })
      return {
        start: async () => {
          await runtime.run({ snapshot: snapshotOf(tools), input: "Go.", principal: "ada", threadId })
          const [operationId = ""] = (await Effect.runPromise(store.load(threadId)))?.openOutcomes.keys() ?? []
          await runtime.resolve({ threadId, operationId, resolution: { _tag: "DidNotHappen" }, by: "bob" })
        },
        recover: () => recover(runtime, world),
        close: () => runtime.close()
      }
    }
  }
]
