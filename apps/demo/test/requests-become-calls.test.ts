import { describe, expect, it } from "vitest"
import type { Exchange } from "../src/internal/exchanges.js"
import { planTurn } from "../src/internal/planTurn.js"
import { readRequest } from "../src/internal/readRequest.js"

const weather = (city: string): object => ({ type: "weather", city })
const sum = (expression: string): object => ({ type: "calculate", expression })

describe("a request in plain English", () => {
  it.each<[string, ReadonlyArray<ReadonlyArray<object>>]>([
    [
      "weather in Lisbon and Oslo, then what is 17% of 2380",
      [[weather("Lisbon"), weather("Oslo")], [sum("17% of 2380")]]
    ],
    ["What's the weather in São Paulo, Tokyo & Rome?", [[weather("São Paulo"), weather("Tokyo"), weather("Rome")]]],
    ["how warm is it in Paris right now?", [[weather("Paris")]]],
    ["weather in Oslo and what is 2+2", [[weather("Oslo"), sum("2+2")]]],
    ["weather in Oslo and the time in Tokyo", [[weather("Oslo"), { type: "time", place: "Tokyo" }]]],
    ["weather", [[weather("")]]],
    ["2 plus 3 times 4", [[sum("2 + 3 * 4")]]],
    ["calculate 3 squared divided by 2", [[sum("3^2 / 2")]]],
    ["what is the square root of 2?", [[sum("sqrt(2)")]]],
    ["how much is 17 percent of 2,380", [[sum("17% of 2,380")]]],
    ["sqrt(2) / 3", [[sum("sqrt(2) / 3")]]],
    ["what time is it?", [[{ type: "time", place: "" }]]],
    ["what day is it in New York", [[{ type: "time", place: "New York" }]]],
    ["note: buy milk", [[{ type: "note", text: "buy milk" }]]],
    ["save a note saying call Ana", [[{ type: "note", text: "call Ana" }]]],
    ["remember that the meeting moved", [[{ type: "note", text: "the meeting moved" }]]],
    ["add milk and bread to the list", [[{ type: "list", item: "milk and bread" }]]],
    ["weather in Oslo and put tea on my shopping list", [[weather("Oslo"), { type: "list", item: "tea" }]]],
    ["weather in Oslo, then save that as a note", [[weather("Oslo")], [{ type: "note", text: "" }]]],
    [
      "average temperature of Lisbon, Oslo and Rome",
      [[{ type: "compare", cities: ["Lisbon", "Oslo", "Rome"], how: "mean" }]]
    ],
    ["is Rome warmer than Oslo", [[{ type: "compare", cities: ["Rome", "Oslo"], how: "difference" }]]],
    ["sing me a song", [[{ type: "unknown", text: "sing me a song" }]]],
    ["   ", []]
  ])("%s", (text, groups) => {
    expect(readRequest(text)).toEqual(groups)
  })
})

const seen = (toolId: string, args: Record<string, string>, given: Partial<Exchange> = {}): Exchange => ({
  toolId,
  arguments: args,
  isError: false,
  outcome: "Completed",
  text: "",
  data: undefined,
  ...given
})

const refused = (toolId: string, args: Record<string, string>, text: string): Exchange =>
  seen(toolId, args, { isError: true, text })

const plan = (request: string, ...turns: ReadonlyArray<ReadonlyArray<Exchange>>): ReturnType<typeof planTurn> =>
  planTurn({ request, turns }, { mayCall: true, hasFolder: false })

const oslo = { city: "Oslo", country: "Norway", temperature: 10, humidity: 40, windSpeed: 15, condition: "clear" }
const live = { ...oslo, observedAt: "2026-01-01T00:00:00Z", source: "live" }

describe("the offline model", () => {
  it("asks for everything of a group in one turn, and for the next group after its results", () => {
    const request = "weather in Oslo and Rome, then 1+1"
    expect(plan(request).calls).toEqual([
      { toolId: "get_weather", arguments: { city: "Oslo" } },
      { toolId: "get_weather", arguments: { city: "Rome" } }
    ])
    const first = [
      seen("get_weather", { city: "Oslo" }, { data: live }),
      seen("get_weather", { city: "Rome" }, { data: live })
    ]
    expect(plan(request, first).calls).toEqual([{ toolId: "calculate", arguments: { expression: "1+1" } }])
  })

  it("sends a refused call once more where the refusal says how, and then explains", () => {
    const refusal =
      'Invalid arguments for get_weather.\n- /city: expected a city that can be found, received "Osloo"; did you mean Oslo'
    const first = [refused("get_weather", { city: "Osloo" }, refusal)]
    expect(plan("weather in Osloo", first)).toEqual({
      text: "I take “Osloo” to mean “Oslo”.",
      calls: [{ toolId: "get_weather", arguments: { city: "Oslo" } }]
    })
    expect(plan("weather in Osloo", first, [seen("get_weather", { city: "Oslo" }, { data: live })]).text).toBe(
      "Oslo: 10 °C, clear, wind 15 km/h, humidity 40 %."
    )
    const again = plan("weather in Osloo", first, [refused("get_weather", { city: "Oslo" }, refusal)])
    expect(again.calls).toEqual([])
    expect(again.text).toContain("I have no weather for “Oslo”")
  })

  it("takes thousands separators out when the tool asks for that", () => {
    const refusal = "- /expression: expected one expression; write numbers without thousands separators"
    expect(plan("2,380 * 2", [refused("calculate", { expression: "2,380 * 2" }, refusal)]).calls).toEqual([
      { toolId: "calculate", arguments: { expression: "2380 * 2" } }
    ])
  })

  it("does not argue with a denial", () => {
    const denied = refused("save_note", { text: "x" }, "save_note was denied: the person said no")
    expect(plan("note: x", [denied])).toEqual({
      text: "I have no note saved: save_note was denied: the person said no.",
      calls: []
    })
  })

  it("makes the next call from results", () => {
    const first = [
      seen("get_weather", { city: "Oslo" }, { data: live }),
      seen("get_weather", { city: "Rome" }, { data: { ...live, city: "Rome", temperature: 16 } })
    ]
    expect(plan("is Rome warmer than Oslo", first).calls).toEqual([
      { toolId: "calculate", arguments: { expression: "10 - (16)" } }
    ])
    const saved = plan("weather in Oslo, then save that", [seen("get_weather", { city: "Oslo" }, { data: live })])
    expect(saved.calls).toEqual([
      { toolId: "save_note", arguments: { text: "Oslo: 10 °C, clear, wind 15 km/h, humidity 40 %." } }
    ])
  })

  it("says where a recorded observation is from", () => {
    const recorded = { ...oslo, observedAt: "2026-03-20T14:50:00Z", source: "recorded", station: "Gardermoen" }
    expect(plan("weather in Oslo", [seen("get_weather", { city: "Oslo" }, { data: recorded })]).text).toBe(
      "Oslo: 10 °C, clear, wind 15 km/h, humidity 40 % (recorded observation: Gardermoen, 2026-03-20 14:50 UTC)."
    )
  })

  it("answers with what it has when it may not call", () => {
    const turn = planTurn(
      { request: "weather in Oslo, then 1+1", turns: [[seen("get_weather", { city: "Oslo" }, { data: live })]] },
      { mayCall: false, hasFolder: false }
    )
    expect(turn).toEqual({ text: "Oslo: 10 °C, clear, wind 15 km/h, humidity 40 %.", calls: [] })
  })
})
