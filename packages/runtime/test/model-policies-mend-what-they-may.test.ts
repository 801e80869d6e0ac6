import { LlmError, type LlmExecutor, Transcript } from "@toolwright/runtime-contract"
import { ScriptedLlm, type ScriptedTurn, TestClock } from "@toolwright/testing"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { delayFor } from "../src/internal/modelPolicyRetry.js"
import * as ModelPolicy from "../src/ModelPolicy.js"

const first: LlmExecutor.ModelBinding = { provider: "a", model: "one" }
const second: LlmExecutor.ModelBinding = { provider: "b", model: "two" }
const third: LlmExecutor.ModelBinding = { provider: "c", model: "three" }

const requestOf = (more: Partial<LlmExecutor.LlmRequest> = {}): LlmExecutor.LlmRequest => ({
  runId: "run",
  threadId: "thread",
  step: 1,
  attempt: 1,
  model: first,
  instructions: "",
  messages: new Transcript([{ role: "user", id: "u", content: [{ type: "text", text: "go" }] }]),
  notes: [],
  tools: [],
  toolChoice: "auto",
  ...more
})

const failing = (
  reason: LlmExecutor.LlmErrorReason,
  more: Partial<ConstructorParameters<typeof LlmError>[0]> = {}
): ScriptedTurn => ({
  error: new LlmError({ reason, message: "no", ...more })
})

const cut = (text: string, more: ReadonlyArray<LlmExecutor.LlmEvent> = []): ScriptedTurn => ({
  events: [
    { type: "text", text },
    ...more,
    { type: "finish", stop: "length", usage: { inputTokens: 1, outputTokens: 2 } }
  ]
})

const collect = async (
  events: AsyncIterable<LlmExecutor.LlmEvent>
): Promise<ReadonlyArray<LlmExecutor.LlmEvent | string>> => {
  const seen: Array<LlmExecutor.LlmEvent | string> = []
  try {
    for await (const event of events) seen.push(event)
  } catch (error) {
    seen.push(error instanceof LlmError ? `failed: ${error.reason}` : String(error))
  }
  return seen
}

/** Runs a request and moves the clock from timer to timer; gives what was seen and the moments of the requests. */
const run = async (
  script: ReadonlyArray<ScriptedTurn>,
  given: {
    readonly policy: Partial<ModelPolicy.ModelPolicy>
    readonly request?: LlmExecutor.LlmRequest
    readonly random?: number
    readonly compact?: ModelPolicy.Compact
  }
) => {
  const clock = new TestClock()
  const scripted = new ScriptedLlm(script)
  const moments: Array<number> = []
  const llm: LlmExecutor.LlmExecutor = {
    stream: (request, context) => {
      moments.push(clock.now())
      return scripted.stream(request, context)
    }
  }
  const policy = {
    timeouts: undefined,
    circuit: undefined,
    retry: undefined,
    fallback: undefined,
    compaction: undefined,
    continuation: undefined,
    ...given.policy
  }
  const { compact, random = 0 } = given
  const around = ModelPolicy.around(llm, {
    policy,
    environment: { clock, random: () => random, ...(compact === undefined ? {} : { compact }) }
  })
  let done = false
  const seen = collect(around.stream(given.request ?? requestOf(), { signal: new AbortController().signal })).finally(
    () => {
      done = true
    }
  )
  while (!done) {
    await Promise.race([seen, clock.whenPending()])
    clock.advanceToNext()
  }
  scripted.assertDone()
  return { seen: await seen, moments, requests: scripted.requests, pending: clock.pending }
}

const text = (words: string): LlmExecutor.LlmEvent => ({ type: "text", text: words })
const end: LlmExecutor.LlmEvent = { type: "finish", stop: "endTurn" }
const again = (attempt: number, reason: string, model = first): LlmExecutor.LlmEvent => ({
  type: "attempt",
  attempt,
  model,
  reason
})
const { retry } = ModelPolicy.defaultPolicy

