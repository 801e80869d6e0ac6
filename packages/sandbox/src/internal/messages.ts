/**
 * What runtime and hand say to each other.
 *
 * Guarantees: plain JSON; arguments, operation and declared state cross, live handles do not.
 * What a hand says is not trusted: whoever reads it checks every field.
 */
import type { Json, RawTool } from "@toolwright/runtime-contract"

export interface Init {
  readonly type: "init"
  /** A module by absolute path. */
  readonly registry: string
  readonly place: HandPlace
  /** Milliseconds after which a call is ended by the hand itself, whatever the runtime does. */
  readonly callLimit: number
  /** Holds code that was made of the registry before, as the hand sees the path. */
  readonly codeFile?: string
  /** Send that code along when ready. Asked of a hand that was sent no call yet, since others will run it. */
  readonly wantsCode: boolean
  /** Have all threads up to this id before anything else is started: nothing else in the box may send them signals. */
  readonly reservedIds?: number
  /** Node itself, where the hand was loaded in a way that hides it. */
  readonly program?: string
  /** Take connections to a proxy there, and pass them on. */
  readonly proxyPort?: number
}

/** What a registry module's function is given. */
export interface HandPlace {
  /** The real, absolute path of the folder to work in. */
  readonly workspace: string
  /** Other absolute paths that mean the same folder. */
  readonly aliases: ReadonlyArray<string>
  /** True inside a box whose processes are all its own. */
  readonly contained: boolean
  /** What commands may see. */
  readonly environment: Readonly<Record<string, string>>
  /** As given to the sandbox. */
  readonly options: Json.Json
}

/** The operation without what cannot cross: state goes beside it. */
export interface SentOperation {
  readonly runId: string
  readonly threadId: string
  readonly operationId: string
  readonly callId: string
  readonly attempt: number
  readonly epoch: number
  readonly principal: string
}

export interface Asked {
  readonly type: "call" | "reconcile"
  readonly id: number
  readonly call: { readonly callId: string; readonly toolId: string; readonly arguments: Json.JsonObject }
  readonly operation: SentOperation
  /** Declared state by `scope/name`; what is absent is left out. */
  readonly state: Readonly<Record<string, Json.Json>>
}

export interface Cancel {
  readonly type: "cancel"
  readonly id: number
  readonly reason: string
}

/** About one of the streams of bytes that go beside the messages. */
export type TunnelMessage = {
  readonly type: "tunnel"
  readonly id: number
} & (
  | { readonly act: "open" | "end" | "reset" }
  /** That many bytes more may be sent. */
  | { readonly act: "credit"; readonly bytes: number }
)

export type ToHand = Init | Asked | Cancel | TunnelMessage

export interface InstalledTool {
  readonly id: string
  readonly digest: string
}

export type FromHand =
  | TunnelMessage
  | { readonly type: "ready"; readonly tools: ReadonlyArray<InstalledTool>; readonly code?: string }
  | { readonly type: "broken"; readonly message: string }
  | { readonly type: "progress"; readonly id: number; readonly text: string }
  | { readonly type: "result"; readonly id: number; readonly output: unknown }
  | { readonly type: "reconciled"; readonly id: number; readonly answer: RawTool.Reconciliation }
  | {
      readonly type: "failed"
      readonly id: number
      readonly reason: string
      readonly message: string
      readonly issues: ReadonlyArray<unknown>
    }
