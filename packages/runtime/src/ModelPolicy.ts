/**
 * What happens around the model port: retry, circuit, fallback, continuation, room for compaction, time limits.
 *
 * Guarantees: policies are plain data; every wait is on the runtime's clock and ends with the request; a policy begins
 * again only while nothing of the answer is committed, and says so with an `attempt` event; it never hides an error that
 * it could not mend.
 * Does not talk to providers: each policy wraps a model and is one.
 */
import type { LlmExecutor, RuntimeClock } from "@toolwright/runtime-contract"
import { type CircuitPolicy, circuitBreaker } from "./internal/modelPolicyCircuit.js"
import { type ContinuationPolicy, continuing } from "./internal/modelPolicyContinuation.js"
import { restarting } from "./internal/modelPolicyRestart.js"
import { type Retry, type RetryPolicy, retrying } from "./internal/modelPolicyRetry.js"
import { type TimeoutPolicy, timed } from "./internal/modelPolicyTimeouts.js"

export type { CircuitPolicy } from "./internal/modelPolicyCircuit.js"
export type { ContinuationPolicy } from "./internal/modelPolicyContinuation.js"
export type { RetryPolicy } from "./internal/modelPolicyRetry.js"
export type { TimeoutPolicy } from "./internal/modelPolicyTimeouts.js"

type Reason = LlmExecutor.LlmErrorReason

export interface FallbackPolicy {
  /** The reasons for which the next model of the request's `fallbacks` is asked. */
  readonly on: ReadonlyArray<Reason>
  /** For requests that name no fallbacks of their own. Default none. */
  readonly models: ReadonlyArray<LlmExecutor.ModelBinding>
}

export interface CompactionPolicy {
  /** How often one request may be made smaller. */
  readonly times: number
}

/** All of it, as data. `undefined` leaves a policy out. */
export interface ModelPolicy {
  readonly timeouts: TimeoutPolicy | undefined
  readonly circuit: CircuitPolicy | undefined
  readonly retry: RetryPolicy | undefined
  readonly fallback: FallbackPolicy | undefined
  readonly compaction: CompactionPolicy | undefined
  readonly continuation: ContinuationPolicy | undefined
}

/**
 * Makes a request smaller whose context was too full: fewer messages, a summary. `undefined`: it cannot be made smaller.
 * What it returns is sent for this request only; nothing committed changes.
 */
export type Compact = (
  request: LlmExecutor.LlmRequest,
  failure: LlmExecutor.LlmError
) => LlmExecutor.LlmRequest | undefined | PromiseLike<LlmExecutor.LlmRequest | undefined>

export interface PolicyEnvironment {
  readonly clock: RuntimeClock.RuntimeClock
  /** From 0 up to 1, for jitter. Default `Math.random`. */
  readonly random?: () => number
  /** Without it a full context is an error like any other. */
  readonly compact?: Compact
}

/** What `around` does where nothing else is said. */
export const defaultPolicy: ModelPolicy = Object.freeze({
  timeouts: Object.freeze({ firstEvent: 300_000, idle: 120_000 }),
  circuit: Object.freeze({
    failures: 5,
    openFor: 30_000,
    on: ["overloaded", "timeout", "network", "provider"] as const
  }),
  retry: Object.freeze({
    times: 3,
    initialDelay: 500,
    factor: 2,
    maxDelay: 30_000,
    jitter: 0.5,
    maxRetryAfter: 60_000,
    begin: "beforeCommit" as const
  }),
  fallback: Object.freeze({
    on: [
      "rateLimited",
      "overloaded",
      "timeout",
      "network",
      "provider",
      "malformedResponse",
      "modelNotFound",
      "usageLimit",
      "unauthorized",
      "forbidden",
      "bindingRejected"
    ] as const,
    models: []
  }),
  compaction: Object.freeze({ times: 2 }),
  continuation: Object.freeze({ times: 2 })
})

/**
 * A model with the policies around it, the first to act innermost: time limits, circuit, retry, fallback, compaction,
 * continuation. Circuits live as long as what is returned: make it once, not once a run.
 */
