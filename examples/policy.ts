/**
 * A policy in a file: what may run, what is asked about, what never runs; and how to try it before it is used.
 */
import { FileSystemView, PermissionGate, Policy, PolicyFile } from "@toolwright/permissions"
import { ShellCommand } from "@toolwright/permissions/shell"

export const text = `{
  "rules": [
    { "pattern": "read",                              "behavior": "allow" },
    { "pattern": "read(path ~ \\"**/.env\\")",          "behavior": "deny", "reason": "secrets stay where they are" },
    { "pattern": "write(path ~ \\"src/**\\")",          "behavior": "allow" },
    { "pattern": "bash(command ~ \\"git *\\")",         "behavior": "allow" },
    { "pattern": "bash(command ~ \\"git push *\\")",    "behavior": "ask", "approvers": ["ben"], "timeout": 600000 },
    { "pattern": "web_fetch(url.host ~ \\"*.test\\")",  "behavior": "allow" },
    { "pattern": "web_fetch(url.host ~ \\"@internal\\")", "behavior": "deny" }
  ]
}`

/** A gate for `Runtime.make({ gate })`. */
export const gateFor = (workspace: string) => {
  // #region gate
  // Throws PolicyError with line and column where anything in the text is unknown, doubled or malformed.
  const policy = PolicyFile.parse(text, { file: "policy.json" })
  const gate = PermissionGate.fromPolicy(policy, { workspace })
  // #endregion
  return gate
}

export const tryOut = () => {
  // #region try
  const policy = Policy.compile(PolicyFile.parse(text), {
    workspace: "/ws",
    files: FileSystemView.memory({ links: { "/ws/src/out": "/etc" } }),
    shell: ShellCommand.analyse
  })
  const decide = (toolId: string, args: Record<string, string>) => policy.decide({ toolId, arguments: args }).behavior

  const decisions = {
    "read pkg/.env": decide("read", { path: "pkg/.env" }),
    "write src/a.ts": decide("write", { path: "src/a.ts" }),
    "write src/out/passwd": decide("write", { path: "src/out/passwd" }),
    "git log | head": decide("bash", { command: "git log | head" }),
    "git log > src/log": decide("bash", { command: "git log > src/log" }),
    "timeout 5 git push": decide("bash", { command: "timeout 5 git push" }),
    "http://2852039166/": decide("web_fetch", { url: "http://2852039166/" })
  }
  // #endregion
  return decisions
}