describe("retry", () => {
  it("[L7] asks again after failures that may pass, waiting longer each time, and says so", async () => {
    const { moments, pending, requests, seen } = await run([failing("overloaded"), failing("network"), "hi"], {
      policy: { retry }
    })
    expect(seen).toEqual([again(2, "overloaded: no"), again(3, "network: no"), text("hi"), end])
    expect([moments, requests.map((request) => request.attempt), pending]).toEqual([[0, 500, 1_500], [1, 2, 3], 0])
  })

  it("[L7] waits as long as the provider asked, and not at all where that is too long", async () => {
    const asked = await run([failing("rateLimited", { retryAfter: 7_000 }), "hi"], { policy: { retry } })
    const tooLong = await run([failing("rateLimited", { retryAfter: 3_600_000 })], { policy: { retry } })
    expect([asked.moments, tooLong.moments, tooLong.seen]).toEqual([[0, 7_000], [0], ["failed: rateLimited"]])
  })

  it("[L7] leaves failures that will not pass, and gives the last one when the tries are spent", async () => {
    const refused = await run([failing("invalidRequest")], { policy: { retry } })
    const told = await run([failing("overloaded", { isRetryable: false })], { policy: { retry } })
    const spent = await run([failing("network"), failing("network"), failing("network"), failing("overloaded")], {
      policy: { retry }
    })
    expect([refused.seen, told.seen, spent.seen.at(-1)]).toEqual([
      ["failed: invalidRequest"],
      ["failed: overloaded"],
      "failed: overloaded"
    ])
  })

  it("[L4] begins an answer again that broke off, voiding what was said, or leaves it where the policy says so", async () => {
    const breaks: ScriptedTurn = { events: [text("half")], error: "network" }
    const broken: ScriptedTurn = { events: [text("half"), { type: "finish", stop: "broken" }] }
    const mended = await run([breaks, broken, "whole"], { policy: { retry } })
    const kept = await run([breaks], { policy: { retry: { ...retry!, begin: "beforeOutput" } } })
    expect(mended.seen).toEqual([
      text("half"),
      again(2, "network: scripted failure: network"),
      text("half"),
      again(3, "network: the stream ended before the turn did"),
      text("whole"),
      end
    ])
    expect(kept.seen).toEqual([text("half"), "failed: network"])
  })

  it("[L3] stops waiting when the request is given up, and leaves no timer", async () => {
    const clock = new TestClock()
    const llm = ModelPolicy.withRetry(new ScriptedLlm([failing("network")]), { policy: retry!, clock, random: () => 0 })
    const controller = new AbortController()
    const seen = collect(llm.stream(requestOf(), { signal: controller.signal }))
    await clock.whenPending()
    controller.abort()
    expect([await seen, clock.pending]).toEqual([["failed: aborted"], 0])
  })

  it("[L7] never waits longer than its bound or shorter than a provider asked", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.option(fc.integer({ min: 0, max: 200_000 })),
        (number, chance, asked) => {
          const policy = { ...retry!, times: 5 }
          const failure = new LlmError({
            reason: "overloaded",
            message: "",
            ...(asked === null ? {} : { retryAfter: asked })
          })
          const delay = delayFor(failure, { number, policy, random: () => chance })
          const isWorthIt = number <= 5 && (asked ?? 0) <= policy.maxRetryAfter
          const longest = Math.max(policy.maxDelay, (asked ?? 0) + policy.initialDelay)
          expect(delay === undefined ? !isWorthIt : isWorthIt && delay >= (asked ?? 0) && delay <= longest).toBe(true)
        }
      )
    )
  })
})

describe("fallback", () => {
  const { fallback } = ModelPolicy.defaultPolicy

  it("[L7] asks the next model in order, and names it", async () => {
    const request = requestOf({ fallbacks: [second, third] })
    const { requests, seen } = await run([failing("overloaded"), failing("usageLimit"), "hi"], {
      policy: { fallback },
      request
    })
    expect(seen).toEqual([again(2, "overloaded: no", second), again(3, "usageLimit: no", third), text("hi"), end])
    expect(requests.map((one) => [one.model, one.attempt])).toEqual([
      [first, 1],
      [second, 2],
      [third, 3]
    ])
  })

  it("[L7] comes behind the retries of each model, and not after anything was said", async () => {
    const request = requestOf({ fallbacks: [second] })
    const one = { ...retry!, times: 1, begin: "beforeOutput" as const }
    const behind = await run([failing("network"), failing("network"), failing("network"), "hi"], {
      policy: { retry: one, fallback },
      request
    })
    expect(behind.seen).toEqual([
      again(2, "network: no"),
      again(3, "network: no", second),
      again(4, "network: no", second),
      text("hi"),
      end
    ])
    const said = await run([{ events: [text("half")], error: "network" }], {
      policy: { retry: one, fallback },
      request
    })
    expect(said.seen).toEqual([text("half"), "failed: network"])
  })

  it("[L7] leaves what no other model would mend, and gives the last failure when none is left", async () => {
    const request = requestOf({ fallbacks: [second] })
    const refused = await run([failing("invalidRequest")], { policy: { fallback }, request })
    const spent = await run([failing("overloaded"), failing("unauthorized")], { policy: { fallback }, request })
    expect([refused.seen, spent.seen.at(-1)]).toEqual([["failed: invalidRequest"], "failed: unauthorized"])
  })
})

