/**
 * Places calls in hands: one hand per thread, started when it is needed, kept warm, started anew when it was lost.
 *
 * Guarantees: a call that was never sent is `UnavailableBeforeDispatch`; one that was sent and lost is `Execution`, so its
 * recovery policy decides; a tool's own failure is an answer; an answer that does not fit the tool is unreadable.
 * Does not contain: how a hand is started decides that.
 */
import {
  type RawTool,
  RawToolRegistry,
  ToolConcurrency,
  ToolError,
  type ToolOperation,
  ToolOutput,
  ToolRendering,
  ToolSchema
} from "@toolwright/runtime-contract"
import type { Hand, Settled } from "./hand.js"
import type { Asked } from "./messages.js"
import { toolDigest } from "./toolDigest.js"

export interface ExecutorOptions {
  readonly tools: Iterable<RawTool.RawTool>
  readonly start: () => Hand
  /** Milliseconds from a cancel to the end of a hand that does not answer. */
  readonly grace: number
  /** Milliseconds without a call after which a hand is ended. */
  readonly idle: number
  /** Hands at once; beyond it the one that was idle longest is ended. */
  readonly hands: number
}

interface Warm {
  readonly hand: Hand
  /** Ids of the tools that are there as they are here. */
  readonly tools: Promise<ReadonlySet<string>>
  /** Calls that are about to be sent to it: it is not idle while it starts for them. */
  waiting: number
}

const isIdle = ({ hand, waiting }: Warm): boolean => hand.busy === 0 && waiting === 0

export class HandExecutor implements RawTool.ToolExecutor {
  readonly #options: ExecutorOptions
  readonly #registry: RawToolRegistry
  readonly #digests = new Map<string, string>()
  readonly #warm = new Map<string, Warm>()
  readonly #sweep: NodeJS.Timeout
  #spare: Warm | undefined
  #isClosed = false

  constructor(options: ExecutorOptions) {
    this.#options = options
    const tools = [...options.tools].filter((tool) => tool.spec().target === "Sandbox")
    this.#registry = new RawToolRegistry(tools)
    for (const tool of tools) this.#digests.set(tool.spec().id, toolDigest(tool))
    this.#sweep = setInterval(() => this.#endIdle(), Math.max(10, options.idle / 4))
    this.#sweep.unref()
  }

