/**
 * How the offline model works on a folder: one behaviour for each intent, told as a story of calls and their results.
 *
 * Guarantees: pure; a behaviour is replayed from the transcript, so it goes on where the last result left it, in whichever
 * process; what it says is made from results.
 * Does not run tools: it asks for them.
 */
import type { Json } from "@toolwright/runtime-contract"
import { Json as JsonValue } from "@toolwright/runtime-contract"
import type { Exchange } from "./exchanges.js"
import type { PlannedCall, Turn } from "./planTurn.js"

/** Yields turns, receives what came of their calls, and returns what there is to say. */
export type Work<A = string> = Generator<Turn, A, ReadonlyArray<Exchange>>

/** Asks for one call, with a word before it. */
export function* ask(text: string, call: PlannedCall): Work<Exchange> {
  const [exchange] = yield { text, calls: [call] }
  return exchange ?? { ...missing, toolId: call.toolId, arguments: call.arguments }
}

/** Asks for several at once. */
export function* askAll(text: string, calls: ReadonlyArray<PlannedCall>): Work<ReadonlyArray<Exchange>> {
  if (calls.length === 0) return []
  const exchanges = yield { text, calls }
  return calls.map((call, index) => exchanges[index] ?? { ...missing, toolId: call.toolId, arguments: call.arguments })
}

const missing = { isError: true, outcome: "NotRun", text: "there is no result", data: undefined } as const

/** Why a call did not do what it should have done, as the result says. */
export const whyNot = ({ text, outcome }: Exchange): string => {
  if (outcome === "Indeterminate") return "nobody saw how it ended, so it may have happened"
  const issue = /^- (?:\/\S+|the arguments): (.*)$/m.exec(text)?.[1]
  return (issue ?? text.split("\n")[0] ?? "").replace(/\.$/, "")
}

export const isPlanMode = ({ isError, text }: Exchange): boolean => isError && text.includes("plan mode")

/** What did not happen, and how it could. */
export const unmade = (what: string, exchange: Exchange): string =>
  isPlanMode(exchange)
    ? `In plan mode I only look. I would ${what}; “/plan off” lets me.`
    : `I could not ${what}: ${whyNot(exchange)}.`

export const fieldOf = ({ data }: Exchange, name: string): Json.Json | undefined =>
  JsonValue.isJsonObject(data) ? data[name] : undefined

export const textsOf = (exchange: Exchange, name: string): ReadonlyArray<string> => {
  const value = fieldOf(exchange, name)
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : []
}

/** The lines of a file that was read, without their numbers. */
export const linesRead = ({ text }: Exchange): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => /^\s*\d+\t(.*)$/.exec(line)?.[1] ?? [])

/** The first lines of a long text, and how many there are more. */
export const headOf = (lines: ReadonlyArray<string>, most: number): string =>
  [...lines.slice(0, most), ...(lines.length > most ? [`… and ${lines.length - most} more lines`] : [])].join("\n")

/** In an expression, to the letter. */
export const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