describe("compaction", () => {
  const compaction = { times: 2 }

  it("[L7] makes a request smaller whose context was full, as often as it may", async () => {
    const compact: ModelPolicy.Compact = (request) => ({
      ...request,
      messages: new Transcript(request.messages.toArray(1))
    })
    const { requests, seen } = await run([failing("contextOverflow"), "hi"], { policy: { compaction }, compact })
    expect([seen[0], requests.map((request) => request.messages.length)]).toEqual([again(2, "compacted: no"), [1, 0]])
    const full = Array.from({ length: 3 }, () => failing("contextOverflow"))
    expect((await run(full, { policy: { compaction }, compact })).seen.at(-1)).toBe("failed: contextOverflow")
  })

  it("[L7] is asked for a full context only, and may say that nothing can be left out", async () => {
    const compact: ModelPolicy.Compact = () => undefined
    const other = await run([failing("invalidRequest")], {
      policy: { compaction },
      compact: () => Promise.reject(new Error("not asked"))
    })
    const full = await run([failing("contextOverflow")], { policy: { compaction }, compact })
    expect([other.seen, full.seen]).toEqual([["failed: invalidRequest"], ["failed: contextOverflow"]])
  })
})

describe("continuation", () => {
  const continuation = { times: 2 }

  it("[L7] joins a text that was cut off with what follows, and adds the usage up", async () => {
    const { requests, seen } = await run([cut("one "), cut("two "), "three"], { policy: { continuation } })
    const usage: LlmExecutor.LlmEvent = { type: "usage", usage: { inputTokens: 1, outputTokens: 2 } }
    expect(seen).toEqual([text("one "), usage, text("two "), usage, text("three"), end])
    expect(requests[2]!.messages.at(-1)).toMatchObject({
      role: "assistant",
      content: [{ type: "text", text: "one two " }]
    })
    expect(requests[2]!.notes.map((note) => note.source)).toEqual(["continuation"])
  })

  it("[L7] leaves a turn with calls, a turn without text, and the rest when its times are spent", async () => {
    const calls = await run([cut("a", [{ type: "toolCall", callId: "c", toolId: "t", arguments: "{}" }])], {
      policy: { continuation }
    })
    const silent = await run([cut("  ")], { policy: { continuation } })
    const spent = await run([cut("a"), cut("b"), cut("c")], { policy: { continuation } })
    const last = { type: "finish", stop: "length", usage: { inputTokens: 1, outputTokens: 2 } }
    expect([calls.seen.at(-1), silent.seen.at(-1), spent.seen.at(-1)]).toEqual([last, last, last])
  })

  it("[L7] that fails leaves the text as it was cut, without the half that was heard", async () => {
    const early = await run([cut("one "), failing("network")], { policy: { continuation } })
    const late = await run([cut("one "), { events: [text("tw")], error: "network" }], { policy: { continuation } })
    const usage: LlmExecutor.LlmEvent = { type: "usage", usage: { inputTokens: 1, outputTokens: 2 } }
    expect(early.seen).toEqual([
      text("one "),
      usage,
      { type: "finish", stop: "length", note: "the text could not be continued: no" }
    ])
    const note = "the text could not be continued: scripted failure: network"
    expect(late.seen).toEqual([
      text("one "),
      usage,
      text("tw"),
      again(2, note),
      text("one "),
      { type: "finish", stop: "length", note }
    ])
  })

  it("[L4] tells the text again when a policy inside begins again", async () => {
    const breaks: ScriptedTurn = { events: [text("tw")], error: "network" }
    const { seen } = await run([cut("one "), breaks, "two"], { policy: { continuation, retry } })
    const words = (events: ReadonlyArray<LlmExecutor.LlmEvent | string>): string => {
      let said = ""
      for (const event of events)
        if (typeof event === "object" && event.type === "attempt") said = ""
        else if (typeof event === "object" && event.type === "text") said += event.text
      return said
    }
    expect(words(seen)).toBe("one two")
  })
})

