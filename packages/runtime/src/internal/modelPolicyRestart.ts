/**
 * A model's stream that may begin again after a failure.
 *
 * Guarantees: what was emitted is voided by an `attempt` event before anything new comes; once an answer has begun that
 * is not to be begun again, events pass through untouched; the abort of a request is never mended.
 * Does not decide: a decider made for each request does.
 */
import { LlmError, type LlmExecutor } from "@toolwright/runtime-contract"

type Event = LlmExecutor.LlmEvent

/** Until when a stream may begin again: while nothing was said, or while nothing is committed. */
export type Begin = "beforeOutput" | "beforeCommit"

export interface Again {
  readonly request: LlmExecutor.LlmRequest
  readonly reason: string
}

export interface Failed {
  /** The request that failed. */
  readonly request: LlmExecutor.LlmRequest
  readonly context: LlmExecutor.LlmContext
}

/** `undefined`: the failure stands. */
export type Decide = (failure: LlmError, failed: Failed) => Again | undefined | Promise<Again | undefined>

export interface Restarts {
  readonly begin: Begin
  /** Makes the decider of one request, so that it may count. */
  readonly decider: (request: LlmExecutor.LlmRequest) => Decide
}

export const restarting =
  (llm: LlmExecutor.LlmExecutor, restarts: Restarts): LlmExecutor.LlmExecutor["stream"] =>
  (request, context) =>
    new Restarting(llm, { request, context, begin: restarts.begin, decide: restarts.decider(request) })

class Restarting implements AsyncIterableIterator<Event> {
  readonly #llm: LlmExecutor.LlmExecutor
  readonly #context: LlmExecutor.LlmContext
  readonly #begin: Begin
  readonly #decide: Decide
  #request: LlmExecutor.LlmRequest
  #attempt: number
  #iterator: AsyncIterator<Event> | undefined
  #said = false
  #isOver = false

  constructor(
    llm: LlmExecutor.LlmExecutor,
    given: {
      readonly request: LlmExecutor.LlmRequest
      readonly context: LlmExecutor.LlmContext
      readonly begin: Begin
      readonly decide: Decide
    }
  ) {
    this.#llm = llm
    this.#request = given.request
    this.#attempt = given.request.attempt
    this.#context = given.context
    this.#begin = given.begin
    this.#decide = given.decide
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Event>> {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined })
    // Nothing is begun again from here on, so nothing has to be watched.
    if (this.#said && this.#begin === "beforeOutput" && this.#iterator !== undefined) return this.#iterator.next()
    return this.#watched()
  }

  async return(): Promise<IteratorResult<Event>> {
    this.#isOver = true
    await this.#iterator?.return?.()
    return { done: true, value: undefined }
  }

  async #watched(): Promise<IteratorResult<Event>> {
    try {
      this.#iterator ??= this.#llm.stream(this.#request, this.#context)[Symbol.asyncIterator]()
      const result = await this.#iterator.next()
      if (result.done !== true) this.#saw(result.value)
      return result
    } catch (thrown) {
      return this.#failed(LlmError.fromUnknown(thrown))
    }
  }

  #saw(event: Event): void {
    switch (event.type) {
      case "usage":
        return
      case "attempt":
        this.#attempt = event.attempt
        this.#request = { ...this.#request, model: event.model }
        this.#said = false
        return
      case "finish":
        if (event.stop === "broken" && this.#begin === "beforeCommit") throw broken()
        this.#said = true
        return
      case "text":
      case "reasoning":
      case "toolCallDelta":
      case "toolCall":
      case "part":
        this.#said = true
        return
    }
  }

  async #failed(failure: LlmError): Promise<IteratorResult<Event>> {
    const stands =
      failure.reason === "aborted" || this.#context.signal.aborted || (this.#said && this.#begin === "beforeOutput")
    const closing = this.#iterator
    this.#iterator = undefined
    closing?.return?.().then(ignore, ignore)
    let again: Again | undefined
    try {
      again = stands ? undefined : await this.#decide(failure, { request: this.#request, context: this.#context })
    } finally {
      if (again === undefined) this.#isOver = true
    }
    if (again === undefined || this.#isOver) throw failure
    this.#attempt++
    this.#request = { ...again.request, attempt: this.#attempt }
    this.#said = false
    return {
      done: false,
      value: { type: "attempt", attempt: this.#attempt, model: this.#request.model, reason: again.reason }
    }
  }
}

const broken = (): LlmError =>
  new LlmError({ reason: "network", message: "the stream ended before the turn did", isRetryable: true })

const ignore = (): void => {}
