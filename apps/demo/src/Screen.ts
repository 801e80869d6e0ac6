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
  type ResumeTicket,
  type Run,
  type RunEvent,
  type ThreadCommit,
  type ToolBatch
} from "@toolwright/runtime-contract"
import { fit, type Ink, painter, type Painter, safe, safeLine, wrap } from "./internal/paper.js"
import { StreamedText } from "./internal/streamedText.js"

export interface Paper {
  readonly write: (text: string) => void
  /** Columns; asked for at each line, because windows change. */
  readonly columns: () => number
  readonly color: boolean
  /** Somebody looks on: words are shown while they come. */
  readonly isLive: boolean
}

/** Everything in a line but the text: indent, number, stage. */
const margin = 2 + 5 + 9

export class Screen {
  readonly #paper: Paper
  readonly #paint: Painter
  readonly #stream: StreamedText
  constructor(paper: Paper) {
    this.#paper = paper
    this.#paint = painter(paper.color)
    this.#stream = new StreamedText({ write: paper.write, columns: () => this.#width(2) })
  }

  readonly onEvent = (event: RunEvent.RunEvent): void => {
    if (event._tag === "Fact") this.#fact(event.fact)
    else if (this.#paper.isLive) this.#delta(event.delta)
  }

  /** A heading for a turn whose request was not typed here. */
  request(text: string): void {
    this.#paper.write(`${this.#paint("bold", `› ${safeLine(text)}`)}\n\n`)
  }

  note(text: string, ink: Ink = "dim"): void {
    for (const line of wrap(safe(text), this.#width(2))) this.#paper.write(`  ${this.#paint(ink, line)}\n`)
  }

  /** One line of a list. */
  item(name: string, { ink, text }: { readonly ink: Ink; readonly text: string }): void {
    const body = fit(safeLine(text), this.#width(12))
    this.#paper.write(`  ${this.#paint(ink, safeLine(name).padEnd(9))} ${body}\n`)
  }

  gap(): void {
    this.#paper.write("\n")
  }

  /** What an approver must see: the call whole, with every character made visible. */
  ticket(ticket: ResumeTicket.ResumeTicket, schema: Json.JsonObject | undefined): void {
    this.#asked(ticket, "may it run with these arguments?")
    this.#arguments(ticket.arguments, schema)
    const reasons = ticket.requirements.map(({ reason }) => ApprovalText.showLine(reason))
    this.#block("because", reasons.join("\n"))
  }

  /** What an editor made of it, before it is sent. */
  proposal(
    ticket: ResumeTicket.ResumeTicket,
    shown: { readonly arguments: Json.JsonObject; readonly schema: Json.JsonObject | undefined }
  ): void {
    this.#asked(ticket, "would run with these arguments instead:")
    this.#arguments(shown.arguments, shown.schema)
  }

  /** A name and a text that may have several lines, for a person who decides. */
  detail(name: string, text: string): void {
    this.#block(name, ApprovalText.show(text))
  }

  #asked({ operationId, toolId }: ResumeTicket.ResumeTicket, question: string): void {
    this.#line(placeOf(operationId), {
      stage: "ask",
      ink: "yellow",
      text: `${ApprovalText.showLine(toolId)}: ${question}`
    })
  }

  #arguments(given: Json.JsonObject, schema: Json.JsonObject | undefined): void {
    for (const [name, value] of Object.entries(ApprovalText.hideSecrets(given, schema)))
      this.detail(ApprovalText.showLine(name), typeof value === "string" ? value : JSON.stringify(value))
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
        return this.#line(placeOf(delta.operationId), { stage: "progress", ink: "dim", text: delta.text })
      case "ReasoningDelta":
      case "ToolArgumentsDelta":
    }
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
        return this.#line(String(fact.step), { stage: "commit", ink: "dim", text: "results published" })
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
      this.gap()
      for (const line of wrap(safe(text), this.#width(2))) this.#paper.write(`  ${line}\n`)
    }
    if (calls.length === 0) return
    if (text !== "" && !isShown) this.#line(String(message.step), { stage: "model", ink: "cyan", text: safeLine(text) })
    calls.forEach((call, position) => {
      const given = call.rawArguments ?? argumentsOf(call.arguments)
      this.#line(`${message.step}.${position + 1}`, { stage: "request", ink: "bold", text: `${call.toolId}  ${given}` })
    })
  }

