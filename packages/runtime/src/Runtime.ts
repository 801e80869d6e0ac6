/**
 * The engine that drives runs, as an Effect service and as a plain object with Promise methods. One engine behind both.
 *
 * Guarantees: closed by default, for there is no runtime without a permission gate; a run never blocks on a person, it
 * comes to rest and gives its tickets; cancelling ends a run with a value; what stops a call is a typed `RunError`.
 * Does not keep anything: the store does, and any other runtime over the same store may go on with a run.
 */
import type {
  AuditChain,
  Grant,
  Json,
  Message,
  ResumeTicket,
  RunEvent,
  TicketRefused
} from "@toolwright/runtime-contract"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as describing from "./internal/describing.js"
import { makeService } from "./internal/service.js"
import { resolveOptions } from "./internal/resolveOptions.js"
import type { Recovered } from "./internal/working.js"
import { makePromises } from "./internal/promises.js"
import type { RunError } from "./RunError.js"
import type { RunHandle } from "./RunHandle.js"
import type { RunOutcome } from "./RunOutcome.js"
import { RuntimeDefinitionError } from "./RuntimeDefinitionError.js"
import type {
  GrantsQuery,
  PreviewOptions,
  ResumeOptions,
  RevokeRequest,
  RunOptions,
  RunRef,
  RuntimeOptions
} from "./RuntimeOptions.js"

export type { Recovered } from "./internal/working.js"
export type DescribeOptions = describing.DescribeOptions
export type ToolDescription = describing.ToolDescription
export type ParameterOptions = describing.ParameterOptions

/** A message to a run that is open, seen by the model behind the results of the step. */
export interface SteerRequest extends RunRef {
  readonly input: string | ReadonlyArray<Message.ContentBlock>
  /** Denies what the run waits for, as superseded. Default false. */
  readonly interrupt?: boolean
}

/** Settles a call whose outcome nobody knew (R12). */
export interface ResolveRequest {
  readonly threadId: string
  readonly operationId: string
  readonly resolution:
    | { readonly _tag: "Happened"; readonly content: ReadonlyArray<Message.ContentBlock>; readonly data?: Json.Json }
    | { readonly _tag: "DidNotHappen" }
  readonly by: string
}

export interface RecoverOptions {
  /** At most so many threads. Default 100. */
  readonly limit?: number
}

/** Takes one thread from an owner that is believed dead. Its commits are refused from then on. */
export interface TakeOverOptions {
  readonly threadId: string
  readonly takeOver: true
}

export interface WorkOptions {
  /** Milliseconds between two looks. Default 1,000. */
  readonly every?: number
  readonly limit?: number
  /** Told of each thread that was taken. */
  readonly onRecovered?: (recovered: Recovered) => void
}

export interface CloseOptions {
  /** Milliseconds for what is in flight. Default 5,000. */
  readonly grace?: number
}

export interface WatchOptions {
  readonly threadId: string
  /** Number of the first fact wanted, from 1. Default: from now on. */
  readonly from?: number
}

export interface VerifyOptions {
  readonly threadId: string
  /** A head of the chain that was kept elsewhere: then records that are missing at the end are found as well. */
  readonly expected?: string
}

/** The Effect form. */
export interface RuntimeService {
  /** Drives a new run to its end or its rest. Interrupting cancels the run and waits for it to end. */
  readonly run: (options: RunOptions) => Effect.Effect<RunOutcome, RunError>
  /** Answers a ticket and drives the run on. */
  readonly resume: (
    ...[ticketId, answer, options]: readonly [
      ticketId: string,
      answer: ResumeTicket.ResumeAnswer,
      options: ResumeOptions
    ]
  ) => Effect.Effect<RunOutcome, RunError | TicketRefused>
  readonly cancel: (ref: RunRef) => Effect.Effect<RunOutcome, RunError>
  readonly stop: (ref: RunRef & { readonly reason: string }) => Effect.Effect<RunOutcome, RunError>
  /** Takes effect before the next inference and stops no tool. */
  readonly pause: (ref: RunRef) => Effect.Effect<RunOutcome, RunError>
  /** Goes on with a paused run. */
  readonly unpause: (ref: RunRef) => Effect.Effect<RunOutcome, RunError>
  readonly steer: (request: SteerRequest) => Effect.Effect<RunOutcome, RunError>
  readonly resolve: (request: ResolveRequest) => Effect.Effect<RunOutcome, RunError>
  /** Goes on once with everything that nobody is at, or takes one thread over by name. */
  readonly recover: (options?: RecoverOptions | TakeOverOptions) => Effect.Effect<ReadonlyArray<Recovered>, RunError>
  /** Recovers what is due, again and again, until it is interrupted. */
  readonly work: (options?: WorkOptions) => Effect.Effect<never, RunError>
  readonly describeTools: (
    options?: describing.DescribeOptions
  ) => Effect.Effect<ReadonlyArray<describing.ToolDescription>>
  readonly watch: (options: WatchOptions) => AsyncIterableIterator<RunEvent.RunEvent>
  /** The grant that `remember` would store for a ticket, its rule in full. Stores nothing. */
  readonly previewGrant: (options: PreviewOptions) => Effect.Effect<Grant.GrantProposal, RunError | TicketRefused>
  /** The grants in store, but those that were revoked. */
  readonly grants: (query?: GrantsQuery) => Effect.Effect<ReadonlyArray<Grant.Grant>, RunError>
  /** From now on the grant answers nothing, in any process. Again is no error. */
  readonly revokeGrant: (request: RevokeRequest) => Effect.Effect<void, RunError>
  /** Reads all of a thread and checks its audit chain: what was changed or is missing, and where. */
  readonly verifyAudit: (options: VerifyOptions) => Effect.Effect<AuditChain.AuditReport, RunError>
  readonly close: (options?: CloseOptions) => Effect.Effect<void>
}

