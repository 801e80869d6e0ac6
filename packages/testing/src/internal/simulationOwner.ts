/**
 * One simulated process: a runtime over the common store, with a store connection, a clock and a death of its own.
 *
 * Guarantees: behind its death nothing of it runs: no port answers it, no timer wakes it, no commit of it is begun; a
 * commit that was under way may still land, as it would.
 * Does not decide when it dies: crash points and the driver do.
 */
import type {
  CrashPoint,
  LlmExecutor,
  PermissionGate,
  RawTool,
  ResumeTicket,
  RuntimeClock,
  ThreadStore,
  ExecutableAgentSnapshot
} from "@toolwright/runtime-contract"
import * as Effect from "effect/Effect"
import { FaultyStore, type StoreCall, type StoreFault } from "../FaultyStore.js"
import type { TestClock } from "../TestClock.js"
import { listened } from "./crashFiles.js"
import type { AcknowledgedCommit, SeenEffect } from "./crashLaws.js"
import type { Draw } from "./simulationDraw.js"
import { gateOf, modelOf, toolsOf } from "./simulationScript.js"

/** What a simulated process is made of: a subset of a runtime's options. */
export interface SimulatedPorts {
  readonly llm: LlmExecutor.LlmExecutor
  readonly gate: PermissionGate.PermissionGate
  readonly tools: ReadonlyArray<RawTool.RawTool>
  readonly store: ThreadStore.ThreadStore
  readonly clock: RuntimeClock.RuntimeClock
  readonly owner: string
  readonly idSource: () => string
  readonly crashPoint: CrashPoint.CrashPoint
  readonly leaseTtl: number
  readonly signalPoll: number
  readonly storeTimeout: number
}

/** What the simulation asks of a runtime. */
export interface SimulatedRuntime {
  readonly run: (options: {
    readonly snapshot: ExecutableAgentSnapshot.ExecutableAgentSnapshot
    readonly input: string
    readonly principal: string
    readonly threadId: string
  }) => PromiseLike<unknown>
  readonly resume: (
    ...[ticketId, answer, options]: readonly [
      ticketId: string,
      answer: ResumeTicket.ResumeAnswer,
      options: { readonly approver: string; readonly answerId?: string }
    ]
  ) => Promise<unknown>
  readonly cancel: (ref: { readonly threadId: string }) => Promise<unknown>
  readonly steer: (request: { readonly threadId: string; readonly input: string }) => Promise<unknown>
  readonly recover: (options?: { readonly threadId: string; readonly takeOver: true }) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

export interface OwnerWorld {
  readonly draw: Draw
  readonly clock: TestClock
  readonly store: ThreadStore.ThreadStore
  readonly effects: Array<SeenEffect>
  readonly acknowledged: Array<AcknowledgedCommit>
  readonly makeOwner: (ports: SimulatedPorts) => SimulatedRuntime
  /** Something happened that may let more happen. */
  readonly stir: () => void
}

export const leaseTtl = 1_000

export class SimulatedProcess {
  readonly name: string
  readonly runtime: SimulatedRuntime
  readonly tools: ReadonlyArray<RawTool.RawTool>
  readonly #world: OwnerWorld
  readonly #met = new Map<string, number>()
  /** What waits for the process to go on, while it stands still. */
  #held: Array<() => void> | undefined
  #isDead = false
  #ids = 0

  constructor(name: string, world: OwnerWorld) {
    this.name = name
    this.#world = world
    const clock: RuntimeClock.RuntimeClock = { now: world.clock.now, after: this.#after }
    this.tools = toolsOf({ draw: world.draw, clock, effects: world.effects }).map((tool) => ({
      ...tool,
      invoke: (call, context) => {
        world.stir()
        return tool.invoke(call, context)
      }
    }))
    this.runtime = world.makeOwner({
      llm: modelOf(world.draw),
      gate: gateOf(world.draw),
      tools: this.tools,
      store: this.#connection(),
      clock,
      owner: name,
      idSource: () => `${name}-${++this.#ids}`,
      crashPoint: this.#meet,
      leaseTtl,
      signalPoll: 200,
      storeTimeout: 400
    })
  }

  get isDead(): boolean {
    return this.#isDead
  }

  die(): void {
    this.#isDead = true
  }

  get isPaused(): boolean {
    return this.#held !== undefined
  }

  /** Stands still: no timer wakes it, no reply reaches it. What it has sent is on its way. */
  pause(): void {
    this.#held ??= []
  }

  goOn(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const wake of held) wake()
  }

