/**
 * Why there is no sandbox.
 *
 * Guarantees: says what is missing and what to do about it, for the person who starts the program.
 * Not an error of a call: those are `ToolError`.
 */

export type SandboxFault =
  | "NotLinux"
  | "NoBubblewrap"
  | "NoNamespaces"
  | "BadWorkspace"
  | "BadRegistry"
  | "BadNetwork"
  | "Closed"

export class SandboxError extends Error {
  readonly _tag = "SandboxError"
  override readonly name = "SandboxError"
  readonly fault: SandboxFault
  constructor(fault: SandboxFault, options: { readonly message: string; readonly cause?: unknown }) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause })
    this.fault = fault
  }
}
