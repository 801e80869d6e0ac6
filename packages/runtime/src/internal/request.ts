/**
 * The request of a step: what is sent of history, which tools may be used, what is noted for this request only (L2, L5, Z2).
 *
 * Guarantees: the tools are the snapshot's own array, whatever a hook narrows; history is never rewritten, and a cut never
 * parts a result from its call; notes are not committed.
 * Does not send.
 */
import {
  ContextMessages,
  InvocationTrigger,
  type Json,
  type LlmExecutor,
  Message,
  type RunHook,
  type StateKey,
  ThreadStore,
  Transcript
} from "@toolwright/runtime-contract"
import type { ActiveRun } from "./activeRun.js"
import type { Offer } from "./ingress.js"
import { mergeState } from "./stateMerge.js"

const noNotes: ReadonlyArray<LlmExecutor.RequestNote> = Object.freeze([])

const lastStepNote = Object.freeze<LlmExecutor.RequestNote>({
  source: "limits",
  content: [
    { type: "text", text: "This is the last step. Answer now with what you have; tools cannot be used any more." }
  ]
})

const lastStepNotes: ReadonlyArray<LlmExecutor.RequestNote> = Object.freeze([lastStepNote])

export const buildRequest = (run: ActiveRun, offer: Offer): LlmExecutor.LlmRequest => {
  const { snapshot } = run.pinned
  const request: Mutable<LlmExecutor.LlmRequest> = {
    runId: run.runId,
    threadId: run.threadId,
    step: offer.step,
    attempt: run.attempt,
    model: snapshot.model,
    instructions: snapshot.instructions,
    messages: run.fold.messages,
    notes: withContext(offer.isLast ? lastStepNotes : hinted(run), run.fold.state.get(contextPlace)),
    tools: snapshot.tools,
    toolChoice: offer.isLast ? "none" : "auto"
  }
  if (snapshot.output !== undefined) request.output = snapshot.output.schema
  if (snapshot.fallbacks.length > 0) request.fallbacks = snapshot.fallbacks
  return request
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

const contextPlace = ThreadStore.stateKeyOf(ContextMessages.key.scope, ContextMessages.key.name)

const withContext = (
  notes: ReadonlyArray<LlmExecutor.RequestNote>,
  value: Json.Json | undefined
): ReadonlyArray<LlmExecutor.RequestNote> => {
  if (value === undefined) return notes
  const context = ContextMessages.read(value).map(({ source, texts }) => ({
    source,
    content: texts.map((text) => ({ type: "text" as const, text }))
  }))
  return [...context, ...notes]
}

/** Context that hooks have staged in this very step goes along with its request. */
export const stagedContext = (
  run: ActiveRun,
  {
    request,
    staged
  }: { readonly request: LlmExecutor.LlmRequest; readonly staged: ReadonlyArray<StateKey.StateCommand> }
): LlmExecutor.LlmRequest => {
  const own = staged.filter(({ scope, key }) => ThreadStore.stateKeyOf(scope, key) === contextPlace)
  if (own.length === 0) return request
  const before = run.fold.state.get(contextPlace)
  const { commands } = mergeState({ staged: own, current: () => before, keyOf: () => ContextMessages.key })
  const [after] = commands
  const known = new Set(ContextMessages.read(before).map(({ source }) => source))
  const rest = request.notes.filter(({ source }) => !known.has(source))
  return { ...request, notes: withContext(rest, after?._tag === "Set" ? after.value : undefined) }
}

/** The request as hooks have narrowed it, with the tools it may use. */
export const narrowRequest = (
  request: LlmExecutor.LlmRequest,
  reactions: ReadonlyArray<RunHook.RequestReaction>
): { readonly request: LlmExecutor.LlmRequest; readonly tools: ReadonlySet<string> | undefined } => {
  let tools: ReadonlySet<string> | undefined
  let last: number | undefined
  for (const reaction of reactions) {
    if (reaction.tools !== undefined) {
      const asked = reaction.tools
      const before = tools
      tools = new Set(before === undefined ? asked : asked.filter((id) => before.has(id)))
    }
    if (reaction.lastMessages !== undefined) last = Math.min(last ?? Number.POSITIVE_INFINITY, reaction.lastMessages)
  }
  const visible =
    tools === undefined ? undefined : request.tools.filter(({ id }) => tools?.has(id) === true).map(({ id }) => id)
  const toolChoice = visible === undefined || request.toolChoice === "none" ? request.toolChoice : choiceOf(visible)
  const messages = last === undefined ? request.messages : tailOf(request.messages, last)
  return { request: { ...request, toolChoice, messages }, tools: visible === undefined ? undefined : new Set(visible) }
}

const choiceOf = (visible: ReadonlyArray<string>): LlmExecutor.ToolChoice =>
  visible.length === 0 ? "none" : { toolIds: visible }

/** The cut moves back to the message whose results it would part. */
const tailOf = (messages: Transcript, count: number): Transcript => {
  let start = Math.max(0, messages.length - Math.max(1, count))
  while (start > 0 && isBound(messages.at(start))) start--
  return start === 0 ? messages : new Transcript(messages.toArray(start))
}

const isBound = (message: Message.Message | undefined): boolean =>
  message?.role === "tool" || message?.role === "reminder"

/** One hint where the newest words are a person's and match a tool's triggers. */
const hinted = (run: ActiveRun): ReadonlyArray<LlmExecutor.RequestNote> => {
  const { snapshot, plan } = run.pinned
  if (!snapshot.triggerHints) return noNotes
  const newest = run.fold.messages.at(-1)
  if (newest?.role !== "user") return noNotes
  const candidates: Array<{ readonly toolId: string; readonly triggers: ReadonlyArray<string> }> = []
  for (const { id } of snapshot.tools) {
    const resolved = plan.resolve(id)
    if (resolved.ok) candidates.push({ toolId: id, triggers: triggersOf(resolved.installed.tool.invocationTriggers) })
  }
  const match = InvocationTrigger.longestMatch(Message.textOf(newest.content), candidates)
  if (match === undefined) return noNotes
  const { toolId } = match.candidate
  run.notes.push({ type: "TriggerHint", toolId, trigger: match.trigger })
  return [{ source: "triggers", content: [{ type: "text", text: `The tool ${toolId} may help here.` }] }]
}

/** Live, and foreign code: one that throws suggests nothing. */
const triggersOf = (triggers: (() => ReadonlyArray<string>) | undefined): ReadonlyArray<string> => {
  try {
    return triggers?.().filter((one) => typeof one === "string") ?? []
  } catch {
    return []
  }
}
