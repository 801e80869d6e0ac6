/**
 * The canonical key of an explored state: two states with the same key have the same future.
 *
 * Left out: epochs, revisions, commit ids and times, of which only relations matter and these are fixed by the shape of
 * a state (the owner is current, its pending commit fits); of a commit that the store has, all but what its reply sets
 * going. Calls that a scenario describes alike and whose claims do not conflict are interchangeable, so their parts are
 * sorted: a state stands for all its permutations.
 */
import type { ThreadCommit, ThreadStore, ToolBatch } from "@toolwright/runtime-contract"
import {
  type History,
  operationIdOf,
  type Owner,
  type Pending,
  type Scenario,
  type ScenarioCall,
  type Start,
  type State
} from "./explorerState.js"

/** Small numbers stand for values, so that millions of keys fit into memory. Exact: no two values share one. */
class Numbers<A> {
  readonly #most: number
  readonly #known = new Map<A, number>()

  constructor(most: number) {
    this.#most = most
  }

  of(value: A): number {
    const known = this.#known.get(value)
    if (known !== undefined) return known
    const number = this.#known.size
    if (number >= this.#most) throw new Error(`a scenario has more than ${this.#most} different parts: split it`)
    this.#known.set(value, number)
    return number
  }
}

/** What each part of a call's key may number at most. Their product stays a safe integer. */
const most = { kinds: 8, stored: 4_096, pending: 4_096, memory: 32, histories: 512, late: 128 }

/** Keys for the states of one scenario. What is shared between states is read once. */
export class Keys {
  readonly #scenario: Scenario
  readonly #isSymmetric: boolean
  readonly #kinds: ReadonlyArray<number>
  readonly #stored = new Numbers<string>(most.stored)
  readonly #sent = new Numbers<string>(most.pending)
  readonly #memory = new Numbers<string>(most.memory)
  readonly #past = new Numbers<string>(most.histories)
  readonly #late = new Numbers<string>(most.late)
  readonly #calls = new Numbers<number>(0x10000)
  readonly #globals = new Numbers<string>(0x10000)
  readonly #views = new WeakMap<ThreadStore.ThreadView, Parts>()
  readonly #commits = new WeakMap<ThreadCommit.ThreadCommit, Parts>()
  readonly #replies = new WeakMap<ThreadCommit.ThreadCommit, Parts>()
  readonly #histories = new WeakMap<History, number>()

