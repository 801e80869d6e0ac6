import { afterEach, describe, expect, it } from "vitest"
import { readReport } from "../src/internal/aerodromeReport.js"
import { addressesOf } from "../src/internal/openMeteo.js"
import { recordedReports } from "../src/internal/recordedWeather.js"
import { liveSource, recordedSource } from "../src/Weather.js"
import { type Answers, weatherServer } from "./world.js"

const { signal } = new AbortController()
let close = (): void => {}
afterEach(() => close())

const sourceOver = async (answers: Answers): Promise<ReturnType<typeof liveSource>> => {
  const server = await weatherServer(answers)
  close = server.close
  return liveSource(addressesOf(server.url))
}

const found = { results: [{ name: "Lisbon", country: "Portugal", latitude: 38.7, longitude: -9.1 }] }
const current = {
  time: "2026-05-01T12:00",
  temperature_2m: 21.4,
  relative_humidity_2m: 55,
  weather_code: 61,
  wind_speed_10m: 9.5
}

describe("the live source", () => {
  it("asks for the place and then for its weather", async () => {
    const source = await sourceOver({ "/v1/search": found, "/v1/forecast": { current } })
    expect(await source.weather("Lisbon", signal)).toEqual({
      city: "Lisbon",
      country: "Portugal",
      temperature: 21.4,
      humidity: 55,
      windSpeed: 9.5,
      condition: "light rain",
      observedAt: "2026-05-01T12:00:00Z",
      source: "live"
    })
  })

  it("knows nothing of a city that the service does not know", async () => {
    expect(await (await sourceOver({ "/v1/search": {} })).weather("Zzyzx", signal)).toBeUndefined()
  })

  it("names an answer that is an error or makes no sense", async () => {
    await expect((await sourceOver({ "/v1/search": 503 })).weather("Lisbon", signal)).rejects.toThrow("answered 503")
    close()
    const odd = await sourceOver({ "/v1/search": found, "/v1/forecast": { current: { time: "now" } } })
    await expect(odd.weather("Lisbon", signal)).rejects.toThrow("without a number where one belongs")
  })

  it("falls back to what was recorded when nobody answers, and says so", async () => {
    const source = await sourceOver({})
    close()
    expect(await source.weather("Lisbon", signal)).toMatchObject({
      city: "Lisbon",
      source: "recorded",
      station: "Cascais"
    })
    await expect(source.weather("Lisbonn", signal)).rejects.toThrow("did you mean Lisbon")
    await expect(source.weather("Atlantis", signal)).rejects.toThrow("no observation of Atlantis was recorded")
  })

  it("stops when it is cancelled", async () => {
    const source = await sourceOver({})
    const cancel = new AbortController()
    const asked = source.weather("Lisbon", cancel.signal)
    cancel.abort(new Error("cancelled"))
    await expect(asked).rejects.toThrow("cancelled")
  })
})

describe("the recorded observations", () => {
  it("are all readable, each city once", () => {
    expect(recordedReports.length).toBeGreaterThan(25)
    expect(new Set(recordedReports.map((report) => report.city)).size).toBe(recordedReports.length)
    expect(recordedReports.filter((report) => readReport(report.report) === undefined)).toEqual([])
  })

  it("are found without accents and in any case", async () => {
    expect(await recordedSource.weather(" sao paulo", signal)).toMatchObject({
      city: "São Paulo",
      temperature: 24,
      condition: "mostly cloudy"
    })
    expect(await recordedSource.weather("Gotham", signal)).toBeUndefined()
  })

  it.each([
    [
      "ENGM 201450Z 21008KT CAVOK 10/M03 Q1018 NOSIG",
      { temperature: 10, humidity: 40, windSpeed: 15, condition: "clear" }
    ],
    ["ZBAA 201500Z 13002MPS CAVOK 05/M10 Q1023", { temperature: 5, humidity: 33, windSpeed: 7, condition: "clear" }],
    [
      "CYTZ 201500Z AUTO 06010KT 4SM -RA BR BKN004 OVC008 02/01 A2975",
      { temperature: 2, humidity: 93, windSpeed: 19, condition: "light rain" }
    ],
    [
      "LEMD 201500Z VRB02KT 9999 BKN035 FEW040TCU 11/05 Q1012",
      { temperature: 11, humidity: 67, windSpeed: 4, condition: "mostly cloudy" }
    ]
  ])("%s is read", (report, read) => {
    expect(readReport(report)).toEqual(read)
  })
})