/** The plain form: the same methods with Promises. */
export interface PromiseRuntime {
  /** `await` gives the outcome; the handle itself gives events and cancels. */
  readonly run: (options: RunOptions) => RunHandle
  readonly resume: (
    ...[ticketId, answer, options]: readonly [
      ticketId: string,
      answer: ResumeTicket.ResumeAnswer,
      options: ResumeOptions
    ]
  ) => Promise<RunOutcome>
  readonly cancel: (ref: RunRef) => Promise<RunOutcome>
  readonly stop: (ref: RunRef & { readonly reason: string }) => Promise<RunOutcome>
  readonly pause: (ref: RunRef) => Promise<RunOutcome>
  readonly unpause: (ref: RunRef) => Promise<RunOutcome>
  readonly steer: (request: SteerRequest) => Promise<RunOutcome>
  readonly resolve: (request: ResolveRequest) => Promise<RunOutcome>
  readonly recover: (options?: RecoverOptions | TakeOverOptions) => Promise<ReadonlyArray<Recovered>>
  /** Ends when `signal` aborts. */
  readonly work: (options: WorkOptions & { readonly signal: AbortSignal }) => Promise<void>
  readonly describeTools: (options?: describing.DescribeOptions) => Promise<ReadonlyArray<describing.ToolDescription>>
  readonly watch: (options: WatchOptions) => AsyncIterableIterator<RunEvent.RunEvent>
  readonly previewGrant: (options: PreviewOptions) => Promise<Grant.GrantProposal>
  readonly grants: (query?: GrantsQuery) => Promise<ReadonlyArray<Grant.Grant>>
  readonly revokeGrant: (request: RevokeRequest) => Promise<void>
  readonly verifyAudit: (options: VerifyOptions) => Promise<AuditChain.AuditReport>
  readonly close: (options?: CloseOptions) => Promise<void>
  /** The same engine as an Effect service. */
  readonly effect: RuntimeService
}

/**
 * ```ts
 * const runtime = Runtime.make({ llm, gate, tools: [erase(weather)] })
 * const outcome = await runtime.run({ snapshot, input: "Weather in Oslo?", principal: "ada" })
 * ```
 *
 * In Effect: `yield* Runtime` under `Runtime.layer(options)`.
 */
export class Runtime extends Context.Service<Runtime, RuntimeService>()("@toolwright/Runtime") {
  /** The plain form. Throws `RuntimeDefinitionError`, naming the option. */
  static make(options: RuntimeOptions): PromiseRuntime {
    return makePromises(resolveOptions(options, Context.empty()))
  }

  /** Closes the runtime when its scope closes. */
  static layer(options: RuntimeOptions): Layer.Layer<Runtime, RuntimeDefinitionError> {
    return Layer.effect(
      Runtime,
      Effect.acquireRelease(acquire(options), (service) => service.close())
    )
  }
}

const acquire = (options: RuntimeOptions): Effect.Effect<RuntimeService, RuntimeDefinitionError> =>
  Effect.flatMap(Effect.context<never>(), (services) =>
    Effect.try({
      try: () => makeService(resolveOptions(options, services)),
      catch: (error) =>
        error instanceof RuntimeDefinitionError
          ? error
          : new RuntimeDefinitionError({
              option: "options",
              expected: "options that can be read",
              received: String(error)
            })
    })
  )
