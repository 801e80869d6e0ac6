/**
 * A first policy, and what it says of three calls.
 */
// #region policy
import { PermissionGate, PolicyFile } from "@toolwright/permissions"

const text = `{
  "rules": [
    { "pattern": "read", "behavior": "allow" },
    { "pattern": "write(path ~ \\"src/**\\")", "behavior": "allow" },
    { "pattern": "*(path ~ \\".env\\")", "behavior": "deny", "reason": "secrets stay where they are" }
  ]
}`

// Throws PolicyError with line and column where anything in the text is unknown, doubled or malformed.
const policy = PolicyFile.parse(text, { file: "policy.json" })

/** For `Runtime.make({ gate })`. */
export const gate = PermissionGate.fromPolicy(policy, { workspace: "/srv/app" })

for (const path of ["src/a.ts", "src/.env", "README.md"]) {
  const { decision } = await gate.explain({ toolId: "write", arguments: { path } })
  console.log(`write ${path}: ${decision.behavior}, ${decision.rule}`)
}
// #endregion
