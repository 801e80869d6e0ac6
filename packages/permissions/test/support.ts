import {
  type GateOutcome,
  type Json,
  type PermissionGate,
  type ResumeTicket,
  ToolArgs,
  ToolBatch,
  ToolDescriptor
} from "@toolwright/runtime-contract"
import { analyse } from "../src/ShellCommand.js"
import { FileSystemView, Policy, type RuleSet } from "../src/index.js"

const workspace = "/ws"

const memoryFiles = FileSystemView.memory({ paths: ["/ws", "/ws/src", "/tmp", "/home/user"] })

/** `"allow bash(command ~ \"git *\")"` as a rule. */
export const rule = (text: string): RuleSet.Rule => {
  const [behavior = "", ...pattern] = text.split(" ")
  if (behavior !== "allow" && behavior !== "ask" && behavior !== "deny") throw new TypeError(text)
  return { behavior, pattern: pattern.join(" ") }
}

export interface World extends Omit<Partial<Policy.Policy>, "files" | "rules"> {
  readonly workspace?: string
  readonly files?: FileSystemView.FileSystemView
  readonly rules: ReadonlyArray<string>
  readonly standIns?: Policy.Policy["files"]
  /** Default: it is loaded. */
  readonly grammar?: boolean
}

export const compile = ({
  rules,
  workspace: root,
  files,
  grammar,
  standIns,
  ...policy
}: World): Policy.CompiledPolicy =>
  Policy.compile(
    { ...policy, rules: rules.map(rule), ...(standIns === undefined ? {} : { files: standIns }) },
    {
      workspace: root ?? workspace,
      files: files ?? memoryFiles,
      ...(grammar === false ? {} : { shell: analyse })
    }
  )

/** The behaviour for a command line, by rules written about `bash` commands: `allow git *`. */
export const onCommands = (rules: ReadonlyArray<string>, more: Omit<World, "rules"> = {}) => {
  const compiled = compile({
    ...more,
    rules: rules.map((text) => {
      const [behavior, ...pattern] = text.split(" ")
      return /^\w+\(/.test(pattern.join(" "))
        ? text
        : `${behavior} bash(command ~ ${JSON.stringify(pattern.join(" "))})`
    })
  })
  return (command: string) => compiled.decide({ toolId: "bash", arguments: { command } })
}

const descriptor = (id: string, version: string): ToolDescriptor.ToolDescriptor =>
  ToolDescriptor.forTool(
    {
      spec: {
        id,
        version,
        description: id,
        inputSchema: { type: "object" },
        kind: "Regular",
        target: "Brain",
        warnings: []
      },
      recovery: "NonRecoverable"
    },
    "test"
  )

/** A call as the engine hands it to a gate. `version` makes another tool of the same id. */
export const gateCall = (
  toolId: string,
  args: Json.JsonObject,
  more: Partial<PermissionGate.GateCall> & { readonly version?: string } = {}
): PermissionGate.GateCall => {
  const { version = "1", ...rest } = more
  const parsed = ToolArgs.parseToolArgs({ id: toolId, inputSchema: { type: "object" } }, args)
  if (!parsed.ok) throw parsed.error
  return {
    runId: "run-1",
    threadId: "thread-1",
    step: 1,
    operationId: "run-1/1/0",
    callId: "call-1",
    principal: "ann",
    tool: descriptor(toolId, version),
    attribution: { role: "tool", alias: toolId, provenance: "Native" },
    arguments: parsed.value,
    digest: ToolBatch.digestOf(parsed.value),
    now: 1_000,
    state: { get: () => undefined },
    earlier: [],
    ...rest
  }
}

/** The ticket that the engine would issue for a gate's confirmation of this call. */
export const ticketFor = (
  call: PermissionGate.GateCall,
  requirement: Partial<GateOutcome.Requirement> = {}
): ResumeTicket.ResumeTicket => ({
  id: "ticket-1",
  kind: "Permission",
  runId: call.runId,
  threadId: call.threadId,
  principal: call.principal,
  snapshotFingerprint: "fingerprint",
  operationId: call.operationId,
  callId: call.callId,
  toolId: call.tool.id,
  toolIdentity: call.tool.identity,
  arguments: call.arguments,
  digest: call.digest,
  proposal: 0,
  requirements: [{ gate: "permissions", reason: "asked", ...requirement }],
  issuedAt: call.now
})
