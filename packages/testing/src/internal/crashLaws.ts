/**
 * What must hold of a thread, whatever died while it was made: the laws of the crash harness and of the simulation.
 *
 * Guarantees: judges committed facts, the stored thread and what the outside world saw, and nothing else, so it holds an
 * engine to its promises without knowing the engine.
 * Does not judge what a scenario alone knows, such as how often an approved call must have run.
 */
import { createHash } from "node:crypto"
import { type Json, type Message, type RunEvent, type ThreadStore, ToolBatch } from "@toolwright/runtime-contract"

/** One entry into a tool, as the outside world saw it. */
export interface SeenEffect {
  readonly toolId: string
  readonly threadId: string
  readonly operationId: string
  readonly attempt: number
  readonly arguments: Json.JsonObject
}

/** A commit that a store acknowledged: its facts must be there for good. */
export interface AcknowledgedCommit {
  readonly threadId: string
  readonly revision: number
  readonly firstFact: number
  readonly factCount: number
  /** SHA-256 over the facts. */
  readonly digest: string
}

/** A thread when all is over, and what was seen of it from outside. */
export interface Aftermath {
  readonly view: ThreadStore.ThreadView | undefined
  readonly facts: ReadonlyArray<ThreadStore.NumberedFact>
  readonly effects: ReadonlyArray<SeenEffect>
  readonly acknowledged: ReadonlyArray<AcknowledgedCommit>
}

export const digestOfFacts = (facts: ReadonlyArray<RunEvent.RunFact>): string =>
  createHash("sha256").update(JSON.stringify(facts, sorted)).digest("hex")

/** A store may give the keys of an object in another order than they came. */
const sorted = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1)))
    : value

/** Every law that does not hold, in words; empty where all do. */
export const brokenLaws = (aftermath: Aftermath): ReadonlyArray<string> => [
  ...brokenByStore(aftermath),
  ...brokenByCalls(aftermath),
  ...brokenByTranscript(aftermath),
  ...brokenByRuns(aftermath)
]

function* brokenByStore({ acknowledged, facts, view }: Aftermath): Generator<string> {
  for (const [index, { number }] of facts.entries())
    if (number !== index + 1) yield `fact ${number} stands where fact ${index + 1} belongs`
  for (const commit of acknowledged) {
    const kept = facts.slice(commit.firstFact - 1, commit.firstFact - 1 + commit.factCount).map(({ fact }) => fact)
    if ((view?.revision ?? 0) < commit.revision || digestOfFacts(kept) !== commit.digest)
      yield `revision ${commit.revision} was acknowledged and is not there`
  }
}

/** The states that one operation went through, and its entries. */
interface Story {
  readonly operationId: string
  readonly states: ReadonlyArray<ToolBatch.BatchCall>
  readonly effects: ReadonlyArray<SeenEffect>
}

function* brokenByCalls({ effects, facts }: Aftermath): Generator<string> {
  const states = new Map<string, Array<ToolBatch.BatchCall>>()
  for (const { fact } of facts) {
    if (fact.type !== "CallChanged") continue
    const known = states.get(fact.call.operationId)
    if (known === undefined) states.set(fact.call.operationId, [fact.call])
    else known.push(fact.call)
  }
  for (const { operationId } of effects)
    if (!states.has(operationId)) yield `${operationId} was entered and is nowhere in the thread`
  for (const [operationId, of] of states) {
    const story = { operationId, states: of, effects: effects.filter((effect) => effect.operationId === operationId) }
    for (const broken of [...brokenByStates(story), ...brokenByEffects(story)]) yield `${operationId} ${broken}`
  }
}

