/**
 * The permission policy of the demo: a file, read once at the start.
 *
 * Guarantees: a file that cannot be read stops the demo with its line and column, before anything runs.
 * Does not decide about calls: the gate that is made of it does.
 */
import { readFileSync } from "node:fs"
import { PermissionGate, PolicyFile } from "@toolwright/permissions"
import { CommandLineError } from "./CommandLine.js"

/** Throws `CommandLineError`. */
export const readPolicy = (file: string): PermissionGate.PolicyGate => {
  try {
    const policy = PolicyFile.parse(readFileSync(file, "utf8"), { file })
    return PermissionGate.fromPolicy(policy, { id: "demo", workspace: process.cwd() })
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new CommandLineError(`the policy cannot be used\n${problem}`, { cause })
  }
}
