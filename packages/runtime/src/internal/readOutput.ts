/**
 * Reads what came out of a tool as a `ToolOutput`: foreign code may return anything.
 *
 * Guarantees: total for values without getters that throw; the result is plain, frozen, well-formed and carries the
 * call's own id; content is never empty.
 * Does not render: a typed tool's value was rendered by `erase`.
 */
/// <reference lib="es2024.string" />
import { Json, type Message, type StateKey, type ToolOutput } from "@toolwright/runtime-contract"

/** `undefined` for what is no output. */
export const readOutput = (callId: string, value: unknown): ToolOutput.ToolOutput | undefined => {
  if (!isRecord(value)) return undefined
  const { content, isError, data, state, foreign } = value
  if (!Array.isArray(content) || typeof isError !== "boolean") return undefined
  const blocks = readContent(content)
  if (blocks === undefined) return undefined
  const commands = state === undefined ? none : readCommands(state)
  if (commands === undefined) return undefined
  if (data !== undefined && !isJson(data, 0)) return undefined
  const read: Mutable<ToolOutput.ToolOutput> = {
    callId,
    content: blocks.length === 0 ? noBlocks : Object.freeze(blocks),
    isError,
    state: commands
  }
  if (data !== undefined) read.data = Json.deepFreeze(data)
  if (foreign === true) read.foreign = true
  return Object.freeze(read)
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

/** Plain, frozen, well-formed blocks; `undefined` for anything else. */
export const readContent = (content: unknown): Array<Message.ContentBlock> | undefined => {
  if (!Array.isArray(content)) return undefined
  // One is the rule, and an array that is pushed to has room for sixteen more.
  const only = content.length === 1 ? readBlock(content[0]) : undefined
  if (only !== undefined) return [only]
  const blocks: Array<Message.ContentBlock> = []
  for (let index = 0; index < content.length; index++) {
    const read = readBlock(content[index])
    if (read === undefined) return undefined
    blocks.push(read)
  }
  return blocks.slice()
}

const none: ReadonlyArray<StateKey.StateCommand> = Object.freeze([])

const noContent: Message.TextBlock = Object.freeze({ type: "text", text: "(no output)" })

const noBlocks: ReadonlyArray<Message.ContentBlock> = Object.freeze([noContent])

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const readBlock = (block: unknown): Message.ContentBlock | undefined => {
  if (!isRecord(block)) return undefined
  const { type, text, mediaType, data, name } = block
  if (type === "text") return typeof text === "string" ? textBlock(text) : undefined
  if ((type !== "image" && type !== "file") || typeof mediaType !== "string" || typeof data !== "string")
    return undefined
  if (type === "image") return Object.freeze({ type, mediaType, data })
  return Object.freeze({ type, mediaType, data, ...(typeof name === "string" ? { name } : {}) })
}

const textBlock = (text: string): Message.TextBlock =>
  Object.freeze({ type: "text", text: text === "" ? noContent.text : text.isWellFormed() ? text : text.toWellFormed() })

/** Plain, frozen commands; `undefined` where one of them is none. */
export const readCommands = (commands: unknown): ReadonlyArray<StateKey.StateCommand> | undefined => {
  if (!Array.isArray(commands)) return undefined
  if (commands.length === 0) return none
  const read = commands.map(readCommand)
  return read.every((command) => command !== undefined) ? Object.freeze(read) : undefined
}

const readCommand = (given: unknown): StateKey.StateCommand | undefined => {
  if (!isRecord(given)) return undefined
  const { _tag, scope, key, merge, value } = given
  const isPlaced = scope === "Run" || scope === "Thread" || scope === "Shared"
  const isMerged = merge === "Disjoint" || merge === "Commutative" || merge === "Exclusive"
  if (!isPlaced || !isMerged || typeof key !== "string") return undefined
  if (_tag === "Remove") return Object.freeze({ _tag, scope, key, merge })
  if (_tag !== "Set" || !isJson(value, 0)) return undefined
  // A copy: whoever staged it may go on with its own.
  const kept = typeof value === "object" ? Json.deepFreeze(structuredClone(value)) : value
  return Object.freeze({ _tag, scope, key, merge, value: kept })
}

/** Levels of structured data that are kept. */
const maxDepth = 256

export const isJson = (value: unknown, depth: number): value is Json.Json => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true
    case "number":
      return Number.isFinite(value)
    case "object":
      if (value === null) return true
      if (depth >= maxDepth) return false
      if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1))
      return isPlain(value) && Object.values(value).every((item) => isJson(item, depth + 1))
    case "undefined":
    case "bigint":
    case "symbol":
    case "function":
      return false
  }
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
