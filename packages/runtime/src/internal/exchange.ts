/**
 * One request to the model, pulled in plain code: events add up to a turn, and to deltas where somebody listens.
 *
 * Guarantees: ends once, by the finish event, the end of the stream, an error, the time limit or our own interruption;
 * the signal is made only if the model asks for it; an abandoned stream is closed and its later words are not heard.
 * Does not retry: policies live around the port.
 */
// Not the global one: a test that replaces timers stops the clock, not the engine.
import { setImmediate } from "node:timers"
import { LlmError, type LlmExecutor } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import type { Deadline } from "./deadlines.js"
import { isThenable } from "./settle.js"
import { Turn } from "./turn.js"

/** Makes its controller when the signal is first asked for: most models and tools never do. */
export class LazySignal {
  #controller: AbortController | undefined
  #reason: unknown
  #isAborted = false

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isAborted) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    if (this.#isAborted) return
    this.#isAborted = true
    this.#reason = reason
    this.#controller?.abort(reason)
  }
}

/** Events of a run that are read in one turn of the event loop, where the model has them at once. */
const pullsPerTurn = 256

/** What one turn may hold, in characters, each event counted as 64 more: a hundred times what models write, and no heap. */
const maxTurnSize = 2 ** 26
const eventSize = 64

export type ExchangeEnd =
  | { readonly _tag: "Turn"; readonly turn: Turn }
  | { readonly _tag: "Failed"; readonly error: LlmError }
  | { readonly _tag: "Interrupted" }

export class Exchange {
  readonly turn: Turn
  end: ExchangeEnd | undefined
  readonly #run: ActiveRun
  readonly #request: LlmExecutor.LlmRequest
  readonly #signal = new LazySignal()
  #iterator: AsyncIterator<LlmExecutor.LlmEvent> | undefined
  #deadline: Deadline | undefined
  #attempt: number
  #size = 0

  constructor(run: ActiveRun, request: LlmExecutor.LlmRequest) {
    this.#run = run
    this.#request = request
    this.#attempt = request.attempt
    this.turn = new Turn(request.model)
  }

  start(): void {
    const { llm } = this.#run.engine
    const limit = this.#run.pinned.limits.modelTimeout
    this.#run.interruptModel = this.interrupt
    this.#deadline = this.#run.deadlines.after(limit, () =>
      this.#fail(new LlmError({ reason: "timeout", message: `the model did not finish within ${limit} ms` }))
    )
    try {
      this.#iterator = llm.stream(this.#request, this.#signal)[Symbol.asyncIterator]()
      this.#pull()
    } catch (error) {
      this.#fail(LlmError.fromUnknown(error))
    }
  }

  /** Nobody wants the answer any more. */
  readonly interrupt = (): void => this.#finish({ _tag: "Interrupted" }, true)

  /** A model that answers without waiting would never let a timer, a cancel or another run have its turn. */
  readonly #pull = (): void => {
    if (++this.#run.pulls % pullsPerTurn === 0) setImmediate(this.#pullLater)
    else this.#pullNow()
  }

  readonly #pullLater = (): void => {
    if (this.end !== undefined) return
    try {
      this.#pullNow()
    } catch (error) {
      this.#fail(LlmError.fromUnknown(error))
    }
  }

  #pullNow(): void {
    const next = this.#iterator?.next()
    if (isThenable(next)) next.then(this.#onNext, this.#onError)
    else
      this.#fail(
        new LlmError({ reason: "malformedResponse", message: "the model's stream is no asynchronous iterable" })
      )
  }

  readonly #onNext = (result: IteratorResult<LlmExecutor.LlmEvent>): void => {
    if (this.end !== undefined) return
    try {
      if (result.done === true) return this.#finish({ _tag: "Turn", turn: this.turn }, false)
      this.#accept(result.value)
      if (this.#size > maxTurnSize) return this.#fail(tooLong())
      if (this.turn.isFinished) return this.#finish({ _tag: "Turn", turn: this.turn }, false)
      this.#pull()
    } catch (error) {
      this.#fail(LlmError.fromUnknown(error))
    }
  }

  readonly #onError = (error: unknown): void => this.#fail(LlmError.fromUnknown(error))

  #accept(event: LlmExecutor.LlmEvent): void {
    this.turn.accept(event)
    this.#size += eventSize + sizeOf(event)
    if (event.type === "attempt" && typeof event.attempt === "number") this.#attempt = event.attempt
    if (this.#run.listeners.length > 0) this.#show(event)
  }

  #fail(error: LlmError): void {
    this.#finish({ _tag: "Failed", error }, true)
  }

  #finish(end: ExchangeEnd, isAborted: boolean): void {
    if (this.end !== undefined) return
    this.end = end
    this.#deadline?.cancel()
    this.#run.interruptModel = undefined
    if (isAborted) this.#signal.abort(end._tag === "Failed" ? end.error : new Error("interrupted"))
    this.#close(isAborted)
    if (end._tag !== "Turn") this.#void(end)
    this.#run.wake()
  }

  /** A finished stream may still run its last lines; one that does not end by itself is closed. Nobody waits for either. */
  #close(isAborted: boolean): void {
    const iterator = this.#iterator
    if (iterator === undefined) return
    const close = (): void => {
      try {
        const closing = iterator.return?.()
        if (isThenable(closing)) closing.then(ignore, ignore)
      } catch {
        // The stream is given up; how it fails to close concerns nobody.
      }
    }
    if (isAborted || !this.turn.isFinished) return close()
    try {
      const last = iterator.next()
      if (isThenable(last)) last.then((result) => (result.done === true ? undefined : close()), ignore)
    } catch {
      // As above.
    }
  }

  #void(end: ExchangeEnd): void {
    if (this.#run.listeners.length === 0) return
    const reason = end._tag === "Failed" ? end.error.message : "interrupted"
    const { runId, step } = this.#request
    this.#run.emitDelta({ type: "AttemptVoided", runId, step, attempt: this.#attempt, reason })
  }

  #show(event: LlmExecutor.LlmEvent): void {
    const { runId, step } = this.#request
    const at = { runId, step, attempt: this.#attempt }
    switch (event.type) {
      case "text":
        if (isText(event.text)) this.#run.emitDelta({ type: "TextDelta", text: event.text, ...at })
        return
      case "reasoning":
        if (isText(event.text)) this.#run.emitDelta({ type: "ReasoningDelta", text: event.text, ...at })
        return
      case "toolCallDelta": {
        if (!isText(event.key) || !isText(event.argumentsText)) return
        const named = isText(event.toolId) ? { toolId: event.toolId } : {}
        return this.#run.emitDelta({
          type: "ToolArgumentsDelta",
          key: event.key,
          ...named,
          text: event.argumentsText,
          ...at
        })
      }
      case "attempt":
        return this.#run.emitDelta({
          type: "AttemptVoided",
          reason: isText(event.reason) ? event.reason : "another attempt",
          ...at
        })
      case "toolCall":
      case "part":
      case "usage":
      case "finish":
        return
    }
  }
}

const tooLong = (): LlmError =>
  new LlmError({ reason: "malformedResponse", message: `the model's turn is longer than ${maxTurnSize} characters` })

const sizeOf = (event: LlmExecutor.LlmEvent): number => {
  if (event.type === "text" || event.type === "reasoning") return isText(event.text) ? event.text.length : 0
  return event.type === "toolCall" && isText(event.arguments) ? event.arguments.length : 0
}

/** What is shown is what the turn keeps: an adapter may pass on anything. */
const isText = (value: unknown): value is string => typeof value === "string"

const ignore = (): void => {}
