/** The engine: make a runtime, run agents, answer what they wait for. */
export * as Delegation from "./Delegation.js"
export * as ModelPolicy from "./ModelPolicy.js"
export {
  type CloseOptions,
  type DescribeOptions,
  type ParameterOptions,
  type PromiseRuntime,
  type RecoverOptions,
  type Recovered,
  type ResolveRequest,
  Runtime,
  type RuntimeService,
  type SteerRequest,
  type TakeOverOptions,
  type ToolDescription,
  type VerifyOptions,
  type WatchOptions,
  type WorkOptions
} from "./Runtime.js"
export { isRunError, RunError, type RunErrorReason } from "./RunError.js"
export type { RunHandle } from "./RunHandle.js"
export type { RunOutcome } from "./RunOutcome.js"
export { RuntimeDefinitionError } from "./RuntimeDefinitionError.js"
export type { AttributeValue, OpenSpan, RuntimeTracer, StartedSpan } from "./RuntimeTracer.js"
export type {
  GrantsQuery,
  PreviewOptions,
  RememberOptions,
  ResumeOptions,
  RevokeRequest,
  RunOptions,
  RunRef,
  RuntimeOptions
} from "./RuntimeOptions.js"
