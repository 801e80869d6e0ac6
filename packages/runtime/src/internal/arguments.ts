/**
 * Arguments as the engine handles them: parsed by the contract's one boundary, known by a digest.
 *
 * Guarantees: the digest covers the canonical form, so it is the same however the text was laid out.
 * Does not validate by itself.
 */
import { type Json, type RawTool, ToolArgs, ToolBatch } from "@toolwright/runtime-contract"

export const noArguments: Json.JsonObject = Object.freeze({})

/** The digest of `{}`: that of every call whose arguments were refused. */
export const emptyDigest = ToolBatch.digestOf(noArguments)

export type Parsed =
  | {
      readonly ok: true
      readonly arguments: ToolArgs.ParsedArguments
      readonly digest: string
      readonly coerced: ReadonlyArray<string>
    }
  | { readonly ok: false; readonly text: string }

const nothing: ReadonlyArray<string> = Object.freeze([])

export const parseArguments = (
  spec: RawTool.ToolSpec,
  { raw, mode }: { readonly raw: unknown; readonly mode: "strict" | "lossless" }
): Parsed => {
  const parsed = ToolArgs.parseToolArgs(spec, raw, { arguments: mode })
  if (!parsed.ok) return { ok: false, text: parsed.error.message }
  const coerced = parsed.notes.length === 0 ? nothing : parsed.notes.map((note) => note.pointer)
  return { ok: true, arguments: parsed.value, digest: parsed.digest, coerced }
}
