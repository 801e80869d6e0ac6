/**
 * What the outside world saw: tools that write down every time they are entered, and can be held in the middle.
 *
 * Guarantees: an entry is recorded before the tool does anything else, so a crash cannot hide it; entries of all tools of
 * a recorder stand in one order.
 * Does not survive the process: the crash harness has a recorder on disk.
 */
import {
  Attribution,
  type Json,
  type RawTool,
  ToolConcurrency,
  type ToolError,
  ToolOutput,
  type ToolRecovery
} from "@toolwright/runtime-contract"

/** One entry into a tool. */
export interface RecordedEffect {
  readonly toolId: string
  readonly operationId: string
  readonly callId: string
  readonly attempt: number
  readonly arguments: Json.JsonObject
}

/** A text is an ok result; an error is thrown. */
export type RecordedAnswer = string | ToolOutput.ToolOutput | ToolError

export interface RecordedToolOptions {
  readonly id: string
  /** Default `NonRecoverable`. */
  readonly recovery?: ToolRecovery.ToolRecoveryCapability
  /** Default: any object. */
  readonly inputSchema?: Json.JsonObject
  readonly description?: string
  readonly kind?: RawTool.ToolKind
  readonly target?: RawTool.ToolTarget
  readonly version?: string
  /** Default `Parallel`. */
  readonly concurrency?: ToolConcurrency.ToolConcurrency
  /** Default: the text `done`. */
  readonly answer?: (
    call: RawTool.ToolCall,
    context: RawTool.InvocationContext
  ) => RecordedAnswer | PromiseLike<RecordedAnswer>
  readonly reconcile?: NonNullable<RawTool.RawTool["reconcile"]>
}

interface Hold {
  readonly released: Promise<void>
  readonly release: () => void
}

interface Watcher {
  readonly count: number
  readonly resolve: () => void
}

export class EffectRecorder {
  readonly #effects: Array<RecordedEffect> = []
  readonly #holds = new Map<string, Hold>()
  readonly #watchers = new Set<Watcher>()

  /** Every entry so far, in order. */
  get effects(): ReadonlyArray<RecordedEffect> {
    return this.#effects
  }

  /** The entries of one operation. */
  of(operationId: string): ReadonlyArray<RecordedEffect> {
    return this.#effects.filter((effect) => effect.operationId === operationId)
  }

  /** An executable tool whose entries are recorded here. */
  tool(options: RecordedToolOptions): RawTool.RawTool {
    const spec = specOf(options)
    return {
      spec: () => spec,
      recovery: options.recovery ?? "NonRecoverable",
      attribution: Attribution.make(options.id),
      stateKeys: [],
      concurrency: () => options.concurrency ?? ToolConcurrency.Parallel,
      ...(options.version === undefined ? {} : { version: options.version }),
      ...(options.reconcile === undefined ? {} : { reconcile: options.reconcile }),
      invoke: (call, context) => this.#invoke({ call, context, options })
    }
  }

  /** From now on calls of the tool stop behind their entry, until the returned function is called. */
  hold(toolId: string): () => void {
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const hold: Hold = { released, release }
    this.#holds.set(toolId, hold)
    return () => {
      if (this.#holds.get(toolId) === hold) this.#holds.delete(toolId)
      release()
    }
  }

  /** Resolves as soon as `count` entries are recorded. */
  whenEntered(count: number): Promise<void> {
    if (this.#effects.length >= count) return Promise.resolve()
    return new Promise((resolve) => {
      this.#watchers.add({ count, resolve })
    })
  }

  async #invoke(entry: {
    readonly call: RawTool.ToolCall
    readonly context: RawTool.InvocationContext
    readonly options: RecordedToolOptions
  }): Promise<ToolOutput.ToolOutput> {
    const { call, context, options } = entry
    const { attempt, operationId } = context.operation
    this.#effects.push({ toolId: options.id, operationId, callId: call.callId, attempt, arguments: call.arguments })
    for (const watcher of this.#watchers) {
      if (this.#effects.length < watcher.count) continue
      this.#watchers.delete(watcher)
      watcher.resolve()
    }
    await this.#holds.get(options.id)?.released
    const answer = options.answer === undefined ? "done" : await options.answer(call, context)
    if (answer instanceof Error) throw answer
    return typeof answer === "string" ? ToolOutput.ok(call.callId, answer) : answer
  }
}

const specOf = (options: RecordedToolOptions): RawTool.ToolSpec =>
  Object.freeze({
    id: options.id,
    description: options.description ?? `records that ${options.id} was entered`,
    ...(options.version === undefined ? {} : { version: options.version }),
    inputSchema: options.inputSchema ?? anyObject,
    kind: options.kind ?? "Regular",
    target: options.target ?? "Brain",
    warnings: noWarnings
  })

const anyObject: Json.JsonObject = Object.freeze({ type: "object", additionalProperties: true })

const noWarnings: ReadonlyArray<string> = Object.freeze([])
