import { type LlmExecutor, LlmError, Transcript } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import { describeConformance, llmConformance, type Script, ScriptedLlm, type ScriptedTurn } from "../src/index.js"

const request = (changes: Partial<LlmExecutor.LlmRequest> = {}): LlmExecutor.LlmRequest => ({
  runId: "run",
  threadId: "thread",
  step: 1,
  attempt: 1,
  model: { provider: "scripted", model: "one" },
  instructions: "",
  messages: new Transcript([{ role: "user", id: "m", content: [{ type: "text", text: "weather in Oslo?" }] }]),
  notes: [],
  tools: [],
  toolChoice: "auto",
  ...changes
})

const silent = { signal: new AbortController().signal }

const hear = async (llm: ScriptedLlm, asked = request(), context: LlmExecutor.LlmContext = silent) => {
  const events: Array<LlmExecutor.LlmEvent> = []
  for await (const event of llm.stream(asked, context)) events.push(event)
  return events
}

const thrownBy = async (act: () => unknown): Promise<unknown> => {
  try {
    await act()
    return "nothing"
  } catch (thrown) {
    return thrown
  }
}

const messageOf = async (act: () => unknown): Promise<string> => String(await thrownBy(act))

describe("a scripted model fails on surprises", () => {
  it("[L7] a request behind the end of the script fails, and is told again", async () => {
    const llm = new ScriptedLlm(["hello"])
    await hear(llm)
    const thrown = await thrownBy(() => hear(llm, request({ step: 2 })))
    expect(thrown).toBeInstanceOf(LlmError)
    const expected = "unexpected request 2 (run run, step 2, attempt 1): the script has ended"
    expect(thrown).toMatchObject({ reason: "invalidRequest", retryable: false, message: expected })
    expect(() => llm.assertDone()).toThrow(expected)
  })

  it("[L7] turns that nobody asked for are leftovers", async () => {
    const llm = new ScriptedLlm(["one", "two", "three"])
    await hear(llm)
    expect(() => llm.assertDone()).toThrow("the script has 2 of 3 turns left that nobody asked for")
    await hear(llm)
    await hear(llm)
    expect(() => llm.assertDone()).not.toThrow()
  })

  it("[L7] a request that is not as expected fails with what was expected", async () => {
    const rows: ReadonlyArray<readonly [ScriptedTurn, string]> = [
      [{ expect: { step: 2 } }, "expected step 2, got 1"],
      [{ expect: { attempt: 2 } }, "expected attempt 2, got 1"],
      [{ expect: { toolChoice: "none" } }, 'expected toolChoice "none", got "auto"'],
      [{ expect: { tools: ["get_weather"] } }, 'expected tools ["get_weather"], got []'],
      [{ expect: { messages: 3 } }, "expected messages 3, got 1"],
      [{ expect: { notes: ["budget"] } }, 'expected notes ["budget"], got []'],
      [{ expect: { lastMessage: "Rome" } }, 'expected "Rome" in the last message, got "weather in Oslo?"'],
      [{ expect: () => "not so" }, "not so"],
      [
        {
          expect: () => {
            throw new Error("not at all")
          }
        },
        "not at all"
      ]
    ]
    for (const [turn, message] of rows) {
      const llm = new ScriptedLlm([turn])
      expect(await messageOf(() => hear(llm))).toContain(`request 1 (run run, step 1, attempt 1): ${message}`)
      expect(() => llm.assertDone()).toThrow(message)
    }
  })

  it("[L7] what is as expected is answered", async () => {
    const llm = new ScriptedLlm([
      { text: "hi", expect: { step: 1, attempt: 1, toolChoice: "auto", tools: [], messages: 1, lastMessage: "Oslo" } }
    ])
    expect(await hear(llm)).toEqual([
      { type: "text", text: "hi" },
      { type: "finish", stop: "endTurn" }
    ])
    expect(llm.requests).toHaveLength(1)
  })

  it("[L4, L7] a turn streams in pieces that end on whole characters, and a call comes when it is complete", async () => {
    const llm = new ScriptedLlm(
      [
        {
          reasoning: "so",
          text: "🔧🔧🔧",
          calls: [
            { toolId: "get_weather", arguments: { city: "Oslo" } },
            { toolId: "time", callId: "mine" }
          ],
          usage: { inputTokens: 1, outputTokens: 2 }
        }
      ],
      { pieceSize: 2 }
    )
    const events = await hear(llm)
    expect(events.slice(0, 3)).toEqual([
      { type: "reasoning", text: "so" },
      { type: "text", text: "🔧🔧" },
      { type: "text", text: "🔧" }
    ])
    const deltas = events.flatMap((event) => (event.type === "toolCallDelta" ? [event.argumentsText] : []))
    expect(deltas.join("")).toBe('{"city":"Oslo"}')
    expect(events.slice(-3)).toEqual([
      { type: "toolCall", callId: "call-1-1", toolId: "get_weather", arguments: '{"city":"Oslo"}' },
      { type: "toolCall", callId: "mine", toolId: "time", arguments: undefined },
      { type: "finish", stop: "toolCalls", usage: { inputTokens: 1, outputTokens: 2 } }
    ])
  })

  it("[L7] raw arguments and raw events are sent as they are", async () => {
    const raw: LlmExecutor.LlmEvent = { type: "finish", stop: "length" }
    const llm = new ScriptedLlm([{ calls: [{ toolId: "t", arguments: '{"city":' }] }, { events: [raw] }])
    expect((await hear(llm)).at(-2)).toMatchObject({ type: "toolCall", arguments: '{"city":' })
    expect(await hear(llm)).toEqual([raw])
  })

  it("[L7] a failing turn fails as it says, behind what it had to say", async () => {
    const exact = new LlmError({ reason: "overloaded", message: "later", retryAfter: 5 })
    const llm = new ScriptedLlm([{ error: exact }, { error: "network", events: [{ type: "text", text: "a" }] }])
    expect(await thrownBy(() => hear(llm))).toBe(exact)
    const heard: Array<LlmExecutor.LlmEvent> = []
    const thrown = await thrownBy(async () => {
      for await (const event of llm.stream(request(), silent)) heard.push(event)
    })
    expect([heard, thrown instanceof LlmError && thrown.reason]).toEqual([[{ type: "text", text: "a" }], "network"])
  })

  it("[L3] a stalling turn ends at the signal, unless it is deaf", async () => {
    const controller = new AbortController()
    const llm = new ScriptedLlm([{ stall: "untilAborted" }, { stall: "deaf" }])
    const stalled = thrownBy(() => hear(llm, request(), { signal: controller.signal }))
    controller.abort()
    expect(await stalled).toMatchObject({ reason: "aborted" })
    const deaf = hear(llm, request(), { signal: controller.signal }).then(() => "settled")
    expect(await Promise.race([deaf, Promise.resolve("silent")])).toBe("silent")
  })

  it("[L7] a turn waits for what it is told to wait for", async () => {
    let release: (value: unknown) => void = () => undefined
    const until = new Promise((resolve) => {
      release = resolve
    })
    const llm = new ScriptedLlm([{ text: "hi", until }])
    let isDone = false
    const heard = hear(llm).then(() => {
      isDone = true
    })
    await Promise.resolve()
    expect(isDone).toBe(false)
    release(undefined)
    await heard
    expect(isDone).toBe(true)
  })

  it("[L7] a script may be a function of the request, for as many as come", async () => {
    const script: Script = (asked, index) => (index < 2 ? `${asked.runId} ${index}` : undefined)
    const llm = new ScriptedLlm(script, { pieceSize: 100 })
    const texts = [await hear(llm), await hear(llm, request({ runId: "other" }))].map((events) => events[0])
    expect(texts).toEqual([
      { type: "text", text: "run 0" },
      { type: "text", text: "other 1" }
    ])
    expect(() => llm.assertDone()).not.toThrow()
    expect(await messageOf(() => hear(llm))).toContain("the script has ended")
  })
})

const checks = llmConformance({
  request: request(),
  answering: (turn) => {
    switch (turn._tag) {
      case "Text":
        return new ScriptedLlm([turn.text])
      case "Calls":
        return new ScriptedLlm([
          { calls: turn.calls.map((call) => ({ toolId: call.toolId, arguments: call.argumentsText })) }
        ])
      case "Broken":
        return new ScriptedLlm([
          { events: [{ type: "toolCallDelta", key: "0", toolId: turn.toolId, argumentsText: turn.argumentsText }] }
        ])
      case "Length":
        return new ScriptedLlm([{ text: turn.text, stop: "length" }])
      case "Fails":
        return new ScriptedLlm([{ error: turn.reason }])
      case "Silent":
        return new ScriptedLlm([{ stall: "untilAborted" }])
    }
  }
})

describeConformance({ name: "the scripted model is a model", checks }, { describe, it })
