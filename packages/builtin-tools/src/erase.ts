/**
 * The one adapter from a typed tool to the runtime's unit of dispatch.
 *
 * Guarantees: spec, triggers and domains are the definition's own objects; whatever a call throws becomes a `ToolError`,
 * and none of them claims that nothing was sent; a value that cannot be read is a completed call that says so; only
 * declared state is read and staged.
 * Does not parse, permit, time or retry: the runtime does, around `invoke`.
 */
import * as Effect from "effect/Effect"
import {
  isToolError,
  type RawTool,
  Tool,
  type ToolArgs,
  ToolDefinitionError,
  ToolError,
  ToolOperation,
  ToolOutput,
  ToolRendering
} from "@toolwright/runtime-contract"
import type { Static, TSchema } from "@toolwright/runtime-contract/typebox"
import { declare, type DeclaredState, stagingProblem, viewOf } from "./internal/declaredState.js"

/**
 * Erases a tool whose services are provided, or a `ClientExecuted` definition. Plain and Promise calls stay plain code;
 * only a call that returns an `Effect` gives one. Throws `ToolDefinitionError` for a definition without its `call`.
 */
export const erase = <Id extends string, A extends TSchema, O extends TSchema | undefined>(
  tool: Tool.Tool<Id, A, O> | Tool.Definition<Id, A, O>
): RawTool.RawTool => {
  checkTool(tool)
  const definition = "definition" in tool ? tool.definition : clientExecuted(tool)
  const { spec, paramDomains, invocationTriggers } = definition
  const erased: Erased = { spec, state: declare(spec.id, definition.state) }
  return Object.freeze({
    spec: () => spec,
    recovery: definition.recovery,
    attribution: definition.attribution,
    stateKeys: definition.state,
    concurrency: (args: ToolArgs.ParsedArguments) => definition.concurrency(typed<A>(args)),
    ...(paramDomains === undefined ? {} : { paramDomains }),
    ...(invocationTriggers === undefined ? {} : { invocationTriggers }),
    ...(definition.reconcile === undefined ? {} : { reconcile: reconcileOf(erased, definition) }),
    invoke: "definition" in tool ? invokeOf(erased, tool.call) : neverInvoked(spec)
  })
}

/** Plain JavaScript may hand anything over; most often the list of tools, a function, or a tool that is erased already. */
const checkTool = (tool: unknown): void => {
  const isObject = typeof tool === "object" && tool !== null
  if (isObject && ("definition" in tool || ("spec" in tool && typeof tool.spec === "object"))) return
  const isErased = isObject && "invoke" in tool
  throw new ToolDefinitionError({
    reason: "BadOption",
    expected: "a tool, as Tool.implement or Tool.make gives it",
    received: isErased ? "one that is erased already" : tool === null ? "null" : `a value of type ${typeof tool}`
  })
}

const clientExecuted = <D extends { readonly spec: RawTool.ToolSpec }>(definition: D): D => {
  const { id, kind } = definition.spec
  if (kind === "ClientExecuted") return definition
  const expected = "a tool with its call, or a ClientExecuted definition"
  throw new ToolDefinitionError({
    reason: "BadOption",
    toolId: id,
    pointer: "/call",
    expected,
    received: `a ${kind} definition`
  })
}

interface Erased {
  readonly spec: RawTool.ToolSpec
  readonly state: DeclaredState
}

// Arguments are only ever made by parsing them with this tool's own schema, which `A` is the type of.
const typed = <A extends TSchema>(args: ToolArgs.ParsedArguments): Static<A> => args as Static<A>

const invokeOf =
  <A extends TSchema>(
    erased: Erased,
    call: (args: Static<A>, context: Tool.CallContext) => unknown
  ): RawTool.RawTool["invoke"] =>
  (given, context) => {
    const view = new CallView(erased.state, context)
    let returned: unknown
    try {
      returned = call(typed<A>(given.arguments), view)
    } catch (thrown) {
      throw insideCall(thrown)
    }
    const finished = eventually(returned, (value) => outputOf(erased, { callId: given.callId, value }))
    return Effect.isEffect(finished) ? Effect.provideService(finished, ToolOperation.current, view.operation) : finished
  }

const reconcileOf =
  <A extends TSchema, O extends TSchema | undefined>(
    erased: Erased,
    { reconcile }: Pick<Tool.Definition<string, A, O>, "reconcile">
  ): NonNullable<RawTool.RawTool["reconcile"]> =>
  (given, operation) => {
    const answer: unknown = reconcile?.(viewOf(erased.state, operation), typed<A>(given.arguments))
    return eventually(answer, (value) => reconciliationOf(erased, { callId: given.callId, value }))
  }

