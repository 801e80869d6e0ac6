/**
 * What happens to an output between the tool and the commit (T10): checked, redacted, capped, spilled.
 *
 * Guarantees: what is committed is plain, well-formed and bounded; the full text is spilled once, under the operation's
 * id; state is staged only under declared keys; a policy that fails itself leaves the call completed, its output unreadable.
 * Does not render values or check output schemas: `erase` does.
 */
/// <reference lib="es2024.string" />
import { type Message, type ToolBatch, ToolOutput } from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import { beginEffect, isSettled, type Settled, type Started } from "./settle.js"
import type { Installed } from "./snapshotPlan.js"
import { readOutput } from "./readOutput.js"

export interface Policed {
  readonly given: { readonly call: ToolBatch.BatchCall; readonly installed: Installed | undefined }
  readonly output: unknown
}

type Result = Settled<ToolOutput.ToolOutput> | Started<ToolOutput.ToolOutput>

export const applyPolicy = (run: ActiveRun, { given, output }: Policed): Result => {
  const { call } = given
  try {
    const read = readOutput(call.callId, output)
    if (read === undefined) return ok(unreadable(call.callId))
    const undeclared = undeclaredKey(given.installed, read)
    if (undeclared !== undefined) return ok(ToolOutput.error(call.callId, undeclaredText(call, undeclared)))
    const said = call.proposal === 0 ? read : prefixed(call, read)
    const redacted = redact(run, { call, output: said })
    return redacted === undefined ? ok(unreadable(call.callId)) : cap(run, { call, output: redacted })
  } catch {
    return ok(unreadable(call.callId))
  }
}

/** The policy where nothing can be waited for: a spill that does not answer at once costs the rest of the text. */
export const policyNow = (
  run: ActiveRun,
  { call, installed, output }: Policed["given"] & { readonly output: unknown }
): ToolOutput.ToolOutput => {
  const result = applyPolicy(run, { given: { call, installed }, output })
  if (isSettled(result)) return result.ok ? result.value : unreadable(call.callId)
  result.interrupt()
  const read = readOutput(call.callId, output)
  const { maxResultCharacters: limit } = run.pinned.limits
  return read === undefined
    ? unreadable(call.callId)
    : cut(withoutData(read), { limit, total: charactersOf(read.content), reference: undefined })
}

const ok = (value: ToolOutput.ToolOutput): Settled<ToolOutput.ToolOutput> => ({ ok: true, value })

export const unreadable = (callId: string): ToolOutput.ToolOutput =>
  ToolOutput.error(callId, "The call completed, but its output could not be read. Do not repeat it for that reason.")

const redact = (
  run: ActiveRun,
  { call, output }: { readonly call: ToolBatch.BatchCall; readonly output: ToolOutput.ToolOutput }
): ToolOutput.ToolOutput | undefined => {
  const { redact: change } = run.engine
  return change === undefined ? output : readOutput(call.callId, change(output, call))
}

const undeclaredKey = (installed: Installed | undefined, output: ToolOutput.ToolOutput): string | undefined => {
  if (output.state.length === 0) return undefined
  const stateKeys = installed?.tool.stateKeys ?? []
  const bad = output.state.find(
    (command) =>
      !stateKeys.some((key) => key.name === command.key && key.scope === command.scope && key.merge === command.merge)
  )
  return bad?.key
}

const undeclaredText = (call: ToolBatch.BatchCall, key: string): string =>
  `${call.toolId} completed, but staged the state ${key}, which it does not declare; none of its state was kept`

/** After an edit the result begins by saying what was run instead (H4). */
const prefixed = (call: ToolBatch.BatchCall, output: ToolOutput.ToolOutput): ToolOutput.ToolOutput => {
  const text = `The call was changed by its approver. What was run: ${call.toolId} ${JSON.stringify(call.arguments)}`
  return { ...output, content: [{ type: "text", text }, ...output.content] }
}

const cap = (
  run: ActiveRun,
  { call, output }: { readonly call: ToolBatch.BatchCall; readonly output: ToolOutput.ToolOutput }
): Result => {
  const limit = run.pinned.limits.maxResultCharacters
  const shown = charactersOf(output.content)
  const isDataTooLong = output.data !== undefined && JSON.stringify(output.data).length > limit
  if (shown <= limit && !isDataTooLong) return ok(output)
  const bounded = isDataTooLong ? withoutData(output) : output
  if (shown <= limit) return ok(bounded)
  const text = ToolOutput.text(output)
  const { spill, services } = run.engine
  if (spill === undefined) return ok(cut(bounded, { limit, total: shown, reference: undefined }))
  const stored = beginEffect(services, spill.put(call.operationId, text))
  if (isSettled(stored)) return ok(spilled(run, { call, bounded, limit, total: shown, stored }))
  return {
    interrupt: stored.interrupt,
    onSettled: (listener) =>
      stored.onSettled((settled) => listener(ok(spilled(run, { call, bounded, limit, total: shown, stored: settled }))))
  }
}

interface Spilled {
  readonly call: ToolBatch.BatchCall
  readonly bounded: ToolOutput.ToolOutput
  readonly limit: number
  readonly total: number
  readonly stored: Settled<string>
}

/** A spill that fails costs the rest of the text, not the part that is shown. */
const spilled = (run: ActiveRun, { call, bounded, limit, total, stored }: Spilled): ToolOutput.ToolOutput => {
  const reference = stored.ok && typeof stored.value === "string" ? stored.value : undefined
  if (reference !== undefined)
    run.notes.push({ type: "OutputSpilled", operationId: call.operationId, reference, characters: total })
  return cut(bounded, { limit, total, reference })
}

const cut = (
  output: ToolOutput.ToolOutput,
  {
    limit,
    total,
    reference
  }: { readonly limit: number; readonly total: number; readonly reference: string | undefined }
): ToolOutput.ToolOutput => {
  const rest = reference === undefined ? "the rest was not kept" : `the whole text is kept as ${reference}`
  const note = `\n[cut: ${total} characters in all; ${rest}]`
  let left = Math.max(0, limit - note.length)
  const content: Array<Message.ContentBlock> = []
  for (const block of output.content) {
    if (block.type !== "text") content.push(block)
    else if (left > 0) {
      content.push({ type: "text", text: block.text.length <= left ? block.text : headOf(block.text, left) })
      left -= block.text.length
    }
  }
  return { ...output, content: [...content, { type: "text", text: note.trimStart() }] }
}

/** Never ends in half a character. */
const headOf = (text: string, length: number): string => {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

const charactersOf = (content: ReadonlyArray<Message.ContentBlock>): number =>
  content.reduce((sum, block) => (block.type === "text" ? sum + block.text.length : sum), 0)

const withoutData = (output: ToolOutput.ToolOutput): ToolOutput.ToolOutput => {
  const { data: _, ...rest } = output
  return rest
}
