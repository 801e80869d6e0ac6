/**
 * A tool: one typed operation, defined once. Its args schema is the only source of types, validation and of what the
 * model sees.
 *
 * Guarantees: a definition that cannot work fails in `define`, not at the first call; `spec` is one frozen object.
 * Does not execute and does not permit: `erase` makes it executable, a gate allows it.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Static, TSchema } from "typebox"
import * as Attribution from "./Attribution.js"
import { describeValue } from "./internal/describeValue.js"
import { type StandardTool, standardSchema } from "./internal/standardSchema.js"
import { makeSpec } from "./internal/toolSpec.js"
import type { ContentBlock } from "./Message.js"
import type { ParamDomains } from "./OptionDomain.js"
import type { Eventual, Reconciliation, ToolKind, ToolSpec, ToolTarget } from "./RawTool.js"
import type { StateCommand, StateKey } from "./StateKey.js"
import { Parallel, type ToolConcurrency } from "./ToolConcurrency.js"
import { ToolDefinitionError } from "./ToolDefinitionError.js"
import type { ToolError } from "./ToolError.js"
import type { ToolOperation } from "./ToolOperation.js"
import type { ToolRecoveryCapability } from "./ToolRecovery.js"

/** Any value that is neither an `Effect` nor a Promise: what a tool without an output schema may give. */
export type Plain =
  | string
  | number
  | boolean
  | bigint
  | symbol
  | null
  | undefined
  | void
  | (object & { readonly then?: never; readonly "~effect/Effect"?: never })

/** The type of a tool's value: that of its output schema, or any plain value. */
export type OutputOf<O extends TSchema | undefined> = O extends TSchema ? Static<O> : Plain

/** What the author writes. Everything but `id`, `description` and `args` has a default. */
export interface Options<Id extends string, A extends TSchema, O extends TSchema | undefined> {
  /** 1 to 64 of `A-Z a-z 0-9 _ -`. */
  readonly id: Id
  readonly description: string
  /** A TypeBox object, or an intersection of objects. Unknown fields are refused unless the schema says otherwise. */
  readonly args: A
  /** Without it the value is only shown as text. With it, a value that fits is also carried as data. */
  readonly output?: O
  readonly version?: string
  /** Default `NonRecoverable`: never run again after a crash. */
  readonly recovery?: ToolRecoveryCapability
  /** Default `Regular`. A `ClientExecuted` tool has no `call`: its result comes from outside. */
  readonly kind?: ToolKind
  /** Default `Brain`. */
  readonly target?: ToolTarget
  /** The state that it may read and stage. Default none. */
  readonly state?: ReadonlyArray<StateKey>
  /** Default: `Parallel`. Pure; called with parsed arguments. */
  readonly concurrency?: (args: NoInfer<Static<A>>) => ToolConcurrency
  /** By name of a top-level argument. */
  readonly paramDomains?: ParamDomains
  /** Phrases that suggest the tool, computed live at each use. */
  readonly invocationTriggers?: () => ReadonlyArray<string>
  /** Asks the outside world what became of an attempt whose outcome is unknown here. */
  readonly reconcile?: (
    operation: ToolOperation,
    args: NoInfer<Static<A>>
  ) => Eventual<Reconciliation<NoInfer<OutputOf<O>>>, ToolError>
  /** Default role `tool`, alias the id, provenance `Extension`. */
  readonly attribution?: Partial<Attribution.Attribution>
}

/** What can be said of a tool without being able to run it. Also a Standard Schema for its arguments. */
export interface Definition<
  Id extends string = string,
  A extends TSchema = TSchema,
  O extends TSchema | undefined = TSchema | undefined
> extends StandardTool<Static<A>> {
  readonly id: Id
  readonly description: string
  /** As the author wrote it: for types. `spec.inputSchema` is what the model sees and what validates. */
  readonly args: A
  readonly output: O
  readonly recovery: ToolRecoveryCapability
  readonly attribution: Attribution.Attribution
  readonly state: ReadonlyArray<StateKey>
  readonly spec: ToolSpec
  readonly concurrency: (args: Static<A>) => ToolConcurrency
  readonly paramDomains?: ParamDomains
  readonly invocationTriggers?: () => ReadonlyArray<string>
  readonly reconcile?: (operation: ToolOperation, args: Static<A>) => Eventual<Reconciliation<OutputOf<O>>, ToolError>
}

/** What a call is given beside its arguments. Effect tools may read `ToolOperation.current` instead. */
export interface CallContext {
  /** Aborts on cancel and time-out. */
  readonly signal: AbortSignal
  readonly operation: ToolOperation
  /** Shows progress to whoever watches; never committed. */
  readonly progress: (text: string) => void
}

/** What can go along with a value. */
export interface Extras {
  /** Applied when the step is published. Only declared keys; made with `StateKey.set` and `StateKey.remove`. */
  readonly state?: ReadonlyArray<StateCommand>
  /** What the model is shown in place of the value's text: images, files, several texts. */
  readonly content?: ReadonlyArray<ContentBlock>
  /** The value came from outside: a web page, another party. Kept with the output, for whoever must not trust it. */
  readonly foreign?: boolean
}

