/**
 * A transcript as one line per message, and an assertion over those lines.
 *
 * Guarantees: every part of a message shows, call ids and message ids do not; a mismatch throws an `Error` with the two
 * transcripts laid side by side, in any test runner.
 * Does not compare structured data: whole messages do.
 */
import type { Message } from "@toolwright/runtime-contract"

/** A text must be the whole line; a pattern must match it. */
export type ExpectedLine = string | RegExp

/**
 * The lines of a transcript:
 *
 * ```text
 * user: weather in Oslo?
 * assistant: Let me look. | get_weather {"city":"Oslo"}
 * tool get_weather: 12 degrees
 * tool pay error Indeterminate: it may have happened
 * reminder budget: two steps are left
 * ```
 */
export const renderTranscript = (messages: Iterable<Message.Message>): ReadonlyArray<string> =>
  Array.from(messages, renderMessage)

/** Throws when the transcript does not consist of exactly these lines. */
export const expectTranscript = (messages: Iterable<Message.Message>, expected: ReadonlyArray<ExpectedLine>): void => {
  const received = renderTranscript(messages)
  if (received.length === expected.length && received.every((line, index) => fits(line, expected[index]))) return
  throw new Error(`the transcript is another one\n${compare(received, expected)}`)
}

const renderMessage = (message: Message.Message): string => {
  switch (message.role) {
    case "user":
      return `user: ${message.content.map(renderPart).join(" | ")}`
    case "assistant": {
      const stop = message.stop === "endTurn" || message.stop === "toolCalls" ? "" : ` (${message.stop})`
      return `assistant: ${message.content.map(renderPart).join(" | ")}${stop}`
    }
    case "tool": {
      const outcome = message.outcome === "Completed" ? "" : ` ${message.outcome}`
      const marks = `${message.isError ? " error" : ""}${outcome}${message.foreign === true ? " foreign" : ""}`
      return `tool ${message.toolId}${marks}: ${message.content.map(renderPart).join(" | ")}`
    }
    case "reminder":
      return `reminder ${message.source}: ${message.text}`
  }
}

const renderPart = (part: Message.AssistantPart): string => {
  switch (part.type) {
    case "text":
      return part.text
    case "reasoning":
      return `(${part.text})`
    case "toolCall":
      return part.rawArguments === undefined
        ? `${part.toolId} ${JSON.stringify(part.arguments)}`
        : `${part.toolId} refused ${part.rawArguments}`
    case "providerTool":
      return `<${part.toolId} of the provider>`
    case "image":
    case "file":
      return `<${part.type} ${part.mediaType}>`
  }
}

const fits = (line: string, expected: ExpectedLine | undefined): boolean =>
  typeof expected === "string" ? line === expected : expected?.test(line) === true

/** The longest common part stands unmarked, `-` is expected and missing, `+` was not expected. */
const compare = (received: ReadonlyArray<string>, expected: ReadonlyArray<ExpectedLine>): string => {
  const common = commonLengths(received, expected)
  const lines: Array<string> = []
  let at = 0
  let want = 0
  while (at < received.length || want < expected.length) {
    const line = received[at]
    if (line !== undefined && want < expected.length && fits(line, expected[want])) {
      lines.push(`  ${line}`)
      at++
      want++
    } else if (
      want < expected.length &&
      (line === undefined || (common[at]?.[want + 1] ?? 0) >= (common[at + 1]?.[want] ?? 0))
    )
      lines.push(`- ${String(expected[want++])}`)
    else lines.push(`+ ${received[at++] ?? ""}`)
  }
  return lines.join("\n")
}

/** `table[i][j]`: how many lines the rest from `i` and the expectations from `j` have in common, in order. */
const commonLengths = (
  received: ReadonlyArray<string>,
  expected: ReadonlyArray<ExpectedLine>
): ReadonlyArray<ReadonlyArray<number>> => {
  const table = Array.from({ length: received.length + 1 }, () => Array.from({ length: expected.length + 1 }, () => 0))
  for (let i = received.length - 1; i >= 0; i--)
    for (let j = expected.length - 1; j >= 0; j--) {
      const row = table[i]
      const below = table[i + 1]
      if (row === undefined || below === undefined) continue
      row[j] = fits(received[i] ?? "", expected[j]) ? 1 + (below[j + 1] ?? 0) : Math.max(below[j] ?? 0, row[j + 1] ?? 0)
    }
  return table
}
