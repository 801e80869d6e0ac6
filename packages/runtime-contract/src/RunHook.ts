/**
 * Code that looks on at fixed points of a run, and may stage state or leave a reminder.
 *
 * Guarantees: a hook never rewrites history and never permits a call; its reaction is taken whole or not at all; a hook
 * that fails is a committed note and the run goes on. `afterTool` is called for every call, at publication, in model
 * order, and may be called again until the publication is committed, so hooks are to be free of effects.
 * Does not gate: see `PermissionGate`.
 */
import type { CallOutcomeKind } from "./Message.js"
import type { LlmRequest } from "./LlmExecutor.js"
import type { Eventual } from "./RawTool.js"
import type { StateCommand, StateView } from "./StateKey.js"
import type { BatchCall } from "./ToolBatch.js"
import type { ToolOutput } from "./ToolOutput.js"
import type { AssistantMessage } from "./Message.js"
import type { Transcript } from "./Transcript.js"

export type Phase = "StepStart" | "BeforeInference" | "AfterInference" | "AfterTool" | "StepEnd"

export interface HookContext {
  readonly runId: string
  readonly threadId: string
  readonly step: number
  readonly principal: string
  readonly state: StateView
  readonly messages: Transcript
}

export interface HookReaction {
  readonly state?: ReadonlyArray<StateCommand>
  /** Only from `afterTool`: committed directly behind the call's result. */
  readonly reminders?: ReadonlyArray<string>
}

export interface RequestReaction extends HookReaction {
  /** Ids of the tools that this one request may use; can only narrow. */
  readonly tools?: ReadonlyArray<string>
  /** Send only the last so many committed messages; the runtime moves the cut so that no result loses its call. */
  readonly lastMessages?: number
}

export interface AfterToolContext extends HookContext {
  readonly call: BatchCall
  readonly outcome: CallOutcomeKind
  readonly output: ToolOutput
}

type Reaction<R extends HookReaction = HookReaction> = Eventual<R | undefined | void, unknown>

export interface RunHook {
  readonly id: string
  readonly stepStart?: (context: HookContext) => Reaction
  readonly beforeInference?: (context: HookContext & { readonly request: LlmRequest }) => Reaction<RequestReaction>
  readonly afterInference?: (context: HookContext & { readonly message: AssistantMessage }) => Reaction
  readonly afterTool?: (context: AfterToolContext) => Reaction
  /** Only when the run goes on to another step. */
  readonly stepEnd?: (context: HookContext) => Reaction
}