  /** Starts a hand for the first thread that asks, and checks that it holds the same tools. Rejects with what is wrong. */
  async warmUp(): Promise<void> {
    const warm = this.#begin()
    this.#spare = warm
    const there = await warm.tools
    const missing = [...this.#digests.keys()].filter((id) => !there.has(id))
    if (missing.length === 0) return
    warm.hand.kill("its tools differ")
    throw new Error(`the sandbox's registry has no tool, or another one, for: ${missing.join(", ")}`)
  }

  recovery(toolId: string): RawTool.RawTool["recovery"] {
    return this.#registry.recovery(toolId)
  }

  /** Narrows nothing: the runtime asks the tool itself as well. */
  concurrency(toolId: string): ToolConcurrency.ToolConcurrency {
    return this.#digests.has(toolId) ? ToolConcurrency.Parallel : ToolConcurrency.Serial
  }

  /** Number of hands that are warm. */
  get hands(): number {
    return this.#warm.size + (this.#spare === undefined ? 0 : 1)
  }

  async invoke(call: RawTool.ToolCall, context: RawTool.InvocationContext): Promise<ToolOutput.ToolOutput> {
    const tool = this.#tool(call.toolId)
    const { operation, signal } = context
    const warm = await this.#handFor(operation.threadId, call.toolId)
    const settled = await this.#ask(warm, { type: "call", call, operation, tool, signal, progress: context.progress })
    if (settled.type === "failed") return failureOf(tool, { callId: call.callId, settled })
    if (settled.type === "result") return outputOf(tool, { callId: call.callId, output: settled.output })
    throw ToolError.execution(
      `the sandbox was lost while ${call.toolId} ran: ${settled.type === "lost" ? settled.why : "it answered something else"}`
    )
  }

  async reconcile(call: RawTool.ToolCall, operation: ToolOperation.ToolOperation): Promise<RawTool.Reconciliation> {
    const tool = this.#tool(call.toolId)
    if (tool.reconcile === undefined) return { _tag: "Unknown" }
    const warm = await this.#handFor(operation.threadId, call.toolId)
    const never = new AbortController().signal
    const settled = await this.#ask(warm, {
      type: "reconcile",
      call,
      operation,
      tool,
      signal: never,
      progress: () => {}
    })
    return settled.type === "reconciled"
      ? reconciliationOf(tool, { callId: call.callId, answer: settled.answer })
      : { _tag: "Unknown" }
  }

  /** Ends all hands, and what runs in them. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#sweep)
    const all = [...this.#warm.values(), ...(this.#spare === undefined ? [] : [this.#spare])]
    this.#warm.clear()
    this.#spare = undefined
    for (const { hand } of all) hand.kill("the sandbox was closed")
    await Promise.all(all.map(({ hand }) => hand.ended))
  }

  /** Ends the hand of a thread; the next call starts another. */
  async end(threadId: string): Promise<void> {
    const warm = this.#warm.get(threadId)
    this.#warm.delete(threadId)
    warm?.hand.kill("its thread was ended")
    await warm?.hand.ended
  }

  /** The process of a thread's hand, for those who watch it from outside. */
  pidOf(threadId: string): number | undefined {
    return this.#warm.get(threadId)?.hand.pid
  }

  #tool(toolId: string): RawTool.RawTool {
    const found = this.#registry.lookup(toolId)
    if (found._tag === "Found") return found.tool
    throw ToolError.unknown(toolId, found._tag === "Ambiguous" ? "Ambiguous" : "NotRegistered")
  }

  async #handFor(threadId: string, toolId: string): Promise<Warm> {
    if (this.#isClosed) throw ToolError.unavailableBeforeDispatch("the sandbox is closed")
    const warm = this.#warmFor(threadId)
    warm.waiting++
    try {
      if ((await warm.tools).has(toolId)) return warm
    } catch (cause) {
      warm.waiting--
      throw ToolError.unavailableBeforeDispatch(
        cause instanceof Error ? cause.message : "the sandbox could not start",
        cause
      )
    }
    warm.waiting--
    throw ToolError.unavailableBeforeDispatch(`the sandbox's registry has another ${toolId} than this runtime, or none`)
  }

  #warmFor(threadId: string): Warm {
    const known = this.#warm.get(threadId)
    if (known !== undefined && !known.hand.isOver) return known
    const spare = this.#spare
    this.#spare = undefined
    const warm = spare !== undefined && !spare.hand.isOver ? spare : this.#begin()
    this.#warm.set(threadId, warm)
    void warm.hand.ended.then(() => {
      if (this.#warm.get(threadId) === warm) this.#warm.delete(threadId)
    })
    this.#endSurplus(threadId)
    return warm
  }

  #begin(): Warm {
    const hand = this.#options.start()
    const tools = hand.started.then(
      (installed) => new Set(installed.filter(({ id, digest }) => this.#digests.get(id) === digest).map(({ id }) => id))
    )
    tools.catch(() => {})
    return { hand, tools, waiting: 0 }
  }

  #endSurplus(keep: string): void {
    const idle = [...this.#warm]
      .filter(([threadId, warm]) => threadId !== keep && isIdle(warm))
      .sort(([, left], [, right]) => left.hand.idleSince - right.hand.idleSince)
    for (const [threadId, { hand }] of idle.slice(0, Math.max(0, this.#warm.size - this.#options.hands))) {
      this.#warm.delete(threadId)
      hand.kill("other threads need its place")
    }
  }

  #endIdle(): void {
    const since = performance.now() - this.#options.idle
    for (const [threadId, warm] of this.#warm) {
      const { hand } = warm
      if (!isIdle(warm) || hand.idleSince > since) continue
      this.#warm.delete(threadId)
      hand.kill("it was idle")
    }
  }

  /** Sends at once, so that the hand is busy from here on. */
  #ask(warm: Warm, asking: Asking): Promise<Settled> {
    const { hand } = warm
    const { signal } = asking
    warm.waiting--
    if (signal.aborted)
      throw ToolError.unavailableBeforeDispatch(`${asking.call.toolId} was cancelled before it was sent`)
    let asked: Omit<Asked, "id">
    try {
      asked = askedOf(asking)
    } catch (error) {
      // State that cannot be read: nothing was sent, and asking again would not help.
      return Promise.resolve({
        type: "failed",
        reason: "Execution",
        message: error instanceof Error ? error.message : String(error),
        issues: []
      })
    }
    return new Promise((resolve, reject) => {
      let id: number | undefined
      let timer: NodeJS.Timeout | undefined
      const abort = (): void => {
        if (id === undefined) return
        hand.cancel(id, signal.reason instanceof Error ? signal.reason.message : "cancelled")
        timer = setTimeout(
          () => hand.kill(`${asking.call.toolId} did not stop when it was cancelled`),
          this.#options.grace
        )
      }
      const settle = (settled: Settled): void => {
        clearTimeout(timer)
        signal.removeEventListener("abort", abort)
        resolve(settled)
      }
      try {
        id = hand.send(asked, { settle, progress: asking.progress })
      } catch (error) {
        return reject(
          ToolError.unavailableBeforeDispatch(error instanceof Error ? error.message : "the call cannot be sent", error)
        )
      }
      if (id === undefined)
        return reject(ToolError.unavailableBeforeDispatch("the sandbox ended before the call was sent"))
      signal.addEventListener("abort", abort, { once: true })
    })
  }
}

