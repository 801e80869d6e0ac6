/**
 * What a runtime is made of, and what a run is asked with.
 *
 * Guarantees: the permission gate is required (P1); everything else has a default that is named here.
 * Does not check: `Runtime.make` does, and names the option.
 */
import type {
  CrashPoint,
  ExecutableAgentSnapshot,
  GateOutcome,
  Json,
  LlmExecutor,
  Message,
  OptionDomain,
  PermissionGate,
  Plugin,
  RawTool,
  RawToolRegistry,
  RunEndGuard,
  RunEvent,
  RunHook,
  RuntimeClock,
  Spill,
  StateKey,
  ThreadStore,
  ToolBatch,
  ToolOutput
} from "@toolwright/runtime-contract"
import type { RuntimeTracer } from "./RuntimeTracer.js"

export interface RuntimeOptions {
  readonly llm: LlmExecutor.LlmExecutor
  /** Who may call what. Without one the runtime does not build; `PermissionGate.allowAll` is there for people who mean it. */
  readonly gate: PermissionGate.PermissionGate | ReadonlyArray<PermissionGate.PermissionGate>
  /** Executable tools. An id that is there twice is callable by nobody. */
  readonly tools: ReadonlyArray<RawTool.RawTool> | RawToolRegistry
  /** Where calls run, beside the registry. Without `Sandbox`, tools that target one are refused. */
  readonly executors?: { readonly Brain?: RawTool.ToolExecutor; readonly Sandbox?: RawTool.ToolExecutor }
  /** Default: memory. Then nothing survives the process: no wait, no recovery, no history. */
  readonly store?: ThreadStore.ThreadStore
  readonly hooks?: ReadonlyArray<RunHook.RunHook>
  /** Look at runs that would end by themselves, and may send them on, a bounded number of times. */
  readonly guards?: ReadonlyArray<RunEndGuard.RunEndGuard>
  /** Extensions. Only those that a snapshot selects contribute to its runs; what they contribute outside their bound is no runtime. */
  readonly plugins?: ReadonlyArray<Plugin.Plugin>
  /** Gates that runs name as their own `policy`, so that they are found again after a restart. */
  readonly policies?: ReadonlyArray<PermissionGate.PermissionGate>
  /** State keys that hooks and gates use. Those of tools are known from the tools. */
  readonly stateKeys?: ReadonlyArray<StateKey.StateKey>
  /** Ceilings over the limits of every snapshot: they only lower. */
  readonly limits?: Partial<ExecutableAgentSnapshot.RunLimits>
  /** Default: the system's. */
  readonly clock?: RuntimeClock.RuntimeClock
  /** Where full outputs go that are cut for the model. Default: nowhere. */
  readonly spill?: Spill.Spill
  /** Takes out of outputs what must not be committed. Pure. */
  readonly redact?: (output: ToolOutput.ToolOutput, call: ToolBatch.BatchCall) => ToolOutput.ToolOutput
  /** Choices for parameters: by the name of a custom domain; `AgentIds` under that name. */
  readonly domains?: Readonly<Record<string, OptionDomain.DomainResolver>>
  /** Where spans of gates, waits and tools go. Default: the tracer of the Effect context, where one is installed. */
  readonly tracer?: RuntimeTracer
  /** Names this owner of threads. Default: a random name. */
  readonly owner?: string
  /** Milliseconds that a thread stays owned without a word of its owner. Default 30,000. */
  readonly leaseTtl?: number
  /** Milliseconds between two looks for signals of other processes. Default 500. */
  readonly signalPoll?: number
  /** Milliseconds until a silent store counts as not answering. Default 10,000. A history may take twelve times as long to load. */
  readonly storeTimeout?: number
  /** Makes ids of runs, threads and signals. Default: 128 random bits, as hexadecimal digits. */
  readonly idSource?: () => string
  /** For crash tests. Default: that of the Effect context, which does nothing. */
  readonly crashPoint?: CrashPoint.CrashPoint
}

export interface RunOptions {
  readonly snapshot: ExecutableAgentSnapshot.ExecutableAgentSnapshot
  readonly input: string | ReadonlyArray<Message.ContentBlock>
  /** For whom the run acts. The host vouches for it. */
  readonly principal: string
  /** Default: a new thread. */
  readonly threadId?: string
  /** Default `Configured`. `Unattended`: nobody is there to approve. `DenyAll`: no tool runs. */
  readonly narrowing?: GateOutcome.RunNarrowing
  /** A gate of this run alone; it can only narrow. After a restart it is found by its id among `policies`, else all calls are blocked. */
  readonly policy?: PermissionGate.PermissionGate
  readonly metadata?: Json.JsonObject
  /** Called for every fact and delta, synchronously. */
  readonly onEvent?: (event: RunEvent.RunEvent) => void
  /** Aborting cancels the run; the call then gives its outcome, `Ended(Cancelled)`. */
  readonly signal?: AbortSignal
}

export interface ResumeOptions {
  /** Who answers. The host vouches for the name. */
  readonly approver: string
  /** What the approver believes to be answering; each given field must match. */
  readonly expect?: {
    readonly runId?: string
    readonly threadId?: string
    readonly snapshotFingerprint?: string
    readonly digest?: string
    readonly toolIdentity?: string
  }
  /** The same id again gives the first receipt: for answers that are sent twice. Default: a new one. */
  readonly answerId?: string
  /** Remembers an `Allow`: from now on the rule answers what this gate asks, within its scope (H7). */
  readonly remember?: RememberOptions
  readonly onEvent?: (event: RunEvent.RunEvent) => void
}

/** How an approval is remembered. Ask `previewGrant` for the rule, in full, before it is stored. */
export interface RememberOptions {
  readonly scope: "run" | "thread" | "workspace"
  /** A rule in the gate's own language, wider than the call. Default: exactly this call. */
  readonly rule?: string
  /** Milliseconds since the epoch, the runtime's clock. Default: it does not expire. */
  readonly expiresAt?: number
  /** The gate whose question is answered. Default: the first on the ticket that lets its approvals be remembered. */
  readonly gate?: string
  /** The text that the approver was shown. Where it is given, another rule is refused. */
  readonly shown?: string
}

export interface PreviewOptions extends RememberOptions {
  readonly ticketId: string
}

export interface GrantsQuery {
  /** Also those of this thread and of its latest run. Default: those of workspaces only. */
  readonly threadId?: string
  readonly principal?: string
}

export interface RevokeRequest {
  readonly grantId: string
  /** Who revokes. The host vouches for the name. */
  readonly by: string
}

/** Which run a request is for: the open one of the thread, or none if it is another than `runId`. */
export interface RunRef {
  readonly threadId: string
  readonly runId?: string
  /** Who asks, for the audit. Default: the principal of the run. */
  readonly by?: string
}