  constructor(scenario: Scenario) {
    const kinds = new Numbers<string>(most.kinds)
    this.#scenario = scenario
    // Only calls that never conflict may change places; the kind in its part keeps a call apart from those of another kind.
    this.#isSymmetric = scenario.calls.every(({ claim }) => claim === undefined || claim === "parallel")
    this.#kinds = scenario.calls.map((call) => kinds.of(kindOf(call)))
    // So that "nothing" is the number 0 everywhere.
    for (const numbers of [this.#sent, this.#memory, this.#late]) numbers.of("")
  }

  /** One character for what concerns all calls, and one for each call. */
  of(state: State): string {
    const { histories, late, owner, view } = state
    const seen = this.#view(view)
    const pending = owner.pending === undefined ? nothing : this.#pending(owner.pending)
    const parts: Array<number> = []
    for (const [position, kind] of this.#kinds.entries()) {
      const history = histories[position]
      const memory = this.#memory.of(inMemory(owner, position))
      let part = kind * most.stored + (seen.calls[position] ?? 0)
      part = part * most.pending + (pending.calls[position] ?? 0)
      part = part * most.memory + memory
      part = part * most.histories + (history === undefined ? 0 : this.#history(history))
      part = part * most.late + (late.length === 0 ? 0 : this.#late.of(lateOf(late, position)))
      parts.push(this.#calls.of(part))
    }
    if (this.#isSymmetric) parts.sort(ascending)
    return String.fromCharCode(this.#globals.of(`${seen.global}|${pending.global}`), ...parts)
  }

  #view(view: ThreadStore.ThreadView): Parts {
    const known = this.#views.get(view)
    if (known !== undefined) return known
    const ended = view.disposition?._tag === "Ended" ? view.disposition.cause._tag : (view.disposition?._tag ?? "")
    const count = (tag: ThreadStore.SignalBody["_tag"]): number =>
      view.inbox.filter((signal) => signal.body._tag === tag).length
    const stage = view.batch === undefined ? view.step : "open"
    const parts: Parts = {
      global: [stage, ended, count("Cancel"), count("Resolve"), view.openOutcomes.size].join("/"),
      calls: this.#scenario.calls.map((_, position) => this.#stored.of(storedOf(view, position)))
    }
    this.#views.set(view, parts)
    return parts
  }

  #pending(pending: Pending): Parts {
    const { commit } = pending
    const cache = pending.isApplied ? this.#replies : this.#commits
    const known = cache.get(commit)
    if (known !== undefined) return known
    const { batch, consumed, disposition, resolved, step } = commit
    const shape = [batch?._tag, disposition._tag, step, consumed.length, resolved.length].join("/")
    const parts: Parts = {
      global: pending.isApplied ? "applied" : shape,
      calls: this.#scenario.calls.map((_, position) => {
        const call = batch?.calls.find((one) => one.position === position)
        if (pending.isApplied) return this.#sent.of(replyOf(pending, position))
        return this.#sent.of(call === undefined ? "" : codeOf(call, undefined))
      })
    }
    cache.set(commit, parts)
    return parts
  }

  #history(history: History): number {
    const known = this.#histories.get(history)
    if (known !== undefined) return known
    const digests = Array.from(history.digests, (digest) => digest.slice(0, 4)).join("+")
    const flags = `${history.wasApproved ? "a" : ""}${history.wasHandedOut ? "h" : ""}`
    const number = this.#past.of(`${history.entered}${digests}${flags}`)
    this.#histories.set(history, number)
    return number
  }
}

interface Parts {
  readonly global: string
  readonly calls: ReadonlyArray<number>
}

const nothing: Parts = { global: "", calls: [] }

const lateOf = (late: ReadonlyArray<Start>, position: number): string =>
  late
    .flatMap((start) => (start.position === position ? [`${start.attempt}${start.digest.slice(0, 4)}`] : []))
    .toSorted()
    .join(",")

const ascending = (left: number, right: number): number => left - right

const kindOf = ({ kind, mode }: ScenarioCall): string => `${kind} ${mode} `

const inMemory = (owner: Owner, position: number): string =>
  (owner.running.has(position) ? "r" : "") + (owner.arrived.get(position) ?? "")

/** What the reply to a commit does to a call: begins it, or forgets what the owner knew of it. */
const replyOf = ({ commit, starts }: Pending, position: number): string => {
  if (starts.some((start) => start.position === position)) return "start"
  return commit.batch?.calls.some((call) => call.position === position) === true ? "known" : ""
}

const storedOf = (view: ThreadStore.ThreadView, position: number): string => {
  const operationId = operationIdOf(position)
  const unread = view.inbox.filter(
    ({ body }) => body._tag === "Answer" && body.answer.ticketId.startsWith(`${operationId}:`)
  ).length
  const call = view.batch?.calls[position]
  const stored = call === undefined ? outcomeOf(view, operationId) : codeOf(call, view)
  return `${stored}${unread}${view.openOutcomes.has(operationId) ? "?" : ""}`
}

/** Before the batch is open: nothing. After it was published: how the call came out. */
const outcomeOf = (view: ThreadStore.ThreadView, operationId: string): string => {
  for (const message of view.messages)
    if (message.role === "tool" && message.operationId === operationId) return message.outcome
  return ""
}

/** Without a view the ticket is one that the commit would issue. */
const codeOf = (call: ToolBatch.BatchCall, view: ThreadStore.ThreadView | undefined): string => {
  const { attempts, phase, proposal } = call
  if (phase._tag === "Awaiting") {
    const ticket = view?.tickets.get(phase.ticketId)
    const decision = ticket?.decision
    const decided =
      decision === undefined ? "" : `${decision._tag}${decision._tag === "Denied" && decision.expired ? "!" : ""}`
    return `W${phase.wait}${proposal}${attempts}${ticket?.allowedBy.join("+") ?? "new"}${decided}`
  }
  return `${phase._tag}${proposal}${attempts}${"reason" in phase ? phase.reason : ""}`
}
