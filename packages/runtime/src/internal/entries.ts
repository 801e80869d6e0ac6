/**
 * What a call needs to run: the installed tool and its parsed arguments.
 *
 * Guarantees: after a wait or a restart the stored arguments pass the parse boundary again, and run only when their digest
 * is still the one that was decided on.
 * Does not permit.
 */
import type { ToolArgs, ToolBatch } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { parseArguments } from "./arguments.js"
import type { Installed, Refusal } from "./snapshotPlan.js"

export interface Entry {
  readonly installed: Installed
  readonly arguments: ToolArgs.ParsedArguments
  readonly digest: string
}

export type EntryFound =
  | { readonly ok: true; readonly entry: Entry }
  | { readonly ok: false; readonly refusal: Refusal }

/** The entry of a call of the open batch. Refused where installed code or arguments are no longer what was decided on. */
export const entryOf = (run: ActiveRun, call: ToolBatch.BatchCall): EntryFound => {
  const known = run.entries.get(call.position)
  if (known !== undefined && known.digest === call.digest) return { ok: true, entry: known }
  const resolved = run.pinned.plan.resolve(call.toolId)
  if (!resolved.ok) return resolved
  const { installed } = resolved
  const parsed = parseArguments(installed.descriptor, { raw: call.arguments, mode: "strict" })
  const isSame = parsed.ok && parsed.digest === call.digest
  if (!isSame)
    return {
      ok: false,
      refusal: { reason: "ToolChanged", text: `the stored arguments of ${call.toolId} no longer fit` }
    }
  const entry: Entry = { installed, arguments: parsed.arguments, digest: call.digest }
  run.entries.set(call.position, entry)
  return { ok: true, entry }
}
