/**
 * The file and command tools of the box, run in a sandbox on one folder.
 */
// #region sandbox
import { handTools } from "@toolwright/builtin-tools/hand-tools"
import { PermissionGate } from "@toolwright/permissions"
import { Runtime } from "@toolwright/runtime"
import type { LlmExecutor } from "@toolwright/runtime-contract"
import { Sandbox } from "@toolwright/sandbox"

/** `workspace`: the absolute path of a folder. Rejects with `SandboxError` where the machine has no bubblewrap. */
export const assistant = async (llm: LlmExecutor.LlmExecutor, workspace: string) => {
  const tools = handTools({ workspace })
  const sandbox = await Sandbox.make({
    workspace,
    tools,
    // The same tools, for inside.
    registry: new URL(import.meta.resolve("@toolwright/builtin-tools/hand"))
  })
  const runtime = Runtime.make({
    llm,
    gate: PermissionGate.make({ allow: ["read", "list", "glob", "grep"], ask: ["*"], workspace }),
    tools,
    executors: { Sandbox: sandbox }
  })
  const close = async () => {
    await runtime.close()
    await sandbox.close()
  }
  return { runtime, close }
}
// #endregion
