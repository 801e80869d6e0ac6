/**
 * Everything that can happen next in an explored state: commits, lost replies, crashes, take-overs, effects, answers.
 *
 * Guarantees: total; whatever the store accepts is what the rules under exploration accept.
 * Does not decide what must not be: `explorerInvariants` does.
 */
import { type ResumeTicket, type StoreRules, ThreadFold, type ThreadStore } from "@toolwright/runtime-contract"
import { judgeCommit, judgeEnd, judgeEntry, judgeRefusal } from "./explorerInvariants.js"
import { type Draft, draftsOf, type Exploring } from "./explorerOwner.js"
import {
  type Arrived,
  deadline,
  editedOf,
  headOf,
  type History,
  idle,
  type Owner,
  type Pending,
  runId,
  type Scenario,
  type Start,
  type State,
  threadId
} from "./explorerState.js"

/** The states that may follow. */
export const movesOf = (state: State, exploring: Exploring): ReadonlyArray<State> => {
  const { disposition, openOutcomes } = state.view
  if (disposition?._tag === "Ended") judgeEnd(state, exploring)
  const late = state.late.map((start) => enterLate(state, { exploring, start }))
  if (disposition?._tag === "Ended" && openOutcomes.size === 0) return late
  return [
    ...late,
    ...ownerMoves(state, exploring),
    ...ownershipMoves(state, exploring),
    ...answerMoves(state, exploring),
    ...signalMoves(state, exploring)
  ]
}

const next = (state: State, change: Partial<State> & { readonly label: string }): State => {
  const { label, ...rest } = change
  return { ...state, ...rest, path: { label, before: state.path } }
}

const ownerMoves = (state: State, exploring: Exploring): ReadonlyArray<State> => {
  const { owner } = state
  const { pending } = owner
  const moves: Array<State> = []
  if (pending === undefined) {
    const drafts = draftsOf(state, exploring)
    if (drafts.length === 0) judgeStillness(state, exploring)
    for (const draft of drafts)
      moves.push(next(state, { label: `send ${draft.label}`, owner: { ...owner, pending: sent(draft) } }))
  } else if (pending.isApplied) moves.push(acknowledge(state, { exploring, owner, pending }))
  else {
    const applied = deliver(state, { exploring, owner, pending })
    if (applied !== undefined) moves.push(applied)
  }
  for (const position of owner.running)
    for (const arrived of outcomesOf(exploring.scenario, position)) {
      const running = new Set(owner.running)
      running.delete(position)
      const arrivals = new Map(owner.arrived).set(position, arrived)
      moves.push(next(state, { label: `call ${position} ${arrived}`, owner: { ...owner, running, arrived: arrivals } }))
    }
  return moves
}

const sent = ({ commit, starts }: Draft): Pending => ({ commit, starts, isApplied: false })

const outcomesOf = (scenario: Scenario, position: number): ReadonlyArray<Arrived> => {
  const isDelegated = scenario.calls[position]?.kind === "delegate"
  return scenario.facts === true
    ? [isDelegated ? "delegated" : "done", "unavailable", "lost"]
    : [isDelegated ? "delegated" : "done", "lost"]
}

interface Sending {
  readonly exploring: Exploring
  readonly owner: Owner
  readonly pending: Pending
}

/** The store takes the commit in. Sent again, it is answered and changes nothing. */
const deliver = (state: State, { exploring, owner, pending }: Sending): State | undefined => {
  const { commit } = pending
  const { kernel } = exploring
  const ownership = { epoch: state.epoch, owner: "owner", leaseUntil: 1 }
  const refusal = kernel.refusalOfCommit({ head: headOf(state.view), ownership, now: 0 }, commit)
  if (refusal !== undefined) {
    judgeRefusal({ commit, refusal }, exploring)
    return undefined
  }
  if (kernel.refusalOfRepeat(ownership, commit) !== undefined)
    exploring.violate("an owner that lost a reply is not answered when it asks again")
  const view = kernel.apply(state.view, commit)
  const histories = state.histories.map((history, position) =>
    seen(
      history,
      commit.batch?.calls.find((call) => call.position === position)
    )
  )
  const applied = next(state, {
    label: "the store commits",
    view,
    histories,
    owner: { ...owner, pending: { ...pending, isApplied: true } }
  })
  judgeCommit({ before: state, after: applied, commit }, exploring)
  return applied
}

