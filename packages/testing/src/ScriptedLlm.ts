/**
 * A model that says what a test wrote down, turn by turn.
 *
 * Guarantees: streams as a provider does (text and arguments in pieces, a call only when it is complete); a request
 * that the script does not expect fails, and is told again by `assertDone`, so that a run which survives it is still red.
 * Does not judge what the runtime does with its turns: the transcript shows that.
 */
import { type LlmExecutor, LlmError, type Json, type Message, type Run } from "@toolwright/runtime-contract"
import { firstMismatch, type RequestExpectation } from "./internal/requestExpectation.js"

/** One call of a turn. */
export interface ScriptedCall {
  readonly toolId: string
  /** An object is sent as its JSON text; a string is sent as it is, fit or not; absent is sent as absent. */
  readonly arguments?: Json.JsonObject | string
  /** Default `call-{turn}-{position}`, both from 1. */
  readonly callId?: string
}

interface Common {
  /** What the request must be. A mismatch fails the request. */
  readonly expect?: RequestExpectation
  /** The turn begins when this settles: for tests that hold a model in their hand. */
  readonly until?: PromiseLike<unknown>
}

/** Says something, asks for calls, or both, and comes to its end. */
export interface SpokenTurn extends Common {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: ReadonlyArray<ScriptedCall>
  /** Default `toolCalls` where there are calls, else `endTurn`. */
  readonly stop?: Message.StopReason
  readonly usage?: Run.Usage
}

/** Gives these events and nothing else: no `finish` is added. */
export interface RawTurn extends Common {
  readonly events: ReadonlyArray<LlmExecutor.LlmEvent>
}

/** Fails, after `events` where there are some. */
export interface FailingTurn extends Common {
  readonly error: LlmError | LlmExecutor.LlmErrorReason
  readonly events?: ReadonlyArray<LlmExecutor.LlmEvent>
}

/** Gives `events` and then nothing more. `untilAborted` ends at the signal, `deaf` never. */
export interface StallingTurn extends Common {
  readonly stall: "untilAborted" | "deaf"
  readonly events?: ReadonlyArray<LlmExecutor.LlmEvent>
}

/** A text alone is a turn that says it and ends. */
export type ScriptedTurn = string | SpokenTurn | RawTurn | FailingTurn | StallingTurn

/** Turns in order; or a function from request and its number (from 0) to a turn, for as many requests as come. */
export type Script =
  | ReadonlyArray<ScriptedTurn>
  | ((request: LlmExecutor.LlmRequest, index: number) => ScriptedTurn | undefined)

export class ScriptedLlm implements LlmExecutor.LlmExecutor {
  readonly #script: Script
  readonly #pieceSize: number
  readonly #requests: Array<LlmExecutor.LlmRequest> = []
  readonly #failures: Array<string> = []

  /** `pieceSize`: code points per streamed piece, default 12. */
  constructor(script: Script, options: { readonly pieceSize?: number } = {}) {
    this.#script = script
    this.#pieceSize = Math.max(1, options.pieceSize ?? 12)
  }

  /** The requests so far, in order. */
  get requests(): ReadonlyArray<LlmExecutor.LlmRequest> {
    return this.#requests
  }

  readonly stream = (
    request: LlmExecutor.LlmRequest,
    context: LlmExecutor.LlmContext
  ): AsyncIterable<LlmExecutor.LlmEvent> => {
    const index = this.#requests.length
    this.#requests.push(request)
    const turn = typeof this.#script === "function" ? this.#script(request, index) : this.#script[index]
    if (turn === undefined) return this.#refuse(`unexpected request ${describe(request, index)}: the script has ended`)
    const mismatch = typeof turn === "string" ? undefined : firstMismatch(turn.expect, request)
    if (mismatch !== undefined) return this.#refuse(`request ${describe(request, index)}: ${mismatch}`)
    return play(turn, { index, context, pieceSize: this.#pieceSize })
  }

  /** Throws when a request was unexpected or turns are left over. */
  assertDone(): void {
    const [failure] = this.#failures
    if (failure !== undefined) throw new Error(failure)
    if (typeof this.#script === "function") return
    const left = this.#script.length - this.#requests.length
    if (left > 0) throw new Error(`the script has ${left} of ${this.#script.length} turns left that nobody asked for`)
  }

  #refuse(message: string): AsyncIterable<LlmExecutor.LlmEvent> {
    this.#failures.push(message)
    return failing(new LlmError({ reason: "invalidRequest", message, provider: "scripted", isRetryable: false }))
  }
}

interface Playing {
  readonly index: number
  readonly context: LlmExecutor.LlmContext
  readonly pieceSize: number
}

async function* play(turn: ScriptedTurn, playing: Playing): AsyncGenerator<LlmExecutor.LlmEvent, void, undefined> {
  if (typeof turn === "string") return yield* speak({ text: turn }, playing)
  if (turn.until !== undefined) await turn.until
  if ("stall" in turn) {
    yield* turn.events ?? []
    await silence(turn.stall, playing.context)
    throw new LlmError({ reason: "aborted", message: "the request was aborted", provider: "scripted" })
  }
  if ("error" in turn) {
    yield* turn.events ?? []
    throw turn.error instanceof LlmError
      ? turn.error
      : new LlmError({ reason: turn.error, message: `scripted failure: ${turn.error}`, provider: "scripted" })
  }
  if ("events" in turn) yield* turn.events
  else yield* speak(turn, playing)
}

function* speak(turn: SpokenTurn, playing: Playing): Generator<LlmExecutor.LlmEvent, void, undefined> {
  const { calls = [], reasoning, stop, text, usage } = turn
  if (reasoning !== undefined) for (const piece of pieces(reasoning, playing)) yield { type: "reasoning", text: piece }
  if (text !== undefined) for (const piece of pieces(text, playing)) yield { type: "text", text: piece }
  for (const [position, call] of calls.entries()) yield* ask(call, { ...playing, position })
  yield {
    type: "finish",
    stop: stop ?? (calls.length > 0 ? "toolCalls" : "endTurn"),
    ...(usage === undefined ? {} : { usage })
  }
}

function* ask(
  call: ScriptedCall,
  playing: Playing & { readonly position: number }
): Generator<LlmExecutor.LlmEvent, void, undefined> {
  const callId = call.callId ?? `call-${playing.index + 1}-${playing.position + 1}`
  const { toolId } = call
  const args = typeof call.arguments === "object" ? JSON.stringify(call.arguments) : call.arguments
  // The key is the position, as providers stream it: the id may be missing or repeated.
  const key = String(playing.position)
  for (const argumentsText of pieces(args ?? "", playing)) yield { type: "toolCallDelta", key, toolId, argumentsText }
  yield { type: "toolCall", callId, toolId, arguments: args }
}

/** Cuts between code points, so that no piece holds half a surrogate pair. */
const pieces = (text: string, { pieceSize }: Playing): ReadonlyArray<string> => {
  const points = Array.from(text)
  const cut: Array<string> = []
  for (let at = 0; at < points.length; at += pieceSize) cut.push(points.slice(at, at + pieceSize).join(""))
  return cut
}

const silence = (kind: StallingTurn["stall"], context: LlmExecutor.LlmContext): Promise<void> =>
  new Promise((resolve) => {
    if (kind === "deaf") return
    const { signal } = context
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })

const failing = (error: LlmError): AsyncIterable<LlmExecutor.LlmEvent> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) })
})

const describe = (request: LlmExecutor.LlmRequest, index: number): string =>
  `${index + 1} (run ${request.runId}, step ${request.step}, attempt ${request.attempt})`
