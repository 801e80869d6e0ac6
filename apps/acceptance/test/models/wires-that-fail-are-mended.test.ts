import { errorBody, framesOf, type WireTurn, WireServer } from "@toolwright/model-server"
import { AiSdkExecutor } from "@toolwright/model-ai-sdk"
import { ModelPolicy } from "@toolwright/runtime"
import type { LlmExecutor, RunEvent, RuntimeClock } from "@toolwright/runtime-contract"
import { renderTranscript, TestClock } from "@toolwright/testing"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { snapshotFor, weatherRuntime } from "./support/weather.js"
import { executorOf, type Wire, wires } from "./support/wires.js"

let server: WireServer
beforeEach(async () => {
  server = await WireServer.start()
})
afterEach(() => server.close())

const model: LlmExecutor.ModelBinding = { provider: "first", model: "m" }
const other: LlmExecutor.ModelBinding = { provider: "second", model: "m" }

const asks: WireTurn = {
  text: "Looking.",
  calls: [{ id: "call_1", name: "get_weather", arguments: '{"city":"Oslo"}' }]
}
const answers: WireTurn = { text: "22 degrees in Oslo." }

const transcript = [
  "user: Oslo?",
  'assistant: Looking. | get_weather {"city":"Oslo"}',
  "tool get_weather: 22 degrees in Oslo",
  "assistant: 22 degrees in Oslo."
]

const mended = (llm: LlmExecutor.LlmExecutor, clock: RuntimeClock.RuntimeClock): LlmExecutor.LlmExecutor =>
  ModelPolicy.around(llm, { environment: { clock, random: () => 0 } })

/** A clock that is moved on whenever something waits for it, but never by more than a policy's wait. */
const hurried = (longest: number): TestClock => {
  const clock = new TestClock(Date.now())
  const { after } = clock
  return Object.assign(clock, {
    after: (delay: number, wake: () => void) => {
      const cancel = after(delay, wake)
      if (delay <= longest) setImmediate(() => clock.advance(delay))
      return cancel
    }
  })
}

const notes = (events: ReadonlyArray<RunEvent.RunEvent>): ReadonlyArray<unknown> =>
  events.flatMap((event) => (event._tag === "Fact" && event.fact.type === "Noted" ? [event.fact.note] : []))

const voided = (events: ReadonlyArray<RunEvent.RunEvent>): number =>
  events.filter((event) => event._tag === "Delta" && event.delta.type === "AttemptVoided").length

describe.each(wires)("$name", (wire) => {
  const { format } = wire
  const busy = { status: 529, body: errorBody(format, { type: "overloaded_error", message: "busy" }) }
  const limited = {
    status: 429,
    headers: { "retry-after": "2" },
    body: errorBody(format, { type: "rate_limit_error", message: "slow down" })
  }

  it("[L7] a busy and a limited server are asked again, and a reset in the middle of an answer leaves no trace in what is committed", async () => {
    const frames = framesOf(format, answers)
    server.reply(
      busy,
      limited,
      { frames: framesOf(format, asks) },
      { frames: frames.slice(0, -3), afterwards: "reset" },
      { frames }
    )
    const { called, events, run } = weatherRuntime(mended(executorOf(wire, server.url), hurried(5_000)))
    const outcome = await run({ snapshot: snapshotFor(model), input: "Oslo?" })
    expect(renderTranscript(outcome.messages)).toEqual(transcript)
    expect([called.length, voided(events)]).toEqual([1, 3])
  })

  it("[L7] a model that is gone is replaced by the next one, and each is charged what it used", async () => {
    const gone = { status: 404, body: errorBody(format, { type: "not_found_error", message: "no such model" }) }
    server.reply(gone, { frames: framesOf(format, asks) }, gone, { frames: framesOf(format, answers) })
    const llm = AiSdkExecutor.fromProviders({
      first: () => wire.model(server.url),
      second: () => wire.model(server.url)
    })
    const { events, run } = weatherRuntime(mended(llm, new TestClock()))
    const outcome = await run({ snapshot: snapshotFor(model, other), input: "Oslo?" })
    expect(renderTranscript(outcome.messages)).toEqual(transcript)
    expect(notes(events)).toEqual(
      [1, 2].flatMap(() => [
        { type: "ModelFallback", from: "first:m", to: "second:m", reason: "modelNotFound: no such model" },
        {
          type: "UsageRecorded",
          provider: "second",
          model: "m",
          usage: expect.objectContaining({ inputTokens: 10, outputTokens: 5 }) as unknown
        }
      ])
    )
  })

  it("[L3] a stream that stalls is given up and asked again; its request is closed", async () => {
    const frames = framesOf(format, answers)
    server.reply({ frames: framesOf(format, asks) }, { frames: frames.slice(0, -3), afterwards: "stall" }, { frames })
    const clock = new TestClock()
    const { events, run } = weatherRuntime(mended(executorOf(wire, server.url), clock))
    const running = run({ snapshot: snapshotFor(model), input: "Oslo?" })
    const stalled = await server.request(1)
    await until(() =>
      events.some(
        (event) => event._tag === "Delta" && event.delta.type === "TextDelta" && event.delta.text.includes("22")
      )
    )
    clock.advance(600_000)
    expect(await stalled.closed).toEqual({ answered: false })
    await clock.whenPending()
    clock.advance(30_000)
    expect(renderTranscript((await running).messages)).toEqual(transcript)
  })

  it("[L3] cancelling a run closes its request, and nothing of the answer is committed", async () => {
    server.reply({ frames: framesOf(format, asks).slice(0, -3), afterwards: "stall" })
    const { called, run } = weatherRuntime(executorOf(wire, server.url))
    const running = run({ snapshot: snapshotFor(model), input: "Oslo?" })
    const request = await server.request(0)
    running.cancel()
    const outcome = await running
    expect([outcome.disposition, renderTranscript(outcome.messages), called.length, await request.closed]).toEqual([
      { _tag: "Ended", cause: { _tag: "Cancelled" } },
      ["user: Oslo?"],
      0,
      { answered: false }
    ])
  })

  it("[T4] calls of a turn that a length cut off never run, though their arguments parse (C007)", async () => {
    server.reply(
      { frames: framesOf(format, { ...asks, stop: "length" }) },
      { frames: framesOf(format, { text: "Sorry." }) }
    )
    const { called, run } = weatherRuntime(executorOf(wire, server.url))
    const outcome = await run({ snapshot: snapshotFor(model), input: "Oslo?" })
    expect([called, renderTranscript(outcome.messages)[2], outcome.text]).toEqual([
      [],
      expect.stringMatching(/^tool get_weather error NotRun: .*cut off/s),
      "Sorry."
    ])
  })
})

