/**
 * The tools of the folder, and the sandbox that they run in.
 *
 * Guarantees: a machine that can hold no sandbox is told what is missing, and the tools are refused there; without a
 * sandbox they run only where `--unsafe-local` says so, and then each call is asked about, whatever the policy allows.
 * Does not decide about calls otherwise: the policy does.
 */
import { erase } from "@toolwright/builtin-tools"
import { AskUser } from "@toolwright/builtin-tools/ask-user"
import { Delete, Edit, Glob, Grep, List, Move, Read, Write } from "@toolwright/builtin-tools/files"
import { handTools } from "@toolwright/builtin-tools/hand-tools"
import { Bash } from "@toolwright/builtin-tools/shell"
import { Todo, todo } from "@toolwright/builtin-tools/todo"
import { WebFetch, webFetch } from "@toolwright/builtin-tools/web"
import { GateOutcome, type PermissionGate, type RawTool, ToolDescriptor } from "@toolwright/runtime-contract"
import { Sandbox, SandboxError, unsafeLocal } from "@toolwright/sandbox"
import { type CommandLine, CommandLineError } from "./CommandLine.js"
import type { Folder } from "./Folder.js"
import type { DemoPolicy } from "./Policy.js"

export interface Hands {
  readonly tools: ReadonlyArray<RawTool.RawTool>
  readonly executors: { readonly Sandbox?: RawTool.ToolExecutor }
  /** Beside the policy's own. */
  readonly gates: ReadonlyArray<PermissionGate.PermissionGate>
  /** How commands are contained, in a few words. */
  readonly contained: string
  /** What is missing or unsafe; said at each start. */
  readonly warnings: ReadonlyArray<string>
  /** What could be better on this machine. */
  readonly remarks: ReadonlyArray<string>
  readonly close: () => Promise<void>
}

/** What the model is told of the tools. Needs no folder. */
export const handDescriptors: ReadonlyArray<ToolDescriptor.ToolDescriptor> = [
  ToolDescriptor.forTool(Read, "builtin:read"),
  ToolDescriptor.forTool(Write, "builtin:write"),
  ToolDescriptor.forTool(Edit, "builtin:edit"),
  ToolDescriptor.forTool(Move, "builtin:move"),
  ToolDescriptor.forTool(Delete, "builtin:delete"),
  ToolDescriptor.forTool(List, "builtin:list"),
  ToolDescriptor.forTool(Glob, "builtin:glob"),
  ToolDescriptor.forTool(Grep, "builtin:grep"),
  ToolDescriptor.forTool(Bash, "builtin:bash"),
  ToolDescriptor.forTool(WebFetch, "builtin:web-fetch"),
  ToolDescriptor.forTool(Todo, "builtin:todo"),
  ToolDescriptor.forTool(AskUser, "builtin:ask-user")
]

/** Faults of the machine: the demo goes on without the tools. */
const missing: ReadonlySet<SandboxError["fault"]> = new Set(["NotLinux", "NoBubblewrap", "NoNamespaces"])

/** A call that is cancelled ends in the sandbox before the runtime gives it up, 2 s after the cancel. */
const grace = 500

/** Throws `CommandLineError` for a folder that no sandbox takes. */
export const takeHands = async (
  folder: Folder,
  { policy, wanted }: { readonly policy: DemoPolicy; readonly wanted: Pick<CommandLine, "unsafeLocal" | "action"> }
): Promise<Hands> => {
  const placed = handTools({ workspace: folder.path, contained: true })
  const tools = [...placed, erase(webFetch({ refuses: policy.refuses })), erase(todo()), erase(AskUser)]
  const none = { tools, executors: {}, gates: [], contained: "none", remarks: [], close: () => Promise.resolve() }
  // Where nothing runs there is nothing to contain.
  if (wanted.action === "explain" || wanted.action === "threads") return { ...none, warnings: [] }
  const registry = new URL(import.meta.resolve("@toolwright/builtin-tools/hand"))
  const options = { workspace: folder.path, tools: placed, registry, limits: { grace } }
  try {
    // The warning is among the warnings already.
    const sandbox = wanted.unsafeLocal ? await unsafeLocal({ ...options, warn: () => {} }) : await Sandbox.make(options)
    return {
      tools,
      executors: { Sandbox: sandbox },
      gates: wanted.unsafeLocal ? [askForAll] : [],
      contained: wanted.unsafeLocal
        ? "none"
        : "bubblewrap: commands write nothing but the folder, and reach no network",
      warnings: wanted.unsafeLocal ? sandbox.warnings : [],
      remarks: wanted.unsafeLocal ? [] : sandbox.warnings,
      close: () => sandbox.close()
    }
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    if (error.fault === "BadWorkspace") throw new CommandLineError(error.message, { cause: error })
    if (!missing.has(error.fault)) throw error
    return {
      ...none,
      warnings: [
        error.message,
        "Until then the files and commands of the folder are out of reach; --unsafe-local does without a sandbox."
      ]
    }
  }
}

const askForAll: PermissionGate.PermissionGate = {
  id: "unsafe-local",
  decide: ({ tool }) =>
    tool.target === "Sandbox"
      ? GateOutcome.requireConfirmation({ reason: "there is no sandbox: it may do all that you may" })
      : GateOutcome.allow
}
