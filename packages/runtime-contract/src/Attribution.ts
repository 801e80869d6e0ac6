/**
 * Who a tool is, for spans, events and audit records.
 *
 * Guarantees: every tool has one; the default provenance is the least trusted.
 * Does not authorise: gates may look at it, nothing follows from it alone.
 */

/** `Native`: ships with the product and was reviewed with it. `Extension`: everything else. */
export type Provenance = "Native" | "Extension"

export interface Attribution {
  /** What part it plays, for example `"tool"`, `"mcp"`, `"skill"`, `"agent"`. Default `"tool"`. */
  readonly role: string
  /** The name it goes by in logs. Default: the tool's id. */
  readonly alias: string
  readonly provenance: Provenance
}

/** The attribution of a tool whose author said nothing, or only a part of it. */
export const make = (id: string, given: Partial<Attribution> = {}): Attribution =>
  Object.freeze({
    role: given.role ?? "tool",
    alias: given.alias ?? id,
    provenance: given.provenance ?? "Extension"
  })
