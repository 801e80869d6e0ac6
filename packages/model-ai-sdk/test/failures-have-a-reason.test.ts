import { LlmError, type LlmExecutor } from "@toolwright/runtime-contract"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { AiSdkExecutor } from "../src/index.js"
import { describeTool, emptyArguments } from "./support/descriptors.js"
import { type Provider, providers } from "./support/providers.js"
import { collect, requestOf, signalOf, summary } from "./support/requests.js"
import { errorBody, framesOf, type WireFormat } from "@toolwright/model-server"
import { type WireReply, WireServer } from "@toolwright/model-server"

let server: WireServer
beforeEach(async () => {
  server = await WireServer.start()
})
afterEach(() => server.close())

const clock = { now: () => Date.parse("2030-01-01T00:00:00Z"), after: () => () => {} }

const stream = (provider: Provider, context = signalOf()) =>
  AiSdkExecutor.fromModel(provider.model(server.url), { clock }).stream(
    requestOf({ tools: [describeTool("ping", emptyArguments)] }),
    context
  )

const failure = async (events: AsyncIterable<LlmExecutor.LlmEvent>): Promise<LlmError> => {
  const seen = await collect(events).catch((error: unknown) => error)
  if (seen instanceof LlmError) return seen
  throw new Error(`expected an LlmError, got ${JSON.stringify(seen)}`)
}

const told = ({ reason, retryAfter, retryable, status }: LlmError) => ({ reason, status, retryAfter, retryable })

const error = (
  format: WireFormat,
  status: number,
  given: { type: string; code?: string; message?: string },
  headers = {}
): WireReply => ({
  status,
  headers,
  body: errorBody(format, { message: "no", ...given })
})