/** Looks again at every turn of the event loop. */
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise<void>((resolve) => setImmediate(resolve))
}

describe("calls that come in awkward pieces", () => {
  const wire = wires.find(({ name }) => name === "compatible v3") as Wire
  const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
  const delta = (tool_calls: ReadonlyArray<object>): string =>
    data({ id: "c", created: 1, model: "m", choices: [{ index: 0, delta: { tool_calls } }] })
  const end = (finish_reason: string): string =>
    data({ id: "c", created: 1, model: "m", choices: [{ index: 0, delta: {}, finish_reason }] })
  const piece = (index: number, args: string, more: object = {}): object => ({
    index,
    function: { arguments: args },
    ...more
  })
  const named = (index: number, name: string, args: string, more: object = {}): object => ({
    index,
    function: { name, arguments: args },
    ...more
  })

  /** What the tool was called with, in a conversation whose first turn is these frames. */
  const calledWith = async (...frames: ReadonlyArray<string>) => {
    server.reply({ frames }, { frames: framesOf("chat", { text: "ok" }) })
    const { called, run } = weatherRuntime(executorOf(wire, server.url))
    const outcome = await run({ snapshot: snapshotFor(model), input: "Oslo?" })
    return {
      called,
      results: outcome.messages
        .toArray()
        .filter((message) => message.role === "tool")
        .map((message) => message.isError)
    }
  }

  it("[T4] run once with the whole of their arguments, or not at all (C106)", async () => {
    const first = delta([named(0, "get_weather", '{"city":"x"}', { id: "a" })])
    const oslo = { city: "x" }
    expect([
      await calledWith(first, delta([piece(0, " ")]), delta([piece(0, "\n")]), end("tool_calls")),
      await calledWith(first, delta([piece(0, ',"limit":1}')]), end("tool_calls")),
      await calledWith(
        delta([named(0, "get_weather", "{}", { id: "a" })]),
        delta([piece(0, '{"city":"x"}')]),
        end("tool_calls")
      )
    ]).toEqual([
      { called: [oslo], results: [false] },
      { called: [], results: [true] },
      { called: [], results: [true] }
    ])
  })

  it("[T4] are told apart when a name comes late, an index is used twice or an id is repeated (C107)", async () => {
    expect([
      await calledWith(
        delta([piece(0, '{"city":', { id: "a" })]),
        delta([named(0, "get_weather", '"x"}')]),
        end("tool_calls")
      ),
      await calledWith(
        delta([named(0, "get_weather", '{"city":"x"}')]),
        delta([named(0, "get_weather", '{"city":"y"}')]),
        end("tool_calls")
      ),
      await calledWith(
        delta([named(0, "get_weather", '{"city":"x"}', { id: "z" })]),
        delta([named(0, "get_weather", "", { id: "z" })]),
        end("tool_calls")
      )
    ]).toEqual([
      { called: [{ city: "x" }], results: [false] },
      { called: [{ city: "x" }, { city: "y" }], results: [false, false] },
      { called: [{ city: "x" }], results: [false] }
    ])
  })
})

describe("strict mode", () => {
  it("[T4] a null that stands for an absent argument reaches the tool as absent (C022)", async () => {
    server.reply(
      {
        frames: framesOf("chat", {
          calls: [{ id: "c", name: "get_weather", arguments: '{"city":"Oslo","unit":null}' }]
        })
      },
      { frames: framesOf("chat", { text: "ok" }) }
    )
    const { called, run } = weatherRuntime(executorOf(wires[0]!, server.url))
    await run({ snapshot: snapshotFor({ ...model, settings: { strictTools: true } }), input: "Oslo?" })
    const { body } = await server.request(0)
    expect([called, (body["tools"] as Array<{ function: object }>)[0]?.function]).toEqual([
      [{ city: "Oslo" }],
      expect.objectContaining({
        strict: true,
        parameters: expect.objectContaining({ required: ["city", "unit"] }) as unknown
      })
    ])
  })
})
