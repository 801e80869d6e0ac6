/**
 * Any language model of the AI SDK as the runtime's model port.
 *
 * Guarantees: one request, one stream of events, one defined end; errors are `LlmError`; giving a request up closes it;
 * nothing is loaded but what the caller hands over.
 * Does not retry, fall back or time out: policies live around the port.
 */
import { LlmError, type LlmExecutor, RuntimeClock, type ToolDescriptor } from "@toolwright/runtime-contract"
import { type AiSdkModel, isAiSdkModel, type PartReader, type PartStream } from "./AiSdkModel.js"
import { toLlmError } from "./ErrorMapping.js"
import { settingsOf } from "./ModelSettings.js"
import { profileFor, profiles } from "./ProviderProfile.js"
import { type Addressee, addresseeOf, callOptionsV3, callOptionsV4, toolsOf } from "./RequestMapping.js"
import { StreamMapping } from "./StreamMapping.js"
import { type ProjectedTools, projectedOnce } from "./ToolProjection.js"

export interface AiSdkExecutorOptions {
  /** Reads moments that a provider names. Default: the system's clock. */
  readonly clock?: RuntimeClock.RuntimeClock
}

export interface AiSdkExecutor extends LlmExecutor.LlmExecutor {
  readonly refused: (
    model: LlmExecutor.ModelBinding,
    tools: ReadonlyArray<ToolDescriptor.ToolDescriptor>
  ) => ReadonlyArray<LlmExecutor.RefusedTool>
  /** How these tools are shown to the model: refusals, and notes on what it is not shown. Projected once and kept. */
  readonly projection: (
    model: LlmExecutor.ModelBinding,
    tools: ReadonlyArray<ToolDescriptor.ToolDescriptor>
  ) => ProjectedTools
}

/** Makes a model of a name: `(name) => openai(name)`. May load its package first. */
export type ModelSource = (name: string) => unknown

/** One model, whatever a binding calls it. The binding's settings hold. */
export const fromModel = (model: AiSdkModel, options: AiSdkExecutorOptions = {}): AiSdkExecutor =>
  executorOf({ find: () => model, providerOf: () => model.provider }, options)

/**
 * Models by provider, for bindings that name one of these keys: `fromProviders({ openai: (name) => openai(name) })`.
 * A model is made once a name. A provider that is not named here rejects the binding.
 */
export const fromProviders = (
  providers: Readonly<Record<string, ModelSource>>,
  options: AiSdkExecutorOptions = {}
): AiSdkExecutor => {
  const sources = new Map(Object.entries(providers))
  const made = new Map<string, Promise<AiSdkModel>>()
  const found = new Map<string, AiSdkModel>()
  const find = (binding: LlmExecutor.ModelBinding): AiSdkModel | Promise<AiSdkModel> => {
    const key = `${binding.provider}:${binding.model}`
    const known = found.get(key) ?? made.get(key)
    if (known !== undefined) return known
    const making = makeModel(sources, binding)
    made.set(key, making)
    making.then(
      (model) => found.set(key, model),
      // A package that could not be loaded may be there at the next request.
      () => made.delete(key)
    )
    return making
  }
  const providerOf = (binding: LlmExecutor.ModelBinding): string =>
    found.get(`${binding.provider}:${binding.model}`)?.provider ?? binding.provider
  return executorOf({ find, providerOf }, options)
}

const makeModel = async (
  sources: ReadonlyMap<string, ModelSource>,
  binding: LlmExecutor.ModelBinding
): Promise<AiSdkModel> => {
  const source = sources.get(binding.provider)
  if (source === undefined)
    throw rejected(binding, `expected a provider among ${[...sources.keys()].join(", ") || "(none)"}`)
  let model: unknown
  try {
    model = await source(binding.model)
  } catch (cause) {
    throw cause instanceof LlmError ? cause : rejected(binding, "its package could not make it", cause)
  }
  if (isAiSdkModel(model)) return model
  throw rejected(binding, "expected a language model of AI SDK specification v3 or v4")
}

const rejected = (
  binding: LlmExecutor.ModelBinding,
  ...[what, cause]: readonly [what: string, cause?: unknown]
): LlmError =>
  new LlmError({
    reason: "bindingRejected",
    message: `model ${binding.provider}:${binding.model}: ${what}${cause instanceof Error ? `: ${cause.message}` : ""}`,
    provider: binding.provider,
    isRetryable: false,
    ...(cause === undefined ? {} : { cause })
  })