function* brokenByStates({ states }: Story): Generator<string> {
  let attempts = 0
  let isOver = false
  const entered = new Set<string>()
  for (const call of states) {
    if (isOver) yield `changed behind its end, to ${call.phase._tag}`
    isOver ||= ToolBatch.isTerminal(call)
    if (call.phase._tag !== "Executing") continue
    if (call.phase.attempt !== ++attempts) yield `went into attempt ${call.phase.attempt} behind ${attempts - 1}`
    entered.add(call.digest)
  }
  const last = states.at(-1)
  if (last === undefined) return
  if (entered.size > 1) yield "was entered with more than one digest"
  if (attempts > (last.recovery.mode === "NeverReplay" ? 1 : last.recovery.maxAttempts))
    yield `was entered ${attempts} times`
  const { phase } = last
  if (phase._tag === "NotRun" && attempts > 0 && phase.reason !== "Unavailable")
    yield "was entered and is told as not run"
  if (phase._tag === "Indeterminate" && attempts === 0 && !states.some(isHandedOut))
    yield "never started and is told as possibly happened"
}

const isHandedOut = ({ phase }: ToolBatch.BatchCall): boolean =>
  phase._tag === "Awaiting" && (phase.wait === "Client" || phase.wait === "Delegation")

function* brokenByEffects({ effects, states }: Story): Generator<string> {
  const last = states.at(-1)
  if (last === undefined) return
  const intents = new Map(
    states.flatMap((call) => (call.phase._tag === "Executing" ? [[call.phase.attempt, call]] : []))
  )
  const seen = new Set<number>()
  for (const { attempt, arguments: args } of effects) {
    const intent = intents.get(attempt)
    if (intent === undefined) yield `was entered (attempt ${attempt}) without a durable intent`
    else if (ToolBatch.digestOf(args) !== intent.digest) yield "ran other arguments than were decided on"
    if (seen.has(attempt)) yield `was entered twice in attempt ${attempt}`
    seen.add(attempt)
  }
  if (last.recovery.mode === "NeverReplay" && effects.length > 1)
    yield `may never repeat and was entered ${effects.length} times`
  if (last.phase._tag === "NotRun" && effects.length > 0) yield "is told as not run and was entered"
  if (last.phase._tag === "Completed" && intents.size > 0 && effects.length === 0)
    yield "is told as completed and nobody saw it"
}

function* brokenByTranscript({ facts, view }: Aftermath): Generator<string> {
  if (view === undefined) return
  const phases = new Map<string, string>()
  for (const { fact } of facts) if (fact.type === "CallChanged") phases.set(fact.call.operationId, fact.call.phase._tag)
  const published = new Set<string>()
  let expected: ReadonlyArray<string> = []
  for (const message of view.messages) {
    if (message.role === "reminder") continue
    if (message.role !== "tool") {
      if (expected.length > 0) yield `call ${expected[0]} has no result before the next message`
      expected = message.role === "assistant" ? callIdsOf(message) : []
      continue
    }
    const [next, ...rest] = expected
    if (next !== message.callId)
      yield `a result for ${message.callId} stands where one for ${next ?? "nothing"} belongs`
    expected = rest
    if (published.has(message.operationId)) yield `${message.operationId} has two results`
    published.add(message.operationId)
    if (message.outcome !== phases.get(message.operationId))
      yield `${message.operationId} is told as ${message.outcome} and is ${phases.get(message.operationId)}`
  }
  if (expected.length > 0 && view.batch === undefined) yield `call ${expected[0]} has no result`
}

const callIdsOf = (message: Message.AssistantMessage): ReadonlyArray<string> =>
  message.content.flatMap((part) => (part.type === "toolCall" ? [part.callId] : []))

/** `Ended` absorbs, and the step counter only grows. */
function* brokenByRuns({ facts }: Aftermath): Generator<string> {
  const ended = new Set<string>()
  const steps = new Map<string, number>()
  for (const { fact } of facts) {
    const { runId, type } = fact
    if (type === "RunEnded") {
      if (ended.has(runId)) yield `run ${runId} ended twice`
      ended.add(runId)
      continue
    }
    if (type === "MessageCommitted" && fact.message.role === "assistant") {
      const before = steps.get(runId) ?? 0
      if (fact.message.step <= before) yield `run ${runId} took step ${fact.message.step} behind step ${before}`
      steps.set(runId, fact.message.step)
    }
    if (ended.has(runId) && (type === "CallChanged" || type === "BatchPublished" || type === "RunAwaiting"))
      yield `run ${runId} went on behind its end (${type})`
  }
}
