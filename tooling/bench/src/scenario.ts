/**
 * The work that every contender does: a model that asks for calls for a number of steps and then answers, and the tools
 * it asks for. The model is the same object for all, so that a difference is the contender's own.
 */
import type { LlmExecutor } from "@toolwright/runtime-contract"
import { Type } from "typebox"

export interface Scenario {
  /** Steps with calls; one more answers in words. */
  readonly steps: number
  /** Calls in each of them. */
  readonly parallel: number
  /** Tools that the model can see. */
  readonly tools: number
  /** Tools that are there, these among them: what lies in memory is not what a step looks at. */
  readonly registered: number
  /** Whether a tool is a plain function, or an async one: only calls that are waited for can be under way together. */
  readonly answers: "now" | "later"
}

/** What is measured: runs one after another on fresh threads, or all at once. */
export interface Contender {
  readonly run: (scenario: Scenario) => Promise<void>
  /** Forgets the runs that are over. Absent where nothing is kept of them. */
  readonly clear?: () => void
}

export const argsSchema = Type.Object({
  city: Type.String({ minLength: 1 }),
  days: Type.Integer({ minimum: 1, maximum: 14 })
})

export const toolId = (index: number): string => `tool_${index}`

export interface Args {
  readonly city: string
  readonly days: number
}

const answer = (args: Args): string => `${args.days} dry days in ${args.city}`

export const answers = {
  now: answer,
  // oxlint-disable-next-line require-await -- what a tool is whose answer takes a while
  later: async (args: Args): Promise<string> => answer(args)
}

/** Tools that are called, however many are visible: what the others cost is what the rows of visible tools show. */
const called = 10

const rawArguments = '{"city":"Lisbon","days":3}'

type Event = LlmExecutor.LlmEvent

/** An iterable over an array, as cheap as the protocol allows. */
class Replay implements AsyncIterable<Event>, AsyncIterator<Event> {
  #next = 0
  readonly #events: ReadonlyArray<Event>
  constructor(events: ReadonlyArray<Event>) {
    this.#events = events
  }
  [Symbol.asyncIterator](): AsyncIterator<Event> {
    return this
  }
  next(): Promise<IteratorResult<Event>> {
    const value = this.#events[this.#next++]
    return Promise.resolve(value === undefined ? { done: true, value: undefined } : { done: false, value })
  }
}

/** One turn after another for one run. Turns are made anew each time, as a provider does. */
export class ScenarioModel {
  #step = 0
  readonly #scenario: Scenario

  constructor(scenario: Scenario) {
    this.#scenario = scenario
  }

  readonly stream = (): AsyncIterable<Event> => {
    const step = this.#step++
    const { steps, parallel, tools } = this.#scenario
    if (step >= steps)
      return new Replay([
        { type: "text", text: "done" },
        { type: "finish", stop: "endTurn" }
      ])
    const events: Array<Event> = []
    for (let call = 0; call < parallel; call++)
      events.push({
        type: "toolCall",
        callId: `c${step}-${call}`,
        toolId: toolId((step + call) % Math.min(tools, called)),
        arguments: rawArguments
      })
    events.push({ type: "finish", stop: "toolCalls" })
    return new Replay(events)
  }
}
