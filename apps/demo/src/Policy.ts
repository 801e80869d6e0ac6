/**
 * The permission policy of the demo: a file, read once at the start, and whether anything may write at the moment.
 *
 * Guarantees: a file that cannot be read stops the demo with its line and column, before anything runs; plan mode is the
 * same policy in another mode, so whatever the file denies stays denied.
 * Does not decide about calls: the gate that is made of it does.
 */
import { readFileSync } from "node:fs"
import { PermissionGate, Policy, PolicyFile, UrlGuard } from "@toolwright/permissions"
import { CommandLineError } from "./CommandLine.js"

export interface DemoPolicy {
  readonly gate: PermissionGate.PolicyGate
  /** Why the host of a page, or of a redirect on the way to it, may not be contacted, under its name or its address. */
  readonly refuses: ReturnType<typeof UrlGuard.refuses>
  readonly isPlan: boolean
  /** Nothing that writes, or what the file says. */
  readonly plan: (isOn: boolean) => void
}

/** `workspace` is where relative paths start. Throws `CommandLineError`. */
export const readPolicy = (file: string, workspace: string): DemoPolicy => {
  try {
    const text = readFileSync(file, "utf8")
    const policy = PolicyFile.parse(text, { file })
    const planning = JSON.stringify({ ...policy, mode: "plan" })
    const { gate, replace } = PermissionGate.replaceable(text, { id: "demo", workspace, file })
    const refuses = UrlGuard.refuses(Policy.compile(policy, { workspace }), { toolId: "web_fetch" })
    let isPlan = policy.mode === "plan"
    return {
      gate,
      refuses,
      get isPlan() {
        return isPlan
      },
      plan: (isOn) => {
        const problem = replace(isOn ? planning : text)
        if (problem !== undefined) throw problem
        isPlan = isOn || policy.mode === "plan"
      }
    }
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new CommandLineError(`the policy cannot be used\n${problem}`, { cause })
  }
}
