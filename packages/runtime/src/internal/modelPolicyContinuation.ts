/**
 * A text that was cut off by its length, continued by further requests as if it were one answer.
 *
 * Guarantees: only text is continued, never a turn with calls; the parts read as one, usage adds up, and a continuation
 * that fails leaves the text as it was cut; a policy inside that begins again is followed by what was said before.
 * Does not raise a limit: each request has its own.
 */
import { LlmError, type LlmExecutor, type Message, Transcript } from "@toolwright/runtime-contract"

export interface ContinuationPolicy {
  /** Further requests for one answer. */
  readonly times: number
}

type Event = LlmExecutor.LlmEvent

export const continuing = (
  llm: LlmExecutor.LlmExecutor,
  policy: ContinuationPolicy
): LlmExecutor.LlmExecutor["stream"] =>
  policy.times < 1
    ? (request, context) => llm.stream(request, context)
    : (request, context) => new Continuing(llm, { request, context, policy })

const goOn: LlmExecutor.RequestNote = {
  source: "continuation",
  content: [
    {
      type: "text",
      text: "Your last answer was cut off by its length. Go on exactly where it stopped; repeat nothing."
    }
  ]
}

class Continuing implements AsyncIterableIterator<Event> {
  readonly #llm: LlmExecutor.LlmExecutor
  readonly #first: LlmExecutor.LlmRequest
  readonly #context: LlmExecutor.LlmContext
  readonly #times: number
  #iterator: AsyncIterator<Event> | undefined
  /** Text of the requests before this one. */
  #before = ""
  #text = ""
  /** What else was said in this request: a turn with more than text is not continued. */
  #onlyText = true
  #used = 0
  #attempt: number
  #model: LlmExecutor.ModelBinding
  #cut: Extract<Event, { readonly type: "finish" }> | undefined
  #owed: Array<Event> = []
  #isOver = false

  constructor(
    llm: LlmExecutor.LlmExecutor,
    given: {
      readonly request: LlmExecutor.LlmRequest
      readonly context: LlmExecutor.LlmContext
      readonly policy: ContinuationPolicy
    }
  ) {
    this.#llm = llm
    this.#first = given.request
    this.#context = given.context
    this.#times = given.policy.times
    this.#attempt = given.request.attempt
    this.#model = given.request.model
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Event>> {
    for (;;) {
      const owed = this.#owed.shift()
      if (owed !== undefined) return { done: false, value: owed }
      if (this.#isOver) return { done: true, value: undefined }
      try {
        this.#iterator ??= this.#llm.stream(this.#request(), this.#context)[Symbol.asyncIterator]()
        const result = await this.#iterator.next()
        if (result.done === true) this.#isOver = true
        else this.#pass(result.value)
      } catch (thrown) {
        this.#failed(thrown)
      }
    }
  }

  async return(): Promise<IteratorResult<Event>> {
    this.#isOver = true
    await this.#iterator?.return?.()
    return { done: true, value: undefined }
  }

  #pass(event: Event): void {
    switch (event.type) {
      case "text":
        this.#text += event.text
        break
      case "attempt":
        return this.#again(event)
      case "finish":
        return this.#finish(event)
      case "toolCall":
      case "toolCallDelta":
      case "part":
        this.#onlyText = false
        break
      case "reasoning":
      case "usage":
        break
    }
    this.#owed.push(event)
  }

  /** All of the turn is void for whoever reads it, so what earlier requests said is said again. */
  #again(event: Extract<Event, { readonly type: "attempt" }>): void {
    this.#attempt = event.attempt
    this.#model = event.model
    this.#text = ""
    this.#onlyText = true
    this.#owed.push(event)
    if (this.#before !== "") this.#owed.push({ type: "text", text: this.#before })
  }

  #finish(event: Extract<Event, { readonly type: "finish" }>): void {
    const isCut = event.stop === "length" && this.#onlyText && this.#text.trim() !== "" && this.#used < this.#times
    if (!isCut) {
      this.#isOver = true
      this.#owed.push(event)
      return
    }
    this.#used++
    this.#before += this.#text
    this.#text = ""
    this.#cut = event
    this.#iterator?.return?.().then(ignore, ignore)
    this.#iterator = undefined
    if (event.usage !== undefined) this.#owed.push({ type: "usage", usage: event.usage })
  }

  /** What was said before stays, cut off as it was. */
  #failed(thrown: unknown): void {
    this.#isOver = true
    const failure = LlmError.fromUnknown(thrown)
    const cut = this.#cut
    if (cut === undefined || failure.reason === "aborted" || this.#context.signal.aborted) throw failure
    const note = `the text could not be continued: ${failure.message}`
    // Half of a continuation was heard: the turn is told again without it.
    if (this.#text !== "" || !this.#onlyText)
      this.#owed.push(
        { type: "attempt", attempt: ++this.#attempt, model: this.#model, reason: note },
        { type: "text", text: this.#before }
      )
    this.#owed.push({ type: "finish", stop: "length", note: cut.note === undefined ? note : `${cut.note}; ${note}` })
  }

  #request(): LlmExecutor.LlmRequest {
    if (this.#before === "") return this.#first
    const { messages, notes, runId, step } = this.#first
    const said: Message.AssistantMessage = {
      role: "assistant",
      id: `${runId}/${step}/continued`,
      runId,
      step,
      content: [{ type: "text", text: this.#before }],
      stop: "length"
    }
    return {
      ...this.#first,
      model: this.#model,
      attempt: this.#attempt,
      messages: new Transcript([...messages.toArray(), said]),
      notes: [...notes, goOn]
    }
  }
}

const ignore = (): void => {}
