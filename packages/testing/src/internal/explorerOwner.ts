/**
 * What a correct owner may commit next: the shell around the kernel, with every choice it may make.
 *
 * Guarantees: every change of a call is a transition of the kernel under exploration; a choice that the kernel refuses is
 * a violation, not a shorter list.
 * Does not perform anything: the moves do.
 */
import {
  type Message,
  ResumeTicket,
  Run,
  ThreadCommit,
  ToolBatch,
  ToolConcurrency,
  ToolOutput,
  type ThreadStore
} from "@toolwright/runtime-contract"
import {
  argumentsOf,
  claimOf,
  deadline,
  editedOf,
  type Kernel,
  maxAttempts,
  operationIdOf,
  type Owner,
  runId,
  type Scenario,
  snapshot,
  type Start,
  type State,
  threadId
} from "./explorerState.js"

export interface Draft {
  readonly label: string
  readonly commit: ThreadCommit.ThreadCommit
  readonly starts: ReadonlyArray<Start>
}

/** What a moment looks like to the owner: what it has read, and what the world says when it asks. */
interface Moment {
  readonly label: string
  /** Has it read its inbox? */
  readonly reads: boolean
  readonly isDenied: boolean
  readonly fits: boolean
  readonly reconciled?: NonNullable<ToolBatch.RecoveryFacts["reconciled"]>
  /** Do the gates want another confirmation of an edited call? */
  readonly asksAgain: boolean
}

export interface Exploring {
  readonly kernel: Kernel
  readonly scenario: Scenario
  /** Told of whatever must not be. */
  readonly violate: (what: string) => void
  /** Told of every way in which a call comes out. */
  readonly reach: (outcome: string) => void
}

type Given = Partial<ThreadCommit.ThreadCommit>

/** Every commit that the owner may send now. Empty while one is on its way. */
export const draftsOf = (state: State, exploring: Exploring): ReadonlyArray<Draft> => {
  const { owner, view } = state
  if (owner.pending !== undefined) return []
  const drafts = momentsOf(view, exploring.scenario).flatMap((moment) => {
    const draft = new Drafting(state, exploring).draft(owner, moment)
    return draft === undefined ? [] : [draft]
  })
  if (drafts.length < 2) return drafts
  const seen = new Set<string>()
  return drafts.filter(({ commit }) => {
    const text = JSON.stringify([commit.batch, commit.disposition, commit.consumed, commit.resolved, commit.step])
    return !seen.has(text) && seen.add(text)
  })
}

const calm: Moment = { label: "", reads: true, isDenied: false, fits: true, asksAgain: false }

const momentsOf = (view: ThreadStore.ThreadView, scenario: Scenario): ReadonlyArray<Moment> => {
  const moments: Array<Moment> = [calm]
  // An answer that the owner has not read yet has already changed its ticket. A cancel that it has not read is one that
  // comes later, and that is walked too.
  const isUnread = view.inbox.some((signal) => signal.body._tag === "Answer")
  if (isUnread && !view.inbox.some((signal) => signal.body._tag === "Cancel"))
    moments.push({ ...calm, label: " unread", reads: false })
  if (scenario.edits === true) moments.push({ ...calm, label: " asking again", asksAgain: true })
  if (scenario.facts !== true || view.batch === undefined) return moments
  return [
    ...moments,
    { ...calm, label: " denied", isDenied: true },
    { ...calm, label: " changed tool", fits: false },
    { ...calm, label: " happened", reconciled: { _tag: "Happened", output: ToolOutput.ok("", "it happened") } },
    { ...calm, label: " not sent", reconciled: { _tag: "NotSent" } },
    { ...calm, label: " in progress", reconciled: { _tag: "InProgress", retryAfter: 1 } }
  ]
}

class Drafting {
  readonly #view: ThreadStore.ThreadView
  readonly #epoch: number
  readonly #exploring: Exploring
  readonly #changed = new Map<number, ToolBatch.BatchCall>()
  readonly #tickets: Array<ResumeTicket.ResumeTicket> = []
  readonly #starts: Array<Start> = []

  constructor({ epoch, view }: State, exploring: Exploring) {
    this.#view = view
    this.#epoch = epoch
    this.#exploring = exploring
  }

  draft(owner: Owner, moment: Moment): Draft | undefined {
    const view = this.#view
    const isCancelled = moment.reads && view.inbox.some((signal) => signal.body._tag === "Cancel")
    if (view.disposition?._tag === "Ended") return this.#settle(moment)
    if (view.batch !== undefined) return this.#inBatch({ batch: view.batch, owner, isCancelled }, moment)
    if (isCancelled)
      return this.#made("end cancelled", { disposition: Run.Ended({ _tag: "Cancelled" }), ...this.#read() })
    return view.step === 0 ? this.#open(moment) : (this.#settle(moment) ?? this.#end())
  }

