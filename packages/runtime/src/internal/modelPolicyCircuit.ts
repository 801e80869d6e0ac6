/**
 * One circuit a model: after so many failures in a row it is not asked for a while, then one request may try.
 *
 * Guarantees: an open circuit fails at once, without a request, and says for how long; while one request tries, no other
 * does; whatever comes of the try decides.
 * Does not wait: a retry does not help against an open circuit, a fallback does.
 */
import { LlmError, type LlmExecutor, RuntimeClock } from "@toolwright/runtime-contract"

export interface CircuitPolicy {
  /** Failures in a row that open the circuit. */
  readonly failures: number
  /** Milliseconds before one request may try. */
  readonly openFor: number
  /** The reasons that count as failures. Any other answer shows that the model is there. */
  readonly on: ReadonlyArray<LlmExecutor.LlmErrorReason>
}

interface Circuit {
  failures: number
  openUntil: number
  isTrying: boolean
}

export const circuitBreaker = (
  llm: LlmExecutor.LlmExecutor,
  { clock, policy }: { readonly policy: CircuitPolicy; readonly clock: RuntimeClock.RuntimeClock }
): LlmExecutor.LlmExecutor["stream"] => {
  const circuits = new Map<string, Circuit>()
  const on = new Set(policy.on)
  return (request, context) => {
    const name = `${request.model.provider}:${request.model.model}`
    let circuit = circuits.get(name)
    if (circuit === undefined) circuits.set(name, (circuit = { failures: 0, openUntil: 0, isTrying: false }))
    return new Guarded(() => llm.stream(request, context), { circuit, clock, policy, on, name })
  }
}

interface Guard {
  readonly circuit: Circuit
  readonly clock: RuntimeClock.RuntimeClock
  readonly policy: CircuitPolicy
  readonly on: ReadonlySet<LlmExecutor.LlmErrorReason>
  readonly name: string
}

/** Watches a stream until its first event shows that the model answers. */
class Guarded implements AsyncIterableIterator<LlmExecutor.LlmEvent> {
  readonly #open: () => AsyncIterable<LlmExecutor.LlmEvent>
  readonly #guard: Guard
  #iterator: AsyncIterator<LlmExecutor.LlmEvent> | undefined
  #isJudged = false
  #isTrial = false

  constructor(open: () => AsyncIterable<LlmExecutor.LlmEvent>, guard: Guard) {
    this.#open = open
    this.#guard = guard
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<LlmExecutor.LlmEvent>> {
    return this.#isJudged && this.#iterator !== undefined ? this.#iterator.next() : this.#watched()
  }

  async return(): Promise<IteratorResult<LlmExecutor.LlmEvent>> {
    // Given up before the model answered: the next request may try instead.
    if (!this.#isJudged && this.#isTrial) this.#guard.circuit.isTrying = false
    this.#isJudged = true
    await this.#iterator?.return?.()
    return { done: true, value: undefined }
  }

  async #watched(): Promise<IteratorResult<LlmExecutor.LlmEvent>> {
    if (this.#iterator === undefined) {
      this.#admit()
      this.#iterator = this.#open()[Symbol.asyncIterator]()
    }
    try {
      const result = await this.#iterator.next()
      this.#judge(undefined)
      return result
    } catch (thrown) {
      const failure = LlmError.fromUnknown(thrown)
      this.#judge(failure)
      throw failure
    }
  }

  #admit(): void {
    const { circuit, clock, name, policy } = this.#guard
    if (circuit.failures < policy.failures) return
    const left = circuit.openUntil - RuntimeClock.elapsedOf(clock)
    if (left > 0 || circuit.isTrying) {
      this.#isJudged = true
      throw new LlmError({
        reason: "overloaded",
        message: `${name} failed ${circuit.failures} times in a row and is not asked${left > 0 ? ` for another ${left} ms` : " while it is tried"}`,
        provider: name,
        isRetryable: false,
        ...(left > 0 ? { retryAfter: left } : {})
      })
    }
    circuit.isTrying = true
    this.#isTrial = true
  }

  #judge(failure: LlmError | undefined): void {
    if (this.#isJudged) return
    this.#isJudged = true
    const { circuit, clock, on, policy } = this.#guard
    if (this.#isTrial) circuit.isTrying = false
    // An aborted request says nothing of the model.
    if (failure?.reason === "aborted") return
    if (failure === undefined || !on.has(failure.reason)) circuit.failures = 0
    else if (++circuit.failures >= policy.failures) circuit.openUntil = RuntimeClock.elapsedOf(clock) + policy.openFor
  }
}
