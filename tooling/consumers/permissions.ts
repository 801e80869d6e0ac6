import { PermissionGate } from "@toolwright/permissions"

const gate = PermissionGate.make({ allow: ["read_*"], deny: ["delete_*"], default: "ask", workspace: "/" })
if (gate.id !== "permissions") throw new Error(gate.id)
