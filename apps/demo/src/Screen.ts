/**
 * Shows a run as it happens: what the model says and asks for, what the gate says, what runs, and what is committed.
 *
 * Guarantees: shows committed facts in their order; on a terminal also the words of the model while they come, and says
 * so where they turn out void; texts from outside cannot move the cursor; fits the width.
 * Does not ask anything: the approval does.
 */
import { ApprovalText } from "@toolwright/permissions"
import {
  type Json,
  Message,
  type Run,
  type RunEvent,
  type ThreadCommit,
  type ToolBatch
} from "@toolwright/runtime-contract"
import { safe, safeLine, wrap } from "./internal/paper.js"
import { argumentsOf, decisions, detailOf, endings, placeOf, recoveries } from "./internal/recordText.js"
import { StreamedText } from "./internal/streamedText.js"
import { Page, type Paper } from "./Page.js"

/** The schema of a tool's arguments, to leave out what it takes for granted. */
type SchemaOf = (toolId: string) => Json.JsonObject | undefined

export class Screen extends Page {
  readonly #stream: StreamedText
  readonly #schemaOf: SchemaOf

  constructor(paper: Paper, schemaOf: SchemaOf = () => undefined) {
    super(paper)
    this.#schemaOf = schemaOf
    this.#stream = new StreamedText({
      write: (text) => this.write(text),
      gap: () => this.needGap(),
      columns: () => this.width(2)
    })
  }

  readonly onEvent = (event: RunEvent.RunEvent): void => {
    if (event._tag === "Fact") this.#fact(event.fact)
    else if (this.isLive) this.#delta(event.delta)
  }

  /** A heading for a turn whose request was not typed here. */
  request(text: string): void {
    this.write(`${this.paint("bold", `› ${safeLine(text)}`)}\n`)
    this.gap()
  }

  /** How a run ended, where that is not the natural end. */
  ended(cause: Run.EndCause): void {
    if (cause._tag === "NaturalEnd") return
    const why =
      cause._tag === "Error" ? `: ${cause.failure.detail}` : cause._tag === "Stopped" ? `: ${cause.reason}` : ""
    this.gap()
    this.note(`The run ended: ${endings.get(cause._tag) ?? cause._tag}${why}.`, "red")
  }

  #delta(delta: RunEvent.RunDelta): void {
    switch (delta.type) {
      case "TextDelta":
        return this.#stream.add(delta.text)
      case "AttemptVoided":
        if (this.#stream.isEmpty) return
        this.#stream.finish()
        return this.note(`(void: ${delta.reason})`, "yellow")
      case "ToolProgress":
        return this.#progress(delta)
      case "ReasoningDelta":
      case "ToolArgumentsDelta":
    }
  }

  /** Of several lines the last one that says something and is not part of another. */
  #progress({ operationId, text }: Extract<RunEvent.RunDelta, { readonly type: "ToolProgress" }>): void {
    const last = text.split("\n").findLast((line) => /^\S.*\p{L}/u.test(line))
    if (last !== undefined) this.line(placeOf(operationId), { stage: "progress", ink: "dim", text: last })
  }

  #fact(fact: RunEvent.RunFact): void {
    switch (fact.type) {
      case "MessageCommitted":
        if (fact.message.role === "assistant") this.#assistant(fact.message)
        return
      case "Decided":
        return this.#decided(fact.record)
      case "CallChanged":
        return this.#call(fact.call)
      case "BatchPublished":
        return this.line(String(fact.step), { stage: "commit", ink: "dim", text: "results published" })
      case "RunEnded":
        return this.ended(fact.cause)
      case "RunStarted":
      case "RunAwaiting":
      case "TicketIssued":
        return
      case "Noted":
        if (fact.note.type === "UsageRecorded") this.#usage(fact.step, fact.note)
    }
  }

  #assistant(message: Message.AssistantMessage): void {
    const calls = Message.toolCallsOf(message)
    const text = Message.textOf(message.content)
    const isShown = this.#stream.finish(text)
    if (calls.length === 0 && !isShown) {
      this.needGap()
      for (const line of wrap(safe(text), this.width(2))) this.write(`  ${line}\n`)
    }
    if (calls.length === 0) return
    if (text !== "" && !isShown) this.line(String(message.step), { stage: "model", ink: "cyan", text: safeLine(text) })
    calls.forEach((call, position) => {
      const given = call.rawArguments ?? argumentsOf(call.arguments, this.#schemaOf(call.toolId))
      this.line(`${message.step}.${position + 1}`, { stage: "request", ink: "bold", text: `${call.toolId}  ${given}` })
    })
  }

  #decided(record: ThreadCommit.AuditRecord): void {
    if (record.operationId === undefined) return
    const word = decisions.get(record.outcome)
    if (record.type === "Decision" && word !== undefined) {
      const rule = record.rule?.replace(/^grant (?:grant-)?(\w{8}).*$/, "remembered rule $1")
      const text = rule?.startsWith(word.text) === true ? rule : `${word.text}  ${rule ?? detailOf(record)}`
      this.line(placeOf(record.operationId), { stage: "gate", ink: word.ink, text })
    } else if (record.type === "Recovery") {
      const text = recoveries.get(record.outcome)
      const subject = record.toolId ?? "a call"
      if (text !== undefined)
        this.line(placeOf(record.operationId), { stage: "recover", ink: "yellow", text: `${subject} ${text}` })
    } else if (record.type === "Grant") {
      const text = `${record.outcome.toLowerCase()} from now on  ${ApprovalText.showLine(record.rule ?? "")}`
      this.line(placeOf(record.operationId), { stage: "rule", ink: "green", text })
    } else if (record.type === "Resolution") {
      const text = record.outcome === "Happened" ? "it happened" : "it did not happen"
      this.line(placeOf(record.operationId), { stage: "settled", ink: "green", text: `${text}, says ${record.by}` })
    } else if (record.type === "Answer") {
      this.line(placeOf(record.operationId), {
        stage: "answer",
        ink: "yellow",
        text: `${record.outcome} by ${record.by}`
      })
    }
  }

  #call(call: ToolBatch.BatchCall): void {
    const place = placeOf(call.operationId)
    const { phase } = call
    if (phase._tag === "Executing") {
      const again = phase.attempt > 1 ? `  attempt ${phase.attempt} of the same operation` : ""
      this.line(place, { stage: "run", ink: "blue", text: `${call.toolId}${again}` })
    } else if ("output" in phase) {
      const isFine = phase._tag === "Completed" && !phase.output.isError
      const kind = phase._tag === "Completed" ? (isFine ? "ok" : "error") : `${phase._tag} (${phase.reason})`
      const text = `${kind}  ${Message.textOf(phase.output.content)}`
      this.line(place, { stage: "result", ink: isFine ? "green" : "red", text })
    }
  }

  #usage(
    step: number,
    { provider, model, usage }: Extract<ThreadCommit.RunNote, { readonly type: "UsageRecorded" }>
  ): void {
    if (usage.inputTokens + usage.outputTokens === 0) return
    const cached = (usage.cachedInputTokens ?? 0) === 0 ? "" : ` (${usage.cachedInputTokens} cached)`
    const text = `${usage.inputTokens} tokens in${cached}, ${usage.outputTokens} out  ${provider}:${model}, step ${step}`
    this.line(String(step), { stage: "usage", ink: "dim", text })
  }
}
