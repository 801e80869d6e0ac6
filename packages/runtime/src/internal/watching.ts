/**
 * Facts and deltas of a thread as an asynchronous iterable (L4): from any fact on, and then as they come.
 *
 * Guarantees: facts are in order, each once, none left out; deltas come only from drives in this process; a reader that
 * goes away leaves nothing behind.
 * Does not slow the run: what a reader has not read waits in its own queue.
 */
import { Json, type RunEvent } from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import type { ActiveRun } from "./activeRun.js"
import { bounded } from "./bounded.js"
import type { Deadline } from "./deadlines.js"
import type { Engine } from "./engine.js"

export interface Watching {
  readonly threadId: string
  /** Number of the first fact wanted; `undefined`: from now on. */
  readonly from: number | undefined
  /** Ends with this drive; without it the iterable goes on until it is left. */
  readonly until?: ActiveRun
}

export const watchThread = (engine: Engine, watching: Watching): AsyncIterableIterator<RunEvent.RunEvent> =>
  new Watcher(engine, watching)

/** Facts of one page of history. */
const page = 1_000

class Watcher implements AsyncIterableIterator<RunEvent.RunEvent> {
  readonly #engine: Engine
  readonly #threadId: string
  readonly #isEndless: boolean
  #queue: Array<RunEvent.RunEvent> = []
  /** Number of the next fact; `undefined` until the first one is seen. */
  #next: number | undefined
  #mustRead: boolean
  /** The last page that was read was full. */
  #isMoreStored = false
  #error: unknown
  #isOver = false
  /** Its reader has gone, or was told an error. */
  #isLeft = false
  #last: Promise<unknown> = Promise.resolve()
  #wake: (() => void) | undefined
  #poll: Deadline | undefined

  constructor(engine: Engine, { threadId, from, until }: Watching) {
    this.#engine = engine
    this.#threadId = threadId
    this.#next = from
    this.#mustRead = from !== undefined
    this.#isEndless = until === undefined
    if (until === undefined) {
      const listeners = engine.watchers.get(threadId) ?? new Set()
      engine.watchers.set(threadId, listeners.add(this.#hear))
      engine.active.get(threadId)?.listen(this.#hear)
      engine.whenClosed.add(this.#leaveAll)
      this.#poll = engine.deadlines.after(engine.signalPoll, this.#look)
      // Nothing comes any more where nothing runs.
      if (engine.closing) this.#leave()
      return
    }
    until.listen(this.#hear)
    until.whenDone((end) => {
      if (!end.ok) this.#error = end.error
      this.#isOver = true
      this.#wake?.()
    })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** One after the other, for readers that ask again before they were answered. */
  next(): Promise<IteratorResult<RunEvent.RunEvent>> {
    const answer = this.#last.then(this.#advance)
    this.#last = answer.catch(ignore)
    return answer
  }

  readonly #advance = async (): Promise<IteratorResult<RunEvent.RunEvent>> => {
    for (;;) {
      if (this.#isLeft) return { done: true, value: undefined }
      const event = this.#mustRead ? undefined : this.#take()
      if (event !== undefined) return { done: false, value: event }
      if (this.#mustRead) {
        await this.#read()
        continue
      }
      if (this.#isMoreStored) {
        this.#mustRead = true
        continue
      }
      if (this.#error !== undefined) throw this.#fail()
      if (this.#isOver) return { done: true, value: undefined }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = undefined
    }
  }

  return(): Promise<IteratorResult<RunEvent.RunEvent>> {
    this.#leave()
    return Promise.resolve({ done: true, value: undefined })
  }

  readonly #hear = (event: RunEvent.RunEvent): void => {
    this.#queue.push(event)
    this.#wake?.()
  }

  /** Other processes commit as well; what they did is read from the store. */
  readonly #look = (): void => {
    this.#mustRead = this.#next !== undefined
    this.#poll = this.#engine.deadlines.after(this.#engine.signalPoll, this.#look)
    this.#wake?.()
  }

  /** The next event that is neither old nor ahead of its time. */
  #take(): RunEvent.RunEvent | undefined {
    for (let event = this.#queue[0]; event !== undefined; event = this.#queue[0]) {
      if (event._tag === "Delta") {
        this.#queue.shift()
        return event
      }
      const next = this.#next ?? event.number
      if (event.number > next) {
        this.#mustRead = true
        return undefined
      }
      this.#queue.shift()
      if (event.number < next) continue
      this.#next = next + 1
      return event
    }
    return undefined
  }

  /** Puts what is missing before the queue. */
  async #read(): Promise<void> {
    const from = this.#next
    this.#mustRead = false
    if (from === undefined) return
    const { store, services } = this.#engine
    const question = {
      threadId: this.#threadId,
      ask: () => store.tail({ threadId: this.#threadId, from, limit: page })
    }
    const facts = await Effect.runPromiseWith(services)(
      Effect.tapCause(bounded(this.#engine, question), this.#leaveSoon)
    )
    if (this.#isLeft) return
    this.#isMoreStored = facts.length === page
    const last = facts.at(-1)?.number
    if (last === undefined) return
    const later = this.#queue.filter((event) => event._tag === "Delta" || event.number > last)
    this.#queue = [
      ...facts.map(({ number, fact }) => ({ _tag: "Fact" as const, number, fact: Json.freezeOpen(fact) })),
      ...later
    ]
  }

  #fail(): unknown {
    const error = this.#error
    this.#error = undefined
    this.#leave()
    return error
  }

  readonly #leaveAll = (): void => this.#leave()

  /** Nobody asks again behind an error. */
  readonly #leaveSoon = (): Effect.Effect<void> => Effect.sync(this.#leaveAll)

  #leave(): void {
    this.#isLeft = true
    this.#isOver = true
    this.#queue = []
    this.#poll?.cancel()
    this.#wake?.()
    const { active, watchers } = this.#engine
    active.get(this.#threadId)?.unlisten(this.#hear)
    if (!this.#isEndless) return
    this.#engine.whenClosed.delete(this.#leaveAll)
    const listeners = watchers.get(this.#threadId)
    listeners?.delete(this.#hear)
    if (listeners?.size === 0) watchers.delete(this.#threadId)
  }
}

const ignore = (): void => {}
