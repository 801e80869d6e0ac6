/**
 * The offline model's answer: sentences made from results, and honest ones about what did not work.
 *
 * Guarantees: says of every result where it comes from; says of every refusal why.
 * Does not add knowledge of its own.
 */
import { type Json, Json as JsonValue } from "@toolwright/runtime-contract"
import type { Exchange } from "./exchanges.js"
import type { Group } from "./readRequest.js"

/** What came of a call, or what was said of several. */
export type Part = Exchange | string

export const isExchange = (part: Part): part is Exchange => typeof part !== "string"

export interface Answering {
  readonly done: ReadonlyArray<Part>
  readonly hasFolder: boolean
}

export const answerOf = (groups: ReadonlyArray<Group>, { done, hasFolder }: Answering): string => {
  const unknown = groups.flat().flatMap((intent) => (intent.type === "unknown" ? [intent.text] : []))
  const parts = done.map((part) => (isExchange(part) ? sentence(part) : part))
  if (unknown.length > 0) parts.push(notUnderstood(unknown, hasFolder))
  // Long ones are told apart by an empty line.
  const between = parts.some((part) => part.includes("\n")) ? "\n\n" : "\n"
  return parts.length === 0 ? notUnderstood([], hasFolder) : parts.join(between)
}

/** What was found out, for a note. */
export const summaryOf = (done: ReadonlyArray<Part>): string =>
  done
    .filter((part) => !isExchange(part) || !part.isError)
    .map((part) => (isExchange(part) ? sentence(part) : part))
    .join("\n")

const notUnderstood = (said: ReadonlyArray<string>, hasFolder: boolean): string =>
  [
    ...said.map((text) => `I did not understand “${text}”.`),
    "I work offline and understand a little English, such as:",
    "  weather in Lisbon and Oslo · 17% of 2380 · time in Tokyo · save that as a note · add milk to the list",
    ...(hasFolder
      ? [
          "  list · find TODO · read FILE · replace `a` with `b` in FILE · run the tests · fix the failing test · run `ls -l`"
        ]
      : [])
  ].join("\n")

const sentence = (exchange: Exchange): string => {
  const { data } = exchange
  if (exchange.isError || !JsonValue.isJsonObject(data)) return failure(exchange)
  switch (exchange.toolId) {
    case "get_weather":
      return weather(data)
    case "calculate":
      return `${shown(exchange.arguments["expression"])} is ${shown(data["result"])}${data["rounded"] === true ? ", rounded" : ""}.`
    case "current_time":
      return `In ${shown(data["timeZone"])} it is ${shown(data["time"]).slice(0, 5)} on ${shown(data["weekday"])}, ${shown(data["date"])}.`
    case "save_note":
      return `The note is saved in ${shown(data["file"])}.`
    case "add_to_list":
      return `“${shown(data["item"])}” is on the list in ${shown(data["file"])}.`
    default:
      return exchange.text
  }
}

const ofAsked = ({ arguments: asked }: Exchange): string => `“${Object.values(asked).map(shown).join(", ")}”`

const weather = (data: Json.JsonObject): string => {
  const now = `${shown(data["city"])}: ${shown(data["temperature"])} °C, ${shown(data["condition"])}, wind ${shown(data["windSpeed"])} km/h, humidity ${shown(data["humidity"])} %`
  if (data["source"] === "live") return `${now}.`
  return `${now} (recorded observation: ${shown(data["station"])}, ${shown(data["observedAt"]).slice(0, 16).replace("T", " ")} UTC).`
}

const failure = (exchange: Exchange): string => {
  if (exchange.outcome === "Indeterminate")
    return `I do not know what became of ${exchange.toolId} for ${ofAsked(exchange)}: it may have happened. Look before it is asked for again.`
  const asked = Object.values(exchange.arguments).map(shown).join(", ")
  const what = wanted.get(exchange.toolId) ?? exchange.toolId
  const place = /^- .*$/m.exec(exchange.text)?.[0]
  const why = (place ?? exchange.text).replace(/^- (?:\/\w+|the arguments): /, "").split("\n")[0] ?? ""
  const about = asked === "" || exchange.toolId === "save_note" ? "" : ` for “${asked}”`
  return `I have no ${what}${about}: ${why.replace(/\.$/, "")}.`
}

const wanted: ReadonlyMap<string, string> = new Map([
  ["get_weather", "weather"],
  ["calculate", "result"],
  ["current_time", "time"],
  ["save_note", "note saved"],
  ["add_to_list", "entry added"]
])

const shown = (value: Json.Json | undefined): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? "")