const brand: unique symbol = Symbol.for("@toolwright/Result") as never

/** A value and what goes along with it. */
export interface Result<A> extends Extras {
  readonly [brand]: true
  readonly output: A
}

/** The three ways to answer a call. */
export type CallReturn<A, R> = Effect.Effect<A | Result<A>, ToolError, R> | PromiseLike<A | Result<A>> | A | Result<A>

export type Call<A extends TSchema, O extends TSchema | undefined, R> = (
  args: Static<A>,
  context: CallContext
) => CallReturn<OutputOf<O>, R>

/** A definition and what it does. `R` are the Effect services that the call still needs. */
export interface Tool<
  Id extends string = string,
  A extends TSchema = TSchema,
  O extends TSchema | undefined = TSchema | undefined,
  R = never
> {
  readonly definition: Definition<Id, A, O>
  readonly spec: ToolSpec
  readonly recovery: ToolRecoveryCapability
  readonly call: (args: Static<A>, context: CallContext) => CallReturn<OutputOf<O>, R>
}

/**
 * Defines a tool, without a client and without running anything.
 * Throws `ToolDefinitionError`, naming the tool, the place and what was expected.
 */
export const define = <const Id extends string, A extends TSchema, O extends TSchema | undefined = undefined>(
  options: Options<Id, A, O>
): Definition<Id, A, O> => definitionOf(options, makeSpec(options))

const definitionOf = <Id extends string, A extends TSchema, O extends TSchema | undefined>(
  options: Options<Id, A, O>,
  spec: ToolSpec
): Definition<Id, A, O> =>
  Object.freeze({
    ...standardSchema<Static<A>>(spec),
    id: options.id,
    description: options.description,
    args: options.args,
    // `O` is `undefined` exactly when no output was given
    output: options.output as O,
    recovery: options.recovery ?? "NonRecoverable",
    attribution: Attribution.make(options.id, options.attribution),
    state: Object.freeze([...(options.state ?? [])]),
    spec,
    concurrency: options.concurrency ?? parallel,
    ...(options.paramDomains === undefined ? {} : { paramDomains: Object.freeze({ ...options.paramDomains }) }),
    ...(options.invocationTriggers === undefined ? {} : { invocationTriggers: options.invocationTriggers }),
    ...(options.reconcile === undefined ? {} : { reconcile: options.reconcile })
  })

/** Gives a definition its behaviour. Throws for a `ClientExecuted` definition: its result comes from outside. */
export const implement = <Id extends string, A extends TSchema, O extends TSchema | undefined, R = never>(
  definition: Definition<Id, A, O>,
  call: (args: Static<A>, context: CallContext) => CallReturn<NoInfer<OutputOf<O>>, R>
): Tool<Id, A, O, R> => {
  if (definition.spec.kind === "ClientExecuted")
    throw badCall(definition.id, {
      expected: "no call: the result of a ClientExecuted tool comes from outside",
      received: call
    })
  if (typeof call !== "function") throw badCall(definition.id, { expected: "a function", received: call })
  return Object.freeze({ definition, spec: definition.spec, recovery: definition.recovery, call })
}

/** `define` and `implement` in one step. */
export const make = <const Id extends string, A extends TSchema, O extends TSchema | undefined = undefined, R = never>(
  options: Options<Id, A, O> & {
    readonly call: (args: NoInfer<Static<A>>, context: CallContext) => CallReturn<NoInfer<OutputOf<O>>, R>
  }
): Tool<Id, A, O, R> => implement(definitionOf(options, makeSpec(options, { hasCall: true })), options.call)

/** Hands the services over that the call needs, so that the tool can be erased. */
export const provide = <Id extends string, A extends TSchema, O extends TSchema | undefined, R>(
  tool: Tool<Id, A, O, R>,
  services: Context.Context<NoInfer<R>>
): Tool<Id, A, O> => {
  const { call } = tool
  return Object.freeze({
    ...tool,
    call: (args: Static<A>, context: CallContext): CallReturn<OutputOf<O>, never> => {
      const returned = call(args, context)
      return Effect.isEffect(returned)
        ? Effect.provide(returned as Effect.Effect<OutputOf<O>, ToolError, R>, services)
        : returned
    }
  })
}

/** The value of a call together with the state it stages and the content it shows. */
export const result = <A>(output: A, extras: Extras): Result<A> => ({ [brand]: true, output, ...extras })

/** True for what `result` gave, of this or any other copy of the package. Runs no code of the value. */
export const isResult = (value: unknown): value is Result<unknown> =>
  typeof value === "object" && value !== null && brand in value

const parallel = (): ToolConcurrency => Parallel

const badCall = (
  toolId: string,
  { expected, received }: { readonly expected: string; readonly received: unknown }
): ToolDefinitionError =>
  new ToolDefinitionError({
    reason: "BadOption",
    toolId,
    pointer: "/call",
    expected,
    received: typeof received === "function" ? "a function" : describeValue(received)
  })
