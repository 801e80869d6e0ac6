/**
 * What one call gives back: content for the model, optional structured data, staged state.
 *
 * Guarantees: plain data; a failure is an output with `isError`, not an exception; text is derived from content.
 * Does not render values: `renderToolOutput` does. Does not write state: commands are applied at publication.
 */
import type { Json } from "./Json.js"
import type { ContentBlock } from "./Message.js"
import { textOf } from "./Message.js"
import type { StateCommand } from "./StateKey.js"

export interface ToolOutput {
  readonly callId: string
  readonly content: ReadonlyArray<ContentBlock>
  readonly isError: boolean
  /** Structured output that passed the tool's output schema. */
  readonly data?: Json
  readonly state: ReadonlyArray<StateCommand>
  /** It came from outside: a client, a person, a web page. */
  readonly foreign?: boolean
}

const none: ReadonlyArray<StateCommand> = Object.freeze([])

const block = (text: string): ReadonlyArray<ContentBlock> => [{ type: "text", text }]

// oxlint-disable-next-line max-params -- the form that authors of raw tools write most
export const ok = (callId: string, text: string, data?: Json): ToolOutput =>
  data === undefined
    ? { callId, content: block(text), isError: false, state: none }
    : { callId, content: block(text), isError: false, data, state: none }

export const okBlocks = (callId: string, content: ReadonlyArray<ContentBlock>): ToolOutput => ({
  callId,
  content,
  isError: false,
  state: none
})

export const error = (callId: string, text: string): ToolOutput => ({
  callId,
  content: block(text),
  isError: true,
  state: none
})

export const errorBlocks = (callId: string, content: ReadonlyArray<ContentBlock>): ToolOutput => ({
  callId,
  content,
  isError: true,
  state: none
})

/** The same output with commands staged behind those it already has. */
export const withState = (output: ToolOutput, commands: ReadonlyArray<StateCommand>): ToolOutput => ({
  ...output,
  state: [...output.state, ...commands]
})

/** The text blocks of the output, joined by line feeds. */
export const text = (output: ToolOutput): string => textOf(output.content)
