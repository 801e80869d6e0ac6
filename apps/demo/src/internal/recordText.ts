/**
 * Committed records in few words, for one line each.
 *
 * Guarantees: pure; a record of a kind that is not listed here is not hidden, it is named as it is.
 * Does not show anything: the screen does.
 */
import { type Json, Json as JsonValue, type ThreadCommit } from "@toolwright/runtime-contract"
import type { Ink } from "./paper.js"

export const decisions: ReadonlyMap<string, { readonly text: string; readonly ink: Ink }> = new Map([
  ["Allow", { text: "allow", ink: "green" }],
  ["RequireConfirmation", { text: "ask", ink: "yellow" }],
  ["Block", { text: "block", ink: "red" }],
  ["Schedule", { text: "later", ink: "yellow" }],
  ["SetResult", { text: "answered", ink: "green" }]
])

/** What recovery did with a call that nobody was running any more. */
export const recoveries: ReadonlyMap<string, string> = new Map([
  ["Reenter", "is safe to repeat, and runs again"],
  ["Adopt", "is not repeated: its outcome was found"],
  ["Reconcile", "is asked what became of it"],
  ["Indeterminate", "may have happened; it is not repeated"]
])

export const endings: ReadonlyMap<string, string> = new Map([
  ["Cancelled", "it was cancelled"],
  ["MaxSteps", "it had no steps left"],
  ["Indeterminate", "the outcome of a call is unknown"],
  ["Error", "something failed"],
  ["Stopped", "it was stopped"]
])

/** Step and position from 1, as people count. */
export const placeOf = (operationId: string): string => {
  const [step = "", position = ""] = operationId.split("/").slice(-2)
  return `${step}.${Number(position) + 1}`
}

/** On one line, without what a tool takes for granted. */
export const argumentsOf = (given: Json.JsonObject, schema: Json.JsonObject | undefined): string => {
  const properties = schema?.["properties"]
  const usual = (name: string): Json.Json | undefined => {
    const property = JsonValue.isJsonObject(properties) ? properties[name] : undefined
    return JsonValue.isJsonObject(property) ? property["default"] : undefined
  }
  return Object.entries(given)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(usual(name)))
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ")
}

export const detailOf = (record: ThreadCommit.AuditRecord): string =>
  typeof record.detail === "string" ? record.detail : `by ${record.by}`