/** What a call is given. Signal and operation are made when they are asked for: most calls never do. */
class CallView implements Tool.CallContext {
  readonly #state: DeclaredState
  readonly #context: RawTool.InvocationContext
  #operation: ToolOperation.ToolOperation | undefined
  constructor(state: DeclaredState, context: RawTool.InvocationContext) {
    this.#state = state
    this.#context = context
  }
  get signal(): AbortSignal {
    return this.#context.signal
  }
  get operation(): ToolOperation.ToolOperation {
    return (this.#operation ??= viewOf(this.#state, this.#context.operation))
  }
  get progress(): (text: string) => void {
    return this.#context.progress
  }
}

/** Goes on with a value that is there now, comes later, or is an `Effect`. All failures come out as `ToolError`. */
const eventually = <A>(returned: unknown, next: (value: unknown) => A): RawTool.Eventual<A, ToolError> => {
  if (isEffect(returned)) {
    const mapped = Effect.map(returned, next)
    // Its services were provided before: `erase` takes no tool that still needs some.
    return Effect.mapError(Effect.catchDefect(mapped, Effect.fail), insideCall) as Effect.Effect<A, ToolError>
  }
  return isThenable(returned) ? awaited(returned, next) : next(returned)
}

const awaited = async <A>(returned: PromiseLike<unknown>, next: (value: unknown) => A): Promise<A> => {
  try {
    return next(await returned)
  } catch (thrown) {
    throw insideCall(thrown)
  }
}

/** Values may throw at any question that is put to them; such a value is none of the two. */
const isEffect = (value: unknown): value is Effect.Effect<unknown, unknown, unknown> => {
  try {
    return Effect.isEffect(value)
  } catch {
    return false
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> => {
  try {
    return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"
  } catch {
    return false
  }
}

/** Only an executor can prove that nothing was sent, and only a registry that there is no such tool. */
const insideCall = (thrown: unknown): ToolError => {
  const error = ToolError.fromUnknown(thrown)
  const { _tag } = error.reason
  return _tag === "UnavailableBeforeDispatch" || _tag === "Unknown" ? ToolError.execution(error.message, error) : error
}

interface Returned {
  readonly callId: string
  readonly value: unknown
}

const outputOf = (erased: Erased, { callId, value }: Returned): ToolOutput.ToolOutput => {
  try {
    return readable(erased, { callId, value })
  } catch (thrown) {
    if (isToolError(thrown)) throw thrown
    // The effect has happened; only its value plays tricks.
    return ToolRendering.unreadable(callId, { issues: [] })
  }
}

const readable = ({ spec, state }: Erased, { callId, value }: Returned): ToolOutput.ToolOutput => {
  if (isEffect(value))
    throw ToolError.execution(`${spec.id} gave an Effect inside a promise or another Effect, so it was never run`)
  if (!Tool.isResult(value)) return ToolRendering.outputOf(spec, { callId, value })
  const { output, content, state: staged = [], foreign = false } = value
  const shown = ToolRendering.outputOf(spec, { callId, value: output, content, state: staged })
  const rendered: ToolOutput.ToolOutput = foreign ? { ...shown, foreign } : shown
  const problem = stagingProblem(state, staged)
  if (problem === undefined) return rendered
  const said = `${spec.id} completed, but ${problem}; none of its state was kept. Do not repeat it for that reason.`
  return ToolOutput.error(callId, `${said}\nWhat it returned: ${ToolOutput.text(rendered)}`)
}

const reconciliationOf = (erased: Erased, { callId, value }: Returned): RawTool.Reconciliation => {
  if (typeof value !== "object" || value === null || !("_tag" in value)) return { _tag: "Unknown" }
  if (value._tag === "NotSent") return { _tag: "NotSent" }
  if (value._tag === "InProgress" && "retryAfter" in value && typeof value.retryAfter === "number")
    return { _tag: "InProgress", retryAfter: value.retryAfter }
  if (value._tag !== "Happened" || !("output" in value)) return { _tag: "Unknown" }
  return { _tag: "Happened", output: outputOf(erased, { callId, value: value.output }) }
}

const neverInvoked =
  (spec: RawTool.ToolSpec): RawTool.RawTool["invoke"] =>
  () => {
    throw ToolError.execution(`${spec.id} is executed by a client and has no implementation here`)
  }