  #whenRunning(wake: () => void): void {
    this.#world.stir()
    if (this.#isDead) return
    if (this.#held === undefined) wake()
    else this.#held.push(() => this.#whenRunning(wake))
  }

  readonly #after = (delay: number, wake: () => void): (() => void) => {
    this.#world.stir()
    let isCancelled = false
    const cancel = this.#world.clock.after(delay, () =>
      this.#whenRunning(() => {
        if (!isCancelled) wake()
      })
    )
    return () => {
      isCancelled = true
      cancel()
    }
  }

  readonly #meet = (point: CrashPoint.CrashPointName): void => {
    const occurrence = (this.#met.get(point) ?? 0) + 1
    this.#met.set(point, occurrence)
    if (
      !this.#isDead &&
      this.#world.draw.fault(0.01 * this.#world.draw.weather, `${this.name} dies at ${point} (${occurrence})`)
    )
      this.die()
    if (this.#isDead) throw new Error(`${this.name} is dead`)
  }

  /** Faulty, listened to, and silent behind the death. */
  #connection(): ThreadStore.ThreadStore {
    const { acknowledged, clock, store } = this.#world
    const faulty = new FaultyStore(store, { plan: this.#faultOf, clock })
    const heard = listened(faulty, (commit) => acknowledged.push(commit))
    const living = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        this.#world.stir()
        if (this.#isDead) return Effect.never
        return Effect.flatMap(Effect.exit(effect), (exit) => {
          this.#world.stir()
          if (!this.#isDead && this.#held === undefined) return exit
          return Effect.callback<A, E>((resume) => this.#whenRunning(() => resume(exit)))
        })
      })
    return {
      commit: (commit) => living(heard.commit(commit)),
      load: (threadId) => living(heard.load(threadId)),
      tail: (request) => living(heard.tail(request)),
      claim: (request) => living(heard.claim(request)),
      renew: (lease, ttl) => living(heard.renew(lease, ttl)),
      release: (lease) => living(heard.release(lease)),
      signal: (signal) => living(heard.signal(signal)),
      inbox: (threadId) => living(heard.inbox(threadId)),
      ticket: (ticketId) => living(heard.ticket(ticketId)),
      due: (now, limit) => living(heard.due(now, limit)),
      list: (request) => living(heard.list(request)),
      delete: (threadId) => living(heard.delete(threadId)),
      shared: () => living(heard.shared())
    }
  }

  readonly #faultOf = ({ index, operation }: StoreCall): StoreFault | undefined => {
    const { draw } = this.#world
    const rate = (operation === "commit" ? 0.06 : 0.02) * draw.weather
    const name = `${this.name} ${operation} ${index}`
    const [first, ...others] = faults
    const fault = [first, ...others][draw.below(faults.length, `${name} kind`)] ?? first
    return draw.fault(rate, `${name}: ${describe(fault)}`) ? fault : undefined
  }
}

const faults: readonly [StoreFault, ...Array<StoreFault>] = [
  { _tag: "reject" },
  { _tag: "crashBefore" },
  { _tag: "crashAfter" },
  { _tag: "hang" },
  { _tag: "delay", milliseconds: 100 },
  // Longer than a lease: it comes back to another owner's thread.
  { _tag: "delay", milliseconds: 2_500 }
]

const describe = (fault: StoreFault): string =>
  fault._tag === "delay" ? `done ${fault.milliseconds} ms later` : (words[fault._tag] ?? fault._tag)

const words: Readonly<Record<string, string>> = {
  reject: "refused",
  crashBefore: "request lost",
  crashAfter: "reply lost",
  hang: "never answered"
}