const seen = (
  history: History,
  call: { readonly phase: { readonly _tag: string; readonly wait?: string } } | undefined
): History => {
  if (call?.phase._tag === "Approved") return { ...history, wasApproved: true }
  const isOutside = call?.phase.wait === "Client" || call?.phase.wait === "Delegation"
  return isOutside ? { ...history, wasHandedOut: true } : history
}

/** The reply arrives: what the commit announced begins, what it ended is forgotten. */
const acknowledge = (state: State, { exploring, owner, pending }: Sending): State => {
  const running = new Set(owner.running)
  const arrived = new Map(owner.arrived)
  for (const call of pending.commit.batch?.calls ?? []) {
    arrived.delete(call.position)
    if (call.phase._tag !== "Executing") running.delete(call.position)
  }
  for (const start of pending.starts) running.add(start.position)
  const acknowledged = next(state, {
    label: "the reply arrives",
    owner: { running, arrived },
    histories: pending.starts.reduce(
      (histories, start) => enter({ ...state, histories }, { exploring, start }),
      state.histories
    )
  })
  return acknowledged
}

interface Entering {
  readonly exploring: Exploring
  readonly start: Start
}

/** A call goes into its tool. */
const enter = (state: State, { exploring, start }: Entering): ReadonlyArray<History> => {
  judgeEntry({ state, start }, exploring)
  return state.histories.map((history, position) =>
    position === start.position
      ? {
          ...history,
          entered: history.entered | (1 << (start.attempt - 1)),
          digests: new Set(history.digests).add(start.digest)
        }
      : history
  )
}

/** A process that lost the thread hears late of its own commit, and enters. */
const enterLate = (state: State, entering: Entering): State =>
  next(state, {
    label: `call ${entering.start.position} is entered late`,
    late: state.late.filter((start) => start !== entering.start),
    histories: enter(state, entering)
  })

/**
 * The owner dies and another process claims, or another process takes over from a live one. A thread without an owner is
 * no state of its own: whatever can happen to it can happen to an owner that has not done anything yet. A live owner
 * without a commit on its way is fenced like one that died: nothing it still does reaches anybody.
 */
const ownershipMoves = (state: State, exploring: Exploring): ReadonlyArray<State> => {
  const { pending } = state.owner
  const epoch = state.epoch + 1
  const died = next(state, { label: "the owner dies, another process claims", epoch, owner: idle })
  if (pending === undefined) return state.owner === idle ? [] : [died]
  const ownership: StoreRules.Ownership = { epoch, owner: "other", leaseUntil: 1 }
  const { kernel, violate } = exploring
  if (kernel.refusalOfCommit({ head: headOf(state.view), ownership, now: 0 }, pending.commit) === undefined)
    violate("a commit of a fenced owner is taken in")
  if (kernel.refusalOfRepeat(ownership, pending.commit) === undefined)
    violate("a fenced owner that sends a commit again is told to go on")
  if (!pending.isApplied || pending.starts.length === 0) return [died]
  const late = [...state.late, ...pending.starts]
  return [died, next(state, { label: "another process takes over", epoch, owner: idle, late })]
}

const answerMoves = (state: State, exploring: Exploring): ReadonlyArray<State> => {
  const moves: Array<State> = []
  for (const { decision, ticket } of state.view.tickets.values())
    for (const { answer, approver, at } of decision === undefined ? answersTo(ticket, exploring.scenario) : []) {
      const given: ResumeTicket.TicketAnswer = { ticketId: ticket.id, answer, approver, at }
      const id = `${ticket.id} ${answer._tag} ${approver}`
      const answered = send(state, { exploring, body: { _tag: "Answer", answer: given }, id })
      if (answered !== undefined) moves.push(answered)
    }
  return moves
}

