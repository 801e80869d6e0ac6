/**
 * A question to the person who uses the agent.
 *
 * Guarantees: executed by the client and never here: the run waits for the answer from outside.
 * Does not approve anything: an answer is information, not a permission.
 */
import { Tool } from "@toolwright/runtime-contract"
import { Type } from "@toolwright/runtime-contract/typebox"

/** Erase it as it is: a client gives its result. */
export const AskUser = Tool.define({
  id: "ask_user",
  description: [
    "Ask the user one question and wait for the answer. Use it where only the user can decide.",
    "Give options where there are few; the user may answer in other words. It does not replace an approval."
  ].join(" "),
  args: Type.Object({
    question: Type.String({ minLength: 1, maxLength: 2_000 }),
    options: Type.Optional(
      Type.Array(
        Type.Object({
          label: Type.String({ minLength: 1, maxLength: 100 }),
          description: Type.Optional(Type.String({ maxLength: 500 }))
        }),
        { minItems: 2, maxItems: 8 }
      )
    ),
    multi_select: Type.Boolean({ default: false, description: "Several options may be chosen" })
  }),
  output: Type.Object({
    answer: Type.String({ maxLength: 20_000, description: "In the user's words, or the labels that were chosen" }),
    chosen: Type.Optional(Type.Array(Type.String(), { description: "Labels of the chosen options" }))
  }),
  kind: "ClientExecuted",
  attribution: { provenance: "Native" }
})