interface Failing {
  readonly callId: string
  readonly settled: Extract<Settled, { type: "failed" }>
}

/** A tool's own failure is an answer: thrown as an error, it would be taken for the loss of the call. */
const failureOf = (tool: RawTool.RawTool, { callId, settled }: Failing): ToolOutput.ToolOutput => {
  const { reason, message, issues } = settled
  if (reason === "InvalidArguments") throw ToolError.invalidArguments(message, issues.filter(isIssue))
  const text = message.trim() === "" ? `${tool.spec().id} failed` : message
  return ToolOutput.error(callId, tool.recovery === "NonRecoverable" ? `${text}\nIt may have had an effect.` : text)
}

interface Asking {
  readonly type: Asked["type"]
  readonly call: RawTool.ToolCall
  readonly operation: ToolOperation.ToolOperation
  readonly tool: RawTool.RawTool
  readonly signal: AbortSignal
  readonly progress: (text: string) => void
}

const askedOf = ({ type, call, operation, tool }: Asking): Omit<Asked, "id"> => {
  const { runId, threadId, operationId, callId, attempt, epoch, principal } = operation
  const state = Object.fromEntries(
    tool.stateKeys.flatMap((key) => {
      const value: unknown = operation.state.get(key)
      return value === undefined ? [] : [[`${key.scope}/${key.name}`, value]]
    })
  )
  return {
    type,
    call: { callId: call.callId, toolId: call.toolId, arguments: call.arguments },
    operation: { runId, threadId, operationId, callId, attempt, epoch, principal },
    state: state as Asked["state"]
  }
}

interface Issue {
  readonly pointer: string
  readonly expected: string
  readonly received: string
  readonly fix?: string
}

const isIssue = (value: unknown): value is Issue =>
  typeof value === "object" &&
  value !== null &&
  ["pointer", "expected", "received"].every((name) => typeof Reflect.get(value, name) === "string")

interface Given {
  readonly callId: string
  readonly output: unknown
}

/** What came out of the box, read as if a stranger had written it. The runtime checks content and state. */
const outputOf = (tool: RawTool.RawTool, { callId, output }: Given): ToolOutput.ToolOutput => {
  const { outputSchema } = tool.spec()
  if (typeof output !== "object" || output === null || !("content" in output) || !Array.isArray(output.content))
    return ToolRendering.unreadable(callId, { issues: [] })
  const read = { state: [], ...output, callId } as unknown as ToolOutput.ToolOutput
  if (read.isError || outputSchema === undefined) return read
  if (read.data === undefined) return ToolRendering.unreadable(callId, { issues: [], text: ToolOutput.text(read) })
  const issues = ToolSchema.validatorFor(outputSchema)(read.data)
  return issues.length === 0 ? read : ToolRendering.unreadable(callId, { issues, text: ToolOutput.text(read) })
}

const reconciliationOf = (
  tool: RawTool.RawTool,
  { callId, answer }: { readonly callId: string; readonly answer: unknown }
): RawTool.Reconciliation => {
  if (typeof answer !== "object" || answer === null || !("_tag" in answer)) return { _tag: "Unknown" }
  if (answer._tag === "NotSent") return { _tag: "NotSent" }
  if (answer._tag === "InProgress" && "retryAfter" in answer && typeof answer.retryAfter === "number")
    return { _tag: "InProgress", retryAfter: answer.retryAfter }
  if (answer._tag !== "Happened" || !("output" in answer)) return { _tag: "Unknown" }
  return { _tag: "Happened", output: outputOf(tool, { callId, output: answer.output }) }
}
