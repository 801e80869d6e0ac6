/** The executor for tools whose target is `Sandbox`, the question whether a machine can hold one, and the unsafe way without. */
export type { RefusedHost } from "./internal/hostList.js"
export type { HandPlace } from "./internal/messages.js"
export * as Sandbox from "./Sandbox.js"
export { SandboxError, type SandboxFault } from "./SandboxError.js"
export { probe, type ProbeResult } from "./SandboxProbe.js"
export { unsafeLocal, type UnsafeLocalOptions } from "./UnsafeLocal.js"
