/**
 * The weather tool: what it is, and where its answers come from.
 *
 * Guarantees: an answer says whether it is live or recorded; an unknown city is an invalid argument with a suggestion.
 * Does not forecast.
 */
import { Tool, ToolArgs, ToolError } from "@toolwright/runtime-contract"
import { type Static, Type } from "typebox"
import { readReport } from "./internal/aerodromeReport.js"
import { type Addresses, currentWeather, findPlace, Unreachable } from "./internal/openMeteo.js"
import { recordedReports } from "./internal/recordedWeather.js"

export interface Place {
  readonly name: string
  readonly country: string
  readonly latitude: number
  readonly longitude: number
}

const output = Type.Object({
  city: Type.String(),
  country: Type.String(),
  temperature: Type.Number({ description: "Degrees Celsius" }),
  humidity: Type.Number({ description: "Percent" }),
  windSpeed: Type.Number({ description: "Kilometres per hour" }),
  condition: Type.String(),
  observedAt: Type.String({ description: "ISO 8601, UTC" }),
  source: Type.Union([Type.Literal("live"), Type.Literal("recorded")]),
  station: Type.Optional(Type.String({ description: "Where a recorded observation is from" }))
})

export type Weather = Static<typeof output>

export const GetWeather = Tool.define({
  id: "get_weather",
  description: "Return the current weather of one city.",
  args: Type.Object({ city: Type.String({ maxLength: 100, description: "For example: Lisbon" }) }),
  output,
  recovery: "ReplaySafe"
})

/** Where weather comes from. `undefined` for a city that the source does not know. */
export interface WeatherSource {
  readonly weather: (city: string, signal: AbortSignal) => Promise<Weather | undefined>
}

export const getWeather = (source: WeatherSource): Tool.Tool<"get_weather", typeof GetWeather.args, typeof output> =>
  Tool.implement(GetWeather, async ({ city }, { signal, progress }) => {
    if (city.trim() === "") throw unknownCity(city, "send the name of a city")
    progress(`looking for ${city.trim()}`)
    const found = await source.weather(city.trim(), signal)
    if (found !== undefined) return found
    const near = ToolArgs.nearestName(
      city,
      recordedReports.map((report) => report.city)
    )
    throw unknownCity(city, near === undefined ? undefined : `did you mean ${near}`)
  })

const unknownCity = (city: string, fix: string | undefined): ToolError =>
  ToolArgs.invalidArguments(GetWeather.id, [
    {
      pointer: "/city",
      expected: "a city that can be found",
      received: JSON.stringify(city),
      ...(fix === undefined ? {} : { fix })
    }
  ])

/** The recorded observations that ship with the demo. */
export const recordedSource: WeatherSource = {
  weather: (city) => Promise.resolve(recordedFor(city))
}

/** Open-Meteo, and the recorded observations for as long as it cannot be reached. */
export const liveSource = (addresses: Addresses): WeatherSource => {
  let reachable = true
  return {
    weather: async (city, signal) => {
      if (!reachable) return offline(city)
      try {
        const place = await findPlace(city, { addresses, signal })
        return place === undefined ? undefined : await currentWeather(place, { addresses, signal })
      } catch (cause) {
        if (!(cause instanceof Unreachable)) throw cause
        reachable = false
        return offline(city)
      }
    }
  }
}

const offline = (city: string): Weather => {
  const found = recordedFor(city)
  if (found !== undefined) return found
  const near = ToolArgs.nearestName(
    city,
    recordedReports.map((report) => report.city)
  )
  if (near !== undefined) throw unknownCity(city, `did you mean ${near}`)
  throw ToolError.execution(`there is no network, and no observation of ${city} was recorded`)
}

const recordedFor = (city: string): Weather | undefined => {
  const found = recordedReports.find((report) => fold(report.city) === fold(city))
  const read = found === undefined ? undefined : readReport(found.report)
  if (found === undefined || read === undefined) return undefined
  const { country, station, observedAt } = found
  return { city: found.city, country, ...read, observedAt, source: "recorded", station }
}

const fold = (text: string): string => text.normalize("NFD").replaceAll(/\p{M}/gu, "").trim().toLowerCase()