describe("an open circuit", () => {
  const circuit = { failures: 2, openFor: 10_000, on: ["overloaded"] as const }

  it("[L7] is one for each model: it asks no more, lets one request try later, and closes on an answer", async () => {
    const clock = new TestClock()
    const scripted = new ScriptedLlm([
      failing("overloaded"),
      failing("overloaded"),
      "other",
      { until: Promise.resolve(), text: "back" },
      "again"
    ])
    const llm = ModelPolicy.withCircuit(scripted, { policy: circuit, clock })
    const ask = (model = first) => collect(llm.stream(requestOf({ model }), { signal: new AbortController().signal }))
    expect([await ask(), await ask(), await ask()]).toEqual([
      ["failed: overloaded"],
      ["failed: overloaded"],
      ["failed: overloaded"]
    ])
    expect(scripted.requests.length).toBe(2)
    expect(await ask(second)).toEqual([text("other"), end])
    clock.advance(10_000)
    const [trial, beside] = await Promise.all([ask(), ask()])
    expect([trial, beside]).toEqual([[text("back"), end], ["failed: overloaded"]])
    expect(await ask()).toEqual([text("again"), end])
    scripted.assertDone()
  })

  it("[L7] opens again when the one that tries fails, and does not count what says nothing of the model", async () => {
    const clock = new TestClock()
    const scripted = new ScriptedLlm([
      failing("overloaded"),
      failing("invalidRequest"),
      failing("overloaded"),
      failing("overloaded"),
      failing("overloaded")
    ])
    const llm = ModelPolicy.withCircuit(scripted, { policy: circuit, clock })
    const ask = () => collect(llm.stream(requestOf(), { signal: new AbortController().signal }))
    for (let n = 0; n < 4; n++) await ask()
    clock.advance(10_000)
    await ask()
    await ask()
    expect(scripted.requests.length).toBe(5)
  })

  it("[L7] is not waited for by a retry; the next model is asked at once", async () => {
    const request = requestOf({ fallbacks: [second] })
    const policy = { circuit: { ...circuit, failures: 1 }, retry, fallback: ModelPolicy.defaultPolicy.fallback }
    const { moments, requests } = await run([failing("overloaded"), "hi"], { policy, request })
    expect([requests.map((one) => one.model), moments]).toEqual([
      [first, second],
      [0, 500]
    ])
  })
})

describe("silence", () => {
  const timeouts = { firstEvent: 1_000, idle: 400 }

  it("[L3] before the first event and between two ends the request, aborts it, and leaves no timer", async () => {
    const clock = new TestClock()
    const signals: Array<AbortSignal> = []
    const scripted = new ScriptedLlm([{ stall: "deaf" }, { events: [text("a")], stall: "deaf" }])
    const watched: LlmExecutor.LlmExecutor = {
      stream: (request, context) => {
        signals.push(context.signal)
        return scripted.stream(request, context)
      }
    }
    const llm = ModelPolicy.withTimeouts(watched, { policy: timeouts, clock })
    const ask = () => llm.stream(requestOf(), { signal: new AbortController().signal })[Symbol.asyncIterator]()
    const early = ask().next()
    await clock.whenPending()
    clock.advance(999)
    expect(clock.pending).toBe(1)
    clock.advance(1)
    await expect(early).rejects.toMatchObject({ reason: "timeout", message: "the model said nothing for 1000 ms" })
    const late = ask()
    expect((await late.next()).value).toEqual(text("a"))
    clock.advance(100)
    const silent = late.next()
    clock.advance(900)
    await expect(silent).rejects.toMatchObject({ reason: "timeout", message: "the model said nothing for 400 ms" })
    expect([signals.map((signal) => signal.aborted), clock.pending]).toEqual([[true, true], 0])
  })

  it("[L3] of a reader is not the model's, and giving a request up reaches the model", async () => {
    const clock = new TestClock()
    const controller = new AbortController()
    const llm = ModelPolicy.withTimeouts(new ScriptedLlm([{ events: [text("a"), text("b")], stall: "untilAborted" }]), {
      policy: timeouts,
      clock
    })
    const iterator = llm.stream(requestOf(), { signal: controller.signal })[Symbol.asyncIterator]()
    await iterator.next()
    clock.advance(5_000)
    expect((await iterator.next()).value).toEqual(text("b"))
    const last = iterator.next()
    controller.abort()
    await expect(last).rejects.toMatchObject({ reason: "aborted" })
    expect(clock.pending).toBe(0)
  })
})

describe("all policies together", () => {
  it("[L7] let an ordinary answer through untouched, and forward which tools a model refuses", async () => {
    const refused = () => [{ toolId: "t", pointer: "", reason: "r" }]
    const scripted = new ScriptedLlm([{ text: "hi", calls: [{ toolId: "t", arguments: {} }] }])
    const llm = ModelPolicy.around({ stream: scripted.stream, refused }, { environment: { clock: new TestClock() } })
    const seen = await collect(llm.stream(requestOf(), { signal: new AbortController().signal }))
    expect(seen.map((event) => (typeof event === "string" ? event : event.type))).toEqual([
      "text",
      "toolCallDelta",
      "toolCall",
      "finish"
    ])
    expect(llm.refused?.(first, [])).toEqual(refused())
  })
})
