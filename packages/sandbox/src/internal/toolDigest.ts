/**
 * What must be the same on both sides for a call to be sent: all of a tool but its texts.
 *
 * Guarantees: equal for equal tools whatever the order of keys. Depends on nothing but Node, for it is loaded in the box.
 */
import * as crypto from "node:crypto"
import type { RawTool } from "@toolwright/runtime-contract"

export const toolDigest = (tool: RawTool.RawTool): string => {
  const { id, version, inputSchema, outputSchema, kind, target } = tool.spec()
  const keys = tool.stateKeys.map(({ name, scope, merge }) => [name, scope, merge])
  const text = JSON.stringify(
    { id, version, inputSchema, outputSchema, kind, target, recovery: tool.recovery, keys },
    ordered
  )
  return crypto.createHash("sha256").update(text).digest("hex")
}

const ordered = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
    : value
