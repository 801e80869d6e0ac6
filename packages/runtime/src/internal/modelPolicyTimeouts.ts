/**
 * Limits on the silence of a model: before its first event, and between two of them.
 *
 * Guarantees: one timer a request, on the runtime's clock, gone when the stream is; a request that timed out is aborted,
 * and whatever it still says is not heard.
 * Does not limit the whole of an exchange: the run's own limit does.
 */
import { LlmError, type LlmExecutor, RuntimeClock } from "@toolwright/runtime-contract"

export interface TimeoutPolicy {
  /** Milliseconds until the first event. */
  readonly firstEvent: number
  /** Milliseconds from one event to the next. */
  readonly idle: number
}

type Event = LlmExecutor.LlmEvent

export const timed =
  (
    llm: LlmExecutor.LlmExecutor,
    given: { readonly policy: TimeoutPolicy; readonly clock: RuntimeClock.RuntimeClock }
  ): LlmExecutor.LlmExecutor["stream"] =>
  (request, context) =>
    new Timed((inner) => llm.stream(request, inner), { ...given, context })

interface Limits {
  readonly policy: TimeoutPolicy
  readonly clock: RuntimeClock.RuntimeClock
  readonly context: LlmExecutor.LlmContext
}

class Timed implements AsyncIterableIterator<Event> {
  readonly #open: (context: LlmExecutor.LlmContext) => AsyncIterable<Event>
  readonly #limits: Limits
  readonly #controller = new AbortController()
  #iterator: AsyncIterator<Event> | undefined
  #outer: AbortSignal | undefined
  /** Since when nothing has come, while something is waited for. */
  #silentSince: number | undefined
  #limit: number
  #cancelTimer: (() => void) | undefined
  #reject: ((failure: LlmError) => void) | undefined
  #isOver = false

  constructor(open: (context: LlmExecutor.LlmContext) => AsyncIterable<Event>, limits: Limits) {
    this.#open = open
    this.#limits = limits
    this.#limit = limits.policy.firstEvent
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Event>> {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve, reject) => {
      this.#reject = reject
      this.#iterator ??= this.#begin()
      this.#silentSince = RuntimeClock.elapsedOf(this.#limits.clock)
      this.#cancelTimer ??= this.#arm(this.#limit)
      this.#iterator.next().then(
        (result) => {
          if (this.#isOver) return
          this.#silentSince = undefined
          if (result.done === true) this.#end()
          else if (result.value.type !== "attempt") this.#limit = this.#limits.policy.idle
          resolve(result)
        },
        (thrown: Error) => {
          if (this.#isOver) return
          this.#end()
          reject(thrown)
        }
      )
    })
  }

  async return(): Promise<IteratorResult<Event>> {
    const wasOver = this.#isOver
    this.#end()
    if (!wasOver) await this.#iterator?.return?.()
    return { done: true, value: undefined }
  }

  #begin(): AsyncIterator<Event> {
    const outer = this.#limits.context.signal
    this.#outer = outer
    if (outer.aborted) this.#controller.abort(outer.reason)
    else outer.addEventListener("abort", this.#onAbort, { once: true })
    return this.#open({ signal: this.#controller.signal })[Symbol.asyncIterator]()
  }

  readonly #onAbort = (): void => this.#controller.abort(this.#outer?.reason)

  #arm(delay: number): () => void {
    return this.#limits.clock.after(delay, this.#look)
  }

  /** One timer for all events: it looks how long the silence is, and comes back for the rest of it. */
  readonly #look = (): void => {
    this.#cancelTimer = undefined
    if (this.#isOver || this.#silentSince === undefined) return
    const left = this.#silentSince + this.#limit - RuntimeClock.elapsedOf(this.#limits.clock)
    if (left > 0) {
      this.#cancelTimer = this.#arm(left)
      return
    }
    const failure = new LlmError({ reason: "timeout", message: `the model said nothing for ${this.#limit} ms` })
    const reject = this.#reject
    this.#end()
    this.#controller.abort(failure)
    this.#iterator?.return?.().then(ignore, ignore)
    reject?.(failure)
  }

  #end(): void {
    this.#isOver = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#outer?.removeEventListener("abort", this.#onAbort)
  }
}

const ignore = (): void => {}
