/**
 * What a model port is: every promise of the port that can be seen from outside, as checks over recorded answers.
 *
 * Guarantees: the subject is driven through `stream` only; the adapter says how to make its provider answer so.
 * Does not check what a provider is sent: that is the adapter's own test.
 */
import assert from "node:assert/strict"
import { type LlmExecutor, LlmError } from "@toolwright/runtime-contract"
import type { ConformanceCheck } from "./Conformance.js"

/** One turn as a provider should be made to give it. */
export type ProviderTurn =
  | { readonly _tag: "Text"; readonly text: string }
  | {
      readonly _tag: "Calls"
      readonly calls: ReadonlyArray<{ readonly toolId: string; readonly argumentsText: string }>
    }
  /** The stream ends in the middle of a call, without saying why. */
  | { readonly _tag: "Broken"; readonly toolId: string; readonly argumentsText: string }
  /** The provider ends the turn because it has become too long. */
  | { readonly _tag: "Length"; readonly text: string }
  /** The provider refuses the request. */
  | { readonly _tag: "Fails"; readonly reason: LlmExecutor.LlmErrorReason }
  /** Nothing comes until the request is aborted. */
  | { readonly _tag: "Silent" }

export interface LlmSubject {
  /** A model whose provider answers the next request so. `undefined` where the adapter cannot be made to. */
  readonly answering: (
    turn: ProviderTurn
  ) => LlmExecutor.LlmExecutor | undefined | Promise<LlmExecutor.LlmExecutor | undefined>
  readonly request: LlmExecutor.LlmRequest
}

interface Heard {
  readonly events: ReadonlyArray<LlmExecutor.LlmEvent>
  readonly thrown: unknown
}

export const llmConformance = (subject: LlmSubject): ReadonlyArray<ConformanceCheck> => {
  const check = (
    title: string,
    { judge, turn }: { readonly turn: ProviderTurn; readonly judge: (heard: Heard) => void }
  ): ConformanceCheck => ({
    title,
    run: async () => {
      const model = await subject.answering(turn)
      if (model !== undefined) judge(await listen({ model, request: subject.request, abort: turn._tag === "Silent" }))
    }
  })
  const calls = [
    { toolId: "read", argumentsText: '{"path":"a 🔧"}' },
    { toolId: "read", argumentsText: "{}" }
  ]
  return [
    check("[L7] the pieces of a text add up to the text, and one finish ends the turn", {
      turn: { _tag: "Text", text: "Good day to you 🔧." },
      judge: (heard) => {
        assert.equal(heard.thrown, undefined)
        assert.equal(
          heard.events.map((event) => (event.type === "text" ? event.text : "")).join(""),
          "Good day to you 🔧."
        )
        assert.deepEqual(finishesOf(heard), ["endTurn"])
        assert.equal(heard.events.at(-1)?.type, "finish")
      }
    }),
    check("[L4, L7] a call comes once, whole, in order, and its pieces come before it", {
      turn: { _tag: "Calls", calls },
      judge: (heard) => {
        assert.equal(heard.thrown, undefined)
        assert.deepEqual(callsOf(heard), calls)
        assert.deepEqual(finishesOf(heard), ["toolCalls"])
        const first = heard.events.findIndex((event) => event.type === "toolCall")
        const early = heard.events.slice(0, first).filter((event) => event.type === "toolCallDelta")
        const text = early.map((event) => event.argumentsText).join("")
        assert.ok(early.length === 0 || text.startsWith(calls[0]?.argumentsText ?? ""), `pieces: ${text}`)
      }
    }),
    check("[T4, L7] a stream that breaks in a call gives no whole call and no proper end", {
      turn: { _tag: "Broken", toolId: "read", argumentsText: '{"path":"a' },
      judge: (heard) => {
        const ends = finishesOf(heard)
        assert.ok(heard.thrown !== undefined || ends.length === 0 || ends[0] === "broken", `ends: ${ends.join()}`)
      }
    }),
    check("[T4, L7] a turn that ended by length says so", {
      turn: { _tag: "Length", text: "and so on and" },
      judge: (heard) => {
        assert.deepEqual(finishesOf(heard), ["length"])
      }
    }),
    check("[L7] a refused request is an LlmError with its reason, before any finish", {
      turn: { _tag: "Fails", reason: "rateLimited" },
      judge: (heard) => {
        assert.ok(heard.thrown instanceof LlmError, String(heard.thrown))
        assert.deepEqual([heard.thrown.reason, heard.thrown.retryable], ["rateLimited", true])
        assert.deepEqual(finishesOf(heard), [])
      }
    }),
    check("[L3, L7] an aborted request ends, and gives no turn", {
      turn: { _tag: "Silent" },
      judge: (heard) => {
        assert.deepEqual(finishesOf(heard), [])
        assert.deepEqual(callsOf(heard), [])
      }
    })
  ]
}

const listen = async (given: {
  readonly model: LlmExecutor.LlmExecutor
  readonly request: LlmExecutor.LlmRequest
  readonly abort: boolean
}): Promise<Heard> => {
  const controller = new AbortController()
  const events: Array<LlmExecutor.LlmEvent> = []
  try {
    const iterator = given.model.stream(given.request, { signal: controller.signal })[Symbol.asyncIterator]()
    let next = iterator.next()
    if (given.abort) controller.abort()
    for (let item = await next; item.done !== true; item = await next) {
      events.push(item.value)
      next = iterator.next()
    }
    return { events, thrown: undefined }
  } catch (thrown) {
    return { events, thrown }
  }
}

const finishesOf = ({ events }: Heard): ReadonlyArray<string> =>
  events.flatMap((event) => (event.type === "finish" ? [event.stop] : []))

/** The whole calls; arguments that come as a value are shown as their text. */
const callsOf = ({ events }: Heard): ReadonlyArray<{ readonly toolId: string; readonly argumentsText: string }> =>
  events.flatMap((event) =>
    event.type === "toolCall"
      ? [
          {
            toolId: event.toolId,
            argumentsText: typeof event.arguments === "string" ? event.arguments : JSON.stringify(event.arguments ?? {})
          }
        ]
      : []
  )
