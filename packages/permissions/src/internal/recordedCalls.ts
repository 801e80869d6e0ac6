/**
 * Recorded calls, as the command line tool reads them: one object or an array of them.
 */
import { Json } from "@toolwright/runtime-contract"
import type { Behavior } from "../RuleSet.js"
import { JsonTextError, plainJson, positionOf, readJson } from "./jsonText.js"

export interface RecordedCall {
  readonly toolId: string
  readonly arguments: Json.JsonObject
  readonly expect: Behavior | undefined
}

/** Throws an `Error` that names file, line and what was expected. */
export const readCalls = (text: string, file: string): ReadonlyArray<RecordedCall> => {
  const refuse = (at: number, expected: string): Error => {
    const { line, column } = positionOf(text, at)
    return new Error(`${file}:${line}:${column}: expected ${expected}`)
  }
  try {
    const root = readJson(text)
    return (root.kind === "array" ? root.items : [root]).map((node) => {
      const value = plainJson(node)
      if (!Json.isJsonObject(value))
        throw refuse(node.at, 'an object such as { "tool": "read", "arguments": { "path": "a" } }')
      const { tool, arguments: args = {}, expect } = value
      if (typeof tool !== "string") throw refuse(node.at, '"tool" with the id of a tool')
      if (!Json.isJsonObject(args)) throw refuse(node.at, '"arguments" with an object')
      if (expect !== undefined && !isBehavior(expect)) throw refuse(node.at, '"expect" with allow, ask or deny')
      return { toolId: tool, arguments: args, expect }
    })
  } catch (cause) {
    throw cause instanceof JsonTextError ? refuse(cause.at, cause.expected) : cause
  }
}

const isBehavior = (value: Json.Json): value is Behavior => value === "allow" || value === "ask" || value === "deny"
