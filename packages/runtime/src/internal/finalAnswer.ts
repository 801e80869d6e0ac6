/**
 * The typed final answer of a snapshot that asks for one (L2): read strictly, checked, sent back a bounded number of times.
 *
 * Guarantees: what is handed out fits the schema; nothing is repaired or guessed at.
 * Does not talk to the model: the step flow commits the reminder.
 */
import type { ExecutableAgentSnapshot, Json } from "@toolwright/runtime-contract"
import { checkFor } from "./valueChecks.js"

export type FinalAnswer =
  | { readonly ok: true; readonly value: Json.Json }
  | { readonly ok: false; readonly text: string }

type Asked = NonNullable<ExecutableAgentSnapshot.ExecutableAgentSnapshot["output"]>

export const readFinalAnswer = ({ schema }: Asked, text: string): FinalAnswer => {
  let value: Json.Json
  try {
    value = JSON.parse(text) as Json.Json
  } catch (cause) {
    return refused(cause instanceof Error ? cause.message : "it is no JSON")
  }
  try {
    const issues = checkFor(schema)(value)
    if (issues.length === 0) return { ok: true, value }
    return refused(
      issues
        .map(
          (one) =>
            `${one.pointer === "" ? "the root" : one.pointer}: expected ${one.expected}, received ${one.received}`
        )
        .join("; ")
    )
  } catch (cause) {
    return refused(cause instanceof Error ? cause.message : "its schema cannot be used")
  }
}

const refused = (why: string): FinalAnswer => ({
  ok: false,
  text: `The final answer must be one JSON value that fits the required schema, and nothing else. ${why}`
})

/** Who says so in the transcript. */
export const source = "final-answer"
