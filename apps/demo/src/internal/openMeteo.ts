/**
 * The weather now, from Open-Meteo: a public service that needs no key.
 *
 * Guarantees: `Unreachable` only when there was no answer; every other failure names what came back.
 * Does not retry and does not cache.
 */
import type { Place, Weather } from "../Weather.js"

/** There was no network, or nobody answered in time. */
export class Unreachable extends Error {
  override readonly name = "Unreachable"
}

const patience = 4_000

/** Where the two halves of the service are. */
export interface Addresses {
  readonly forecast: string
  readonly geocoding: string
}

const publicService: Addresses = {
  forecast: "https://api.open-meteo.com",
  geocoding: "https://geocoding-api.open-meteo.com"
}

/** The public service, or an Open-Meteo of one's own that answers for both halves. */
export const addressesOf = (own: string | undefined): Addresses =>
  own === undefined || own === "" ? publicService : { forecast: own, geocoding: own }

export interface Lookup {
  readonly addresses: Addresses
  readonly signal: AbortSignal
}

/** The place that people most likely mean, or `undefined`. */
export const findPlace = async (city: string, { addresses, signal }: Lookup): Promise<Place | undefined> => {
  const url = new URL("/v1/search", addresses.geocoding)
  url.search = new URLSearchParams({ name: city, count: "1", language: "en", format: "json" }).toString()
  const { results } = record(await get(url, signal))
  const first: unknown = Array.isArray(results) ? results[0] : undefined
  if (first === undefined) return undefined
  const { name, country, latitude, longitude } = record(first)
  return {
    name: text(name),
    country: typeof country === "string" ? country : "",
    latitude: number(latitude),
    longitude: number(longitude)
  }
}

export const currentWeather = async (place: Place, { addresses, signal }: Lookup): Promise<Weather> => {
  const url = new URL("/v1/forecast", addresses.forecast)
  url.search = new URLSearchParams({
    latitude: String(place.latitude),
    longitude: String(place.longitude),
    current: "temperature_2m,relative_humidity_2m,weather_code,wind_speed_10m",
    timezone: "UTC"
  }).toString()
  const current = record(record(await get(url, signal))["current"])
  return {
    city: place.name,
    country: place.country,
    temperature: number(current["temperature_2m"]),
    humidity: number(current["relative_humidity_2m"]),
    windSpeed: number(current["wind_speed_10m"]),
    condition: conditions.get(number(current["weather_code"])) ?? "unusual weather",
    observedAt: `${text(current["time"])}:00Z`,
    source: "live"
  }
}

const get = async (url: URL, signal: AbortSignal): Promise<unknown> => {
  let response: Response
  try {
    response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]) })
  } catch (cause) {
    if (signal.aborted) throw cause
    throw new Unreachable(`${url.hostname} did not answer`, { cause })
  }
  if (!response.ok) throw new Error(`${url.hostname} answered ${response.status} ${response.statusText}`)
  return response.json()
}

const record = (value: unknown): Readonly<Record<string, unknown>> => {
  if (typeof value === "object" && value !== null) return Object.fromEntries(Object.entries(value))
  throw new Error("Open-Meteo answered something unexpected")
}

const number = (value: unknown): number => {
  if (typeof value === "number") return value
  throw new Error("Open-Meteo answered without a number where one belongs")
}

const text = (value: unknown): string => {
  if (typeof value === "string") return value
  throw new Error("Open-Meteo answered without a text where one belongs")
}

/** The weather codes of the WMO that Open-Meteo uses. */
const conditions: ReadonlyMap<number, string> = new Map([
  [0, "clear"],
  [1, "mostly clear"],
  [2, "partly cloudy"],
  [3, "overcast"],
  [45, "fog"],
  [48, "freezing fog"],
  [51, "light drizzle"],
  [53, "drizzle"],
  [55, "dense drizzle"],
  [56, "light freezing drizzle"],
  [57, "freezing drizzle"],
  [61, "light rain"],
  [63, "rain"],
  [65, "heavy rain"],
  [66, "light freezing rain"],
  [67, "freezing rain"],
  [71, "light snow"],
  [73, "snow"],
  [75, "heavy snow"],
  [77, "snow grains"],
  [80, "light showers"],
  [81, "showers"],
  [82, "violent showers"],
  [85, "light snow showers"],
  [86, "snow showers"],
  [95, "thunderstorm"],
  [96, "thunderstorm with hail"],
  [99, "thunderstorm with heavy hail"]
])
