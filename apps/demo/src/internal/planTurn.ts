/**
 * Decides the next turn of the offline model: which calls to ask for, or what to answer.
 *
 * Guarantees: pure, a function of request and results. A refused call is sent again once, where its refusal says how;
 * otherwise the refusal is explained.
 * Does not run tools and does not read their minds: it knows what the transcript says.
 */
import { type Json, Json as JsonValue } from "@toolwright/runtime-contract"
import { answerOf, isExchange, type Part, summaryOf } from "./answer.js"
import type { Exchange, Memory } from "./exchanges.js"
import { type Group, type Intent, readRequest } from "./readRequest.js"
import type { Work } from "./work.js"
import { workOn } from "./workOn.js"

export interface PlannedCall {
  readonly toolId: string
  readonly arguments: Json.JsonObject
}

export interface Turn {
  readonly text: string
  readonly calls: ReadonlyArray<PlannedCall>
}

export interface PlanOptions {
  /** False when the runtime wants an answer now. */
  readonly mayCall: boolean
  /** Is there a folder to work on? */
  readonly hasFolder: boolean
}

export const planTurn = (memory: Memory, { mayCall, hasFolder }: PlanOptions): Turn => {
  const groups = readRequest(memory.request).flatMap(inOrder)
  const turns = memory.turns.slice()
  const done: Array<Part> = []
  const answer = (): Turn => ({ text: answerOf(groups, { done, hasFolder }), calls: [] })
  for (const group of groups) {
    const [first] = group
    if (first?.type === "work") {
      const step = hasFolder ? replay(workOn(first.on), turns) : noFolder
      if (typeof step === "string") done.push(step)
      else return mayCall ? step : answer()
      continue
    }
    const calls = group.flatMap((intent) => callFor(intent, done))
    if (calls.length === 0) continue
    const asked = turns.shift()
    if (asked === undefined) return mayCall ? { text: announce(calls, done), calls } : answer()
    const fixes = asked.flatMap((exchange) => correctionOf(exchange) ?? [])
    const second = fixes.length === 0 ? [] : turns.shift()
    if (second === undefined && mayCall) return { text: explain(fixes), calls: fixes.map(({ call }) => call) }
    done.push(...withCorrections(asked, second ?? []))
  }
  return answer()
}

const noFolder = "There is no folder to work on: start with --workspace DIR."

/** Goes through what came of the calls so far: the next turn, or what there is to say. */
const replay = (work: Work, turns: Array<ReadonlyArray<Exchange>>): Turn | string => {
  let step = work.next([])
  while (step.done !== true) {
    const exchanges = turns.shift()
    if (exchanges === undefined) return step.value
    step = work.next(exchanges)
  }
  return step.value
}

/** Work on the folder goes one after the other; the rest of a group, at once. */
const inOrder = (group: Group): ReadonlyArray<Group> => {
  const work = group.filter((intent) => intent.type === "work")
  const rest = group.filter((intent) => intent.type !== "work")
  return [...work.map((intent) => [intent]), ...(rest.length === 0 && work.length > 0 ? [] : inTwoSteps(rest))]
}

/** A comparison needs the weather first and arithmetic after it. */
const inTwoSteps = (group: Group): ReadonlyArray<Group> => {
  const compared = group.filter((intent) => intent.type === "compare")
  if (compared.length === 0) return [group]
  const looked = group.flatMap((intent): ReadonlyArray<Intent> =>
    intent.type === "compare" ? intent.cities.map((city) => ({ type: "weather", city })) : [intent]
  )
  return [looked, compared]
}

const callFor = (intent: Intent, done: ReadonlyArray<Part>): ReadonlyArray<PlannedCall> => {
  switch (intent.type) {
    case "weather":
      // Without a city the call is wrong, and what comes back says so.
      return [{ toolId: "get_weather", arguments: intent.city === "" ? {} : { city: intent.city } }]
    case "time":
      return [{ toolId: "current_time", arguments: intent.place === "" ? {} : { timeZone: intent.place } }]
    case "calculate":
      return [{ toolId: "calculate", arguments: { expression: intent.expression } }]
    case "compare": {
      const values = temperatures(done.filter(isExchange).slice(-intent.cities.length))
      if (values.length < 2) return []
      const [first, ...rest] = values
      const expression =
        intent.how === "mean" ? `mean(${values.join(", ")})` : [first, ...rest.map((value) => `(${value})`)].join(" - ")
      return [{ toolId: "calculate", arguments: { expression } }]
    }
    case "note":
      return [{ toolId: "save_note", arguments: { text: intent.text === "" ? summaryOf(done) : intent.text } }]
    case "list":
      return [{ toolId: "add_to_list", arguments: { item: intent.item } }]
    case "work":
    case "unknown":
      return []
  }
}

const temperatures = (exchanges: ReadonlyArray<Exchange>): ReadonlyArray<number> =>
  exchanges.flatMap(({ data }) => {
    const temperature = JsonValue.isJsonObject(data) ? data["temperature"] : undefined
    return typeof temperature === "number" ? [temperature] : []
  })

interface Correction {
  readonly from: string
  readonly to: string
  readonly call: PlannedCall
}

/** The call as its refusal says that it should be, or `undefined` where the refusal does not say. */
const correctionOf = (exchange: Exchange): Correction | undefined => {
  if (!exchange.isError) return undefined
  const key = /^- \/([A-Za-z]+):/m.exec(exchange.text)?.[1]
  const from = key === undefined ? undefined : exchange.arguments[key]
  if (key === undefined || typeof from !== "string") return undefined
  const to = meantBy(from, exchange.text)
  return to === undefined
    ? undefined
    : { from, to, call: { toolId: exchange.toolId, arguments: { ...exchange.arguments, [key]: to } } }
}

const meantBy = (from: string, refusal: string): string | undefined => {
  const suggested = /did you mean "?(.+?)"?(?: or |$)/m.exec(refusal)?.[1]
  if (suggested !== undefined) return suggested
  if (!refusal.includes("thousands separators") || !/\d,\d{3}\b/.test(from)) return undefined
  return from.replaceAll(/(?<=\d),(?=\d{3}\b)/g, "")
}

const withCorrections = (first: ReadonlyArray<Exchange>, second: ReadonlyArray<Exchange>): ReadonlyArray<Exchange> => {
  const corrected = second.slice()
  return first.map((exchange) => (correctionOf(exchange) === undefined ? exchange : (corrected.shift() ?? exchange)))
}

const announce = (calls: ReadonlyArray<PlannedCall>, done: ReadonlyArray<Part>): string => {
  const names = [...new Set(calls.map((call) => doing.get(call.toolId) ?? call.toolId))]
  return `${done.length === 0 ? "Let me" : "Next I"} ${names.join(" and ")}.`
}

const doing: ReadonlyMap<string, string> = new Map([
  ["get_weather", "look at the weather"],
  ["current_time", "look at the clock"],
  ["calculate", "calculate"],
  ["save_note", "save the note"],
  ["add_to_list", "add to the list"]
])

const explain = (fixes: ReadonlyArray<Correction>): string =>
  fixes.map(({ from, to }) => `I take “${from}” to mean “${to}”.`).join(" ")
