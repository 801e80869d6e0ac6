/**
 * The calls at work in a hand.
 *
 * Guarantees: each is answered once; one that is cancelled gets its signal at once; one that outlasts the hand's own limit
 * is signalled, and ends the hand where it does not listen.
 */
import type { InvocationContextLike, LoadedTool } from "./handTool.js"
import type { LoadedRegistry } from "./loadRegistry.js"
import type { Asked, Cancel, FromHand } from "./messages.js"

interface Options {
  readonly send: (message: FromHand) => void
  readonly callLimit: number
}

/** Milliseconds between two messages of progress of one call, and characters of one. */
const progressEvery = 50
const longestProgress = 16_384
/** Milliseconds from the signal of our own limit to the end of the hand. */
const lastGrace = 5_000

interface Started {
  readonly controller: AbortController
  readonly limit: NodeJS.Timeout
}

export class HandCalls {
  readonly #registry: LoadedRegistry
  readonly #options: Options
  readonly #live = new Map<number, AbortController>()

  constructor(registry: LoadedRegistry, options: Options) {
    this.#registry = registry
    this.#options = options
  }

  get count(): number {
    return this.#live.size
  }

  cancel({ id, reason }: Pick<Cancel, "id" | "reason">): void {
    this.#live.get(id)?.abort(new Error(reason))
  }

  cancelAll(reason: string): void {
    for (const controller of this.#live.values()) controller.abort(new Error(reason))
  }

  start(asked: Asked): void {
    const controller = new AbortController()
    this.#live.set(asked.id, controller)
    const limit = setTimeout(() => {
      controller.abort(new Error("the call outlasted the limit of the sandbox"))
      setTimeout(() => process.exit(70), lastGrace).unref()
    }, this.#options.callLimit)
    void this.#settle(asked, { controller, limit })
  }

  async #settle(asked: Asked, { controller, limit }: Started): Promise<void> {
    let message: FromHand
    try {
      message = await this.#run(asked, controller)
    } catch (error) {
      message = failure(asked.id, error)
    }
    clearTimeout(limit)
    this.#live.delete(asked.id)
    this.#answer(asked.id, message)
  }

  #answer(id: number, message: FromHand): void {
    try {
      this.#options.send(message)
    } catch (error) {
      // Too long, or no JSON: the call is over all the same.
      this.#options.send(failure(id, error))
    }
  }

  async #run(asked: Asked, controller: AbortController): Promise<FromHand> {
    const { id, type, call } = asked
    const tool: LoadedTool | undefined = this.#registry.tools.get(call.toolId)
    if (tool === undefined) throw new Error(`the sandbox has no tool ${call.toolId}`)
    const operation = { ...asked.operation, state: viewOf(asked.state) }
    const finish = (value: unknown): unknown =>
      isEffect(value) ? this.#registry.runEffect(value, { signal: controller.signal, operation }) : value
    // The brand of parsed arguments does not cross; they were parsed with the same schema.
    const given = call as never
    if (type === "reconcile") {
      const answer =
        tool.reconcile === undefined
          ? { _tag: "Unknown" as const }
          : await finish(tool.reconcile(given, operation as never))
      return { type: "reconciled", id, answer: answer as never }
    }
    const context: InvocationContextLike = { signal: controller.signal, operation, progress: this.#progress(id) }
    const output = await finish(tool.invoke(given, context as never))
    return { type: "result", id, output }
  }

  #progress(id: number): (text: string) => void {
    let last = 0
    let waiting = ""
    const flush = (): void => {
      if (waiting === "" || !this.#live.has(id)) return
      this.#answer(id, { type: "progress", id, text: waiting })
      waiting = ""
      last = performance.now()
    }
    return (text) => {
      const isFirst = waiting === ""
      waiting = (waiting + String(text)).slice(-longestProgress)
      if (!isFirst) return
      const rest = progressEvery - (performance.now() - last)
      if (rest <= 0) flush()
      else setTimeout(flush, rest).unref()
    }
  }
}

const viewOf = (state: Asked["state"]) => ({
  get: (key: { readonly scope: string; readonly name: string; readonly initial?: unknown }): unknown => {
    const place = `${key.scope}/${key.name}`
    return Object.hasOwn(state, place) ? state[place] : key.initial
  }
})

const isEffect = (value: unknown): boolean => typeof value === "object" && value !== null && "~effect/Effect" in value

/** A `ToolError` of any copy of the contract keeps its reason; anything else failed while it ran. */
const failure = (id: number, error: unknown): FromHand => {
  const { reason, message } = { reason: undefined, message: String(error), ...fieldsOf(error) }
  const tag = typeof reason === "object" && reason !== null && "_tag" in reason ? String(reason._tag) : "Execution"
  const issues: unknown = typeof reason === "object" && reason !== null && "issues" in reason ? reason.issues : []
  return { type: "failed", id, reason: tag, message, issues: Array.isArray(issues) ? issues : [] }
}

const fieldsOf = (error: unknown): { readonly reason?: unknown; readonly message?: string } => {
  if (typeof error !== "object" || error === null) return {}
  const reason: unknown = "reason" in error ? error.reason : undefined
  return "message" in error && typeof error.message === "string" ? { reason, message: error.message } : { reason }
}
