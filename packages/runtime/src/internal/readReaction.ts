/**
 * Reads what a hook has answered: foreign code may return anything, and keep it.
 *
 * Guarantees: total; a plain copy of exactly what the contract knows; one part that cannot be read costs the whole
 * reaction, so that nothing is half done.
 * Does not ask whose state it is.
 */
/// <reference lib="es2024.string" />
import type { RunHook } from "@toolwright/runtime-contract"
import { readCommands } from "./readOutput.js"

export const readReaction = (value: unknown): RunHook.RequestReaction | undefined => {
  try {
    return typeof value === "object" && value !== null ? copyOf({ ...value }) : undefined
  } catch {
    return undefined
  }
}

const copyOf = ({
  state,
  reminders,
  tools,
  lastMessages
}: Readonly<Record<string, unknown>>): RunHook.RequestReaction | undefined => {
  const commands = state === undefined ? undefined : readCommands(state)
  if (state !== undefined && commands === undefined) return undefined
  if (!isTexts(reminders) || !isTexts(tools) || !isCount(lastMessages)) return undefined
  return {
    ...(commands === undefined ? {} : { state: commands }),
    ...(reminders === undefined ? {} : { reminders: reminders.map((text) => text.toWellFormed()) }),
    ...(tools === undefined ? {} : { tools: tools.slice() }),
    ...(lastMessages === undefined ? {} : { lastMessages })
  }
}

const isTexts = (value: unknown): value is ReadonlyArray<string> | undefined =>
  value === undefined || (Array.isArray(value) && value.every((one) => typeof one === "string"))

const isCount = (value: unknown): value is number | undefined =>
  value === undefined || (typeof value === "number" && Number.isSafeInteger(value) && value >= 0)