  #decided(record: ThreadCommit.AuditRecord): void {
    if (record.operationId === undefined) return
    const word = decisions.get(record.outcome)
    if (record.type === "Decision" && word !== undefined) {
      const rule = record.rule?.replace(/^grant (?:grant-)?(\w{8}).*$/, "remembered rule $1")
      const text = rule?.startsWith(word.text) === true ? rule : `${word.text}  ${rule ?? detailOf(record)}`
      this.#line(placeOf(record.operationId), { stage: "gate", ink: word.ink, text })
    } else if (record.type === "Recovery") {
      const text = recoveries.get(record.outcome)
      const subject = record.toolId ?? "a call"
      if (text !== undefined)
        this.#line(placeOf(record.operationId), { stage: "recover", ink: "yellow", text: `${subject} ${text}` })
    } else if (record.type === "Grant") {
      const text = `${record.outcome.toLowerCase()} from now on  ${ApprovalText.showLine(record.rule ?? "")}`
      this.#line(placeOf(record.operationId), { stage: "rule", ink: "green", text })
    } else if (record.type === "Resolution") {
      const text = record.outcome === "Happened" ? "it happened" : "it did not happen"
      this.#line(placeOf(record.operationId), { stage: "settled", ink: "green", text: `${text}, says ${record.by}` })
    } else if (record.type === "Answer") {
      this.#line(placeOf(record.operationId), {
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
      this.#line(place, { stage: "run", ink: "blue", text: `${call.toolId}${again}` })
    } else if ("output" in phase) {
      const isFine = phase._tag === "Completed" && !phase.output.isError
      const kind = phase._tag === "Completed" ? (isFine ? "ok" : "error") : `${phase._tag} (${phase.reason})`
      const text = `${kind}  ${Message.textOf(phase.output.content)}`
      this.#line(place, { stage: "result", ink: isFine ? "green" : "red", text })
    }
  }

  #usage(
    step: number,
    { provider, model, usage }: Extract<ThreadCommit.RunNote, { readonly type: "UsageRecorded" }>
  ): void {
    if (usage.inputTokens + usage.outputTokens === 0) return
    const cached = (usage.cachedInputTokens ?? 0) === 0 ? "" : ` (${usage.cachedInputTokens} cached)`
    const text = `${usage.inputTokens} tokens in${cached}, ${usage.outputTokens} out  ${provider}:${model}, step ${step}`
    this.#line(String(step), { stage: "usage", ink: "dim", text })
  }

  #line(
    place: string,
    { stage, ink, text }: { readonly stage: string; readonly ink: Ink; readonly text: string }
  ): void {
    const body = fit(safeLine(text), this.#width(margin))
    this.#paper.write(`  ${this.#paint("dim", place.padEnd(5))}${this.#paint(ink, stage.padEnd(9))}${body}\n`)
  }

  #block(name: string, text: string): void {
    const indent = margin + 9
    wrap(text, this.#width(indent)).forEach((line, index) => {
      const label = fit(index === 0 ? name : "", 8).padEnd(9)
      this.#paper.write(`${" ".repeat(margin)}${this.#paint("dim", label)}${line}\n`)
    })
  }

  #width(taken: number): number {
    return Math.max(20, this.#paper.columns() - taken)
  }
}

const decisions: ReadonlyMap<string, { readonly text: string; readonly ink: Ink }> = new Map([
  ["Allow", { text: "allow", ink: "green" }],
  ["RequireConfirmation", { text: "ask", ink: "yellow" }],
  ["Block", { text: "block", ink: "red" }],
  ["Schedule", { text: "later", ink: "yellow" }],
  ["SetResult", { text: "answered", ink: "green" }]
])

/** What recovery did with a call that nobody was running any more. */
const recoveries: ReadonlyMap<string, string> = new Map([
  ["Reenter", "is safe to repeat, and runs again"],
  ["Adopt", "is not repeated: its outcome was found"],
  ["Reconcile", "is asked what became of it"],
  ["Indeterminate", "may have happened; it is not repeated"]
])

const endings: ReadonlyMap<string, string> = new Map([
  ["Cancelled", "it was cancelled"],
  ["MaxSteps", "it had no steps left"],
  ["Indeterminate", "the outcome of a call is unknown"],
  ["Error", "something failed"],
  ["Stopped", "it was stopped"]
])

/** Step and position from 1, as people count. */
const placeOf = (operationId: string): string => {
  const [step = "", position = ""] = operationId.split("/").slice(-2)
  return `${step}.${Number(position) + 1}`
}

const argumentsOf = (given: object): string =>
  Object.entries(given)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ")

const detailOf = (record: ThreadCommit.AuditRecord): string =>
  typeof record.detail === "string" ? record.detail : `by ${record.by}`
