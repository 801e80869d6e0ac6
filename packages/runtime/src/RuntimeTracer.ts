/**
 * Where the spans of a runtime go, as the smallest shape that any tracing library can be put behind.
 *
 * Guarantees: three kinds of spans, `gate TOOL` (a moment), `wait TOOL` (from the ticket to the answer) and
 * `execute_tool TOOL` (one attempt), attributed after OpenTelemetry's conventions for generative AI; never arguments or
 * results; a tracer that throws disturbs nothing.
 * Does not export, sample or know parents: the library behind it does.
 */

export type AttributeValue = string | number | boolean

export interface StartedSpan {
  readonly name: string
  /** Milliseconds since the epoch, the runtime's clock. A wait begins when its ticket was issued. */
  readonly startTime: number
  /** Such as `gen_ai.tool.name`, `gen_ai.conversation.id` (the thread), `toolwright.run.id`, `toolwright.gate.outcome`. */
  readonly attributes: Readonly<Record<string, AttributeValue>>
}

export interface OpenSpan {
  /** Before the end: `toolwright.outcome` of an attempt. */
  readonly attribute: (...[key, value]: readonly [key: string, value: AttributeValue]) => void
  /** Milliseconds since the epoch. */
  readonly end: (endTime: number) => void
}

export interface RuntimeTracer {
  readonly start: (span: StartedSpan) => OpenSpan
}