interface Models {
  readonly find: (binding: LlmExecutor.ModelBinding) => AiSdkModel | Promise<AiSdkModel>
  /** The provider's name as its model has it, as far as it is known by now. */
  readonly providerOf: (binding: LlmExecutor.ModelBinding) => string
}

const executorOf = (models: Models, { clock = RuntimeClock.system }: AiSdkExecutorOptions): AiSdkExecutor => {
  const projection: AiSdkExecutor["projection"] = (binding, tools) => {
    const settings = settingsOf(binding)
    const profile = settings.profile === undefined ? profileFor(models.providerOf(binding)) : profiles[settings.profile]
    return projectedOnce(tools, { profile, settings })
  }
  return {
    projection,
    refused: (binding, tools) => projection(binding, tools).refused,
    stream: (request, context) => turn({ models, request, context, clock })
  }
}

interface Turn {
  readonly models: Models
  readonly request: LlmExecutor.LlmRequest
  readonly context: LlmExecutor.LlmContext
  readonly clock: RuntimeClock.RuntimeClock
}

async function* turn({ clock, context, models, request }: Turn): AsyncGenerator<LlmExecutor.LlmEvent, void, undefined> {
  const { signal } = context
  let provider = request.model.provider
  const failure = (thrown: unknown): LlmError =>
    toLlmError(thrown, { provider, now: clock.now, aborted: signal.aborted })
  let reader: PartReader | undefined
  let mapping: StreamMapping | undefined
  const giveUp = (): void => void reader?.cancel().catch(nothing)
  try {
    const model = await models.find(request.model)
    provider = model.provider
    const to = addresseeOf(model, request.model)
    mapping = new StreamMapping({ provider, failure, toolIdOf: toolsOf(request, to).toolIdOf })
    reader = (await open(request, { to, signal })).getReader()
    signal.addEventListener("abort", giveUp, { once: true })
    const events: Array<LlmExecutor.LlmEvent> = []
    while (!mapping.finished) {
      const next = await reader.read()
      if (signal.aborted) throw failure(undefined)
      if (next.done) mapping.end(events)
      else mapping.push(next.value, events)
      for (const event of events) yield event
      events.length = 0
    }
  } catch (thrown) {
    throw failure(thrown)
  } finally {
    signal.removeEventListener("abort", giveUp)
    if (reader !== undefined && mapping?.finished === true) drain(reader, clock)
    else giveUp()
  }
}

const nothing = (): void => {}

/** Sends the request. When it is given up before it is answered, a late answer is closed. */
const open = (
  request: LlmExecutor.LlmRequest,
  { signal, to }: { readonly to: Addressee; readonly signal: AbortSignal }
): Promise<PartStream> => {
  if (signal.aborted) return Promise.reject(givenUp(to))
  const sent = send(request, { to, signal })
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(givenUp(to))
    signal.addEventListener("abort", onAbort, { once: true })
    sent.then(
      ({ stream }) => {
        signal.removeEventListener("abort", onAbort)
        if (signal.aborted) void stream.getReader().cancel().catch(nothing)
        else resolve(stream)
      },
      (thrown: Error) => {
        signal.removeEventListener("abort", onAbort)
        reject(thrown)
      }
    )
  })
}

const send = (
  request: LlmExecutor.LlmRequest,
  { signal, to }: { readonly to: Addressee; readonly signal: AbortSignal }
): PromiseLike<{ readonly stream: PartStream }> => {
  const { model } = to
  return model.specificationVersion === "v3"
    ? model.doStream({ ...callOptionsV3(request, to), abortSignal: signal })
    : model.doStream({ ...callOptionsV4(request, to), abortSignal: signal })
}

const givenUp = (to: Addressee): LlmError =>
  new LlmError({ reason: "aborted", message: "the request was aborted", provider: to.model.provider })

/** How long the end of a finished answer is waited for, in milliseconds. */
const patience = 250

/** Reads what is left of a finished answer, so that its connection can be used again. */
const drain = (reader: PartReader, clock: RuntimeClock.RuntimeClock): void => {
  const stop = clock.after(patience, () => void reader.cancel().catch(nothing))
  const rest = async (): Promise<void> => {
    while (!(await reader.read()).done) continue
  }
  rest().then(stop, stop)
}
