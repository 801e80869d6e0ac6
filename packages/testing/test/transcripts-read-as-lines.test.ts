import type { Message } from "@toolwright/runtime-contract"
import { describe, expect, it } from "vitest"
import { expectTranscript, renderTranscript } from "../src/index.js"

const text = (given: string) => ({ type: "text", text: given }) as const

const transcript: ReadonlyArray<Message.Message> = [
  { role: "user", id: "1", content: [text("weather?"), { type: "image", mediaType: "image/png", data: "QUJD" }] },
  {
    role: "assistant",
    id: "2",
    runId: "run",
    step: 1,
    content: [
      { type: "reasoning", text: "hm" },
      text("Let me look."),
      { type: "toolCall", callId: "a", toolId: "get_weather", arguments: { city: "Oslo" } },
      { type: "toolCall", callId: "b", toolId: "get_weather", arguments: {}, rawArguments: '{"city":' },
      { type: "providerTool", callId: "c", toolId: "search" }
    ],
    stop: "toolCalls"
  },
  {
    role: "tool",
    id: "3",
    callId: "a",
    toolId: "get_weather",
    operationId: "run/1/0",
    outcome: "Completed",
    isError: false,
    content: [text("12 degrees")],
    foreign: true
  },
  {
    role: "tool",
    id: "4",
    callId: "b",
    toolId: "get_weather",
    operationId: "run/1/1",
    outcome: "NotRun",
    isError: true,
    content: [text("city is missing")]
  },
  { role: "reminder", id: "5", source: "budget", text: "two steps are left" },
  { role: "assistant", id: "6", runId: "run", step: 2, content: [text("It is")], stop: "length" }
]

const lines = [
  "user: weather? | <image image/png>",
  'assistant: (hm) | Let me look. | get_weather {"city":"Oslo"} | get_weather refused {"city": | <search of the provider>',
  "tool get_weather foreign: 12 degrees",
  "tool get_weather error NotRun: city is missing",
  "reminder budget: two steps are left",
  "assistant: It is (length)"
]

const messageOf = (act: () => void): string => {
  try {
    act()
    return "nothing was thrown"
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

describe("transcripts read as lines", () => {
  it("[E1] every message is one line that shows all of its parts", () => {
    expect(renderTranscript(transcript)).toEqual(lines)
  })

  it("[E1] the same lines pass, and a pattern may stand for a line", () => {
    expect(() => expectTranscript(transcript, lines)).not.toThrow()
    expect(() => expectTranscript(transcript, [/weather/, ...lines.slice(1, 5), /length/])).not.toThrow()
  })

  it("[E1] a mismatch shows what is missing and what was not expected, in place", () => {
    const short = transcript.slice(0, 1).concat(transcript.slice(2, 4))
    const message = messageOf(() => expectTranscript(short, [lines[0]!, lines[2]!, "tool pay: paid", /city is/]))
    expect(message).toBe(
      [
        "the transcript is another one",
        "  user: weather? | <image image/png>",
        "  tool get_weather foreign: 12 degrees",
        "- tool pay: paid",
        "  tool get_weather error NotRun: city is missing"
      ].join("\n")
    )
    expect(messageOf(() => expectTranscript(transcript.slice(4), ["reminder budget: two steps are left"]))).toBe(
      "the transcript is another one\n  reminder budget: two steps are left\n+ assistant: It is (length)"
    )
  })

  it("[E1] too few and too many lines are mismatches", () => {
    expect(messageOf(() => expectTranscript([], ["user: hi"]))).toBe("the transcript is another one\n- user: hi")
    expect(messageOf(() => expectTranscript(transcript.slice(4, 5), []))).toContain("+ reminder budget")
  })
})
