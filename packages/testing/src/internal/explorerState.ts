/**
 * The states that the explorer walks: what is stored, what the owner holds in memory, and what the world has seen.
 *
 * Guarantees: plain immutable values; two states with the same key behave the same from there on.
 * Does not move anything: `explorerMoves` does.
 */
import {
  ExecutableAgentSnapshot as Snapshot,
  type ResumeTicket,
  Run,
  type StoreRules,
  type ThreadCommit,
  ThreadCommit as Commits,
  ThreadFold,
  type ThreadStore,
  type ToolBatch,
  ToolConcurrency,
  ToolOperation,
  type ToolRecovery
} from "@toolwright/runtime-contract"

/**
 * What becomes of a call when its turn comes. `allow`: it runs. `ask`: it needs a person. `client`: it is handed out.
 * `askClient`: both. `input`: a person is asked for the result. `delegate`: it runs, then waits for a child run.
 * `set`: a gate gives the result. `block`: a gate forbids it.
 */
export type CallKind = "allow" | "ask" | "client" | "askClient" | "input" | "delegate" | "set" | "block"

export interface ScenarioCall {
  readonly kind: CallKind
  readonly mode: ToolRecovery.ToolRecoveryMode
  /** Default `parallel`. */
  readonly claim?: "parallel" | "serial" | "read" | "write"
}

/** One assistant message and what may happen around it. */
export interface Scenario {
  readonly calls: ReadonlyArray<ScenarioCall>
  /** May an approver change the arguments, once per call? */
  readonly edits?: boolean
  /** Approvers that a confirmation needs. Default 1. */
  readonly quorum?: 1 | 2
  /** Calls running at once. Default: all. */
  readonly width?: number
  /** Does recovery meet tools that changed, denials and reconciliation too? */
  readonly facts?: boolean
  /** May a person settle outcomes that nobody knows? */
  readonly settles?: boolean
}

/** The functions under exploration. */
export interface Kernel {
  readonly transition: typeof ToolBatch.transition
  readonly plan: typeof ToolBatch.plan
  readonly recover: typeof ToolBatch.recover
  readonly sealing: typeof ToolBatch.sealing
  readonly decide: typeof ResumeTicket.decide
  readonly refusalOfCommit: typeof StoreRules.refusalOfCommit
  readonly refusalOfRepeat: typeof StoreRules.refusalOfRepeat
  readonly refusalOfSignal: typeof StoreRules.refusalOfSignal
  readonly apply: (view: ThreadStore.ThreadView, commit: ThreadCommit.ThreadCommit) => ThreadStore.ThreadView
}

/** How the effect of a running call came out, not yet committed. */
export type Arrived = "done" | "unavailable" | "lost" | "delegated"

export interface Start {
  readonly position: number
  readonly attempt: number
  readonly digest: string
}

/** A commit that was sent. `isApplied`: the store has it, and its reply is still on the way. */
export interface Pending {
  readonly commit: ThreadCommit.ThreadCommit
  readonly starts: ReadonlyArray<Start>
  readonly isApplied: boolean
}

/** The process that owns the thread. Its view is the stored one, but for a pending commit. */
export interface Owner {
  /** Positions whose effect is under way in this process. */
  readonly running: ReadonlySet<number>
  readonly arrived: ReadonlyMap<number, Arrived>
  readonly pending?: Pending
}

/** What happened to one call, as nobody but the explorer sees it. */
export interface History {
  /** Bit `n - 1` for attempt `n` that went into the tool. */
  readonly entered: number
  readonly digests: ReadonlySet<string>
  readonly wasApproved: boolean
  readonly wasHandedOut: boolean
}

export interface State {
  readonly view: ThreadStore.ThreadView
  readonly epoch: number
  readonly owner: Owner
  /** Entries that processes which lost the thread may still make, because a reply reaches them late. */
  readonly late: ReadonlyArray<Start>
  readonly histories: ReadonlyArray<History>
  readonly path: Path
}

/** How a state was reached, newest first. */
export interface Path {
  readonly label: string
  readonly before: Path | undefined
}

export const threadId = "thread"
export const runId = "run"
/** Answers come before the deadline, expiry at it. */
export const deadline = 10
export const maxAttempts = 2
export const argumentsOf = (position: number): { readonly amount: number } => ({ amount: position })
export const editedOf = (position: number): { readonly amount: number } => ({ amount: 100 + position })

export const snapshot = Snapshot.builder("agent").model({ provider: "scripted", model: "one" }).build()

export const claimOf = ({ claim }: ScenarioCall): ToolConcurrency.ToolConcurrency => {
  if (claim === "serial") return ToolConcurrency.Serial
  if (claim === undefined || claim === "parallel") return ToolConcurrency.Parallel
  return ToolConcurrency.Resources([{ access: claim === "read" ? "Read" : "Write", namespace: "file", key: "a" }])
}

/** A run that has started and asked nothing yet. */
export const initial = (scenario: Scenario): State => {
  const fold = new ThreadFold(threadId)
  const record: Run.RunRecord = {
    runId,
    threadId,
    principal: "ada",
    snapshotFingerprint: snapshot.fingerprint,
    narrowing: "Configured",
    startedAt: 0
  }
  fold.apply(
    Commits.make({
      id: "start",
      threadId,
      runId,
      expectedRevision: 0,
      epoch: 1,
      at: 0,
      disposition: Run.Running,
      step: 0,
      start: { record, snapshot }
    })
  )
  return {
    view: fold.view(1),
    epoch: 1,
    owner: idle,
    late: [],
    histories: scenario.calls.map(() => untouched),
    path: { label: "start", before: undefined }
  }
}

const untouched: History = { entered: 0, digests: new Set(), wasApproved: false, wasHandedOut: false }

export const idle: Owner = { running: new Set(), arrived: new Map() }

export const headOf = (view: ThreadStore.ThreadView): StoreRules.ThreadHead => ({
  revision: view.revision,
  run: view.run,
  disposition: view.disposition,
  step: view.step,
  batch: view.batch,
  hasRun: (id) => id === view.run?.runId,
  hasSignal: (id) => view.inbox.some((signal) => signal.id === id),
  ticket: (id) => view.tickets.get(id),
  hasOpenOutcome: (id) => view.openOutcomes.has(id),
  sharedRevision: 0
})

export const operationIdOf = (position: number): string => ToolOperation.idOf(runId, 1, position)

/** The labels from the beginning to a state. */
export const pathOf = (state: State): ReadonlyArray<string> => {
  const labels: Array<string> = []
  for (let at: Path | undefined = state.path; at !== undefined; at = at.before) labels.push(at.label)
  return labels.reverse()
}
