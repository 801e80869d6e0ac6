/**
 * How the value of a call becomes what the model reads and what programs read.
 *
 * Guarantees: never throws; text is never blank; rendered once, bounded in depth and number of values; the value's own
 * code (`toJSON`, getters) runs at most once. A value that cannot be read is a completed call that says so, never a
 * failed one.
 * Does not redact, cap or spill: the runtime's output policy does, on the text made here.
 */
/// <reference lib="es2024.string" />
import { describeValue } from "./internal/describeValue.js"
import { encodeValue, type EncodedValue } from "./internal/encodeValue.js"
import { deepFreeze } from "./Json.js"
import type { ContentBlock } from "./Message.js"
import type { ToolSpec } from "./RawTool.js"
import type { StateCommand } from "./StateKey.js"
import type { ArgumentIssue } from "./ToolError.js"
import type { ToolOutput } from "./ToolOutput.js"
import { validatorFor } from "./ToolSchema.js"

/** What stands for `undefined`. `null` is the text `null`. */
export const noOutput = "(no output)"

/** What stands for a text of nothing but white space, which providers refuse. */
export const emptyText = "(empty text)"

/**
 * The text that a model reads for a value. A string is bare text, anything else compact JSON. Never throws.
 *
 * | value | text |
 * | --- | --- |
 * | `undefined`; a blank string | `noOutput`; `emptyText` |
 * | lone surrogates | U+FFFD |
 * | -0; NaN, Infinity | `0`; the strings `NaN`, `Infinity`, `-Infinity` |
 * | bigint; Date; RegExp; URL and all else with `toJSON` | its digits; ISO 8601; its source; what `toJSON` gives |
 * | Map; Set; boxed primitive | a list of `[key, value]`; a list of values; the primitive |
 * | Error | name, message, cause and its own members; no stack |
 * | class instance; one without members | its own enumerable members; `[ClassName]` |
 * | `undefined` in an object; in an array, a hole | left out; `null` |
 * | function, symbol, invalid Date, binary data | a note such as `[function]`, `[Uint8Array of 12 bytes]` |
 * | cycle; a getter or `toJSON` that throws | `[cycle]`; `[unserialisable: message]`, its neighbours kept |
 * | over 64 levels, 100,000 values or 16 Mi characters | a note in place of the rest |
 */
export const renderToolOutput = (value: unknown): string => {
  if (typeof value === "string") return textOf(value)
  return value === undefined ? noOutput : textOfEncoded(encodeValue(value))
}

/** What a call gave back. */
export interface CallValue {
  readonly callId: string
  readonly value: unknown
  /** Shown to the model in place of the value's text. */
  readonly content?: ReadonlyArray<ContentBlock> | undefined
  readonly state?: ReadonlyArray<StateCommand>
}

/**
 * The output of a call that returned: text, and data where the tool has an output schema that the value fits. A value
 * that does not fit, or has no full JSON form where one is asked for, gives `unreadable`. Never throws.
 */
export const outputOf = (spec: Pick<ToolSpec, "outputSchema">, given: CallValue): ToolOutput => {
  const { callId, value, content, state = none } = given
  const issues = content === undefined ? none : blockIssues(content)
  if (spec.outputSchema === undefined) {
    const shown =
      content === undefined || content.length === 0 ? [block(renderToolOutput(value))] : content.map(readable)
    if (issues.length > 0) return unreadable(callId, { issues, text: renderToolOutput(value) })
    return { callId, content: shown, isError: false, state }
  }
  const encoded = encodeValue(value)
  const text = typeof value === "string" ? textOf(value) : value === undefined ? noOutput : textOfEncoded(encoded)
  const misfits = [...issues, ...schemaIssues(value, { encoded, validate: validatorFor(spec.outputSchema) })]
  if (misfits.length > 0) return unreadable(callId, { issues: misfits, text })
  const shown = content === undefined || content.length === 0 ? [block(text)] : content.map(readable)
  return { callId, content: shown, isError: false, data: deepFreeze(encoded.value), state }
}

/**
 * The output of a call whose effect happened and whose value cannot be used. `isError`, so that nobody counts on data
 * that is not there; the text says that the call completed, so that nobody repeats it.
 */
export const unreadable = (
  callId: string,
  given: { readonly issues: ReadonlyArray<ArgumentIssue>; readonly text?: string }
): ToolOutput => {
  const places = given.issues.slice(0, 8).map(({ pointer, expected, received }) => {
    const place = pointer === "" ? "" : `at ${pointer}: `
    return `${place}expected ${expected}, received ${received}`
  })
  const why = places.length === 0 ? "" : ` (${places.join("; ")})`
  const original = given.text === undefined ? "" : `\nWhat it returned: ${given.text}`
  const text = `The call completed, but its output could not be read${why}. Do not repeat it for that reason.${original}`
  return { callId, content: [block(text)], isError: true, state: none }
}

const none: ReadonlyArray<never> = Object.freeze([])

const block = (text: string): ContentBlock => ({ type: "text", text })

const readable = (given: ContentBlock): ContentBlock =>
  given.type === "text" ? block(textOf(given.text)) : { ...given }

const textOf = (text: string): string => (text.trim() === "" ? emptyText : text.toWellFormed())

const textOfEncoded = ({ value }: EncodedValue): string =>
  typeof value === "string" ? textOf(value) : JSON.stringify(value)

const schemaIssues = (
  value: unknown,
  { encoded, validate }: { readonly encoded: EncodedValue; readonly validate: ReturnType<typeof validatorFor> }
): ReadonlyArray<ArgumentIssue> => {
  if (value === undefined) return [{ pointer: "", expected: "a value", received: "nothing" }]
  const issues = validate(encoded.value)
  if (issues.length > 0 || encoded.faithful) return issues
  return [{ pointer: "", expected: "a value that JSON can hold in full", received: "one that it cannot" }]
}

const base64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Blocks come from the tool's own code, which may be plain JavaScript. */
const blockIssues = (blocks: ReadonlyArray<unknown>): ReadonlyArray<ArgumentIssue> => {
  if (!Array.isArray(blocks))
    return [{ pointer: "/content", expected: "a list of content blocks", received: describeValue(blocks) }]
  return blocks.flatMap((one: unknown, index) => (isBlock(one) ? [] : [badBlock(one, `/content/${index}`)]))
}

const badBlock = (received: unknown, pointer: string): ArgumentIssue => ({
  pointer,
  expected: "a text block, or an image or file block with mediaType and base64 data",
  received: describeValue(received)
})

const isBlock = (value: unknown): value is ContentBlock => {
  if (typeof value !== "object" || value === null || !("type" in value)) return false
  if (value.type === "text") return "text" in value && typeof value.text === "string"
  if ((value.type !== "image" && value.type !== "file") || !("mediaType" in value) || !("data" in value)) return false
  const { mediaType, data } = value
  return (
    typeof mediaType === "string" &&
    mediaType.includes("/") &&
    typeof data === "string" &&
    data.length % 4 === 0 &&
    base64.test(data)
  )
}