describe.each(providers)("$name", (provider) => {
  const { format } = provider

  it("[L7] names each status: 400, 401, 404, 413, 429, 500, 529", async () => {
    server.reply(
      error(format, 400, { type: "invalid_request_error" }),
      error(format, 401, { type: "authentication_error" }),
      error(format, 404, { type: "not_found_error" }),
      error(format, 413, { type: "request_too_large" }),
      error(format, 429, { type: "rate_limit_error" }),
      error(format, 500, { type: "api_error" }),
      error(format, 529, { type: "overloaded_error" })
    )
    const seen: Array<unknown> = []
    for (let n = 0; n < 7; n++) seen.push(told(await failure(stream(provider))))
    const as = (reason: string, status: number, retryable: boolean) => ({
      reason,
      status,
      retryAfter: undefined,
      retryable
    })
    expect(seen).toEqual([
      as("invalidRequest", 400, false),
      as("unauthorized", 401, false),
      as("modelNotFound", 404, false),
      as("contextOverflow", 413, false),
      as("rateLimited", 429, true),
      as("provider", 500, true),
      as("overloaded", 529, true)
    ])
  })

  it("[L7] reads Retry-After in seconds, in milliseconds and as a moment, and the provider's own word on a retry", async () => {
    const limited = (headers: Record<string, string>) => error(format, 429, { type: "rate_limit_error" }, headers)
    server.reply(
      limited({ "retry-after": "7" }),
      limited({ "retry-after-ms": "1500", "retry-after": "2" }),
      limited({ "retry-after": "Tue, 01 Jan 2030 00:00:30 GMT" }),
      limited({ "x-should-retry": "false" }),
      limited({ "retry-after": "soon" })
    )
    const seen: Array<unknown> = []
    for (let n = 0; n < 5; n++) seen.push(told(await failure(stream(provider))))
    const as = (retryAfter: number | undefined, retryable = true) => ({
      reason: "rateLimited",
      status: 429,
      retryAfter,
      retryable
    })
    expect(seen).toEqual([as(7_000), as(1_500), as(30_000), as(undefined, false), as(undefined)])
  })

  it("[L7] tells a full context and spent money from other refusals", async () => {
    server.reply(
      format === "anthropic"
        ? error(format, 400, {
            type: "invalid_request_error",
            message: "prompt is too long: 210000 tokens > 200000 maximum"
          })
        : error(format, 400, { type: "invalid_request_error", code: "context_length_exceeded" }),
      format === "anthropic"
        ? error(format, 400, {
            type: "invalid_request_error",
            message: "Your credit balance is too low to access the API."
          })
        : error(format, 429, { type: "insufficient_quota", code: "insufficient_quota" })
    )
    const seen = [await failure(stream(provider)), await failure(stream(provider))]
    expect(seen.map(({ reason, retryable }) => [reason, retryable])).toEqual([
      ["contextOverflow", false],
      ["usageLimit", false]
    ])
  })

  it("[L7] reads a status without a body, and a body that is no JSON", async () => {
    server.reply(
      { status: 429, body: "" },
      { status: 503, body: "" },
      { status: 502, body: "<html>bad gateway</html>" }
    )
    const seen = [await failure(stream(provider)), await failure(stream(provider)), await failure(stream(provider))]
    expect(seen.map(told)).toEqual([
      { reason: "rateLimited", status: 429, retryAfter: undefined, retryable: true },
      { reason: "overloaded", status: 503, retryAfter: undefined, retryable: true },
      { reason: "provider", status: 502, retryAfter: undefined, retryable: true }
    ])
  })

  it("[L7] gives what was said and then network when the connection is reset in the middle", async () => {
    const frames = framesOf(format, { text: "one two three four" })
    server.reply({ frames: frames.slice(0, -4), afterwards: "reset" })
    const events: Array<LlmExecutor.LlmEvent> = []
    const reading = (async () => {
      for await (const event of stream(provider)) events.push(event)
    })()
    await expect(reading).rejects.toMatchObject({ _tag: "LlmError", reason: "network", retryable: true })
    expect(events.map((event) => (event.type === "text" ? event.text : event.type)).join("")).toMatch(/^one t/)
  })

  it("[L7] gives a broken turn with what was said when the stream just ends", async () => {
    const frames = framesOf(format, {
      text: "one two three",
      calls: [{ id: "call_1", name: "ping", arguments: '{"a":1}' }]
    })
    // Everything before the provider says that the call, or the turn, is complete.
    const end = frames.findIndex((frame) =>
      /"finish_reason"|function_call_arguments.done|"content_block_stop","index":1/.test(frame)
    )
    server.reply({ frames: frames.slice(0, end) })
    const events = await collect(stream(provider))
    expect(events.at(-1)).toMatchObject({ type: "finish", stop: "broken" })
    expect(summary(events)[0]).toEqual({ type: "text", text: "one two three" })
  })

  it("[L7] says malformed, and worth another try, when nothing was said or a frame is no JSON", async () => {
    const frames = framesOf(format, { text: "one two three" })
    server.reply({ frames: [] }, { frames: [...frames.slice(0, 3), "data: {broken\n\n", ...frames.slice(3)] })
    const seen = [await failure(stream(provider)), await failure(stream(provider))]
    expect(seen.map(({ reason, retryable }) => [reason, retryable])).toEqual([
      ["malformedResponse", true],
      ["malformedResponse", true]
    ])
  })

  it("[L7] names an error that comes inside the stream", async () => {
    const frames = framesOf(format, { text: "one two three" })
    const overloaded = `${format === "anthropic" ? "event: error\n" : ""}data: ${
      format === "responses"
        ? JSON.stringify({
            type: "error",
            sequence_number: 1,
            error: { type: "overloaded_error", code: "overloaded", message: "busy", param: null }
          })
        : errorBody(format, { type: "overloaded_error", message: "busy" })
    }\n\n`
    server.reply({ frames: [...frames.slice(0, 4), overloaded] })
    expect(await failure(stream(provider))).toMatchObject({ reason: "overloaded", retryable: true })
  })

  it("[L3] closes the request of an aborted turn, before an answer and in the middle of one", async () => {
    const frames = framesOf(format, { text: "one two three" })
    server.reply({ frames: [], afterwards: "stall" }, { frames: frames.slice(0, -3), afterwards: "stall" })
    const early = new AbortController()
    const waiting = failure(stream(provider, { signal: early.signal }))
    const first = await server.request(0)
    early.abort()
    expect([told(await waiting).reason, await first.closed]).toEqual(["aborted", { answered: false }])
    const late = new AbortController()
    const reading = (async () => {
      for await (const event of stream(provider, { signal: late.signal })) if (event.type === "text") late.abort()
    })()
    await expect(reading).rejects.toMatchObject({ reason: "aborted", retryable: false })
    expect(await (await server.request(1)).closed).toEqual({ answered: false })
  })

  it("[L3] closes the request when its reader walks away", async () => {
    const frames = framesOf(format, { text: "one two three" })
    server.reply({ frames: frames.slice(0, -3), afterwards: "stall" })
    for await (const event of stream(provider)) if (event.type === "text") break
    expect(await (await server.request(0)).closed).toEqual({ answered: false })
  })
})

describe("nobody there", () => {
  it.each(providers)("[L7] is a network failure for $name", async (provider) => {
    const gone = await WireServer.start()
    const { url } = gone
    await gone.close()
    const llm = AiSdkExecutor.fromModel(provider.model(url))
    expect(told(await failure(llm.stream(requestOf({}), signalOf())))).toEqual({
      reason: "network",
      status: undefined,
      retryAfter: undefined,
      retryable: true
    })
  })
})
