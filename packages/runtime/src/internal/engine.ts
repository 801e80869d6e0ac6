/**
 * What the parts of one runtime share: ports, clock, deadlines, the runs at work here.
 *
 * Guarantees: made once from checked options; the ports in it never change.
 * Does not decide anything: the flows do.
 */
import type {
  CrashPoint,
  ExecutableAgentSnapshot,
  LlmExecutor,
  OptionDomain,
  PermissionGate,
  Plugin,
  RawTool,
  RawToolRegistry,
  RunEvent,
  RuntimeClock,
  Spill,
  StateKey,
  ThreadCommit,
  ThreadStore,
  TicketRefused,
  ToolBatch,
  ToolConcurrency,
  ToolOutput
} from "@toolwright/runtime-contract"
import type * as Effect from "effect/Effect"
import type { Semaphore } from "effect/Semaphore"
import type { RunError } from "../RunError.js"
import type { RunOutcome } from "../RunOutcome.js"
import type { RuntimeTracer } from "../RuntimeTracer.js"
import type { ActiveRun } from "./activeRun.js"
import type { Admission } from "./admission.js"
import type { Delegated } from "./delegations.js"
import type { DeadlineSet } from "./deadlines.js"
import type { PluginEnvironment } from "./pluginEnvironment.js"
import type { Services } from "./settle.js"
import type { SnapshotPlan } from "./snapshotPlan.js"

export type EventListener = (event: RunEvent.RunEvent) => void

/** Changes an output before it is committed, for example to take secrets out. Pure. */
export type Redact = (output: ToolOutput.ToolOutput, call: ToolBatch.BatchCall) => ToolOutput.ToolOutput

export interface Executors {
  readonly Brain: RawTool.ToolExecutor
  readonly Sandbox: RawTool.ToolExecutor | undefined
  /** Does the executor for `Brain` only call the installed tool? Then nothing it throws proves anything. */
  readonly isBrainRegistry: boolean
}

export interface Children {
  readonly drive: (parent: ActiveRun, given: ChildGiven) => Effect.Effect<RunOutcome, RunError>
  readonly cancel: (threadId: string) => Effect.Effect<RunOutcome, RunError | TicketRefused>
}

export interface ChildGiven {
  readonly call: ToolBatch.BatchCall
  readonly delegated: Delegated
  readonly input: string
}

export interface Engine {
  readonly llm: LlmExecutor.LlmExecutor
  readonly gates: ReadonlyArray<PermissionGate.PermissionGate>
  /** Gates that a run may name as its own policy. */
  readonly policies: ReadonlyMap<string, PermissionGate.PermissionGate>
  /** Gates that runs brought along, by run, for as long as the run is open. */
  readonly ownPolicies: Map<string, PermissionGate.PermissionGate>
  readonly registry: RawToolRegistry
  readonly executors: Executors
  readonly store: ThreadStore.ThreadStore
  /** In the order of their dependencies. */
  readonly plugins: ReadonlyArray<Plugin.Plugin>
  /** The way from a call to its child run; a port, for the flows that use it are what drives the child. */
  readonly children: Children
  /** What surrounds a run whose snapshot selects no plugin. */
  readonly environment: PluginEnvironment
  /** Keys that hooks and gates use, beside those of tools. */
  readonly stateKeys: ReadonlyArray<StateKey.StateKey>
  readonly ceilings: Partial<ExecutableAgentSnapshot.RunLimits>
  readonly clock: RuntimeClock.RuntimeClock
  readonly deadlines: DeadlineSet
  readonly services: Services
  /** Where spans go; `undefined` where nobody has installed a tracer. */
  readonly tracer: RuntimeTracer | undefined
  readonly owner: string
  /** Milliseconds of a lease; it is renewed at half of it. */
  readonly leaseTtl: number
  /** Milliseconds between two looks into the inbox of a running thread. */
  readonly signalPoll: number
  /** Milliseconds until a store that does not answer counts as silent. */
  readonly storeTimeout: number
  /** For reading a whole history. */
  readonly loadTimeout: number
  readonly newId: () => string
  readonly crash: CrashPoint.CrashPoint
  readonly redact: Redact | undefined
  readonly spill: Spill.Spill | undefined
  readonly domains: Readonly<Record<string, OptionDomain.DomainResolver>>
  /** Runs that are driven here, by thread. */
  readonly active: Map<string, ActiveRun>
  readonly admission: Admission
  /** Listeners of threads, present or future. */
  readonly watchers: Map<string, Set<EventListener>>
  /** Claims of abandoned calls that may still be running, by thread. */
  readonly held: Map<string, Set<ToolConcurrency.ToolConcurrency>>
  /** What given-up calls came to, not yet committed, by thread. */
  readonly late: Map<string, ReadonlyArray<ThreadCommit.RunNote>>
  /** Answers that were refused here, by ticket; the oldest tickets are forgotten. */
  readonly refusals: Map<string, number>
  /** Held while a refused answer is recorded in the runtime's own thread. */
  readonly refusing: Semaphore
  /** What was worked out for a snapshot, once. */
  readonly plans: WeakMap<ExecutableAgentSnapshot.ExecutableAgentSnapshot, SnapshotPlan>
  /** Called when the runtime is closed. */
  readonly whenClosed: Set<() => void>
  /** Starts nothing new. */
  closing: boolean
}