export const around = (
  llm: LlmExecutor.LlmExecutor,
  given: { readonly policy?: Partial<ModelPolicy>; readonly environment: PolicyEnvironment }
): LlmExecutor.LlmExecutor => {
  const policy: ModelPolicy = { ...defaultPolicy, ...given.policy }
  const { environment } = given
  const { clock } = environment
  let model = llm
  if (policy.timeouts !== undefined) model = withTimeouts(model, { policy: policy.timeouts, clock })
  if (policy.circuit !== undefined) model = withCircuit(model, { policy: policy.circuit, clock })
  if (policy.retry !== undefined)
    model = withRetry(model, { policy: policy.retry, clock, random: environment.random ?? Math.random })
  if (policy.fallback !== undefined) model = withFallback(model, policy.fallback)
  if (policy.compaction !== undefined && environment.compact !== undefined)
    model = withCompaction(model, { policy: policy.compaction, compact: environment.compact })
  return policy.continuation === undefined ? model : withContinuation(model, policy.continuation)
}

/** Ends a request whose first event, or whose next one, does not come in time, with `timeout`. */
export const withTimeouts = (
  llm: LlmExecutor.LlmExecutor,
  given: { readonly policy: TimeoutPolicy; readonly clock: RuntimeClock.RuntimeClock }
): LlmExecutor.LlmExecutor => wrapped(llm, timed(llm, given))

/** Stops asking a model that fails again and again, for a while, then lets one request try. */
export const withCircuit = (
  llm: LlmExecutor.LlmExecutor,
  given: { readonly policy: CircuitPolicy; readonly clock: RuntimeClock.RuntimeClock }
): LlmExecutor.LlmExecutor => wrapped(llm, circuitBreaker(llm, given))

/** Asks again after a failure that may pass, waiting longer each time, or as long as the provider asked for. */
export const withRetry = (llm: LlmExecutor.LlmExecutor, given: Retry): LlmExecutor.LlmExecutor =>
  wrapped(llm, retrying(llm, given))

/** Asks the next model, in order, and only before anything was said of an answer. */
export const withFallback = (llm: LlmExecutor.LlmExecutor, policy: FallbackPolicy): LlmExecutor.LlmExecutor => {
  const on = new Set(policy.on)
  return wrapped(
    llm,
    restarting(llm, {
      begin: "beforeOutput",
      decider: (first) => {
        const left = [...(first.fallbacks ?? policy.models)]
        return (failure, { request }) => {
          const model = on.has(failure.reason) ? left.shift() : undefined
          return model === undefined
            ? undefined
            : { request: { ...request, model }, reason: `${failure.reason}: ${failure.message}` }
        }
      }
    })
  )
}

/** Makes a request smaller when its context was too full, and asks again. */
export const withCompaction = (
  llm: LlmExecutor.LlmExecutor,
  given: { readonly policy: CompactionPolicy; readonly compact: Compact }
): LlmExecutor.LlmExecutor =>
  wrapped(
    llm,
    restarting(llm, {
      begin: "beforeOutput",
      decider: () => {
        let times = 0
        return async (failure, { request }) => {
          if (failure.reason !== "contextOverflow" || times >= given.policy.times) return undefined
          times++
          const smaller = await given.compact(request, failure)
          return smaller === undefined ? undefined : { request: smaller, reason: `compacted: ${failure.message}` }
        }
      }
    })
  )

/** Lets a text that a length cut off go on where it stopped, as one answer. */
export const withContinuation = (llm: LlmExecutor.LlmExecutor, policy: ContinuationPolicy): LlmExecutor.LlmExecutor =>
  wrapped(llm, continuing(llm, policy))

/** What else a model can say is asked of the model itself. */
const wrapped = (llm: LlmExecutor.LlmExecutor, stream: LlmExecutor.LlmExecutor["stream"]): LlmExecutor.LlmExecutor =>
  llm.refused === undefined ? { stream } : { stream, refused: llm.refused }