interface Answering {
  readonly answer: ResumeTicket.ResumeAnswer
  readonly approver: string
  readonly at: number
}

const answersTo = (ticket: ResumeTicket.ResumeTicket, scenario: Scenario): ReadonlyArray<Answering> => {
  const by = (answer: ResumeTicket.ResumeAnswer, approver = "bob"): Answering => ({
    answer,
    approver,
    at: deadline - 1
  })
  const expire: Answering = { answer: { _tag: "Expire" }, approver: "clock", at: deadline }
  switch (ticket.kind) {
    case "Permission":
      return [
        by({ _tag: "Allow" }),
        ...(scenario.quorum === 2 ? [by({ _tag: "Allow" }, "cleo")] : []),
        by({ _tag: "Deny" }),
        ...(scenario.edits === true && ticket.proposal === 0
          ? [by({ _tag: "Edit", arguments: editedOf(Number(ticket.callId.at(-1))) })]
          : []),
        expire
      ]
    case "Client":
      return [by({ _tag: "ToolResult", content: [] }), by({ _tag: "Deny" }), expire]
    case "Delegation":
      return [by({ _tag: "ToolResult", content: [] }), expire]
    case "Input":
      return [by({ _tag: "Input", text: "" }), by({ _tag: "Deny" }), expire]
    case "Schedule":
    case "Pause":
      return []
  }
}

const signalMoves = (state: State, exploring: Exploring): ReadonlyArray<State> => {
  const { disposition, inbox, openOutcomes } = state.view
  const bodies: Array<ThreadStore.SignalBody> = []
  const has = (tag: ThreadStore.SignalBody["_tag"]): boolean => inbox.some((signal) => signal.body._tag === tag)
  if (disposition?._tag !== "Ended" && !has("Cancel")) bodies.push({ _tag: "Cancel", by: "ada" })
  if (exploring.scenario.settles === true && !has("Resolve"))
    for (const operationId of openOutcomes.keys())
      bodies.push({ _tag: "Resolve", by: "bob", operationId, resolution: { _tag: "DidNotHappen" } })
  return bodies.flatMap((body) => {
    const id = body._tag === "Resolve" ? `Resolve ${body.operationId}` : body._tag
    return send(state, { exploring, body, id }) ?? []
  })
}

/** A signal enters the inbox, if the rules let it; of a ticket that is decided, nothing changes. */
const send = (
  state: State,
  { body, exploring, id }: { readonly exploring: Exploring; readonly body: ThreadStore.SignalBody; readonly id: string }
): State | undefined => {
  const { kernel } = exploring
  const signal: ThreadStore.Signal = { id, threadId, runId, at: 0, body }
  if (kernel.refusalOfSignal(headOf(state.view), signal) !== undefined) return undefined
  const fold = ThreadFold.from(state.view)
  const ticket = body._tag === "Answer" ? state.view.tickets.get(body.answer.ticketId) : undefined
  if (body._tag === "Answer") {
    const verdict = ticket === undefined ? undefined : kernel.decide(ticket, body.answer)
    if (verdict === undefined || verdict._tag === "Refused") return undefined
    if (verdict._tag === "Decided" && kernel.decide(verdict.state, body.answer)._tag !== "Refused")
      exploring.violate("a ticket is decided twice")
    fold.applySignal(signal, verdict.state)
  } else fold.applySignal(signal, undefined)
  return next(state, { label: `signal ${id}`, view: fold.view(state.epoch) })
}

/** An owner that has nothing to do must be waiting for something. */
const judgeStillness = (state: State, exploring: Exploring): void => {
  const { owner, view } = state
  if (view.disposition?._tag !== "Running" || owner.running.size > 0) return
  exploring.violate("the owner has nothing to do and nothing to wait for")
}
