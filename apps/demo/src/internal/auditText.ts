/**
 * Facts of a thread in words, for whoever must account for it later: who asked what, which rule decided, who approved
 * which digest, what ran, and what may have happened.
 *
 * Guarantees: pure; nothing that was decided, answered, started or ended is left out; arguments marked secret are hidden.
 * Does not judge whether the facts are those that were written: the chain does.
 */
import { ApprovalText } from "@toolwright/permissions"
import {
  Json,
  Message,
  type RunEvent,
  type ThreadCommit,
  type ThreadStore,
  type ToolBatch
} from "@toolwright/runtime-contract"
import { placeOf, recoveries } from "./recordText.js"

export type SchemaOf = (toolId: string) => Json.JsonObject | undefined

export interface AuditLine {
  /** Of the fact, from 1 in each thread. */
  readonly number: number
  readonly text: string
}

/** No line: what the model said, what it cost, and what only repeats another fact. */
export const auditLines = (
  facts: ReadonlyArray<ThreadStore.NumberedFact>,
  schemaOf: SchemaOf
): ReadonlyArray<AuditLine> =>
  facts.flatMap(({ number, fact }) =>
    wordsOf(fact, schemaOf).map((text) => ({ number, text: `${timeOf(fact)} ${text}` }))
  )

/** As much of a digest as tells two apart. */
const shortDigest = (digest: string): string => digest.slice(0, 12)

const timeOf = (fact: RunEvent.RunFact): string =>
  new Date(fact.type === "Decided" ? fact.record.at : fact.at).toISOString().replace("T", " ")

const wordsOf = (fact: RunEvent.RunFact, schemaOf: SchemaOf): ReadonlyArray<string> => {
  switch (fact.type) {
    case "RunStarted": {
      const { principal, narrowing, runId } = fact.record
      return [`run ${runId.slice(0, 8)} for ${principal}${narrowings.get(narrowing) ?? `, ${narrowing}`}`]
    }
    case "MessageCommitted":
      return messageWords(fact, schemaOf)
    case "Decided":
      return [recordWords(fact.record)]
    case "CallChanged":
      return callWords(fact.call, schemaOf)
    case "TicketIssued":
      return [`ticket ${fact.ticket.id} for ${fact.ticket.toolId ?? fact.ticket.kind} waits for an answer`]
    case "Noted":
      return fact.note.type === "UsageRecorded" ? [] : [`note ${JSON.stringify(fact.note)}`]
    case "RunEnded":
      return [`run ended: ${fact.cause._tag}`]
    case "BatchPublished":
    case "RunAwaiting":
      return []
  }
}

const narrowings: ReadonlyMap<string, string> = new Map([
  ["Configured", ""],
  ["Unattended", ", nobody there to approve"],
  ["DenyAll", ", no tool may run"]
])

const messageWords = (
  { message, step }: Extract<RunEvent.RunFact, { type: "MessageCommitted" }>,
  schemaOf: SchemaOf
): ReadonlyArray<string> => {
  if (message.role === "user") return [`asked: “${Message.textOf(message.content)}”`]
  if (message.role !== "assistant") return []
  return message.content
    .filter((block) => block.type === "toolCall")
    .map((call, index) => `${step}.${index + 1} ${call.toolId} requested: ${argumentWords(call, schemaOf)}`)
}

const argumentWords = (
  call: { readonly toolId: string; readonly arguments: Json.Json },
  schemaOf: SchemaOf
): string => {
  const given = call.arguments
  if (!Json.isJsonObject(given)) return "arguments that could not be read"
  const schema = schemaOf(call.toolId)
  // Without its schema nobody knows what is secret.
  return schema === undefined
    ? "arguments of an unknown shape"
    : JSON.stringify(ApprovalText.hideSecrets(given, schema))
}

const outcomes: ReadonlyMap<string, string> = new Map([
  ["Allow", "allowed"],
  ["RequireConfirmation", "must be approved"],
  ["Block", "blocked"],
  ["Schedule", "put off"],
  ["SetResult", "answered without running"]
])

const recordWords = (record: ThreadCommit.AuditRecord): string => {
  const { type, operationId, toolId, digest, outcome, rule, by, detail } = record
  const place = [
    ...(operationId === undefined ? [] : [placeOf(operationId)]),
    ...(toolId === undefined ? [] : [toolId]),
    ...(digest === undefined ? [] : [`(${shortDigest(digest)})`])
  ].join(" ")
  const where = place === "" ? "" : `${place} `
  const why = typeof detail === "string" ? `: ${detail}` : editWords(detail)
  const ruled = rule === undefined ? "" : `, rule ${rule}`
  if (type === "Decision") return `${where}${outcomes.get(outcome) ?? outcome} by gate ${by}${ruled}${why}`
  if (type === "Grant") return `${where}rule ${outcome.toLowerCase()} by ${by}: ${rule ?? "?"}${grantWords(detail)}`
  if (type === "Recovery") return `${where}after a crash: ${recoveries.get(outcome) ?? outcome}${why}`
  return `${where}${type.toLowerCase()} ${outcome} by ${by}${ruled}${why}`
}

const editWords = (detail: Json.Json | undefined): string => {
  const to = Json.isJsonObject(detail) ? detail["editedTo"] : undefined
  return typeof to === "string" ? ` to (${shortDigest(to)})` : ""
}

const grantWords = (detail: Json.Json | undefined): string => {
  const id = Json.isJsonObject(detail) ? detail["grantId"] : undefined
  return typeof id === "string" ? ` (${id})` : ""
}

const callWords = (call: ToolBatch.BatchCall, schemaOf: SchemaOf): ReadonlyArray<string> => {
  const { phase, proposal, arguments: given } = call
  const where = `${placeOf(call.operationId)} ${call.toolId} (${shortDigest(call.digest)})`
  switch (phase._tag) {
    case "Approved": {
      const edited = proposal > 0 && given !== undefined
      const change = edited ? `, changed to ${argumentWords({ toolId: call.toolId, arguments: given }, schemaOf)}` : ""
      return [`${where} approved by ${phase.by.join(", ")}${change}`]
    }
    case "Executing":
      return [`${where} started, attempt ${phase.attempt}`]
    case "Completed":
      return [`${where} completed${phase.output.isError ? " with an error" : ""}`]
    case "NotRun":
      return [`${where} did not run: ${phase.reason}`]
    case "Indeterminate":
      return [`${where} may have happened: ${phase.reason}`]
    case "Requested":
    case "Awaiting":
      return []
  }
}
