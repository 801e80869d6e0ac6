/**
 * What a tool can promise about being run again, and what a snapshot pins for it.
 *
 * Guarantees: a policy that the capability does not support cannot be made; the attempt budget is at least one.
 * Does not execute: `ToolBatch.recover` applies the pinned policy after a crash.
 */
import { ToolDefinitionError } from "./ToolDefinitionError.js"

/**
 * The strongest promise an implementation can truthfully make. Every value but `NonRecoverable` promises that a new
 * attempt may overlap an older one that still runs elsewhere: epochs fence commits, not effects.
 *
 * `ReplaySafe`: a repeat looks like one execution. `Idempotent`: the same operation id is de-duplicated by the effect's
 * target. `DurableRequest`: a repeat reconnects to one request that outlives this process.
 */
export type ToolRecoveryCapability = "NonRecoverable" | "ReplaySafe" | "Idempotent" | "DurableRequest"

export type ToolRecoveryMode = "NeverReplay" | "ReplaySafe" | "Idempotent" | "DurableRequest"

/** Pinned per tool by the descriptor; part of its identity. `maxAttempts` counts entries, the first included. */
export interface ToolRecoveryPolicy {
  readonly mode: ToolRecoveryMode
  readonly maxAttempts: number
}

/** Attempts when the author names none. */
export const defaultMaxAttempts = 3

/** The mode named like the capability; `NonRecoverable` gives `NeverReplay`. */
export const modeFor = (capability: ToolRecoveryCapability): ToolRecoveryMode =>
  capability === "NonRecoverable" ? "NeverReplay" : capability

/** `NeverReplay` is always supported, any other mode only by the capability of the same name. Not an ordering. */
export const supports = (capability: ToolRecoveryCapability, mode: ToolRecoveryMode): boolean =>
  mode === "NeverReplay" || mode === capability

/** Throws `ToolDefinitionError` for attempts that are no whole number from 1 to 65,535. */
export const make = (mode: ToolRecoveryMode, maxAttempts: number = defaultMaxAttempts): ToolRecoveryPolicy => {
  if (!isMode(mode)) throw refused("mode", { expected: `one of ${modes.join(", ")}`, received: mode })
  if (!Number.isInteger(maxAttempts) || maxAttempts < 1 || maxAttempts > 65_535)
    throw refused("maxAttempts", { expected: "a whole number from 1 to 65535", received: maxAttempts })
  return Object.freeze({ mode, maxAttempts })
}

/** The policy that a descriptor pins when nobody chooses another. */
export const policyFor = (capability: ToolRecoveryCapability): ToolRecoveryPolicy => make(modeFor(capability))

const modes: ReadonlyArray<string> = ["NeverReplay", "ReplaySafe", "Idempotent", "DurableRequest"]

export const isMode = (value: unknown): value is ToolRecoveryMode => typeof value === "string" && modes.includes(value)

export const isCapability = (value: unknown): value is ToolRecoveryCapability =>
  value === "NonRecoverable" || (isMode(value) && value !== "NeverReplay")

const refused = (
  option: string,
  { expected, received }: { readonly expected: string; readonly received: unknown }
): ToolDefinitionError =>
  new ToolDefinitionError({
    reason: "BadRecovery",
    pointer: `/recovery/${option}`,
    expected,
    received: String(received)
  })
