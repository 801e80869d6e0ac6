/**
 * The host rules of a policy, for the call and for everywhere that a fetch is led to.
 */
import { erase } from "@toolwright/builtin-tools"
import { webFetch, type WebPlace } from "@toolwright/builtin-tools/web"
import { PermissionGate, Policy, UrlGuard } from "@toolwright/permissions"

export const guardedWeb = (
  policy: Policy.Policy,
  { workspace, ...place }: WebPlace & { readonly workspace: string }
) => {
  // #region web
  // The gate judges the URL of the call, before it runs.
  const gate = PermissionGate.fromPolicy(policy, { workspace })
  // The tool asks by the same rules about every redirect, and about each address that a host has resolved to.
  const refuses = UrlGuard.refuses(Policy.compile(policy, { workspace }), { toolId: "web_fetch" })
  const tools = [erase(webFetch({ ...place, refuses }))]
  // #endregion
  return { gate, tools }
}