  #open(moment: Moment): Draft {
    const calls = this.#exploring.scenario.calls.map((call, position): ToolBatch.BatchCall => {
      const args = argumentsOf(position)
      return {
        operationId: operationIdOf(position),
        position,
        callId: `call-${position}`,
        toolId: "tool",
        arguments: args,
        digest: ToolBatch.digestOf(args),
        proposal: 0,
        recovery: { mode: call.mode, maxAttempts },
        claim: claimOf(call),
        attempts: 0,
        phase: ToolBatch.Requested
      }
    })
    for (const call of calls) {
      const { kind } = this.#scenario(call)
      if (kind === "ask" || kind === "askClient") this.#wait(call, "Permission")
      if (kind === "set") this.#move(call, { _tag: "Complete", output: ToolOutput.ok(call.callId, "set") })
      if (kind === "block") this.#refuse(call, "Blocked")
    }
    const batch = { runId, step: 1, calls: calls.map((call) => this.#now(call)) }
    this.#startWhatMay(batch, moment)
    const opened = calls.map((call) => this.#now(call))
    const message: Message.AssistantMessage = {
      role: "assistant",
      id: "turn-1",
      runId,
      step: 1,
      content: calls.map(({ arguments: args, callId, toolId }) => ({
        type: "toolCall",
        callId,
        toolId,
        arguments: args
      })),
      stop: "toolCalls"
    }
    const after = { ...batch, calls: opened }
    return this.#made("open", {
      step: 1,
      messages: [message],
      batch: { _tag: "Open", step: 1, calls: opened },
      tickets: this.#tickets,
      disposition: this.#dispositionOf(after)
    })
  }

  #inBatch(
    given: { readonly batch: ToolBatch.ToolBatch; readonly owner: Owner; readonly isCancelled: boolean },
    moment: Moment
  ): Draft | undefined {
    const { batch, isCancelled, owner } = given
    for (const [position, arrived] of owner.arrived) this.#take(batch.calls[position], arrived)
    if (moment.reads) for (const call of batch.calls) this.#answer(this.#now(call), moment)
    const isLost = (call: ToolBatch.BatchCall): boolean =>
      call.phase._tag === "Executing" && !owner.running.has(call.position) && !owner.arrived.has(call.position)
    if (isCancelled) {
      for (const call of batch.calls) this.#seal(this.#now(call))
      return this.#publish(batch, {
        label: "publish cancelled",
        disposition: Run.Ended({ _tag: "Cancelled" }),
        ...this.#read()
      })
    }
    for (const call of batch.calls) if (isLost(call)) this.#recover(call, moment)
    this.#startWhatMay(batch, moment)
    const after = ToolBatch.withCalls(batch, [...this.#changed.values()])
    const read: Pick<ThreadCommit.ThreadCommit, "consumed"> = moment.reads ? this.#read() : { consumed: [] }
    if (ToolBatch.isPublishable(after))
      return this.#publish(batch, { label: "publish", disposition: Run.Running, ...read })
    const disposition = this.#dispositionOf(after)
    const isSame = JSON.stringify(disposition) === JSON.stringify(this.#view.disposition)
    if (this.#changed.size === 0 && isSame && read.consumed.length === 0) return undefined
    return this.#made(`change${moment.label}`, {
      ...(this.#changed.size === 0 ? {} : { batch: { _tag: "Change", calls: [...this.#changed.values()] } }),
      tickets: this.#tickets,
      disposition,
      ...read
    })
  }

  /** Enters what the plan lets in, hands out what is executed outside, refuses what can no longer run. */
  #startWhatMay(before: ToolBatch.ToolBatch, moment: Moment): void {
    const { kernel, scenario } = this.#exploring
    const batch = ToolBatch.withCalls(before, [...this.#changed.values()])
    const plan = kernel.plan(batch, {
      width: scenario.width ?? batch.calls.length,
      // An approval is durable before what it allows: what this commit approves is entered by a later one.
      ready: (call) => call === before.calls[call.position],
      held: []
    })
    for (const call of plan.refuse) this.#refuse(call, "EarlierUnknown")
    for (const call of plan.start) {
      const { kind } = this.#scenario(call)
      if (moment.isDenied) this.#refuse(call, "Denied")
      else if (!moment.fits) this.#refuse(call, "ToolChanged")
      else if (kind === "client" || kind === "askClient") this.#wait(call, "Client")
      else if (kind === "input") this.#wait(call, "Input")
      else this.#enter(call)
    }
  }

  #take(call: ToolBatch.BatchCall | undefined, arrived: "done" | "unavailable" | "lost" | "delegated"): void {
    if (call === undefined || call.phase._tag !== "Executing") return
    if (arrived === "done") this.#move(call, { _tag: "Complete", output: ToolOutput.ok(call.callId, "done") })
    else if (arrived === "delegated") this.#wait(call, "Delegation")
    else if (arrived === "unavailable" && call.phase.attempt === 1) this.#refuse(call, "Unavailable")
    else this.#lose(call, "ExecutorLost")
  }

  #answer(call: ToolBatch.BatchCall, moment: Moment): void {
    if (call.phase._tag !== "Awaiting") return
    const { ticketId, wait } = call.phase
    const decision = this.#view.tickets.get(ticketId)?.decision
    switch (decision?._tag) {
      case "Allowed":
        this.#move(call, { _tag: "Approve", ticketId, digest: call.digest, by: decision.by })
        return
      case "Edited":
        this.#edit(call, { ticketId, by: decision.by, asksAgain: moment.asksAgain })
        return
      case "Answered":
        this.#move(call, {
          _tag: "Complete",
          output: { ...ToolOutput.ok(call.callId, "answer"), foreign: true },
          ticketId
        })
        return
      case "Denied":
        if (wait !== "Client" && wait !== "Delegation") this.#refuse(call, decision.expired ? "Expired" : "Denied")
        else if (decision.expired) this.#lose(call, "NoAnswer")
        else
          this.#move(call, {
            _tag: "Refuse",
            reason: "Denied",
            output: ToolOutput.error(call.callId, "denied"),
            ticketId
          })
        return
      case "Void":
      case undefined:
    }
  }

  #edit(
    call: ToolBatch.BatchCall,
    edit: { readonly ticketId: string; readonly by: string; readonly asksAgain: boolean }
  ): void {
    const args = editedOf(call.position)
    const proposed = {
      _tag: "Edit",
      ticketId: edit.ticketId,
      arguments: args,
      digest: ToolBatch.digestOf(args),
      claim: call.claim
    } as const
    this.#move(call, edit.asksAgain ? proposed : { ...proposed, by: [edit.by] })
    if (edit.asksAgain) this.#wait(this.#now(call), "Permission")
  }

  #recover(call: ToolBatch.BatchCall, moment: Moment): void {
    const action = this.#exploring.kernel.recover(call, {
      fits: moment.fits,
      denied: moment.isDenied,
      canReconcile: moment.reconciled !== undefined,
      ...(moment.reconciled === undefined ? {} : { reconciled: moment.reconciled })
    })
    switch (action._tag) {
      case "Reenter":
        this.#enter(call)
        return
      case "Adopt":
        this.#move(call, { _tag: "Complete", output: { ...action.output, callId: call.callId } })
        return
      case "Indeterminate":
        this.#lose(call, action.reason)
        return
      case "AskAgain":
        return
      case "Keep":
      case "Await":
      case "Gate":
      case "RunApproved":
      case "Reconcile":
      case "NotRun":
        this.#exploring.violate(`recovery answered ${action._tag} for a call that was running`)
    }
  }

  #seal(call: ToolBatch.BatchCall): void {
    if (ToolBatch.isTerminal(call)) return
    if (this.#exploring.kernel.sealing(call) === "NotRun") this.#refuse(call, "RunEnded")
    else this.#lose(call, "RunEnded")
  }

  #publish(batch: ToolBatch.ToolBatch, given: Given & { readonly label: string }): Draft {
    const { label, ...rest } = given
    const calls = [...this.#changed.values()].filter((call) => call !== batch.calls[call.position])
    return this.#made(label, { batch: { _tag: "Publish", calls, reminders: [] }, ...rest })
  }

  #end(): Draft {
    const message: Message.AssistantMessage = {
      role: "assistant",
      id: "turn-2",
      runId,
      step: 2,
      content: [{ type: "text", text: "done" }],
      stop: "endTurn"
    }
    return this.#made("end", { step: 2, messages: [message], disposition: Run.Ended({ _tag: "NaturalEnd" }) })
  }

  #settle(moment: Moment): Draft | undefined {
    const signals = moment.reads ? this.#view.inbox.filter((signal) => signal.body._tag === "Resolve") : []
    const resolved = signals.flatMap(({ body }) => (body._tag === "Resolve" ? [body.operationId] : []))
    if (resolved.length === 0 || this.#view.batch !== undefined) return undefined
    return this.#made("settle", {
      resolved,
      consumed: signals.map((signal) => signal.id),
      messages: [{ role: "reminder", id: "settled", source: "bob", text: "it did not happen" }]
    })
  }

  #enter(call: ToolBatch.BatchCall): void {
    const entered = this.#move(call, { _tag: "Enter", digest: call.digest })
    if (entered?.phase._tag === "Executing")
      this.#starts.push({ position: call.position, attempt: entered.phase.attempt, digest: entered.digest })
  }

  #refuse(call: ToolBatch.BatchCall, reason: ToolBatch.NotRunReason): void {
    this.#move(call, { _tag: "Refuse", reason, output: ToolOutput.error(call.callId, "not run") })
  }

  #lose(call: ToolBatch.BatchCall, reason: ToolBatch.IndeterminateReason): void {
    this.#move(call, { _tag: "Lose", reason, output: ToolOutput.error(call.callId, "may have happened") })
  }

  #wait(call: ToolBatch.BatchCall, wait: ResumeTicket.WaitKind): void {
    const ticketId = ResumeTicket.idOf(call.operationId, wait, call.proposal)
    const waiting = this.#move(call, { _tag: "Wait", ticketId, wait })
    if (waiting !== undefined)
      this.#tickets.push(ticketOf(waiting, { ticketId, wait, quorum: this.#exploring.scenario.quorum ?? 1 }))
  }

  #move(call: ToolBatch.BatchCall, event: ToolBatch.CallEvent): ToolBatch.BatchCall | undefined {
    const result = this.#exploring.kernel.transition(call, event)
    if (!result.ok) {
      this.#exploring.violate(`the kernel has no ${event._tag} from ${call.phase._tag}: ${result.illegal.rule}`)
      return undefined
    }
    this.#changed.set(call.position, result.call)
    return result.call
  }

  #now(call: ToolBatch.BatchCall): ToolBatch.BatchCall {
    return this.#changed.get(call.position) ?? call
  }

  #scenario(call: ToolBatch.BatchCall): Scenario["calls"][number] {
    const found = this.#exploring.scenario.calls[call.position]
    if (found === undefined) throw new Error(`the scenario has no call at ${call.position}`)
    return found
  }

  #read(): Pick<ThreadCommit.ThreadCommit, "consumed"> {
    return { consumed: this.#view.inbox.flatMap((signal) => (signal.body._tag === "Resolve" ? [] : [signal.id])) }
  }

  #dispositionOf(batch: ToolBatch.ToolBatch): Run.RunDisposition {
    const canRun =
      batch.calls.some((call) => call.phase._tag === "Executing") ||
      this.#exploring.kernel.plan(batch, { width: batch.calls.length, ready: () => true, held: [] }).start.length > 0
    const tickets = batch.calls.flatMap(({ phase }) => (phase._tag === "Awaiting" ? [phase.ticketId] : []))
    return canRun ? Run.Running : Run.awaitingOrRunning(tickets)
  }

  #made(label: string, given: Given): Draft {
    return {
      label,
      starts: this.#starts,
      commit: ThreadCommit.make({
        id: `${this.#epoch}/${this.#view.revision}`,
        threadId,
        runId,
        expectedRevision: this.#view.revision,
        epoch: this.#epoch,
        at: 0,
        disposition: this.#view.disposition ?? Run.Running,
        step: this.#view.step,
        ...given
      })
    }
  }
}

const ticketOf = (
  call: ToolBatch.BatchCall,
  {
    quorum,
    ticketId,
    wait
  }: { readonly ticketId: string; readonly wait: ResumeTicket.WaitKind; readonly quorum: number }
): ResumeTicket.ResumeTicket => ({
  id: ticketId,
  kind: wait,
  runId,
  threadId,
  principal: "ada",
  snapshotFingerprint: snapshot.fingerprint,
  operationId: call.operationId,
  callId: call.callId,
  toolId: call.toolId,
  toolIdentity: "identity",
  arguments: call.arguments,
  digest: call.digest,
  proposal: call.proposal,
  requirements: wait === "Permission" ? [{ reason: "moves money", approvers: ["bob", "cleo"], quorum }] : [],
  deadline,
  issuedAt: 0
})

/** The conflicts between the calls of a scenario, for the invariants. */
export const conflictsOf = (scenario: Scenario): ReadonlyArray<ReadonlyArray<boolean>> =>
  scenario.calls.map((left) => scenario.calls.map((right) => ToolConcurrency.conflicts(claimOf(left), claimOf(right))))
