/**
 * How a policy's asks may be remembered: the contract's port over `Grant` and `Policy`.
 *
 * Guarantees: exactly the approved call unless the approver wrote a rule that covers it; a rule is read by this policy's
 * own language, and covers a call only where nothing but what it names was asked about. A doubt is covered by no rule.
 * Does not store or look up grants: the runtime does.
 */
import type { PermissionGate } from "@toolwright/runtime-contract"
import * as Grant from "../Grant.js"
import type * as Policy from "../Policy.js"

export interface Remembering {
  readonly gate: string
  readonly policy: Policy.Policy
  readonly environment: Policy.Environment
  /** The gate's own policy, with whatever a tool needs. */
  readonly load: (toolId: string) => Promise<Policy.CompiledPolicy>
  readonly asked: (call: PermissionGate.GateCall) => Policy.PolicyCall
}

export const rememberPort = ({ gate, policy, environment, load, asked }: Remembering): PermissionGate.RememberPort => ({
  workspace: environment.workspace,
  preview: async ({ ticket, scope, schema, rule, expiresAt }) => {
    const narrow = Grant.preview(ticket, {
      scope,
      gate,
      ...(schema === undefined ? {} : { schema }),
      ...(expiresAt === undefined ? {} : { expiresAt })
    })
    return rule === undefined
      ? narrow
      : Grant.widen(narrow, { pattern: rule, ticket, environment: await withShell(environment), policy })
  },
  covers: async (pattern, call) => {
    const compiled = await load(call.tool.id)
    return compiled.decide(asked(call), [{ grantId: pattern, pattern }]).behavior === "allow"
  }
})

const withShell = async (environment: Policy.Environment): Promise<Policy.Environment> => {
  if (environment.shell !== undefined) return environment
  const { ShellCommand } = await import("../shell.js")
  return { ...environment, shell: ShellCommand.analyse }
}
