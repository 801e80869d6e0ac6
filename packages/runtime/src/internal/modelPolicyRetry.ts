/**
 * When a failed request is made again, and how long that waits.
 *
 * Guarantees: waits grow up to a bound and are spread by jitter; a provider's Retry-After is kept to, and one that asks
 * for too long is not waited for; a wait ends with its request.
 * Does not count what other requests do: the circuit does.
 */
import { LlmError, type LlmExecutor, type RuntimeClock } from "@toolwright/runtime-contract"
import { type Begin, restarting } from "./modelPolicyRestart.js"

export interface RetryPolicy {
  /** More tries behind the first. */
  readonly times: number
  /** Milliseconds before the second try. */
  readonly initialDelay: number
  /** Each wait is so many times the one before. */
  readonly factor: number
  /** Milliseconds. */
  readonly maxDelay: number
  /** The share of a wait, from 0 to 1, that chance may take off. */
  readonly jitter: number
  /** Milliseconds. A provider that asks for more is not waited for. */
  readonly maxRetryAfter: number
  /** Whether an answer that has begun and broke off is begun again. Nothing of it is committed then. */
  readonly begin: Begin
  /** Reasons that are tried again. Default: where the failure itself says that it may pass. */
  readonly on?: ReadonlyArray<LlmExecutor.LlmErrorReason>
}

export interface Retry {
  readonly policy: RetryPolicy
  readonly clock: RuntimeClock.RuntimeClock
  readonly random: () => number
}

/** Milliseconds before the try with this number (from 1), or `undefined` where it is not worth the wait. */
export const delayFor = (
  failure: LlmError,
  { number, policy, random }: { readonly number: number; readonly policy: RetryPolicy; readonly random: () => number }
): number | undefined => {
  if (number > policy.times) return undefined
  const grown = Math.min(policy.maxDelay, policy.initialDelay * policy.factor ** (number - 1))
  const spread = grown * (1 - policy.jitter * random())
  if (failure.retryAfter === undefined) return spread
  // Never earlier than asked, and not all at the same moment.
  return failure.retryAfter > policy.maxRetryAfter
    ? undefined
    : failure.retryAfter + policy.jitter * policy.initialDelay * random()
}

export const retrying = (llm: LlmExecutor.LlmExecutor, given: Retry): LlmExecutor.LlmExecutor["stream"] => {
  const { clock, policy, random } = given
  const on = policy.on === undefined ? undefined : new Set(policy.on)
  return restarting(llm, {
    begin: policy.begin,
    decider: () => {
      let tries = 0
      return async (failure, { context, request }) => {
        if (!(on === undefined ? failure.retryable : on.has(failure.reason))) return undefined
        const delay = delayFor(failure, { number: ++tries, policy, random })
        if (delay === undefined) return undefined
        await wait(delay, { clock, signal: context.signal })
        return { request, reason: `${failure.reason}: ${failure.message}` }
      }
    }
  })
}

/** Rejects with `aborted` as soon as the request is given up. */
const wait = (
  delay: number,
  { clock, signal }: { readonly clock: RuntimeClock.RuntimeClock; readonly signal: AbortSignal }
): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(aborted())
    const onAbort = (): void => {
      cancel()
      reject(aborted())
    }
    const cancel = clock.after(delay, () => {
      signal.removeEventListener("abort", onAbort)
      resolve()
    })
    signal.addEventListener("abort", onAbort, { once: true })
  })

const aborted = (): LlmError =>
  new LlmError({ reason: "aborted", message: "the request was given up while it waited to be tried again" })
