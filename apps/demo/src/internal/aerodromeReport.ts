/**
 * Reads what people want to know out of an aerodrome report (METAR).
 *
 * Guarantees: `undefined` for a report without temperature or wind; words for what is there and no guesses for what is not.
 * Does not read pressure, visibility, trends or remarks.
 */

export interface ReadReport {
  /** Degrees Celsius. */
  readonly temperature: number
  /** Percent, from temperature and dew point. */
  readonly humidity: number
  /** Kilometres per hour. */
  readonly windSpeed: number
  readonly condition: string
}

export const readReport = (report: string): ReadReport | undefined => {
  const temperatures = /\b(M?\d{2})\/(M?\d{2})\b/.exec(report)
  const wind = /\b(?:\d{3}|VRB)(\d{2,3})(?:G\d{2,3})?(KT|MPS)\b/.exec(report)
  if (temperatures === null || wind === null) return undefined
  const temperature = degrees(temperatures[1])
  const perUnit = wind[2] === "KT" ? 1.852 : 3.6
  return {
    temperature,
    humidity: Math.round(humidityOf(temperature, degrees(temperatures[2]))),
    windSpeed: Math.round(Number(wind[1]) * perUnit),
    condition: conditionOf(report)
  }
}

const degrees = (text = "0"): number => (text.startsWith("M") ? -Number(text.slice(1)) : Number(text))

/** Magnus formula with the constants of Alduchov and Eskridge (1996). */
const humidityOf = (temperature: number, dewPoint: number): number => {
  const saturation = (celsius: number): number => Math.exp((17.625 * celsius) / (243.04 + celsius))
  return (100 * saturation(dewPoint)) / saturation(temperature)
}

const phenomena: ReadonlyArray<readonly [RegExp, string]> = [
  [/\s-TSRA\b/, "thunderstorm with light rain"],
  [/\s\+?TSRA\b/, "thunderstorm with rain"],
  [/\s-SHRA\b/, "light showers"],
  [/\s\+?SHRA\b/, "showers"],
  [/\s-RA\b/, "light rain"],
  [/\s\+?RA\b/, "rain"],
  [/\s-?SN\b/, "snow"],
  [/\sFG\b/, "fog"],
  [/\sBR\b/, "mist"],
  [/\sHZ\b/, "haze"]
]

const cover: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bOVC\d/, "overcast"],
  [/\bBKN\d/, "mostly cloudy"],
  [/\bSCT\d/, "partly cloudy"],
  [/\bFEW\d/, "a few clouds"]
]

const conditionOf = (report: string): string =>
  [...phenomena, ...cover].find(([pattern]) => pattern.test(report))?.[1] ?? "clear"
